"""A shape on a block that is fixed to the world, or moves as prescribed: what its own corners do not tell."""

from __future__ import annotations

from typing import Any, ClassVar

from ...hybrid.scene import Scene
from ...quantities import Real
from .._sharp import NOWHERE, Arms, arms_of, on_edge, past_end
from ..shape import AbstractCornered, AbstractSmooth
from ..shape.outlined import Frame
from ..surfaces import AbstractSurface
from .pair import Touching, met
from .shape_on_shape import nearest_of
from .shape_on_surface import AbstractShapeOnSurface
from .site_on_surface import held_on


class BlockCornerOnShape(AbstractShapeOnSurface):
    """One corner of a block, sharp or round, in an edge of a shape."""

    other: ClassVar[str] = "shape on surface"
    shape: AbstractCornered
    corner: tuple[Any, Any]  # in the frame of the block
    own_arms: Arms

    def __init__(self, shape: AbstractCornered, surface: AbstractSurface, index: int, group: str) -> None:
        self.site, self.surface, self.radius, self.held = shape.site, surface, shape.outer, held_on(surface)
        hull = surface.hull
        assert hull is not None
        self.shape, self.corner, self.own_arms, self.group = shape, hull.corners[index], arms_of(hull, index), group

    @property
    def yields(self) -> bool:
        return True

    def _on_shape(self, scene: Scene) -> tuple[Any, tuple[Any, Any], Any]:
        """Distance from the shape, its normal in the world, and how far past the end of its edge, in roundings."""
        own, hull = self.shape.frame(scene), self.surface.hull
        assert hull is not None
        block, rounding = Frame(*self.surface.pose(scene.t)), self._smallest(scene)
        cx, cy = block.out(*self.corner)
        arms = tuple(own.inward(*block.turned(*arm)) for arm in self.own_arms)
        x, y = own.inward(cx - own.x, cy - own.y)
        apart, outward, beyond = on_edge(self.shape, x, y, arms, scene.length, rounding, self.held)
        past = past_end(beyond, rounding, self.shape.radius + hull.radius, self.yields)
        return apart, own.turned(*outward), past

    @property
    def edged(self) -> bool:
        return self.shape.edges > 2

    def touching_edge(self, scene: Scene) -> tuple[Touching, Any]:
        hull = self.surface.hull
        assert hull is not None
        cx, cy = Frame(*self.surface.pose(scene.t)).out(*self.corner)
        apart, (ox, oy), past = self._on_shape(scene)
        nx, ny = -ox, -oy
        depth = self.shape.radius + hull.radius - apart
        x, y = cx + (hull.radius - depth) * nx, cy + (hull.radius - depth) * ny
        drift = self.surface.drift(x, y, scene.t)
        return met(depth, x, y, (nx, ny), scene.velocity(self.site, x, y), drift), past

    def bend(self, scene: Scene, swing: Real) -> Any:
        return self.shape.blunt + self.surface.bound().bend


class SmoothOnBlock(AbstractShapeOnSurface):
    """A smooth shape on a block: their nearest points."""

    other: ClassVar[str] = "shape on surface"
    shape: AbstractSmooth
    edged: ClassVar[bool] = False

    def __init__(self, shape: AbstractSmooth, surface: AbstractSurface, group: str) -> None:
        self.site, self.surface, self.radius, self.held = shape.site, surface, shape.outer, None
        self.shape, self.group = shape, group

    def touching_edge(self, scene: Scene) -> tuple[Touching, Any]:
        hull = self.surface.hull
        assert hull is not None
        own, block = self.shape.frame(scene), Frame(*self.surface.pose(scene.t))
        gap, (nx, ny), (x, y) = nearest_of(self.shape, hull, own, block)
        drift = self.surface.drift(x, y, scene.t)
        return met(-gap, x, y, (-nx, -ny), scene.velocity(self.site, x, y), drift), NOWHERE

    def bend(self, scene: Scene, swing: Real) -> Any:
        return self.shape.blunt + self.surface.bound().bend
