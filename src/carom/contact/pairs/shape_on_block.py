"""A shape on a block that is fixed to the world, or moves as prescribed: what its own corners do not tell."""

from __future__ import annotations

from typing import Any, ClassVar

from ...hybrid.scene import Scene
from ...quantities import Real
from ..shape import AbstractCornered, AbstractSmooth
from ..shape.outlined import Frame
from ..surfaces import AbstractSurface
from .pair import Touching, met
from .shape_on_shape import nearest_of
from .shape_on_surface import AbstractShapeOnSurface


class BlockCornerOnShape(AbstractShapeOnSurface):
    """One corner of a block, sharp or round, in an edge of a shape."""

    other: ClassVar[str] = "shape on surface"
    shape: AbstractCornered
    corner: tuple[Any, Any]  # in the frame of the block

    def __init__(self, shape: AbstractCornered, surface: AbstractSurface, corner: tuple[Any, Any], group: str) -> None:
        self.site, self.surface, self.radius = shape.site, surface, shape.outer
        self.shape, self.corner, self.group = shape, corner, group

    def touching(self, scene: Scene) -> Touching:
        own, hull = self.shape.frame(scene), self.surface.hull
        assert hull is not None
        cx, cy = Frame(*self.surface.pose(scene.t)).out(*self.corner)
        apart, outward = self.shape.locate(*own.inward(cx - own.x, cy - own.y))
        nx, ny = own.turned(-outward[0], -outward[1])
        depth = self.shape.radius + hull.radius - apart
        x, y = cx + (hull.radius - depth) * nx, cy + (hull.radius - depth) * ny
        drift = self.surface.drift(x, y, scene.t)
        return met(depth, x, y, (nx, ny), scene.velocity(self.site, x, y), drift)

    def bend(self, scene: Scene, swing: Real) -> Any:
        return self.shape.blunt + self.surface.bound().bend


class SmoothOnBlock(AbstractShapeOnSurface):
    """A smooth shape on a block: their nearest points."""

    other: ClassVar[str] = "shape on surface"
    shape: AbstractSmooth

    def __init__(self, shape: AbstractSmooth, surface: AbstractSurface, group: str) -> None:
        self.site, self.surface, self.radius = shape.site, surface, shape.outer
        self.shape, self.group = shape, group

    def touching(self, scene: Scene) -> Touching:
        hull = self.surface.hull
        assert hull is not None
        own, block = self.shape.frame(scene), Frame(*self.surface.pose(scene.t))
        gap, (nx, ny), (x, y) = nearest_of(self.shape, hull, own, block)
        drift = self.surface.drift(x, y, scene.t)
        return met(-gap, x, y, (-nx, -ny), scene.velocity(self.site, x, y), drift)

    def bend(self, scene: Scene, swing: Real) -> Any:
        return self.shape.blunt + self.surface.bound().bend
