"""One member of a family of orbits: the return map with another parameter, solved beside a point that is known.

The unknown is u = (x, p), the state just after the event and the parameter. Scaled by the size of the state and by the
range of the parameter, lengths along the family mean something; its tangent is what [d(P(x) - x)/dx, dP/dp] makes
nothing of, and that does not mind a fold, where p turns back.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .. import errors
from .._simulation import _drive
from ..hybrid._carry import begin
from ..hybrid.scene import Continuous, merge
from ..hybrid.world import World
from ..mechanism import State
from ..quantities import Function, Real
from ..result.result import Result
from ._fixed_point import framed, kept_by
from ._relabelling import coordinate_names
from .return_map import ReturnMap, Slopes, floats_of

MOST = 8  # Newton steps of a point: one that takes more is too far away
EXACT = 1e-11  # of the scaled unknowns: the last Newton step


class Point(NamedTuple):
    """A periodic motion of the family, and the direction in which it goes on."""

    u: np.ndarray  # (n + 1,): state, parameter
    slopes: Slopes
    multipliers: np.ndarray
    tangent: np.ndarray  # (n + 1,), scaled
    drift: np.ndarray
    steps: int
    events: tuple[tuple[str, str], ...]  # what happens in a period: automaton and exit
    states: tuple[np.ndarray, ...]  # where each return of a period begins
    slowest: tuple[float, str]  # closing speed [m/s] of the gentlest blow of a period, and its contact
    alone: float  # how far a second direction is from being one of the family, too (scaled)

    def columns(self, family: Family, number: int = 0) -> dict[str, float]:
        """Its numbers by name, at this return of its period; the parameter's own name is the family's."""
        q, v = family.map.coordinates(self.states[number])
        names = coordinate_names(family.map.world)
        drifts = [family.map.names[k].name for k in family.map.drifts]
        found = {"period": self.slopes.time} | dict(zip(names, q.tolist(), strict=True))
        found |= {f"rate of {name}": x for name, x in zip(names, v.tolist(), strict=True)}
        found |= {f"drift of {name}": float(x) for name, x in zip(drifts, self.drift, strict=True)}
        return found | {"largest multiplier": float(np.abs(self.multipliers[0]))}


@dataclasses.dataclass(frozen=True)
class Family:
    """What all points share: the map, how worlds are made, what shifts, and the scales."""

    map: ReturnMap
    worlds: Function  # parameter -> (world, how its numbers change)
    shift: np.ndarray
    scale: np.ndarray  # (n + 1,)

    def at(self, parameter: Real) -> tuple[ReturnMap, Any]:
        """The map with this parameter, and the world's direction along it."""
        world, along = self.worlds(parameter)
        return self.map.of(world), along

    def solved(self, u: np.ndarray, row: np.ndarray, target: float, toward: np.ndarray) -> Point | None:
        """The point near `u` with row . u = target (scaled), or None; `toward` says which way its tangent goes."""
        n, before = len(u) - 1, np.inf
        for count in range(1, MOST + 1):
            try:
                map, along = self.at(u[n])
                slopes = map.slopes(u[:n], along)
            except errors.CaromError:
                return None
            frame = framed(map, u[:n], self.shift, slopes.dx)
            kept = kept_by(map, slopes.dx)
            matrix = np.hstack([frame.projected(slopes.dx - np.eye(n)), frame.projected(slopes.along)[:, None]])
            held = np.vstack([frame.free.T, np.eye(n)[kept]])
            whole = np.vstack([matrix, np.hstack([held, np.zeros((len(held), 1))])]) * self.scale
            off = [*np.zeros(len(held)), row @ (u / self.scale) - target]
            miss = np.concatenate([frame.closing(slopes.x, u[:n]), off])
            step = np.linalg.lstsq(np.vstack([whole, row]), -miss, rcond=1e-14)[0]
            size = float(np.max(np.abs(step)))
            if not np.isfinite(size) or size > 4.0 * before:
                return None
            before, u = size, u + self.scale * step
            if size < EXACT:
                return self._point(map, u, slopes, frame.multipliers(slopes.dx, kept), whole, toward, count)
        return None

    def _point(
        self,
        map: ReturnMap,
        u: np.ndarray,
        slopes: Slopes,
        multipliers: np.ndarray,
        whole: np.ndarray,
        toward: np.ndarray,
        steps: int,
    ) -> Point:
        _, sizes, right = np.linalg.svd(whole)
        n = len(u) - 1
        tangent = right[n]
        tangent = tangent if tangent @ toward >= 0.0 else -tangent
        runs = periods_of(map, u[:n])
        states = (u[:n], *(one.x for one in map.returns(u[:n])[:-1]))
        events = tuple((event.automaton, event.exit) for run in runs for event in run.events)
        struck = [i for run in runs for i in run.impacts if i.struck]
        slow = min(((abs(i.normal_velocity_before), i.contact) for i in struck), default=(np.inf, ""))
        drift = np.array([slopes.x[k] - u[k] for k in map.drifts])
        return Point(u, slopes, multipliers, tangent, drift, steps, events, states, slow, float(sizes[n - 1]))


def periods_of(map: ReturnMap, x: np.ndarray) -> list[Result]:
    """Every return of one period as a run of its own, with its events, impacts and motion."""
    found, phases, at = list[Result](), map.phases, x
    for one in map.returns(x):
        q, v, extra, memory = map.state(at)
        y = Continuous(q, v, extra, (np.asarray(0.0),) * len(map.world.channels))
        carry = begin(map.world, jnp.asarray(0.0), y, phases, memory, jnp.asarray(1e-4))
        start = State(merge(q), merge(v), map.world.extra_of(y))
        found.append(_drive(map.world, map.integration(map.goal), carry, False, None, 0.0, start))
        at, phases = one.x - map.back, one.phases if map.swap is None else map.phases
    return found


def same_parts(one: World, other: World) -> bool:
    """Do two worlds hold the same things, whatever their numbers?"""
    shapes: list[Any] = [jax.tree.structure(each) for each in (one, other)]
    return bool(shapes[0] == shapes[1])


def worlds_along(make: Function, first: Real) -> Function:
    """parameter -> the world, and the derivatives of its numbers; compiled once."""
    known = make(float(first))

    @jax.jit
    def both(p: Real) -> Any:
        world, slope = jax.jvp(make, (p,), (1.0,))
        return world, slope

    try:
        made = both(float(first))[0]
    except (jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError) as trouble:
        raise errors.CaromError(
            "make of continue_orbit cannot be derived: it decides by the parameter's value, or gives it to NumPy; the "
            f"parameter may change numbers of the world alone, with jax.numpy ({str(trouble).splitlines()[0]})"
        ) from None
    if not same_parts(made, known):
        raise errors.CaromError(
            "make of continue_orbit makes another world when it is traced; its parts must not change"
        )

    def at(p: Real) -> Any:
        world, slope = both(float(p))
        return world, floats_of(world, slope)

    return at
