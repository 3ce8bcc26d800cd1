"""Surfaces that sites can touch."""

from typing import TYPE_CHECKING

from ..._lazily import lazily

if TYPE_CHECKING:
    from .block import Block as Block
    from .circle import Circle as Circle
    from .curve import AbstractCurve as AbstractCurve
    from .graph import Graph as Graph
    from .implicit import Implicit as Implicit
    from .moving import Moving as Moving
    from .plane import Plane as Plane
    from .plane import Wall as Wall
    from .spline import Spline as Spline
    from .surface import AbstractSurface as AbstractSurface
    from .surface import Bound as Bound

__getattr__, __dir__, __all__ = lazily(__name__)
