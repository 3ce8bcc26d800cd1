"""A site with a round tip, or the rim of a disk, on a surface."""

from __future__ import annotations

from typing import Any

import equinox as eqx

from ...hybrid.scene import Load, Scene
from ...mechanism import Site
from ..surfaces import AbstractSurface
from .pair import AbstractPair, Touching, centre, force, met


class SiteOnSurface(AbstractPair):
    """A site with a round tip of some radius (zero: a point) against a surface.

    The rim of a disk is the tip of the site at its centre: `sliding` is v + omega radius on a floor, zero in rolling.
    """

    site: Site = eqx.field(static=True)
    surface: AbstractSurface
    radius: Any

    @property
    def name(self) -> str:
        return self.site.name

    def touching(self, scene: Scene) -> Touching:
        cx, cy = centre(scene, self.site)
        gap, (nx, ny) = self.surface.locate(cx, cy, scene.t)
        x, y = cx - self.radius * nx, cy - self.radius * ny
        drift = self.surface.drift(x, y, scene.t)
        return met(self.radius - gap, x, y, (nx, ny), scene.velocity(self.site, x, y), drift)

    def push(self, scene: Scene, load: Load, k: Touching, normal: Any, drag: Any) -> None:
        scene.push(load, self.site.link, k.x, k.y, *force(k, normal, drag), self.site)

    def place(self, scene: Scene, k: Touching) -> tuple[Any, Any]:
        return self.surface.place(k.x, k.y, scene.t)

    @property
    def moves(self) -> bool:
        return self.surface.moves

    def carried(self, scene: Scene, k: Touching) -> tuple[Any, Any]:
        ux, uy = self.surface.drift(k.x, k.y, scene.t)
        (nx, ny), (tx, ty) = k.normal, k.tangent
        return ux * nx + uy * ny, ux * tx + uy * ty
