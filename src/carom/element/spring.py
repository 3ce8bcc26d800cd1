"""A spring and damper between two points."""

from __future__ import annotations

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp

from .. import errors
from .._arguments import PlaceLike, SiteLike
from ..hybrid._in_words import told
from ..hybrid.automaton import AbstractAutomaton, Anatomy, Flow
from ..hybrid.reporting import Channel, Line, Report
from ..hybrid.scene import Load, Own, Scene
from ..mechanism import Site
from ..quantities import Real


class Spring(AbstractAutomaton):
    """Tension k (l - l_0) + c l' between a site and a point of the world or another site.

    - `to`: (x, y) [m], or a site of another link
    - `stiffness` k [N/m] >= 0, `length` l_0 [m] >= 0 without load, `damping` c [N s/m] >= 0

    The points must not coincide: a spring of no length has no direction.

        carom.Spring(block.tip, to=(-1.0, 0.0), stiffness=100.0, length=1.0)
    """

    table: ClassVar[str] = "springs"
    site: Site = eqx.field(static=True)
    other: Site | None = eqx.field(static=True)
    point: tuple[Any, Any]
    stiffness: Any
    length: Any
    damping: Any
    name: str = eqx.field(static=True)

    def __init__(
        self, site: SiteLike, to: PlaceLike, stiffness: Real, length: Real, damping: Real = 0.0, name: str | None = None
    ) -> None:
        if not isinstance(site, Site):
            raise errors.CaromError(
                f"site of Spring is {site!r}; it must come from a mechanism: arm.tip, arm.site('...')"
            )
        self.site, self.other, self.point = site, None, (0.0, 0.0)
        if isinstance(to, Site):
            self.other = to
        else:
            errors.vector("Spring", "to", to, 2)
            self.point = (errors.array(to[0]), errors.array(to[1]))
        if self.other is not None and self.other.link == site.link:
            raise errors.CaromError(
                f"Spring joins two sites of one link ('{site.name}', '{self.other.name}'); their distance never "
                "changes; take one of another link"
            )
        for field, value in (("stiffness", stiffness), ("length", length), ("damping", damping)):
            errors.number("Spring", field, value, least=0.0)
        self.stiffness, self.length, self.damping = stiffness, length, damping
        self.name = name or f"spring {site.name}"

    @property
    def anatomy(self) -> Anatomy:
        return Anatomy(channels=(Channel("stiffness", "conservative"), Channel("damping", "dissipative")))

    @property
    def report(self) -> Report:
        ends = (self.site, self.point if self.other is None else self.other)
        numbers = ("stiffness", self.stiffness, "N/m"), ("length", self.length, "m"), ("damping", self.damping, "N s/m")
        return Report(words=((self.name, told("Spring", *numbers)),), lines=(Line("spring", ends),))

    def force(self, scene: Scene, own: Own, load: Load) -> Flow:
        ax, ay, avx, avy = self._end(scene, self.site)
        bx, by, bvx, bvy = (*self.point, 0.0, 0.0) if self.other is None else self._end(scene, self.other)
        dx, dy = ax - bx, ay - by
        length = jnp.sqrt(dx * dx + dy * dy)
        nx, ny = dx / length, dy / length
        rate = (avx - bvx) * nx + (avy - bvy) * ny
        pull, drag = self.stiffness * (length - self.length), self.damping * rate
        tension = pull + drag
        scene.push(load, self.site.link, ax, ay, -tension * nx, -tension * ny, self.site)
        if self.other is not None:
            scene.push(load, self.other.link, bx, by, tension * nx, tension * ny, self.other)
        return Flow(powers=(-pull * rate, -drag * rate))

    def _end(self, scene: Scene, site: Site) -> tuple[Any, Any, Any, Any]:
        return scene.site(site)
