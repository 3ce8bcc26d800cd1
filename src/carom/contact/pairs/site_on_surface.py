"""A site with a round tip, or the rim of a disk, on a surface."""

from __future__ import annotations

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ... import errors
from ...hybrid.condition import BEAT, ROUNDING, TURNS
from ...hybrid.reporting import Shape
from ...hybrid.scene import Load, Scene
from ...mechanism import Mechanism, Site
from ...quantities import Flag, Real, Reals
from .._sharp import NOWHERE, Arms, on_edge, past_end
from ..shape.outlined import Frame
from ..surfaces import AbstractSurface
from ..surfaces.surface import finite
from .pair import AbstractPair, Touching, centre, force, met


def held_on(surface: AbstractSurface) -> Any:
    """Whether a contact is closed, for those that ask: what can slide past the end of an edge."""
    return None if surface.hull is None else jnp.asarray(0.0)


class SiteOnSurface(AbstractPair):
    """A site with a round tip of some radius (zero: a point) against a surface.

    The rim of a disk is the tip of the site at its centre: `sliding` is v + omega radius on a floor, zero in rolling.
    """

    other: ClassVar[str] = "surface"
    site: Site = eqx.field(static=True)
    surface: AbstractSurface
    radius: Any
    held: Any  # on a block: not 0 while it is closed; None elsewhere

    def __init__(self, site: Site, surface: AbstractSurface, radius: Real) -> None:
        self.site, self.surface, self.radius, self.held = site, surface, radius, held_on(surface)

    @property
    def name(self) -> str:
        return self.site.name

    @property
    def words(self) -> str:
        return f"'{self.site.name}' on {self.surface.words}"

    @property
    def shapes(self) -> tuple[Shape, ...]:
        return (Shape("tip", self.radius, (self.site,)),)

    @property
    def ground(self) -> AbstractSurface:
        return self.surface

    def middle(self, scene: Scene) -> tuple[Any, Any]:
        """The centre of what is round."""
        return centre(scene, self.site)

    def reach(self, scene: Scene, speeds: Reals) -> Any:
        """Bound [m/s] of the speed of whatever may touch."""
        return scene.reach(self.site, speeds)

    @property
    def arms(self) -> Arms:
        """Directions of its own edges from there, along the axes of its link."""
        return ()

    def _on_block(self, scene: Scene) -> tuple[Any, tuple[Any, Any], Any]:
        """Gap, normal, and how far past the end of an edge of a block, in roundings."""
        (cx, cy), hull, block = self.middle(scene), self.surface.hull, Frame(*self.surface.pose(scene.t))
        assert hull is not None
        f, rounding = scene.frame(self.site.link), self._smallest(scene)
        arms = tuple(block.inward(f.cos * ax - f.sin * ay, f.sin * ax + f.cos * ay) for ax, ay in self.arms)
        x, y = block.inward(cx - block.x, cy - block.y)
        gap, normal, beyond = on_edge(hull, x, y, arms, scene.length, rounding, self.held)
        return gap - hull.radius, block.turned(*normal), past_end(beyond, rounding, self.radius + hull.radius, False)

    def _smallest(self, scene: Scene) -> Any:
        """What rounding does to its place."""
        return ROUNDING * jnp.maximum(2.0 * scene.extent(self.site) + self.radius, scene.length)

    @property
    def edged(self) -> bool:
        return self.surface.hull is not None

    def touching(self, scene: Scene) -> Touching:
        return self.touching_edge(scene)[0]

    def touching_edge(self, scene: Scene) -> tuple[Touching, Any]:
        (cx, cy), past = self.middle(scene), NOWHERE
        if self.surface.hull is None:
            gap, (nx, ny) = self.surface.locate(cx, cy, scene.t)
        else:
            gap, (nx, ny), past = self._on_block(scene)
        x, y = cx - self.radius * nx, cy - self.radius * ny
        drift = self.surface.drift(x, y, scene.t)
        return met(self.radius - gap, x, y, (nx, ny), scene.velocity(self.site, x, y), drift), past

    def push(self, scene: Scene, load: Load, k: Touching, normal: Real, drag: Real) -> None:
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

    def size(self, scene: Scene, k: Touching) -> Any:
        # Only the distance along the normal counts: a level floor does not feel how far to the side it is met.
        nx, ny = jnp.abs(k.normal[0]), jnp.abs(k.normal[1])
        x, y = self.middle(scene)
        return scene.extent(self.site, (nx, ny)) + nx * jnp.abs(x) + ny * jnp.abs(y) + self.radius

    def pace(self, scene: Scene, speeds: Reals) -> Any:
        own = self.reach(scene, speeds)
        if not self.moves:
            return own
        x, y = self.middle(scene)
        return own + self.surface.carries(x, y, scene.t, own, scene.span)

    def swing(self, scene: Scene) -> tuple[Any, Any]:
        if not self.moves:
            return 0.0, 0.0
        bound = self.surface.bound()
        known = jnp.isfinite(bound.steady) & jnp.isfinite(bound.turning)
        # What turns comes round: the gap swings with it. A function's turning is known at the instant alone.
        turning = jnp.where(jnp.isfinite(bound.turning), bound.turning, 2.0 * self.surface.spin(scene.t))
        return jnp.where(known, bound.swing, jnp.inf), bound.rate + turning

    def along(self, is_open: Flag, pace: Real) -> Any:
        return jnp.where(is_open, 0.0, pace)

    @property
    def longest(self) -> Any:
        bound = self.surface.bound()
        rate = bound.rate + finite(bound.turning)
        return jnp.where(rate > 0.0, BEAT / jnp.where(rate > 0.0, rate, 1.0), jnp.inf)

    def sure(self, scene: Scene, k: Touching) -> Any:
        if self.surface.exact:
            return None
        x, y = self.middle(scene)
        return self.radius - self.surface.clearance(x, y, scene.t, self.radius - k.indentation)

    def bend(self, scene: Scene, swing: Real) -> Any:
        """What is swept in a step stays within what was looked at, or is as short as what is assumed beyond allows."""
        x, y = self.middle(scene)
        known = self.surface.known(x, y, scene.t)
        room = known.within - self.radius - finite(swing)
        return jnp.maximum(jnp.minimum(known.bend, room / TURNS), known.assumed)

    def check(self, mechanism: Mechanism) -> None:
        rate = errors.known(self.surface.bound().rate)
        if rate is not None and not np.isfinite(rate):
            raise errors.CaromError(
                f"surface of contact '{self.name}' is a {type(self.surface).__name__} that moves, and does not say how "
                "fast: give it a method `bound` that returns a carom.contact.surfaces.Bound, with its highest frequency"
            )
