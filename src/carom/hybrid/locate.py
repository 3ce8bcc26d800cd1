"""Events: guards of the product, and where within a step the first of them crosses zero.

The rule (docs/events.md): a guard fires at the first instant at which it is non-negative after having been *armed*,
that is, clearly negative since the last jump of its automaton.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from .flow import scene_with_motion
from .scene import State
from .world import World, owns

# An instant is exact to this many seconds, or to the last bits of t.
RESOLUTION = 1e-14
ROUNDING = 1e-15  # of a guard's value, in its own unit
LAST_BITS = 4 * float(jnp.finfo(jnp.float64).eps)


class Guards(NamedTuple):
    """Value and rate of every guard."""

    value: tuple[Any, ...]
    rate: tuple[Any, ...]


def guard_values(world: World, t: Any, y: State, phases: Any, memory: Any) -> tuple[Any, ...]:
    scene = scene_with_motion(world, t, y, phases, memory)
    out: list[Any] = []
    for automaton, own in zip(world.automata, owns(y, phases, memory), strict=True):
        out += list(automaton.guard(scene, own))
    return tuple(jnp.asarray(g, dtype=float) for g in out)


def guards(world: World, t: Any, y: State, rate: State, phases: Any, memory: Any) -> Guards:
    """Values, and their rates along the motion."""

    def values(t: Any, y: State) -> tuple[Any, ...]:
        return guard_values(world, t, y, phases, memory)

    return Guards(*jax.jvp(values, (t, y), (jnp.ones_like(t), rate)))


def time_resolution(t: Any) -> Any:
    return jnp.maximum(RESOLUTION, LAST_BITS * jnp.abs(t))


def blur(rate: Any, resolution: Any) -> Any:
    """How far from zero a guard cannot be told from zero: rounding, and motion within the resolution of time."""
    return ROUNDING + 4.0 * resolution * jnp.abs(rate)


def clearly_negative(g: Guards, resolution: Any) -> tuple[Any, ...]:
    """Below zero beyond the blur, or at zero and on the way down.

    The second part matters after a jump: a ball that has just rebounded sits at gap zero, and the next step may span
    its whole flight.
    """
    return tuple(
        (v < -blur(r, resolution)) | ((v <= blur(r, resolution)) & (r < 0.0))
        for v, r in zip(g.value, g.rate, strict=True)
    )


def above_zero(g: Guards, resolution: Any) -> tuple[Any, ...]:
    """Non-negative and rising, or beyond the blur whichever way it goes."""
    return tuple((v > blur(r, resolution)) | ((v >= 0.0) & (r > 0.0)) for v, r in zip(g.value, g.rate, strict=True))


def at_zero(g: Guards, resolution: Any) -> tuple[Any, ...]:
    """Above zero, or about to be within the resolution of time."""
    return tuple(
        up | ((v >= -resolution * r) & (r > 0.0))
        for up, v, r in zip(above_zero(g, resolution), g.value, g.rate, strict=True)
    )


def first_zero(armed: tuple[Any, ...], g: Guards, span: Any) -> Any:
    """Newton's estimate of when the first armed guard is zero, counted from the end of the step (negative: before)."""
    ahead = jnp.asarray(jnp.inf)
    for on, value, rate in zip(armed, g.value, g.rate, strict=True):
        usable = on & (rate > 0.0)
        guess = -value / jnp.where(usable, rate, 1.0)
        inside = usable & (guess > -span)
        ahead = jnp.where(inside, jnp.minimum(ahead, guess), ahead)
    return ahead


def hidden_peak(armed: tuple[Any, ...], start: Guards, end: Guards, span: Any) -> Any:
    """Fraction of the step at which a guard, negative at both ends, may have come up to zero in between; 1 if none.

    Every guard is a cubic in time given by value and rate at both ends. A peak of it above -1 % of the guard's range in
    the step is worth a look: the step is shortened to end there, and the guard's true sign decides.
    """
    where = jnp.asarray(1.0)
    for on, v0, r0, v1, r1 in zip(armed, start.value, start.rate, end.value, end.rate, strict=True):
        candidate = on & (v0 < 0.0) & (v1 < 0.0) & (r0 > 0.0) & (r1 < 0.0)
        a, b = r0 * span, r1 * span
        c3, c2 = 2.0 * (v0 - v1) + a + b, 3.0 * (v1 - v0) - 2.0 * a - b
        # 3 c3 x^2 + 2 c2 x + a = 0, a > 0, with exactly one root in (0, 1): the one written without cancellation
        root = jnp.sqrt(jnp.maximum(c2 * c2 - 3.0 * c3 * a, 0.0))
        low = -c2 + root
        x = jnp.where(c2 < 0.0, a / jnp.where(low == 0.0, 1.0, low), (-c2 - root) / jnp.where(c3 == 0, 1.0, 3.0 * c3))
        x = jnp.where((c2 >= 0.0) & (c3 == 0), 1.0, x)
        peak = v0 + x * (a + x * (c2 + x * c3))
        near = peak > -0.01 * jnp.maximum(jnp.abs(v0), jnp.abs(v1))
        found = candidate & near & (x > 0.02) & (x < 0.98)
        where = jnp.where(found, jnp.minimum(where, x), where)
    return where
