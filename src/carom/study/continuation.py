"""Families of orbits over a parameter, past folds: pseudo-arclength with exact derivatives.

A point is predicted along the tangent and corrected by Newton's method, at right angles to it, in state and parameter
together (H. B. Keller 1977, Numerical solution of bifurcation and nonlinear eigenvalue problems). dP/dx and dP/dp go
through every event of the period.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import jax
import numpy as np

from .. import errors
from .._arguments import DriftsLike, Name
from .._simulation import simulate
from ..hybrid.settings import Settings
from ..hybrid.world import World
from ..mechanism import State
from ..quantities import Function, Given, Real
from ._fixed_point import frame_of
from ._map_events import event_of
from ._orbit_points import Family, Point, periods_of, same_parts, worlds_along
from ._relabelling import coordinate_names, coordinate_units
from ._special_points import between, changed, special, told_change
from .orbit import LONGER
from .orbit_family import DOUBLING, GRAZE, OrbitFamily, SpecialPoint
from .return_map import ReturnMap

FIRST = (0.01, 0.003, 0.001)  # scaled: how far from a period doubling the first orbit of twice the period is sought
ALONE = 1e-8  # scaled: where a second direction leads to orbits, too, the parameter's family is not alone
SHORTEST = 1e-10  # scaled: where nothing is found even so near, the family has an end
TURNED = 0.9  # cosine between neighbouring tangents: below it, steps are halved
GENTLE = 1e-4  # [m/s] a blow that is gentler than this where the family ends: it grazes
EASY, HARD = 5, 7  # Newton steps of a point after which steps grow, or shrink


def continue_orbit(
    make: Function,
    values: Given,
    event: tuple[str, str],
    start: State,
    *,
    until: float,
    drifts: DriftsLike = (),
    exchange: Mapping[str, str] | None = None,
    times: int = 1,
    name: str = "parameter",
    step: float = 0.05,
    most: int = 200,
    settings: Settings | None = None,
) -> OrbitFamily:
    """The family of an orbit over a parameter: found as by `find_orbit` at the first value, followed toward the last.

    - `make(value)` makes the world; only its numbers may depend on the value, as JAX can follow it
    - `values`: where it begins, and the other end of the range. Where the parameter turns back (a fold), the family is
      followed back, until it leaves the range on either side
    - `event`, `start`, `until`, `drifts`, `exchange`, `times`: as of `find_orbit`
    - `step`: the longest step, as a share of range and state; `most`: so many points at the most

    Folds, period doublings, Neimark-Sacker points and grazing are named in `family.special`, each located by itself.

        family = carom.continue_orbit(walker, (3.0, 5.0), STEP, start, until=4.0, drifts=["base.x"], exchange=LEGS,
                                      name="slope [deg]")
        print(family)
        carom.figures.orbit_family(family, "period")
    """
    first, last = _range(values)
    _refuse_reach("continue_orbit", step, most)
    named = event_of(event)
    world = _refuse_other_structure(make, first, last)
    result = simulate(world, start, until=until, settings=settings)
    map = ReturnMap(
        result, *named, until=LONGER * until, settings=settings, drifts=drifts, exchange=exchange, times=times
    )
    map, frame = frame_of(map, map.orbit().state)
    x, shift = frame.begin, frame.shift
    scale = np.append(1.0 + np.abs(x), abs(last - first))
    family = Family(map, worlds_along(make, first), shift, scale)
    toward = np.zeros(len(scale))
    toward[-1] = np.sign(last - first)
    begin = family.solved(np.append(x, first), np.abs(toward), first / scale[-1], toward)
    if begin is None:
        raise errors.CaromError(
            "the orbit is lost as soon as it is to be followed; tighten settings, or start elsewhere"
        )
    if begin.alone < ALONE:
        raise errors.CaromError(
            "the orbits with one parameter already form a family: a multiplier is 1 wherever it is looked, because "
            "something is conserved, or a coordinate moves freely; name what drifts in drifts, or add a loss"
        )
    ends = (min(first, last), max(first, last))
    return _told(family, name, ends, *_followed(family, begin, ends, step, most))


def continue_doubled(family: OrbitFamily, which: int = 0, *, step: float = 0.05, most: int = 200) -> OrbitFamily:
    """The family of twice the period, from a period doubling of another one.

    - `which`: the first period doubling in `family.special` (0), the second (1), ...
    - `step`, `most`: as of `continue_orbit`. It ends where the range of the other one does

        twice = carom.continue_doubled(family)
        carom.figures.orbit_family(family, "left.angle", twice)
    """
    if not isinstance(family, OrbitFamily):
        raise errors.CaromError(
            f"family of continue_doubled is a {type(family).__name__}; it must be what carom.continue_orbit returns"
        )
    _refuse_reach("continue_doubled", step, most)
    found = [special for special in family.special if special.kind == DOUBLING]
    if not isinstance(which, int) or not 0 <= which < len(found):
        raise errors.CaromError(
            f"which of continue_doubled is {which}; the family has {len(found)} period doublings, counted from 0"
        )
    point, whole = found[which].point, family.family
    roots, vectors = np.linalg.eig(point.slopes.dx)
    ray = np.append(np.real(vectors[:, int(np.argmin(np.abs(roots + 1.0)))]), 0.0) / whole.scale
    ray /= np.linalg.norm(ray)
    twice = dataclasses.replace(whole, map=whole.map.twice(), shift=2.0 * whole.shift)
    for away in FIRST:
        start = point.u + away * whole.scale * ray
        begin = twice.solved(start, ray, float(ray @ (start / whole.scale)), ray)
        if begin is not None:
            followed = _followed(twice, begin, family.ends, step, most)
            return _told(twice, family.name, family.ends, *followed)
    raise errors.CaromError("no orbit of twice the period was found beside the period doubling; tighten the settings")


def _refuse_reach(who: Name, step: Real, most: Real) -> None:
    """How far and how long a family may be followed."""
    errors.number(who, "step", step, above=0.0)
    errors.number(who, "most", most, least=1.0)
    if float(most) % 1.0:
        raise errors.CaromError(f"most of {who} is {most:g}; it must be a whole number of points")


def _range(values: Given) -> tuple[float, float]:
    try:
        ends = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        ends = np.zeros(0)
    if ends.shape != (2,) or not np.all(np.isfinite(ends)) or ends[0] == ends[1]:
        raise errors.CaromError(
            f"values of continue_orbit is {values!r}; it must be two different numbers: where the family begins, and "
            "the other end of the range"
        )
    return float(ends[0]), float(ends[1])


def _refuse_other_structure(make: Function, first: float, last: float) -> World:
    """Its numbers may change with the parameter, not what there is. Returns the world at the first value."""
    if not callable(make):
        raise errors.CaromError(f"make of continue_orbit is {make!r}; it must be a function: make(value) is a world")
    try:
        one, other = make(first), make(last)
    except errors.CaromError:
        raise
    except Exception as trouble:  # whatever a user's function does
        raise errors.CaromError(
            f"make of continue_orbit fails with {type(trouble).__name__}: {trouble}; it is called with {first:g} and "
            f"with {last:g}, the ends of the range"
        ) from None
    for made in (one, other):
        if not isinstance(made, World):
            raise errors.CaromError(
                f"make of continue_orbit makes a {type(made).__name__}; it must make a carom.World(...)"
            )
    shapes = [[np.shape(leaf) for leaf in jax.tree.leaves(each)] for each in (one, other)]
    if shapes[0] != shapes[1] or not same_parts(one, other):
        raise errors.CaromError(
            f"make of continue_orbit makes another world at {last:g} than at {first:g}: links, contacts or states are "
            "others; the parameter may change numbers alone"
        )
    return one


def _followed(
    family: Family, begin: Point, ends: tuple[float, float], longest: float, most: int
) -> tuple[list[Point], list[SpecialPoint], str]:
    """Points after `begin`, what happened between them, and why there are no more."""
    points, found, h = [begin], list[SpecialPoint](), longest
    while len(points) < most:
        here = points[-1]
        there = _next(family, here, h)
        if there is None or (here.tangent @ there.tangent < TURNED and h > 1e-3 * longest):
            h *= 0.5
            if h < SHORTEST:
                graze = _grazing(family, here, len(points) - 1)
                return points, [*found, *graze], "it ends where it grazes" if graze else "nothing was found beyond it"
            continue
        slack = 1e-12 * (ends[1] - ends[0])
        left = [end for end, way in zip(ends, (-1.0, 1.0), strict=True) if way * (there.u[-1] - end) > slack]
        if left:
            there = _at_parameter(family, here, there, left[0]) or there
        found += between(family, here, there, len(points) - 1)
        points.append(there)
        if left:
            return points, found, "it leaves the range"
        h = min(longest, 1.5 * h) if there.steps <= EASY else 0.5 * h if there.steps > HARD else h
    return points, found, f"{most} points were asked for"


def _next(family: Family, here: Point, h: float) -> Point | None:
    start = here.u + h * family.scale * here.tangent
    return family.solved(start, here.tangent, float(here.tangent @ (start / family.scale)), here.tangent)


def _at_parameter(family: Family, here: Point, there: Point, value: float) -> Point | None:
    """The point at exactly this value, between two others."""
    share = (value - here.u[-1]) / (there.u[-1] - here.u[-1])
    start = here.u + share * (there.u - here.u)
    row = np.zeros(len(start))
    row[-1] = 1.0
    return family.solved(start, row, value / family.scale[-1], here.tangent)


def _grazing(family: Family, here: Point, number: int) -> list[SpecialPoint]:
    """Does the family end because an event of the period is about to go, or to appear?"""
    speed, contact = here.slowest
    if speed < GENTLE:
        return [special(family, GRAZE, here, number, f"strike of '{contact}', which closes at {speed:.1e} m/s")]
    ahead = here.u + 1e-6 * family.scale * here.tangent
    try:
        map, _ = family.at(ahead[-1])
        events = tuple((e.automaton, e.exit) for run in periods_of(map, ahead[:-1]) for e in run.events)
    except errors.CaromError:
        return []
    beyond = here._replace(events=events)
    return [special(family, GRAZE, here, number, told_change(here, beyond))] if changed(here, beyond) else []


def _told(
    family: Family,
    name: str,
    ends: tuple[float, float],
    points: list[Point],
    found: list[SpecialPoint],
    ended: str,
) -> OrbitFamily:
    """All of it as one object."""
    map = family.map
    states = [map.coordinates(point.u[:-1]) for point in points]
    return OrbitFamily(
        name,
        map.event,
        map.times,
        tuple(coordinate_names(map.world)),
        tuple(coordinate_units(map.world)),
        tuple(map.names[k].name for k in map.drifts),
        np.array([point.u[-1] for point in points]),
        np.array([point.slopes.time for point in points]),
        np.array([q for q, _ in states]),
        np.array([v for _, v in states]),
        np.array([_same_size(point.multipliers, len(points[0].multipliers)) for point in points]),
        np.array([point.drift for point in points]),
        tuple(found),
        ended,
        ends,
        family,
        tuple(points),
    )


def _same_size(multipliers: np.ndarray, size: int) -> np.ndarray:
    """Memories that come and go have multipliers of their own, which are zero."""
    return np.pad(multipliers, (0, max(0, size - len(multipliers))))[:size]
