"""Where something happens between two points of a family: functions that change sign there, and their roots.

All of them are smooth along the family: the parameter's share of the tangent (folds), det(1 + M) (a multiplier passes
-1), the product of all m_i m_j - 1 (a pair passes the circle), det(1 - M) (one passes 1). What happens in a period is
not a number: where it changes, the place is found by bisection.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np

from ._orbit_points import Family, Point
from .orbit_family import BRANCH, DOUBLING, FOLD, GRAZE, TORUS, SpecialPoint

CLOSE = 1e-13  # of the scaled length between two points: where a root is told apart
NARROW = 1e-10  # scaled: where a change of events is told apart
ROUNDS = 60


def _fold(point: Point) -> float:
    return float(point.tangent[-1])


def _doubling(point: Point) -> float:
    return float(np.real(np.prod(1.0 + point.multipliers)))


def _branch(point: Point) -> float:
    return float(np.real(np.prod(1.0 - point.multipliers)))


def _torus(point: Point) -> float:
    return float(np.real(np.prod([a * b - 1.0 for a, b in combinations(point.multipliers, 2)] or [1.0])))


TESTS: tuple[tuple[str, Callable[[Point], float]], ...] = (
    (FOLD, _fold),
    (DOUBLING, _doubling),
    (TORUS, _torus),
    (BRANCH, _branch),
)


def between(family: Family, a: Point, b: Point, number: int) -> list[SpecialPoint]:
    """What happens between two neighbours, in the order of the parameter's way; `number` is that of the first."""
    found: list[tuple[float, SpecialPoint]] = []
    kinds = [kind for kind, test in TESTS if np.sign(test(a)) * np.sign(test(b)) < 0.0]
    for kind in kinds:
        if kind == BRANCH and FOLD in kinds:  # the same multiplier passes 1 where the parameter turns back
            continue
        at = _root(family, a, b, dict(TESTS)[kind])
        if at is not None and not (kind == TORUS and _angle(at[1]) is None):
            about = f"angle {_angle(at[1]):.9g} rad" if kind == TORUS else ""
            found.append((at[0], special(family, kind, at[1], number, about)))
    if changed(a, b):
        last, _ = narrowed(family, a, b)
        found.append((length(family, a, last), special(family, GRAZE, last, number, told_change(a, b))))
    return [each for _, each in sorted(found, key=lambda pair: pair[0])]


def special(family: Family, kind: str, point: Point, number: int, about: str = "") -> SpecialPoint:
    q, v = family.map.coordinates(point.u[:-1])
    values = point.columns(family)
    return SpecialPoint(
        kind, float(point.u[-1]), point.slopes.time, number, q, v, point.multipliers, values, about, point
    )


def length(family: Family, a: Point, b: Point) -> float:
    """How far it is from a to b along the tangent at a (scaled)."""
    return float(a.tangent @ ((b.u - a.u) / family.scale))


def on_the_way(family: Family, a: Point, b: Point, share: float) -> Point | None:
    """The point of the family at this share of the way."""
    start = a.u + share * (b.u - a.u)
    target = float(a.tangent @ (a.u / family.scale)) + share * length(family, a, b)
    return family.solved(start, a.tangent, target, a.tangent)


def _root(family: Family, a: Point, b: Point, test: Callable[[Point], float]) -> tuple[float, Point] | None:
    """By false position, halving the value at an end that stays (Illinois)."""
    low, high, below, above = 0.0, 1.0, test(a), test(b)
    best = (low, a) if abs(below) < abs(above) else (high, b)
    stays = 0
    for _ in range(ROUNDS):
        share = (low * above - high * below) / (above - below)
        point = on_the_way(family, a, b, share)
        if point is None:
            return None
        value = test(point)
        best = (share, point)
        if value == 0.0:
            break
        if value * above < 0.0:
            low, below, above = high, above, above
            stays = 0
        elif stays:
            below *= 0.5
        else:
            stays = 1
        high, above = share, value
        if abs(high - low) < CLOSE or abs(value) < CLOSE:
            break
    return best


def _angle(point: Point) -> float | None:
    """Of a complex pair on the unit circle; None where two real multipliers only have the product 1."""
    pairs = [m for m in point.multipliers if m.imag > 1e-7 and abs(abs(m) - 1.0) < 1e-4]
    return float(np.angle(pairs[0])) if pairs else None


def changed(a: Point, b: Point) -> bool:
    """Are there other events in the period?"""
    return sorted(a.events) != sorted(b.events)


def told_change(a: Point, b: Point) -> str:
    """Which event comes, or goes."""
    for word, more, less in (("appears", b.events, a.events), ("goes", a.events, b.events)):
        for event in more:
            if more.count(event) > less.count(event):
                return f"'{event[1]}' of '{event[0]}' {word}"
    return ""


def narrowed(family: Family, a: Point, b: Point) -> tuple[Point, Point]:
    """The last point with the events of a, and the next one that has others, by bisection."""
    low, high, last, far = 0.0, 1.0, a, b
    whole = max(length(family, a, b), NARROW)
    while (high - low) * whole > NARROW:
        share = 0.5 * (low + high)
        point = on_the_way(family, a, b, share)
        if point is not None and not changed(a, point):
            low, last = share, point
        else:
            high, far = share, far if point is None else point
    return last, far
