"""Motions along surfaces: closed by their contacts, driven by planned torques, repeated as a gait."""

from typing import TYPE_CHECKING

from .._lazily import lazily

if TYPE_CHECKING:
    from .closed import ClosedMotion as ClosedMotion
    from .crawler import Inchworm as Inchworm
    from .gait import Gait as Gait
    from .gait import GaitState as GaitState
    from .gait_step import Step as Step
    from .on_terrain import TerrainInchworm as TerrainInchworm
    from .on_terrain import Walk as Walk
    from .plan import SlidingPlan as SlidingPlan

__getattr__, __dir__, __all__ = lazily(__name__)
