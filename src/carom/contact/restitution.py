"""The restitution that a compliant law achieves, which is seldom the one that was asked of it."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .. import errors
from ..hybrid.condition import condition_of
from ..quantities import Given, Memory, Real, Reals
from .normal import AbstractNormalLaw

LONGEST = 1e3  # [s] a blow that lasts longer is none


class Rebound(NamedTuple):
    """How a blow of a point mass ends."""

    speed: float  # of the rebound [m/s]
    depth: float  # largest indentation [m]
    duration: float  # [s]
    memory: tuple[float, ...]  # of the law, at release


def achieved_restitution(law: AbstractNormalLaw, speed: Real = 1.0, mass: Real = 1.0) -> float:
    """Speed after over speed before, of a point mass [kg] that strikes at that speed [m/s] and feels nothing else.

    Accurate to 1e-10. Laws that have an energy equation to solve (the family of Hunt and Crossley, Jackson-Green)
    solve it; for any other the motion m d'' = -F(d, d') is integrated, through the phases of the law.
    """
    refuse_strike("achieved_restitution", law, speed, mass)
    exact = law.rebound(float(speed), float(mass))
    return integrated_blow(law, speed, mass).speed / float(speed) if exact is None else exact


def integrated_blow(
    law: AbstractNormalLaw,
    speed: Real = 1.0,
    mass: Real = 1.0,
    *,
    memory: Memory | None = None,
    place: tuple[Real, Real] = (0.0, 0.0),
) -> Rebound:
    """Integrate m d'' = -F(d, d') from touch-down to release; `memory` is what the law remembers of earlier blows."""
    refuse_strike("integrated_blow", law, speed, mass)
    before = law.touch(0.0) if memory is None else memory
    phase, kept = law.meet(jnp.asarray(float(speed)), before, place)
    state = _Walk(law, float(speed), float(mass), int(phase), _floats(kept), float(law.surface(before, place)))
    while not state.released:
        state.advance()
    return Rebound(-state.v, state.depth, state.t, state.memory)


class _Walk:
    """A blow under way: one phase of the law after the other."""

    def __init__(
        self, law: AbstractNormalLaw, speed: float, mass: float, phase: int, memory: tuple[float, ...], d: float
    ) -> None:
        self.law, self.mass, self.phase, self.memory = law, mass, phase, memory
        self.t, self.d, self.v, self.depth = 0.0, d, speed, d
        self.start, self.speed, self.released = d, speed, False
        self.force = jax.jit(law.force)
        self.guards = jax.jit(lambda *x: (*(condition_of(g).value for g in law.guard(*x)), law.release(*x[:-1])))

    def advance(self) -> None:
        """To the next change of phase, or to the end of the blow."""
        from scipy.integrate import solve_ivp  # here, because it loads slowly and few need it

        phase, memory = self.phase, self.memory

        def motion(t: Real, y: Given) -> list[float]:
            return [float(y[1]), -float(self.force(phase, memory, y[0], y[1])) / self.mass]

        out = solve_ivp(
            motion,
            (self.t, LONGEST),
            [self.d, self.v],
            method="DOP853",
            rtol=1e-13,
            atol=[1e-300, 1e-14 * self.speed],  # depths are measured by themselves: their scale is not known before
            first_step=1e-9 if self.t == 0.0 else 1e-3 * self.t,
            events=self._events(),
        )
        (self.t,), (self.d, self.v) = out.t[-1:], (float(x) for x in out.y[:, -1])
        self.depth = max(self.depth, float(np.max(out.y[0])))
        fired = [len(times) > 0 for times in out.t_events]
        if not any(fired):
            raise errors.CaromError(
                f"a blow of {type(self.law).__name__} at {self.speed:g} m/s has not ended after {LONGEST:g} s; the law "
                "must push the body out again; check its force while the body leaves"
            )
        self.released = fired[-1]
        new, kept = self.law.jump(tuple(map(jnp.asarray, fired[:-1])), phase, memory, jnp.asarray(self.d))
        self.phase, self.memory = int(new), _floats(kept)

    def _events(self) -> list[Any]:
        """Guards as SciPy wants them: rising through zero ends the integration."""
        phase, memory = self.phase, self.memory

        def event(k: int) -> Any:
            def guard(t: Real, y: Given) -> float:
                return float(self.guards(phase, memory, y[0], y[1])[k])

            guard.terminal, guard.direction = True, 1.0  # type: ignore[attr-defined]
            return guard

        return [event(k) for k in range(len(self.law.exits) + 1)]


def _floats(values: Reals) -> tuple[float, ...]:
    return tuple(float(x) for x in values)


def refuse_strike(owner: str, law: AbstractNormalLaw, speed: Real, mass: Real) -> None:
    if not isinstance(law, AbstractNormalLaw):
        raise errors.CaromError(
            f"law of {owner} is a {type(law).__name__}; it must be a compliant normal law, such as "
            "carom.HuntCrossley(1e6, 0.8)"
        )
    errors.number(owner, "speed", speed, above=0.0)
    errors.number(owner, "mass", mass, above=0.0)
