"""Where within a step an exit may have been met, from its values and rates at a few instants (_seen.py says how)."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ..quantities import Flags, Real, Vector
from ._locate import Asked
from .condition import BEAT, TURNS, Watch

NODES = (0.25, 0.5, 0.75)
PART = 0.25  # between two of them
ENOUGH = 0.99  # of a step: a cut to more than this is none
SAFETY = 0.25  # of the whole step's error is taken as that of a quarter; a smooth function's is 1/256 of it


class Limits(NamedTuple):
    """What the condition of an exit compares with."""

    slow: Any
    deep: Any
    floor: Any
    rounding: Any


class Exit(NamedTuple):
    """An exit, or a family of them, over a step."""

    ends: tuple[Any, Any, Any, Any]  # value and rate where it begins, value and rate where it ends
    inner: tuple[Any, Any]  # values and rates at the instants in between
    sure: tuple[Any, Any] | None  # the same of `Watch.sure`, first and in between
    limits: Limits
    look: Watch


def limits_of(k: Asked, i: int) -> Limits:
    return Limits(k.slow[i], k.deep[i], k.floor[i], k.rounding[i])


def doubt_of_family(exit: Exit, edge: bool, span: Real) -> tuple[Any, Any]:
    """The same for all exits of a family at once."""
    size = len(exit.ends[0])
    look = jax.tree.map(lambda x: jnp.broadcast_to(jnp.asarray(x, dtype=float), (size,)), exit.look)
    spread = exit._replace(look=look)
    behind = lambda pair: None if pair is None else (0, 1)  # noqa: E731
    axes = Exit((0,) * 4, (1, 1), behind(exit.sure), Limits(0, 0, 0, 0), jax.tree.map(lambda _: 0, look))
    return jax.vmap(lambda one: doubt_of(one, edge, span), in_axes=(axes,))(spread)


def doubt_of(exit: Exit, edge: bool, span: Real) -> tuple[Any, Any]:
    """Fraction of the step at which an exit may first have been met; is it so because the step is too long to tell?"""
    (v0, r0, v1, r1), (values, rates), k, w = exit.ends, exit.inner, exit.limits, exit.look
    value, slope = _joined(v0, values, v1), _joined(r0, rates, r1) * span
    # Between two instants: what the coordinates sweep, and what the surface swings by itself.
    swung = w.swing * jnp.minimum(1.0, 0.5 * w.beat * PART * span)
    inner = _at_once(k, edge, values, rates)
    # What begins above zero is met by its rate alone: one that moves it by less than rounding is none.
    inner = inner & ((v0 <= k.rounding) | (rates * span > k.rounding))
    level = doubted(k, v0)
    sure = value if exit.sure is None else _joined(exit.sure[0], exit.sure[1], w.sure)
    found = _first_doubt(value, slope, sure, PART * w.sweep * span + 2.0 * swung, level, inner)
    # What turns round or swings between two of the instants is first cut to what they can tell.
    coarse = (w.sweep * span > TURNS * w.bend) | (w.beat * span > BEAT)
    safe = _safe(sure, w, span)
    coarse = coarse & (safe < ENOUGH)
    return jnp.where(coarse, safe, found), coarse


def _at_once(k: Limits, edge: bool, value: Real, rate: Real) -> Any:
    """Is the condition true at an inner instant? An edge would have to be clearly beyond zero."""
    if edge:
        return (value > k.rounding) & (rate > 0.0)
    clear = (value > k.rounding) & (rate > jnp.maximum(k.slow, 0.0))
    return clear | ((value > k.deep) & (rate > jnp.maximum(k.floor, 0.0)))


def doubted(k: Limits, first: Real) -> Any:
    """The value above which an exit may have been met between two instants.

    One that is above zero when the step begins, and was not met there for its rate, is met beyond its depth alone.
    """
    return jnp.where(first > k.rounding, jnp.maximum(k.deep, k.rounding), k.rounding)


def _joined(first: Real, inner: Vector, last: Real) -> Any:
    """Numbers at all instants of a step, its ends included."""
    return jnp.concatenate([jnp.reshape(first, (1,)), inner, jnp.reshape(last, (1,))])


def _safe(value: Vector, w: Watch, span: Real) -> Any:
    """Fraction of the step up to which the sweep excludes a meeting, or within which the instants can tell."""
    apart = value[:-1] + value[1:] + w.sweep * span * PART + 2.0 * w.swing < 0.0
    begin = jnp.asarray((0.0, *NODES))
    clear = jnp.min(jnp.where(apart, 1.0, begin))
    whole, pace = jnp.where(span > 0.0, span, 1.0), jnp.where(w.sweep > 0.0, w.sweep, 1e-300)
    fine = jnp.minimum(TURNS * w.bend / pace, BEAT / jnp.where(w.beat > 0.0, w.beat, 1e-300))
    straight = (-value[0] - w.swing) / pace
    return jnp.maximum(clear, jnp.maximum(fine, straight) / whole)


def _first_doubt(value: Vector, slope: Vector, sure: Vector, sweep: Real, level: Real, met: Flags) -> Any:
    """Fraction of the step at which an exit may first have been met; 1 if nowhere. Rates are per step.

    `met` says at which inner instants it is, `sure` how far it is at least at all instants.
    """
    inner = jnp.asarray(NODES)
    whole = hermite(value[0], slope[0], value[-1], slope[-1], inner)
    error = SAFETY * jnp.max(jnp.abs(value[1:-1] - whole))
    x = _part_doubt(value[:-1], slope[:-1] * PART, value[1:], slope[1:] * PART, error, level)
    x = jnp.where(sure[:-1] + sure[1:] + sweep < 0.0, 1.0, x)
    begin = jnp.asarray((0.0, *NODES))
    doubts = jnp.where(x < 1.0, begin + PART * x, 1.0)
    return jnp.minimum(jnp.min(doubts), jnp.min(jnp.where(met, inner, 1.0)))


def hermite(v0: Real, a: Real, v1: Real, b: Real, x: Real) -> Any:
    c3, c2 = 2.0 * (v0 - v1) + a + b, 3.0 * (v1 - v0) - 2.0 * a - b
    return v0 + x * (a + x * (c2 + x * c3))


def _part_doubt(v0: Real, a: Real, v1: Real, b: Real, error: Real, level: Real) -> Any:
    """Fraction at which a cubic may reach a level between its ends, at which it does not; 1 if it cannot.

    The error of an interpolation through values and rates is E 16 x^2 (1-x)^2: of the five coefficients of degree four,
    only the one in the middle feels it.
    """
    b1, b2 = v0 + a / 3.0, v1 - b / 3.0
    clear = (0.25 * v0 + 0.75 * b1 < level) & (0.25 * v1 + 0.75 * b2 < level)
    clear = clear & (0.5 * (b1 + b2) + 16.0 / 6.0 * error < level)
    hump = (a > 0.0) & (b < 0.0)
    tangents = v0 + a * (v1 - v0 - b) / jnp.where(hump, a - b, 1.0)
    clear = clear & ~(hump & (tangents > level))
    peak = peak_of(v0, a, v1, b)
    # A peak at an end, or none: the middle. (Rising all the way to an end where it is not met, it is not met before,
    # unless that end is just its top: there it rises no more.)
    monotonic = (a >= 0.0) & (b >= 0.0) & (v1 >= v0) & (error < 0.1 * (v1 - v0)) & ((b > 0.0) | (v1 <= level))
    falling = (a <= 0.0) & (b <= 0.0) & (v1 <= v0) & (error < 0.1 * (v0 - v1))
    x = jnp.where((peak > 0.02) & (peak < 0.98), peak, 0.5)
    return jnp.where(clear | monotonic | falling, 1.0, x)


def peak_of(v0: Real, a: Real, v1: Real, b: Real) -> Any:
    """Where a cubic has its local maximum; 1 if it has none."""
    c3, c2 = 2.0 * (v0 - v1) + a + b, 3.0 * (v1 - v0) - 2.0 * a - b
    # 3 c3 x^2 + 2 c2 x + a = 0, the root at which the slope falls, written without cancellation
    square = c2 * c2 - 3.0 * c3 * a
    root = jnp.sqrt(jnp.maximum(square, 0.0))
    low = -c2 + root
    x = jnp.where(c2 < 0.0, a / jnp.where(low == 0.0, 1.0, low), (-c2 - root) / jnp.where(c3 == 0.0, 1.0, 3.0 * c3))
    return jnp.where((square <= 0.0) | ((c2 >= 0.0) & (c3 == 0.0)), 1.0, x)
