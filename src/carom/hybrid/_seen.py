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

from ..quantities import Coordinates, Flag, Memories, Phases, Real, Reals
from ._doubts import NODES, Exit, doubt_of, doubt_of_family, doubted, hermite, limits_of, peak_of
from ._locate import Asked, Ends
from .condition import Watch, any_of
from .scene import Continuous
from .world import World, owns, scene_of

SLACK = 0.01  # of the larger value at the ends: a peak this far below zero is worth a look


class Before(NamedTuple):
    """The beginning of a step."""

    t: Any
    y: Continuous
    rate: Any  # accelerations
    phases: Phases
    memory: Memories
    armed: tuple[Any, ...]


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
    wanted: Sequence[Any] | None = None,
) -> list[Watch | None]:
    """Every exit that time and coordinates alone decide; `wanted` are flags of those that must be looked at closely."""
    scene = scene_of(world, t, y, phases)
    scene.fastest, scene.span = speeds, span
    out: list[Watch | None] = []
    for automaton, own in zip(world.automata, owns(y, phases, memory), strict=True):
        if wanted is not None:
            mine = wanted[len(out) : len(out) + len(automaton.anatomy.exits)]
            scene.wanted = next((flags for flags in mine if flags is not None), None)
        out += list(automaton.watch(scene, own))
    return out


def unseen(
    world: World,
    c: Before,
    t: Real,
    y: Continuous,
    rate: Coordinates,
    span: Real,
    start: Ends,
    end: Asked,
    look: list[Watch | None],
) -> tuple[Any, Any]:
    """Length of a shorter step that has to be tried because something may have been met; infinity if nothing was.

    Also the same for what the step is too long to tell about: that comes before anything that was met at its end.
    `rate` are the accelerations at the end.
    """
    armed = [on if kind else jnp.asarray(True) for on, kind in zip(c.armed, end.edge, strict=True)]
    seen = [(i, w) for i, w in enumerate(look) if w is not None]
    near = [armed[i] & ~_far(start.value[i], end.ends.value[i], w, span) for i, w in seen]
    never = jnp.full_like(span, jnp.inf)

    def looked() -> tuple[Any, Any]:
        hidden = hidden_peak(armed, start, end, look, span)
        if not seen:
            return hidden, never
        inside = lambda: _inside(world, c, t, y, rate, span, start, end, look, near)  # noqa: E731
        where, cut = jax.lax.cond(any_of(near), inside, lambda: (never, never))
        return jnp.minimum(hidden, where), cut

    # Branches: most steps pass nothing by.
    return jax.lax.cond(any_of([*near, *_may_peak(armed, start, end, look, span)]), looked, lambda: (never, never))


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
    c: Before,
    t: Real,
    y: Continuous,
    rate: Coordinates,
    span: Real,
    start: Ends,
    end: Asked,
    look: list[Watch | None],
    near: list[Any],
) -> tuple[Any, Any]:
    """The first length at which something may have been met, and the one to which a step that is too long is cut."""
    seen = [i for i, w in enumerate(look) if w is not None]
    unsure = [i for i in seen if look[i].sure is not None]  # type: ignore[union-attr]
    vague = [i for i in seen if look[i].vague is not None]  # type: ignore[union-attr]
    wanted = [near[seen.index(i)] if i in vague else None for i in range(len(look))]

    def at(x: Real) -> tuple[tuple[Any, ...], tuple[Any, ...], tuple[Any, ...], tuple[Any, ...]]:
        q, v = _between(c.y, y, c.rate, rate, span, x)

        def values(t: Real, q: Coordinates) -> tuple[tuple[Any, ...], Any]:
            state = y._replace(q=q, v=v)
            found = watched(world, t, state, c.phases, c.memory, wanted=wanted)
            nearest = tuple(jnp.asarray(found[i].sure, dtype=float) for i in unsure)  # type: ignore[union-attr]
            bounds = tuple(found[i].vague for i in vague)  # type: ignore[union-attr]
            return tuple(jnp.asarray(found[i].value, dtype=float) for i in seen), (nearest, bounds)  # type: ignore[union-attr]

        now = c.t + x * (t - c.t)
        value, slope, others = jax.jvp(values, (now, q), (jnp.ones_like(now), v), has_aux=True)
        return value, slope, *others

    looks = jax.vmap(at)(jnp.asarray(NODES))
    first = at(jnp.asarray(0.0)) if unsure or vague else None
    last = at(jnp.asarray(1.0)) if vague else None
    where: Any = jnp.full_like(span, jnp.inf)
    cut = where
    for j, i in enumerate(seen):
        w = look[i]
        assert w is not None
        sure = None
        if w.sure is not None:
            k = unsure.index(i)
            assert first is not None
            sure = (first[2][k], looks[2][k])
        ends = _ends_of(i, j, start, end, vague, first, last)
        exit = Exit(
            ends, (looks[0][j], looks[1][j]), sure, limits_of(end, i), w._replace(room=None, depth=None, vague=None)
        )
        if jnp.ndim(start.value[i]):
            found, coarse = doubt_of_family(exit, end.edge[i], span)
            where = jnp.minimum(where, jnp.min(jnp.where(near[j] & (found < 1.0), found * span, jnp.inf)))
            cut = jnp.minimum(cut, jnp.min(jnp.where(near[j] & coarse, found * span, jnp.inf)))
        else:
            found, coarse = doubt_of(exit, end.edge[i], span)
            where = jnp.where(near[j] & (found < 1.0), jnp.minimum(where, found * span), where)
            cut = jnp.where(near[j] & coarse, jnp.minimum(cut, found * span), cut)
    return where, cut


def _may_peak(armed: Sequence[Flag], start: Ends, end: Asked, look: list[Watch | None], span: Real) -> list[Any]:
    """May `hidden_peak` find something? Neither cubic nor tangents are higher than the ends and these two points."""
    out = []
    for on, v0, r0, v1, r1, w in zip(armed, start.value, start.rate, *end.ends, look, strict=True):
        if w is None:
            level = -SLACK * jnp.maximum(jnp.abs(v0), jnp.abs(v1))
            out.append(on & ((v0 > level) | (v1 > level) | (v0 + r0 * span > level) | (v1 - r1 * span > level)))
    return out


def _ends_of(i: int, j: int, start: Ends, end: Asked, vague: list[int], first: Any, last: Any) -> tuple[Any, ...]:
    """Value and rate of an exit at both ends of a step; looked at closely where the guard knew but a bound."""
    ends = (start.value[i], start.rate[i], end.ends.value[i], end.ends.rate[i])
    if i not in vague:
        return ends
    k = vague.index(i)
    close = (first[0][j], first[1][j], last[0][j], last[1][j])
    bounds = (first[3][k],) * 2 + (last[3][k],) * 2
    return tuple(jnp.where(*each) for each in zip(bounds, close, ends, strict=True))


def hidden_peak(armed: Sequence[Flag], start: Ends, end: Asked, look: list[Watch | None], span: Real) -> Any:
    """Length at which an exit may have come up to zero before the end, by its cubic; infinity if none.

    The peak is worth a look if the exit rises at the start, falls at the end, and the tangents meet above zero: one
    that is concave, however sharply bent, cannot be met without that. Or, for any other shape, if the cubic's peak is
    above -SLACK of the larger value at the ends.
    """
    where: Any = jnp.full_like(span, jnp.inf)
    rows = zip(armed, start.value, start.rate, *end.ends, look, strict=True)
    for i, (on, v0, r0, v1, r1, w) in enumerate(rows):
        if w is not None:
            continue
        level = doubted(limits_of(end, i), v0)
        a, b = r0 * span, r1 * span
        x = peak_of(v0, a, v1, b)
        peak = hermite(v0, a, v1, b, x)
        # What begins at zero, or above, must rise by more than rounding: rates are finer than values.
        lowest = jnp.where(v0 >= -end.rounding[i], level, 0.0) - SLACK * jnp.maximum(jnp.abs(v0), jnp.abs(v1))
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
