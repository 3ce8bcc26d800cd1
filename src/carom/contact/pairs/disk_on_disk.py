"""Two round bodies, side by side or one inside the other."""

from __future__ import annotations

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp

from ... import errors
from ..._arguments import SiteLike
from ...hybrid.reporting import Shape
from ...hybrid.scene import Load, Scene
from ...mechanism import Mechanism, Site
from ...quantities import Real, Reals
from ..surfaces.surface import direction
from .pair import AbstractPair, Touching, between, centre, in_frame, met


class Ring(eqx.Module):
    """The inner face of a round hole of a radius [m] about a site, or its name: a bearing, a drum."""

    site: Any = eqx.field(static=True)  # a Site, or its name until it is placed
    radius: Any

    def __init__(self, site: SiteLike, radius: Real) -> None:
        if not isinstance(site, Site | str):
            raise errors.CaromError(
                f"site of Ring is {site!r}; it must come from a mechanism, arm.site('...'), or be its name"
            )
        errors.number(f"Ring at '{getattr(site, 'name', site)}'", "radius", radius, above=0.0)
        self.site, self.radius = site, errors.array(radius)

    @property
    def unplaced(self) -> bool:
        return isinstance(self.site, str)

    def placed(self, mechanism: Mechanism) -> Ring:
        """The same with a site instead of its name."""
        return Ring(mechanism.site(self.site) if isinstance(self.site, str) else self.site, self.radius)


class DiskOnDisk(AbstractPair):
    """Two round bodies: disks of given radii about two sites of different links.

    With `inside` the first runs inside the second, a ring. The contact point lies in the middle of the overlap, so that
    exchanging the bodies changes nothing.
    """

    other: ClassVar[str] = "disk"
    first: Site = eqx.field(static=True)
    second: Site = eqx.field(static=True)
    first_radius: Any
    second_radius: Any
    inside: bool = eqx.field(static=True, default=False)

    @property
    def name(self) -> str:
        return f"{self.first.name} {'in' if self.inside else 'on'} {self.second.name}"

    @property
    def shapes(self) -> tuple[Shape, ...]:
        other = Shape("ring" if self.inside else "tip", self.second_radius, (self.second,))
        return Shape("tip", self.first_radius, (self.first,)), other

    def touching(self, scene: Scene) -> Touching:
        (ax, ay), (bx, by) = centre(scene, self.first), centre(scene, self.second)
        apart, (nx, ny) = direction(ax - bx, ay - by)
        depth = self.first_radius + self.second_radius - apart
        if self.inside:
            depth, nx, ny = self.first_radius - self.second_radius + apart, -nx, -ny
        arm = self.first_radius - 0.5 * depth
        x, y = ax - arm * nx, ay - arm * ny
        own, other = scene.velocity(self.first, x, y), scene.velocity(self.second, x, y)
        return met(depth, x, y, (nx, ny), own, other)

    def push(self, scene: Scene, load: Load, k: Touching, normal: Real, drag: Real) -> None:
        between(scene, load, (self.first, self.second), k, normal, drag)

    def place(self, scene: Scene, k: Touching) -> tuple[Any, Any]:
        return in_frame(scene, self.second.link, k.x, k.y)

    def size(self, scene: Scene, k: Touching) -> Any:
        return scene.extent(self.first) + scene.extent(self.second) + self.first_radius + self.second_radius

    def pace(self, scene: Scene, speeds: Reals) -> Any:
        return scene.reach(self.first, speeds) + scene.reach(self.second, speeds)

    def bend(self, scene: Scene, swing: Real) -> Any:
        return (
            jnp.abs(self.second_radius - self.first_radius) if self.inside else self.first_radius + self.second_radius
        )
