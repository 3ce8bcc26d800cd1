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
ROUNDING = 1e-12  # of a guard's value, in its own unit, where nothing else tells its sign
CUBIC_STEPS = 9  # of Newton on a cubic: from the tangent at its end to the zero of a long parabola
SETTLED = 1e-3  # last correction of that Newton, as a share of the way from the end
FAR_OFF = 0.1  # share of the way from the end by which the tangent's estimate may differ from the cubic's
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
    """How far from zero a guard cannot be told from zero: what it moves within the resolution of time."""
    return 4.0 * resolution * jnp.abs(rate)


def clearly_negative(g: Guards, resolution: Any, spent: tuple[Any, ...]) -> tuple[Any, ...]:
    """Below zero beyond the blur, or at zero and on the way down.

    The second part matters after a jump: a ball that has just rebounded sits at gap zero, and the next step may span
    its whole flight. Guards that are `spent` were at zero when the jump came: unless it moved them, what is left is
    rounding, which no rate tells from a small negative value.
    """
    out = []
    for v, r, s in zip(g.value, g.rate, spent, strict=True):
        margin = blur(r, resolution) + jnp.where(s, ROUNDING, 0.0)
        out.append((v < -margin) | ((v <= margin) & (r < 0.0)))
    return tuple(out)


def above_zero(g: Guards, resolution: Any) -> tuple[Any, ...]:
    """Non-negative and rising, or beyond the blur whichever way it goes."""
    return tuple((v > blur(r, resolution)) | ((v >= 0.0) & (r > 0.0)) for v, r in zip(g.value, g.rate, strict=True))


def at_zero(g: Guards, resolution: Any) -> tuple[Any, ...]:
    """Above zero, or rising and no longer clearly negative: nothing lies between armed and fired."""
    return tuple(
        up | ((v >= -blur(r, resolution)) & (r > 0.0))
        for up, v, r in zip(above_zero(g, resolution), g.value, g.rate, strict=True)
    )


def crossed(armed: tuple[Any, ...], g: Guards, resolution: Any) -> tuple[Any, ...]:
    """Armed guards whose zero lies clearly before the end of the step."""
    return tuple(on & (v > blur(r, resolution)) for on, v, r in zip(armed, g.value, g.rate, strict=True))


def first_zero(armed: tuple[Any, ...], start: Guards, end: Guards, span: Any, past: tuple[Any, ...]) -> Any:
    """When the first armed guard is zero, counted from the end of the step (negative: before).

    Newton's estimate, or the middle of the step for a guard that has crossed but whose tangent does not say where; if
    that lies within the step, it is mended on the cubic through both ends. A gap in free fall is such a cubic, so that
    the longest flight is landed at once.
    """
    ahead: Any = jnp.asarray(jnp.inf)
    chosen: tuple[Any, ...] = (jnp.asarray(0.0),) * 4
    ends = zip(start.value, start.rate, end.value, end.rate, strict=True)
    for on, (v0, r0, value, rate), gone in zip(armed, ends, past, strict=True):
        usable = (rate > 0.0) & (value < rate * span)
        guess = jnp.where(usable, -value / jnp.where(usable, rate, 1.0), jnp.where(gone, -0.5 * span, jnp.inf))
        nearer = on & (guess < ahead)
        ahead = jnp.where(nearer, guess, ahead)
        chosen = tuple(jnp.where(nearer, new, old) for new, old in zip((v0, r0, value, rate), chosen, strict=True))
    # A branch, not a selection: most steps end before any zero.
    within = (ahead < 0.0) & (span > 0.0)
    return jax.lax.cond(within, _on_cubic, lambda ends, span, ahead: ahead, chosen, span, ahead)


def _on_cubic(ends: tuple[Any, ...], span: Any, ahead: Any) -> Any:
    """A zero of the cubic with these values and rates at its ends, by Newton from an estimate within the step."""
    v0, r0, v1, r1 = ends
    a, b = r0 * span, r1 * span
    c3, c2 = 2.0 * (v0 - v1) + a + b, 3.0 * (v1 - v0) - 2.0 * a - b
    x, last = 1.0 + ahead / jnp.where(span > 0.0, span, 1.0), jnp.asarray(1.0)
    for _ in range(CUBIC_STEPS):
        value, slope = v0 + x * (a + x * (c2 + x * c3)), a + x * (2.0 * c2 + 3.0 * x * c3)
        last = jnp.where(slope > 0.0, value / jnp.where(slope > 0.0, slope, 1.0), 1.0)
        x = x - last
    # Where the cubic has no such zero, hardly crosses it (a graze), or says the same, the estimate stands: near a zero
    # Newton on the guard itself is better, and two guards that cross together are not told apart by rounding.
    mended = (x - 1.0) * span
    settled = jnp.abs(last) < SETTLED * (1.0 - x)
    better = (x > 0.0) & (x < 1.0) & settled & (jnp.abs(ahead - mended) > FAR_OFF * jnp.abs(mended))
    return jnp.where(better, mended, ahead)


def hidden_peak(armed: tuple[Any, ...], start: Guards, end: Guards, span: Any, resolution: Any) -> Any:
    """Fraction of the step at which a guard may have come up to zero before the end; 1 if none.

    Value and rate at both ends make every guard a cubic in time. Its peak is worth a look (the step is shortened to end
    there, and the guard's true sign decides) if the guard rises at the start, falls at the end, and the tangents at the
    ends meet above zero: a guard that is concave, however sharply bent, cannot cross without that. Or, for any other
    shape, if the cubic's peak is above -1 % of the guard's value at the ends.
    """
    where = jnp.asarray(1.0)
    for on, v0, r0, v1, r1 in zip(armed, start.value, start.rate, end.value, end.rate, strict=True):
        a, b = r0 * span, r1 * span
        c3, c2 = 2.0 * (v0 - v1) + a + b, 3.0 * (v1 - v0) - 2.0 * a - b
        # 3 c3 x^2 + 2 c2 x + a = 0, the root at which the slope falls, written without cancellation
        square = c2 * c2 - 3.0 * c3 * a
        root = jnp.sqrt(jnp.maximum(square, 0.0))
        low = -c2 + root
        x = jnp.where(c2 < 0.0, a / jnp.where(low == 0.0, 1.0, low), (-c2 - root) / jnp.where(c3 == 0, 1.0, 3.0 * c3))
        x = jnp.where((c2 >= 0.0) & (c3 == 0), 1.0, x)
        peak = v0 + x * (a + x * (c2 + x * c3))
        near = (peak > -0.01 * jnp.maximum(jnp.abs(v0), jnp.abs(v1))) & (x > 0.02) & (x < 0.98)
        hump = (a > 0.0) & (b < 0.0)
        tangents = v0 + a * (v1 - v0 - b) / jnp.where(hump, a - b, 1.0)
        inside = (square > 0.0) & (x * span > resolution) & ((1.0 - x) * span > resolution)
        found = on & inside & (near | (hump & (tangents > ROUNDING)))
        where = jnp.where(found, jnp.minimum(where, x), where)
    return where
