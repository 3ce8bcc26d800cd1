"""What comes and goes within a step: nothing may pass unseen between two instants.

Conditions are asked where steps end. A step counts only if every exit is shown not to have been met in between:

1. *Too far.* A gap that is larger, at both ends together, than what the coordinates can sweep in the step, stays open.
2. *One sign.* Otherwise the exit is looked at in inner instants, where the motion follows from both ends (q, v and
   accelerations: a polynomial of degree five). Between neighbouring instants it is a cubic up to an error that the
   cubic over the whole step shows; if all its Bernstein coefficients, and the meeting point of its tangents, stay
   negative beyond that error, it is never met there.
3. *Look, or cut.* Otherwise the step is shortened to the place where the exit may have been met, and its true value
   there decides. What swings is first cut to a fraction of its period, so that inner instants see the swing.

Exits that depend on velocities or forces are looked at through the cubic of both ends alone: the error control of the
solver has resolved them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ..quantities import Coordinates, Flag, Flags, Memories, Phases, Real, Reals, Vector
from ._carry import Carry
from ._locate import Asked, Ends
from .condition import BEAT, TURNS, Watch, any_of
from .scene import Continuous
from .world import World, owns, scene_of

NODES = (0.25, 0.5, 0.75)
PART = 0.25  # between two of them
ENOUGH = 0.99  # of a step: a cut to more than this is none
SAFETY = 0.25  # of the whole step's error is taken as that of a quarter; a smooth function's is 1/256 of it


def fastest(before: Continuous, after: Continuous, rate0: Coordinates, rate1: Coordinates, span: Real) -> Any:
    """Largest speed of every coordinate in the step: the coefficients of its cubic bound it."""
    third = span / 3.0

    def bound(v0: Any, v1: Any, a0: Any, a1: Any) -> Any:
        inner = jnp.maximum(jnp.abs(v0 + third * a0), jnp.abs(v1 - third * a1))
        return jnp.maximum(jnp.maximum(jnp.abs(v0), jnp.abs(v1)), inner)

    if not isinstance(before.v, tuple):
        return bound(before.v, after.v, rate0, rate1)
    return [bound(*each) for each in zip(before.v, after.v, rate0, rate1, strict=True)]


def watched(
    world: World,
    t: Real,
    y: Continuous,
    phases: Phases,
    memory: Memories,
    speeds: Reals | None = None,
    span: Real = 0.0,
) -> list[Watch | None]:
    """Every exit that time and coordinates alone decide."""
    scene = scene_of(world, t, y, phases)
    scene.fastest, scene.span = speeds, span
    out: list[Watch | None] = []
    for automaton, own in zip(world.automata, owns(y, phases, memory), strict=True):
        out += list(automaton.watch(scene, own))
    return out


def unseen(
    world: World,
    c: Carry,
    t: Real,
    y: Continuous,
    rate: Continuous,
    span: Real,
    start: Ends,
    end: Asked,
    look: list[Watch | None],
) -> tuple[Any, Any]:
    """Length of a shorter step that has to be tried because something may have been met; infinity if nothing was.

    Also the same for what the step is too long to tell about: that comes before anything that was met at its end.
    `c` has the beginning of the step: t, y, rate, phases, memory, armed.
    """
    armed = [on if kind else jnp.asarray(True) for on, kind in zip(c.armed, end.edge, strict=True)]
    hidden = hidden_peak(armed, start, end, look, span)
    seen = [(i, w) for i, w in enumerate(look) if w is not None]
    if not seen:
        return hidden, jnp.full_like(span, jnp.inf)
    near = [armed[i] & ~_far(start.value[i], end.ends.value[i], w, span) for i, w in seen]
    inside = jax.lax.cond(
        any_of(near),
        lambda: _inside(world, c, t, y, rate, span, start, end, look, near),
        lambda: (jnp.full_like(span, jnp.inf),) * 2,
    )
    return jnp.minimum(hidden, inside[0]), inside[1]


def _far(first: Real, last: Real, w: Watch, span: Real) -> Any:
    """Too far at both ends for what can be swept in between."""
    if w.sure is not None:  # at the end alone, which is not farther from anything in between than all that is swept
        return w.sure + w.sweep * span + w.swing < 0.0
    return first + last + w.sweep * span + 2.0 * w.swing < 0.0


def _between(
    before: Continuous, after: Continuous, rate0: Coordinates, rate1: Coordinates, h: Real, x: Real
) -> tuple[Any, Any]:
    """Coordinates and velocities at the fraction x of a step, from both ends and their accelerations."""
    s = x**3 * (10.0 - 15.0 * x + 6.0 * x**2)
    b0, b1 = x - 6.0 * x**3 + 8.0 * x**4 - 3.0 * x**5, -4.0 * x**3 + 7.0 * x**4 - 3.0 * x**5
    c0, c1 = 0.5 * x**2 * (1.0 - x) ** 3, 0.5 * x**3 * (1.0 - x) ** 2
    ds = 30.0 * x**2 * (1.0 - x) ** 2
    d0, d1 = 1.0 - 18.0 * x**2 + 32.0 * x**3 - 15.0 * x**4, -12.0 * x**2 + 28.0 * x**3 - 15.0 * x**4
    e0, e1 = x - 4.5 * x**2 + 6.0 * x**3 - 2.5 * x**4, 1.5 * x**2 - 4.0 * x**3 + 2.5 * x**4
    still = jnp.where(h > 0.0, h, 1.0)

    def place(q0: Real, q1: Real, v0: Real, v1: Real, a0: Real, a1: Real) -> Any:
        return q0 + (q1 - q0) * s + h * (v0 * b0 + v1 * b1) + h * h * (a0 * c0 + a1 * c1)

    def speed(q0: Real, q1: Real, v0: Real, v1: Real, a0: Real, a1: Real) -> Any:
        return (q1 - q0) / still * ds + v0 * d0 + v1 * d1 + h * (a0 * e0 + a1 * e1)

    given = (before.q, after.q, before.v, after.v, rate0, rate1)
    return jax.tree.map(place, *given), jax.tree.map(speed, *given)


def _inside(
    world: World,
    c: Carry,
    t: Real,
    y: Continuous,
    rate: Continuous,
    span: Real,
    start: Ends,
    end: Asked,
    look: list[Watch | None],
    near: list[Any],
) -> tuple[Any, Any]:
    """The first length at which something may have been met, and the one to which a step that is too long is cut."""
    seen = [i for i, w in enumerate(look) if w is not None]

    unsure = [i for i in seen if look[i].sure is not None]  # type: ignore[union-attr]

    def at(x: Real) -> tuple[tuple[Any, ...], tuple[Any, ...], tuple[Any, ...]]:
        q, v = _between(c.y, y, c.rate.v, rate.v, span, x)

        def values(t: Real, q: Coordinates) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
            state = y._replace(q=q, v=v)
            found = watched(world, t, state, c.phases, c.memory)
            nearest = tuple(jnp.asarray(found[i].sure, dtype=float) for i in unsure)  # type: ignore[union-attr]
            return tuple(jnp.asarray(found[i].value, dtype=float) for i in seen), nearest  # type: ignore[union-attr]

        now = c.t + x * (t - c.t)
        value, slope, nearest = jax.jvp(values, (now, q), (jnp.ones_like(now), v), has_aux=True)
        return value, slope, nearest

    looks = jax.vmap(at)(jnp.asarray(NODES))
    firsts = at(jnp.asarray(0.0))[2] if unsure else ()
    where: Any = jnp.full_like(span, jnp.inf)
    cut = where
    for j, i in enumerate(seen):
        w = look[i]
        assert w is not None
        sure = None
        if w.sure is not None:
            k = unsure.index(i)
            sure = (firsts[k], looks[2][k])
        ends = (start.value[i], start.rate[i], end.ends.value[i], end.ends.rate[i])
        exit = _Exit(ends, (looks[0][j], looks[1][j]), sure, _limits(end, i), w._replace(room=None, depth=None))
        if jnp.ndim(start.value[i]):
            found, coarse = _of_family(exit, end.edge[i], span)
            where = jnp.minimum(where, jnp.min(jnp.where(near[j] & (found < 1.0), found * span, jnp.inf)))
            cut = jnp.minimum(cut, jnp.min(jnp.where(near[j] & coarse, found * span, jnp.inf)))
        else:
            found, coarse = _doubt(exit, end.edge[i], span)
            where = jnp.where(near[j] & (found < 1.0), jnp.minimum(where, found * span), where)
            cut = jnp.where(near[j] & coarse, jnp.minimum(cut, found * span), cut)
    return where, cut


class _Limits(NamedTuple):
    """What the condition of an exit compares with."""

    slow: Any
    deep: Any
    floor: Any
    rounding: Any


class _Exit(NamedTuple):
    """An exit, or a family of them, over a step."""

    ends: tuple[Any, Any, Any, Any]  # value and rate where it begins, value and rate where it ends
    inner: tuple[Any, Any]  # values and rates at the instants in between
    sure: tuple[Any, Any] | None  # the same of `Watch.sure`, first and in between
    limits: _Limits
    look: Watch


def _limits(k: Asked, i: int) -> _Limits:
    return _Limits(k.slow[i], k.deep[i], k.floor[i], k.rounding[i])


def _of_family(exit: _Exit, edge: bool, span: Real) -> tuple[Any, Any]:
    """The same for all exits of a family at once."""
    size = len(exit.ends[0])
    look = jax.tree.map(lambda x: jnp.broadcast_to(jnp.asarray(x, dtype=float), (size,)), exit.look)
    spread = exit._replace(look=look)
    behind = lambda pair: None if pair is None else (0, 1)  # noqa: E731
    axes = _Exit((0,) * 4, (1, 1), behind(exit.sure), _Limits(0, 0, 0, 0), jax.tree.map(lambda _: 0, look))
    return jax.vmap(lambda one: _doubt(one, edge, span), in_axes=(axes,))(spread)


def _doubt(exit: _Exit, edge: bool, span: Real) -> tuple[Any, Any]:
    """Fraction of the step at which an exit may first have been met; is it so because the step is too long to tell?"""
    (v0, r0, v1, r1), (values, rates), k, w = exit.ends, exit.inner, exit.limits, exit.look
    value, slope = _joined(v0, values, v1), _joined(r0, rates, r1) * span
    # Between two instants: what the coordinates sweep, and what the surface swings by itself.
    swung = w.swing * jnp.minimum(1.0, 0.5 * w.beat * PART * span)
    inner = _at_once(k, edge, values, rates)
    # What begins above zero is met by its rate alone: one that moves it by less than rounding is none.
    inner = inner & ((v0 <= k.rounding) | (rates * span > k.rounding))
    level = _doubted(k, v0)
    sure = value if exit.sure is None else _joined(exit.sure[0], exit.sure[1], w.sure)
    found = _first_doubt(value, slope, sure, PART * w.sweep * span + 2.0 * swung, level, inner)
    # What turns round or swings between two of the instants is first cut to what they can tell.
    coarse = (w.sweep * span > TURNS * w.bend) | (w.beat * span > BEAT)
    safe = _safe(sure, w, span)
    coarse = coarse & (safe < ENOUGH)
    return jnp.where(coarse, safe, found), coarse


def _at_once(k: _Limits, edge: bool, value: Real, rate: Real) -> Any:
    """Is the condition true at an inner instant? An edge would have to be clearly beyond zero."""
    if edge:
        return (value > k.rounding) & (rate > 0.0)
    clear = (value > k.rounding) & (rate > jnp.maximum(k.slow, 0.0))
    return clear | ((value > k.deep) & (rate > jnp.maximum(k.floor, 0.0)))


def _doubted(k: _Limits, first: Real) -> Any:
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
    whole = _hermite(value[0], slope[0], value[-1], slope[-1], inner)
    error = SAFETY * jnp.max(jnp.abs(value[1:-1] - whole))
    x = _part_doubt(value[:-1], slope[:-1] * PART, value[1:], slope[1:] * PART, error, level)
    x = jnp.where(sure[:-1] + sure[1:] + sweep < 0.0, 1.0, x)
    begin = jnp.asarray((0.0, *NODES))
    doubts = jnp.where(x < 1.0, begin + PART * x, 1.0)
    return jnp.minimum(jnp.min(doubts), jnp.min(jnp.where(met, inner, 1.0)))


def _hermite(v0: Real, a: Real, v1: Real, b: Real, x: Real) -> Any:
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
    peak = _peak(v0, a, v1, b)
    # A peak at an end, or none: the middle. (Rising all the way to an end where it is not met, it is not met before,
    # unless that end is just its top: there it rises no more.)
    monotonic = (a >= 0.0) & (b >= 0.0) & (v1 >= v0) & (error < 0.1 * (v1 - v0)) & ((b > 0.0) | (v1 <= level))
    falling = (a <= 0.0) & (b <= 0.0) & (v1 <= v0) & (error < 0.1 * (v0 - v1))
    x = jnp.where((peak > 0.02) & (peak < 0.98), peak, 0.5)
    return jnp.where(clear | monotonic | falling, 1.0, x)


def _peak(v0: Real, a: Real, v1: Real, b: Real) -> Any:
    """Where a cubic has its local maximum; 1 if it has none."""
    c3, c2 = 2.0 * (v0 - v1) + a + b, 3.0 * (v1 - v0) - 2.0 * a - b
    # 3 c3 x^2 + 2 c2 x + a = 0, the root at which the slope falls, written without cancellation
    square = c2 * c2 - 3.0 * c3 * a
    root = jnp.sqrt(jnp.maximum(square, 0.0))
    low = -c2 + root
    x = jnp.where(c2 < 0.0, a / jnp.where(low == 0.0, 1.0, low), (-c2 - root) / jnp.where(c3 == 0.0, 1.0, 3.0 * c3))
    return jnp.where((square <= 0.0) | ((c2 >= 0.0) & (c3 == 0.0)), 1.0, x)


def hidden_peak(armed: Sequence[Flag], start: Ends, end: Asked, look: list[Watch | None], span: Real) -> Any:
    """Length at which an exit may have come up to zero before the end, by its cubic; infinity if none.

    The peak is worth a look if the exit rises at the start, falls at the end, and the tangents meet above zero: one
    that is concave, however sharply bent, cannot be met without that. Or, for any other shape, if the cubic's peak is
    above -1 % of the larger value at the ends.
    """
    where: Any = jnp.full_like(span, jnp.inf)
    rows = zip(armed, start.value, start.rate, *end.ends, look, strict=True)
    for i, (on, v0, r0, v1, r1, w) in enumerate(rows):
        if w is not None:
            continue
        level = _doubted(_limits(end, i), v0)
        a, b = r0 * span, r1 * span
        x = _peak(v0, a, v1, b)
        peak = _hermite(v0, a, v1, b, x)
        # What begins at zero, or above, must rise by more than rounding: rates are finer than values.
        lowest = jnp.where(v0 >= -end.rounding[i], level, 0.0) - 0.01 * jnp.maximum(jnp.abs(v0), jnp.abs(v1))
        near = (peak > lowest) & (x > 0.02) & (x < 0.98)
        hump = (a > 0.0) & (b <= 0.0)
        tangents = v0 + a * (v1 - v0 - b) / jnp.where(hump, a - b, 1.0)
        x = jnp.where(hump & (x >= 1.0), 0.5, x)
        found = on & (x > 0.0) & (x < 1.0) & (near | (hump & (tangents > level)))
        if jnp.ndim(found):
            where = jnp.minimum(where, jnp.min(jnp.where(found, x * span, jnp.inf)))
        else:
            where = jnp.where(found, jnp.minimum(where, x * span), where)
    return where
