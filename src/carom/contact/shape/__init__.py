"""Shapes of bodies: what collides of them. Round, capsule, polygon, ellipse, any smooth convex curve."""

from typing import TYPE_CHECKING

from ..._lazily import lazily

if TYPE_CHECKING:
    from .cornered import AbstractCornered as AbstractCornered
    from .cornered import Capsule as Capsule
    from .cornered import Polygon as Polygon
    from .cornered import Round as Round
    from .outlined import AbstractShape as AbstractShape
    from .smooth import AbstractSmooth as AbstractSmooth
    from .smooth import Ellipse as Ellipse
    from .smooth import Oval as Oval

__getattr__, __dir__, __all__ = lazily(__name__)
