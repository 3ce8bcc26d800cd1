"""Events: which conditions of the product hold, and where within a step the first of them became true.

The rule (docs/events.md): between two instants, one at which no condition holds and one at which some do, the step is
tried again with other lengths until both are one width of time apart. A guard's value and rate only propose where to
try; whether something happened is what the conditions say there. Nothing depends on the last bits of a guard.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ..quantities import Memories, Phases, Real
from ._flow import scene_with_motion
from .condition import ULP, Condition, any_of, condition_of
from .scene import Continuous
from .world import World, owns

CUBIC_STEPS = 9  # of Newton on a cubic: from the tangent at its end to the zero of a long parabola
BEHIND = 1 / 16  # of a rounding
SETTLED = 1e-3  # last correction of that Newton, as a share of the way from the end


class Ends(NamedTuple):
    """Value and rate of every exit at one end of a step."""

    value: tuple[Any, ...]
    rate: tuple[Any, ...]


class Asked(NamedTuple):
    """All conditions at one instant: value, rate and thresholds of every exit."""

    ends: Ends
    slow: tuple[Any, ...]
    deep: tuple[Any, ...]
    floor: tuple[Any, ...]
    rounding: tuple[Any, ...]
    edge: tuple[bool, ...]


def conditions_of(world: World, t: Real, y: Continuous, phases: Phases, memory: Memories) -> list[Condition]:
    """The condition of every exit, in the order of `world.events`."""
    scene = scene_with_motion(world, t, y, phases, memory)
    out: list[Condition] = []
    for automaton, own in zip(world.automata, owns(y, phases, memory), strict=True):
        out += [condition_of(given) for given in automaton.guard(scene, own)]
    return out


def ask(world: World, t: Real, y: Continuous, rate: Continuous, phases: Phases, memory: Memories) -> Asked:
    """All conditions, with rates along the motion."""
    kinds: list[bool] = []

    def values(t: Real, y: Continuous) -> tuple[Any, Any]:
        found = conditions_of(world, t, y, phases, memory)
        kinds.extend(c.edge for c in found)
        alike = [_alike(c) for c in found]
        numbers = [tuple(jnp.asarray(x, dtype=float) for x in column) for column in zip(*alike, strict=True)]
        value, *rest = numbers if found else [(), (), (), (), ()]
        return value, jax.lax.stop_gradient(tuple(rest))

    value, slope, rest = jax.jvp(values, (t, y), (jnp.ones_like(t), rate), has_aux=True)
    slow, deep, floor, rounding = rest
    return Asked(Ends(value, slope), slow, deep, floor, rounding, tuple(kinds))


def _alike(c: Condition) -> tuple[Any, ...]:
    """Numbers of a condition; of a family, each as an array over its exits."""
    shape = jnp.shape(c.value)
    return tuple(jnp.broadcast_to(x, shape) for x in c[:5]) if shape else tuple(c[:5])


def width_of(t: Real) -> Any:
    """Instants nearer to each other than this [s] are not told apart: the last bits of time."""
    return 4.0 * ULP * jnp.abs(t)


def in_sight(k: Asked, width: Real) -> list[Any]:
    """Which conditions may be true, or nearly so, or just no more: of all others `_landing` need not ask.

    What is not a number is in sight.
    """
    return [
        ~((v < -_margin(k, i, width)) & ~(v > deep))
        for i, (v, deep) in enumerate(zip(k.ends.value, k.deep, strict=True))
    ]


def holding(k: Asked, armed: tuple[Any, ...], width: Real) -> tuple[Any, ...]:
    """Which conditions are true."""
    out = []
    for i, (v, r) in enumerate(zip(*k.ends, strict=True)):
        deep = _margin(k, i, width) if k.edge[i] else k.deep[i]
        met = ((v >= 0.0) & (r > k.slow[i])) | ((v > deep) & (r > k.floor[i]))
        out.append(met & armed[i] if k.edge[i] else met)
    return tuple(out)


def _margin(k: Asked, i: int, width: Real) -> Any:
    """What an edge may be away from zero right after it was met there."""
    return 2.0 * k.rounding[i] + 2.0 * width * jnp.abs(k.ends.rate[i])


def together(k: Asked, armed: tuple[Any, ...], true: tuple[Any, ...], width: Real) -> tuple[Any, ...]:
    """Conditions that are true, or will be within a width or their own rounding: what is served at one instant.

    An edge that is not served now is armed by what is left (`arming`): nothing lies between the two.
    """
    out = []
    for i, (v, r) in enumerate(zip(*k.ends, strict=True)):
        soon = (v >= -_margin(k, i, width)) & (r > jnp.maximum(k.slow[i], 0.0))
        out.append(true[i] | (soon & armed[i] if k.edge[i] else soon))
    return tuple(out)


def topped(start: Ends, k: Asked) -> tuple[Any, ...]:
    """Conditions that were met since the step began, and are so no more: clearly negative then, clearly positive now.

    At the very crest of a graze nothing grows. Whoever looks there must look back.
    """
    out = []
    for i, (v0, v1, r1) in enumerate(zip(start.value, *k.ends, strict=True)):
        far = jnp.maximum(jnp.where(jnp.isfinite(k.deep[i]), k.deep[i], 0.0), 2.0 * k.rounding[i])
        rises = jnp.isfinite(k.slow[i]) & (k.rounding[i] > 0.0) & (not k.edge[i])
        still = r1 <= jnp.where(jnp.isfinite(k.deep[i]), k.floor[i], k.slow[i])
        out.append(rises & (v0 < -k.rounding[i]) & (v1 > far) & still)
    return tuple(out)


def arming(k: Asked, width: Real) -> tuple[Any, ...]:
    """Edges that may fire from now on: clearly negative, or at zero and on the way down (as after a rebound)."""
    out = []
    for i, (v, r) in enumerate(zip(*k.ends, strict=True)):
        margin = _margin(k, i, width)
        out.append((v < -margin) | ((v <= margin) & (r < 0.0)) if k.edge[i] else jnp.asarray(False))
    return tuple(out)


def just_now(k: Asked, true: tuple[Any, ...], width: Real) -> Any:
    """Did every true condition become so within the last width, as its tangent says?"""
    recent = jnp.asarray(True)
    for v, r, behind, on in zip(*k.ends, _behind(k), true, strict=True):
        new = ~on | ((r > 0.0) & (v <= r * width + 2.0 * behind))
        recent = recent & (jnp.all(new) if jnp.ndim(new) else new)
    return recent


def _behind(k: Asked) -> list[Any]:
    """How far beyond zero a condition is shot at, so that it holds there in spite of rounding.

    Edges are not: their rounding is a guess, and what is searched to the last bits of time needs none.
    """
    return [jnp.zeros_like(r) if edge else BEHIND * r for r, edge in zip(k.rounding, k.edge, strict=True)]


def turned(start: Ends, k: Asked, true: tuple[Any, ...], span: Real, low: Real) -> Any:
    """When the first of the true conditions became so: an estimate, as a length of the step.

    From the tangent at the end, mended on the cubic through both ends of the step. A gap in free fall is such a cubic,
    so that the longest flight is landed at once. Where neither says anything, the middle of what is not known. A part
    of the rounding is added, so that the condition holds there.
    """
    first: Any = span
    chosen: tuple[Any, ...] = (jnp.zeros_like(span),) * 5
    for v0, r0, v1, r1, behind, on in zip(*start, *k.ends, _behind(k), true, strict=True):
        pace = jnp.where(r1 > 0.0, r1, 1.0)
        tangent = span - v1 / pace
        guess = jnp.where((r1 > 0.0) & (tangent > low), tangent, 0.5 * (low + span))
        ours: Sequence[Any] = (v0, r0, v1, r1, behind / pace)
        if jnp.ndim(guess):  # of a family, the first
            at = jnp.argmin(jnp.where(on, guess, jnp.inf))
            on, guess, *ours = (x[at] for x in (on, guess, *ours))
        nearer = on & (guess <= first)
        first = jnp.where(nearer, guess, first)
        chosen = tuple(jnp.where(nearer, new, old) for new, old in zip(ours, chosen, strict=True))
    # A branch, not a selection: most attempts meet nothing.
    mend = any_of(true) & (span > 0.0)
    return jax.lax.cond(mend, _on_cubic, lambda ends, span, guess: guess, chosen[:4], span, first) + chosen[4]


def _on_cubic(ends: tuple[Any, ...], span: Real, guess: Real) -> Any:
    """A zero of the cubic with these values and rates at its ends, by Newton from an estimate within the step."""
    v0, r0, v1, r1 = ends
    a, b = r0 * span, r1 * span
    c3, c2 = 2.0 * (v0 - v1) + a + b, 3.0 * (v1 - v0) - 2.0 * a - b
    x, last = guess / jnp.where(span > 0.0, span, 1.0), jnp.asarray(1.0)
    for _ in range(CUBIC_STEPS):
        value, slope = v0 + x * (a + x * (c2 + x * c3)), a + x * (2.0 * c2 + 3.0 * x * c3)
        last = jnp.where(slope > 0.0, value / jnp.where(slope > 0.0, slope, 1.0), 1.0)
        x = x - last
    settled = jnp.abs(last) < SETTLED * jnp.maximum(1.0 - x, x)
    return jnp.where((x > 0.0) & (x < 1.0) & settled, x * span, guess)


def ahead(k: Asked, span: Real, high: Real) -> Any:
    """When the next condition will become true, by its tangent, if that is before `high`; else infinity."""
    first: Any = jnp.asarray(jnp.inf)
    for v, r, behind in zip(*k.ends, _behind(k), strict=True):
        coming = span + (behind - v) / jnp.where(r > 0.0, r, 1.0)
        nearer = (v < 0.0) & (r > 0.0) & (coming < high)
        if jnp.ndim(nearer):
            first = jnp.minimum(first, jnp.min(jnp.where(nearer, coming, jnp.inf)))
        else:
            first = jnp.where(nearer, jnp.minimum(first, coming), first)
    return first
