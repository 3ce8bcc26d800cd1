"""A pair with a compliant law: open, then through the phases of the law, then open again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from .. import errors
from ..hybrid.automaton import NEVER, AbstractAutomaton, Flow, Landing, Own
from ..hybrid.scene import Load, Scene
from ..mechanism import Site
from .friction import AbstractFriction, Frictionless
from .geometry import AbstractPair, Touching, pair_of
from .normal import AbstractNormalLaw
from .surfaces import AbstractSurface

OPEN = 0  # phase number; the law's phases follow
AT_SURFACE = 1e-12  # [m], and [m] per m/s of approach: nearer than the engine can tell from touching


class Contact(AbstractAutomaton):
    """A site (with a round tip of `radius` [m], by default a point) against a surface or a round body.

    - `against`: a surface, or a site of another link with a round tip of `other_radius` [m]
    - `normal`: a compliant law such as `JacksonGreen`, `friction`: a friction law
    - forces are reported as they act on the mechanism; sliding is positive along (n_y, -n_x), rightwards on a floor
    """

    pair: AbstractPair
    normal: AbstractNormalLaw
    friction: AbstractFriction
    name: str = eqx.field(static=True)

    def __init__(
        self,
        site: Site,
        against: AbstractSurface | Site,
        normal: AbstractNormalLaw,
        friction: AbstractFriction | None = None,
        radius: Any = 0.0,
        other_radius: Any = 0.0,
        name: str | None = None,
    ) -> None:
        self.pair = pair_of("Contact", site, against, radius, other_radius)
        self.name = name or self.pair.name
        self.friction = Frictionless() if friction is None else friction
        self.normal = normal
        for field, value, kind in (
            ("normal", normal, AbstractNormalLaw),
            ("friction", self.friction, AbstractFriction),
        ):
            if not isinstance(value, kind):
                raise errors.CaromError(
                    f"{field} of contact '{self.name}' is a {type(value).__name__}; it must be a {field} law"
                )

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
        return self.pair.touching(scene)

    def forces(self, scene: Scene, own: Own) -> tuple[Touching, Any, Any]:
        """Kinematics, normal force and friction force [N]."""
        k = self.touching(scene)

        def closed() -> tuple[Any, Any]:
            push = self.normal.force(own.phase - 1, own.memory, k.indentation, k.rate)
            return push, self.friction.force(push, k.sliding)

        # A branch, not a selection: most of a run is flight, and laws are dear.
        zero = jnp.zeros_like(k.indentation)
        push, drag = jax.lax.cond(own.phase != OPEN, closed, lambda: (zero, zero))
        return k, push, drag

    def overlaps(self, scene: Scene) -> dict[str, Any]:
        return {self.name: self.touching(scene).indentation}

    def start(self, scene: Scene) -> Own:
        # At the surface and not leaving it: closed from the start, because a guard that starts at zero does not fire.
        k = self.touching(scene)
        closed = (k.indentation >= -AT_SURFACE * (1.0 + jnp.abs(k.rate))) & (k.rate >= 0.0)
        memory = self.normal.touch(jnp.where(closed, k.rate, 1.0))
        return Own(jnp.where(closed, OPEN + 1, OPEN), tuple(jnp.asarray(m, dtype=float) for m in memory), ())

    def force(self, scene: Scene, own: Own, load: Load) -> Flow:
        k, push, drag = self.forces(scene, own)
        self.pair.push(scene, load, k, push, drag)
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
