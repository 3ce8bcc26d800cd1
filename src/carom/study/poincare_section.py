"""Poincare sections: where a scalar of the motion passes through zero.

A step of the integration can be long (a whole flight between two blows may be one), and a blow can throw the scalar
across zero. So every step is looked at in several places, up to its very end before anything happens there; and where
the scalar comes nearer to zero and goes away again between two places, its turning point is looked at as well.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .. import errors, native
from ..hybrid._flow import derivative
from ..hybrid._run import StepRow
from ..hybrid.compiling import jit
from ..hybrid.scene import Continuous, merge
from ..hybrid.settings import Integration
from ..hybrid.world import World
from ..quantities import Function, Real, Vector
from ..result._dense import chunked, in_chunks
from ..result.result import Result

PARTS = 7  # of every step; odd, as what turns in the middle of one should not be found by luck
NOISE = 1e-12  # of the largest value along the run: what is smaller is zero already
BISECTIONS = 60  # of a part of a step: as exact as the times can be told apart


@dataclasses.dataclass(frozen=True)
class Section:
    """Points of a Poincare section: instants [s], coordinates and velocities; at events those just after them."""

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    jumped: np.ndarray  # true where an event carried the motion across the section


def poincare(result: Result, scalar: Function, direction: int = 0) -> Section:
    """Where a scalar of (t, q, v) passes through zero along a run: upwards (1), downwards (-1) or both (0).

    Located on the run's own dense output to 1e-13 of its length. A blow that throws the scalar across zero counts, with
    the state just after it. Touching zero and turning back, or staying there, is no passage. States at a strike,
    whatever the scalar, are in `result.events`.

    >>> import carom
    >>> rod = carom.World(carom.Mechanism([carom.Rod(1.0, 1.0)]), gravity=9.81)
    >>> result = carom.simulate(rod, rod.state(angles=[60], degrees=True), until=0.5)
    >>> len(carom.poincare(result, lambda t, q, v: q[0]).t)       # it passes the horizontal once
    1
    """
    if direction not in (-1, 0, 1):
        raise errors.CaromError(
            f"direction of poincare is {direction!r}; it must be 1 (upwards), -1 (downwards) or 0 (both)"
        )
    look = _Look(result, scalar)
    seen = _with_turns(look, _samples(look))
    first, behind, way = _passages(seen, direction)
    if not len(first):
        empty = np.zeros((0, result.world.mechanism.dof))
        return Section(np.zeros(0), empty, empty, np.zeros(0, dtype=bool))
    row, jumped = seen.row[behind], seen.row[first] != seen.row[behind]
    # Where an event, or a sample that is zero already, is the passage, there is no span to narrow.
    inside = ~jumped & (seen.sign[behind] != 0)
    low, high = np.where(inside, seen.t[first], seen.t[behind]), seen.t[behind]
    high = _narrowed(low, high, lambda t: look.values(row, t)[0] * way >= 0.0)
    q, v = look.states(row, high)[:2]
    return Section(high, q, v, jumped)


@dataclasses.dataclass(frozen=True)
class _Samples:
    """The scalar in places along a run, in order: step, instant, sign (0 for noise)."""

    row: np.ndarray
    t: np.ndarray
    sign: np.ndarray
    slope: np.ndarray
    noise: float


class _Look:
    """States, and values of the scalar, within the steps of a run; its end is a step without length."""

    def __init__(self, result: Result, scalar: Function) -> None:
        end = result.final
        last = StepRow(end.t, np.zeros(()), end.y, end.phases, end.memory)
        self.steps = jax.tree.map(lambda column, x: np.append(column, np.asarray(x)[None], axis=0), result.steps, last)
        self.given = (result.integration, result.world)
        along = native.rows(lambda t, q, v, dq, dv: jax.jvp(scalar, (t, q, v), (jnp.ones_like(t), dq, dv)))
        self.scalar = jit(along)

    def states(self, row: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, ...]:
        """q, v and their rates at instants of these steps."""
        steps = jax.tree.map(lambda column: column[row], self.steps)
        return tuple(chunked(_moving, (), self.given, (steps, t)))

    def values(self, row: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The scalar and its rate."""
        value, slope = in_chunks(self.scalar, (t, *self.states(row, t)))
        if value.ndim != 1:
            raise errors.CaromError(
                f"scalar of poincare gives shape {value.shape[1:]} at each instant; it must be a number"
            )
        return value, slope


def _moving(integration: Integration, world: World, begin: StepRow, times: Vector) -> tuple[Any, ...]:
    """Coordinates, velocities and their rates at instants within given steps."""

    def one(row: StepRow, t: Real) -> tuple[Any, ...]:
        phases = tuple(p.astype(int) for p in row.phases)

        def rhs(t: Real, y: Continuous) -> Continuous:
            return derivative(world, t, y, phases, row.memory)

        y, _, rate = integration.solver.step(rhs, row.t, row.y, rhs(row.t, row.y), t - row.t, world.heavy)
        return merge(y.q), merge(y.v), merge(rate.q), merge(rate.v)

    return tuple(native.rows(one)(begin, times))


def _samples(look: _Look) -> _Samples:
    """Every step in equal parts, both of its ends included."""
    begin, span = np.asarray(look.steps.t), np.asarray(look.steps.span)
    t = (begin[:, None] + span[:, None] * np.linspace(0.0, 1.0, PARTS + 1)).ravel()
    row = np.repeat(np.arange(len(begin)), PARTS + 1)
    value, slope = look.values(row, t)
    noise = NOISE * float(np.max(np.abs(value)))
    return _Samples(row, t, _sign(value, noise), slope, noise)


def _sign(value: np.ndarray, noise: float) -> np.ndarray:
    return np.where(np.abs(value) > noise, np.sign(value), 0.0).astype(int)


def _with_turns(look: _Look, seen: _Samples) -> _Samples:
    """Samples at turning points between places of one sign are added where the sign is another one there."""
    sign, slope = seen.sign, seen.slope
    alike = (seen.row[:-1] == seen.row[1:]) & (sign[:-1] == sign[1:]) & (sign[1:] != 0)
    k = np.flatnonzero(alike & (sign[:-1] * slope[:-1] < 0.0) & (sign[1:] * slope[1:] > 0.0))
    if not len(k):
        return seen
    row, way = seen.row[k], sign[k]
    turn = _narrowed(seen.t[k], seen.t[k + 1], lambda t: look.values(row, t)[1] * way >= 0.0)
    value, rate = look.values(row, turn)
    new, at = _sign(value, seen.noise), k + 1
    keep = new == -way
    pairs = ((seen.row, row), (seen.t, turn), (sign, new), (slope, rate))
    rows, times, signs, slopes = (np.insert(old, at[keep], x[keep]) for old, x in pairs)
    return _Samples(rows, times, signs, slopes, seen.noise)


def _passages(seen: _Samples, direction: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Samples before and after each passage, and its way (1 or -1). Zeros belong to what comes after them."""
    told = np.flatnonzero(seen.sign)
    way = seen.sign[told[1:]]
    passes = (seen.sign[told[:-1]] != way) & ((way == direction) | (direction == 0))
    first = told[:-1][passes]
    return first, first + 1, way[passes]


def _narrowed(low: np.ndarray, high: np.ndarray, passed: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """The first instants at which `passed` holds, by bisection of all spans at once."""
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        there = passed(middle)
        low, high = np.where(there, low, middle), np.where(there, middle, high)
    return high
