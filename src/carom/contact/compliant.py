"""A site against a surface with a compliant law: open, then through the phases of the law, then open again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from .. import errors
from ..hybrid.automaton import NEVER, AbstractAutomaton, Flow, Landing, Own
from ..hybrid.scene import Load, Scene
from ..mechanism import Site
from .friction import AbstractFriction, Frictionless
from .normal import AbstractNormalLaw
from .surfaces import AbstractSurface

OPEN = 0  # phase number; the law's phases follow


class Touching(NamedTuple):
    """Kinematics of a contact: indentation and its rate, sliding velocity, point, normal, tangent."""

    indentation: Any
    rate: Any
    sliding: Any
    x: Any
    y: Any
    normal: tuple[Any, Any]
    tangent: tuple[Any, Any]


class Contact(AbstractAutomaton):
    """A site (with a round tip of `radius` [m], by default a point) against a surface.

    - `normal`: a compliant law such as `JacksonGreen`, `friction`: a friction law
    - forces are reported as they act on the mechanism; sliding is positive along (n_y, -n_x), rightwards on a floor
    """

    site: Site = eqx.field(static=True)
    surface: AbstractSurface
    normal: AbstractNormalLaw
    friction: AbstractFriction
    radius: Any
    name: str = eqx.field(static=True)

    def __init__(
        self,
        site: Site,
        surface: AbstractSurface,
        normal: AbstractNormalLaw,
        friction: AbstractFriction | None = None,
        radius: Any = 0.0,
        name: str | None = None,
    ) -> None:
        if not isinstance(site, Site):
            raise errors.CaromError(
                f"site of Contact is {site!r}; it must come from a mechanism: arm.tip, arm.site('...')"
            )
        for field, value, kind in (
            ("surface", surface, AbstractSurface),
            ("normal", normal, AbstractNormalLaw),
            ("friction", friction or Frictionless(), AbstractFriction),
        ):
            if not isinstance(value, kind):
                raise errors.CaromError(
                    f"{field} of Contact at '{site.name}' is a {type(value).__name__}; see carom.contact"
                )
        errors.number(f"Contact at '{site.name}'", "radius", radius, least=0.0)
        self.site, self.surface, self.normal, self.radius = site, surface, normal, radius
        self.friction = Frictionless() if friction is None else friction
        self.name = name or site.name

    @property
    def phases(self) -> tuple[str, ...]:
        return ("open", *self.normal.phases)

    @property
    def exits(self) -> tuple[str, ...]:
        return ("touch", *self.normal.exits, "release")

    @property
    def memory(self) -> tuple[str, ...]:
        return self.normal.memory

    @property
    def channels(self) -> tuple[str, ...]:
        return ("normal force", "friction")

    def striking(self, phase: Any) -> Any:
        return phase != OPEN

    def touching(self, scene: Scene) -> Touching:
        point = scene.mechanism.numbers.site[self.site.index]
        x, y, vx, vy = scene.point(self.site.link, point[0], point[1])
        nx, ny = self.surface.normal(x, y)
        x, y = x - self.radius * nx, y - self.radius * ny  # the tip's own contact point
        frame = scene.frame(self.site.link)
        vx, vy = vx + frame.rate * self.radius * ny, vy - frame.rate * self.radius * nx
        return Touching(-self.surface.gap(x, y), -(vx * nx + vy * ny), vx * ny - vy * nx, x, y, (nx, ny), (ny, -nx))

    def forces(self, scene: Scene, own: Own) -> tuple[Touching, Any, Any]:
        """Kinematics, normal force and friction force [N]."""
        k = self.touching(scene)
        closed = own.phase != OPEN
        push = jnp.where(closed, self.normal.force(own.phase - 1, own.memory, k.indentation, k.rate), 0.0)
        return k, push, self.friction.force(push, k.sliding)

    def check(self, scene: Scene) -> None:
        depth = float(np.asarray(self.touching(scene).indentation))
        if depth > 1e-12:
            raise errors.CaromError(
                f"contact '{self.name}' starts {depth:g} m inside its surface; a run starts outside; "
                "raise the site, or move the surface"
            )

    def start(self, scene: Scene) -> Own:
        return Own(jnp.asarray(OPEN), tuple(jnp.asarray(m, dtype=float) for m in self.normal.touch(1.0)), ())

    def force(self, scene: Scene, own: Own, load: Load) -> Flow:
        k, push, drag = self.forces(scene, own)
        (nx, ny), (tx, ty) = k.normal, k.tangent
        scene.push(load, self.site.link, k.x, k.y, push * nx + drag * tx, push * ny + drag * ty)
        return Flow(powers=(-push * k.rate, drag * k.sliding))

    def guard(self, scene: Scene, own: Own) -> Sequence[Any]:
        k = self.touching(scene)
        is_open, law = own.phase == OPEN, own.phase - 1
        inner = self.normal.guard(law, own.memory, k.indentation, k.rate)
        release = self.normal.release(law, own.memory, k.indentation)
        return (
            jnp.where(is_open, k.indentation, NEVER),
            *(jnp.where(is_open, NEVER, g) for g in inner),
            jnp.where(is_open, NEVER, release),
        )

    def jump(self, scene: Scene, own: Own, fired: tuple[Any, ...]) -> Landing:
        k = self.touching(scene)
        touch, inner, release = fired[0], fired[1:-1], fired[-1]
        phase, memory = self.normal.jump(inner, own.phase - 1, own.memory, k.indentation)
        first = self.normal.touch(k.rate)
        phase = jnp.where(touch, 1, jnp.where(release, OPEN, phase + 1))
        memory = tuple(jnp.where(touch, f, m) for f, m in zip(first, memory, strict=True))
        return Landing(phase, memory, own.states)
