"""Newton's method on a return map: in a frame that may drift, with directions that nothing restores.

With drifting coordinates a periodic motion is P(x) = x + c. In some of their directions nothing depends on the place
at all (along a floor); there the shift c is whatever the motion makes of it, and x is left where it is. In the others
(a wheel that turns by one spoke) it is what one return shows. The map of the shifted state is then the shifted image,
and that is looked at before anything is solved.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .. import errors
from ..quantities import Given, Index

if TYPE_CHECKING:
    from .return_map import Passed, ReturnMap

NEUTRAL = 1e-8  # multipliers so near to 1 neither grow nor die out
ALIKE = 1e-6  # of the state's size: what differs less is the same, up to the map's own error
FREE = 1e-6  # a direction in which the map only shifts
HALVINGS = 6  # of a Newton step that leads to where nothing returns


@dataclasses.dataclass(frozen=True)
class Orbit:
    """A periodic motion that returns to an event."""

    event: tuple[str, str]  # automaton and exit
    q: np.ndarray  # just after the event
    v: np.ndarray
    period: float  # [s]
    residual: float  # largest |P(x) - x|, without what drifts
    iterations: int
    multipliers: np.ndarray  # eigenvalues of dP/dx, largest first; not the one of a direction that only drifts
    derivative: np.ndarray  # dP/dx over (q, v, states, memories)
    drift: dict[str, float] = dataclasses.field(default_factory=dict)  # by how much coordinates shift in a period
    times: int = 1  # returns in a period
    state: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(0))  # all that the map carries

    @property
    def stable(self) -> bool:
        """Do small disturbances die out?"""
        return bool(np.abs(self.multipliers[0]) < 1.0 - NEUTRAL)

    def __str__(self) -> str:
        sizes = ", ".join(f"{abs(m):.3g}" for m in self.multipliers[:4])
        most = float(np.abs(self.multipliers[0]))
        word = "stable" if self.stable else "neutral" if most <= 1.0 + NEUTRAL else "unstable"
        moved = "".join(f", {name} shifts by {by:.6g}" for name, by in self.drift.items())
        return (
            f"{word} orbit through '{self.event[1]}' of '{self.event[0]}': period {self.period:.9g} s{moved}, "
            f"|multipliers| {sizes}, residual {self.residual:.1e} after {self.iterations} Newton steps"
        )


class Frame(NamedTuple):
    """What a return may shift, and what it leaves alone."""

    begin: np.ndarray  # a state from which the shift was seen
    shift: np.ndarray  # (n,) by how much, where that is known
    free: np.ndarray  # (n, k) directions in which it may be anything

    def closing(self, new: np.ndarray, x: np.ndarray) -> np.ndarray:
        """How far a return is from being periodic."""
        return self.projected(new - x - self.shift)

    def projected(self, columns: np.ndarray) -> np.ndarray:
        """Without what the free directions have of it."""
        return columns - self.free @ (self.free.T @ columns)

    def multipliers(self, slope: np.ndarray, kept: np.ndarray) -> np.ndarray:
        """Eigenvalues without those of the free directions, and of memories that nothing sets: they are 1."""
        n, k = self.free.shape
        fixed = np.hstack([self.free, np.eye(n)[:, kept]])
        rest = np.linalg.svd(fixed.T)[2][k + int(np.sum(kept)) :].T if fixed.size else np.eye(n)
        roots = np.linalg.eigvals(rest.T @ slope @ rest)
        return roots[np.lexsort((-roots.imag, -np.round(np.abs(roots), 9)))]

    def step(self, slope: np.ndarray, gap: np.ndarray) -> np.ndarray:
        """Newton's. A direction that the map only shifts (a place on a level floor) has many answers: the nearest."""
        return np.linalg.lstsq(self.projected(np.eye(len(gap)) - slope), gap, rcond=NEUTRAL)[0]


def kept_by(map: ReturnMap, slope: np.ndarray) -> np.ndarray:
    """Memories that a period leaves as they are: nothing happened that sets them, nothing follows from them."""
    if not map.names:
        return np.zeros(len(slope), dtype=bool)
    return np.array([e.kind == "memory" for e in map.names]) & np.all(slope == np.eye(len(slope)), axis=1)


def frame_of(map: ReturnMap, x: np.ndarray) -> tuple[ReturnMap, Frame]:
    """What may shift, seen from one return and the next, and the map that knows it.

    Refused if the world is another one afterwards.
    """
    n = len(x)
    if not map.drifts and map.swap is None:
        return map, Frame(x, np.zeros(n), np.zeros((n, 0)))
    first = map.passed(x, map.phases, map.goal)
    told = {k: by for k, by in map.drifts.items() if by is not None}
    where = np.eye(n)[:, [k for k in map.drifts if k not in told]]
    known = np.zeros(n)
    known[list(told)] = list(told.values())
    single = _refuse_another_world(map, first, where, known / map.times)
    map = map.going_back(single)
    begin = map.renamed(first.x) - single
    seen = known + where @ (where.T @ (map(begin)[0] - begin))
    return map, framed(map, begin, seen, map.derivative(begin))


def framed(map: ReturnMap, begin: np.ndarray, seen: np.ndarray, slope: np.ndarray) -> Frame:
    """The frame of a shift that was seen: free in the directions in which the map does nothing but shift."""
    n = len(begin)
    where = np.eye(n)[:, [k for k, by in map.drifts.items() if by is None]]
    if not where.size:
        return Frame(begin, seen, np.zeros((n, 0)))
    _, sizes, right = np.linalg.svd((slope - np.eye(n)) @ where)
    flat = [k for k, size in enumerate(sizes) if size < FREE * (1.0 + sizes[0])]
    return Frame(begin, seen, where @ right[flat].T)


def _refuse_another_world(map: ReturnMap, first: Passed, where: np.ndarray, known: np.ndarray) -> np.ndarray:
    """A run that goes on, and one that begins again from the renamed and shifted state, must be the same one.

    Returns the shift of one return.
    """
    begin, phases, goal = map.renamed(first.x), first.phases, map.goal
    if map.swap is not None:
        phases, goal = map.phases, map.swap.before(map.goal)
    renamed = [f"'{a}' is called '{b}'" for a, b in (map.swap.names.items() if map.swap else ())]
    cure = "what is exchanged must be alike and be named with all that belongs to it, and nothing may depend on drifts"
    told = map.passed(first.x, first.phases, goal)
    shift = known + where @ (where.T @ (map.renamed(told.x) - begin))
    try:
        again = map.passed(begin - shift, phases, map.goal)
    except errors.CaromError as trouble:
        raise errors.CaromError(
            f"the motion is another one when, after a return, {' and '.join(renamed) or 'it begins again'}: {trouble}; "
            f"{cure}"
        ) from None
    away = np.abs(again.x - (map.renamed(told.x) - shift))
    worst = int(np.argmax(away))
    if away[worst] > ALIKE * (1.0 + float(np.max(np.abs(again.x)))):
        moved = [f"{map.names[k]} is shifted by {shift[k]:.6g}" for k in map.drifts]
        raise errors.CaromError(
            f"the motion is another one when, after a return, {' and '.join(renamed + moved)}: {map.names[worst]} "
            f"differs by {away[worst]:.3g} at the next one; {cure}"
        )
    return shift


def solved(map: ReturnMap, start: Given, tolerance: float, most: int) -> Orbit:
    """The fixed point near `start`."""
    map, frame = frame_of(map, np.asarray(start, dtype=float))
    x, best = frame.begin, np.inf
    new, time = map(x)
    for count in range(1, most + 1):
        iteration = count
        gap = frame.closing(new, x)
        best = min(best, float(np.max(np.abs(gap))))
        step = frame.step(map.derivative(x), gap)
        x, new, time = _moved(map, frame, x, step, gap, best)
        if np.max(np.abs(step)) <= tolerance * (1.0 + np.max(np.abs(x))):
            break
    else:
        gap = frame.closing(new, x)
        raise errors.CaromError(
            f"no periodic motion was found in {most} Newton steps (last step {np.max(np.abs(step)):.1e}): a return "
            f"still misses its beginning by {_told(map, gap)}, at best by {best:.3g}; start nearer to it: let the "
            f"simulation run longer first{_moves_on(map, frame)}"
        )
    gap = frame.closing(new, x)
    residual = float(np.max(np.abs(gap)))
    if residual > NEUTRAL * (1.0 + np.max(np.abs(x))):
        raise errors.CaromError(
            f"the motion comes back to '{map.event[1]}' of '{map.event[0]}' always shifted by {_told(map, gap)}, "
            "whatever the state there; it is not periodic; look for what drifts (a coordinate that nothing holds), "
            "and name it: drifts=['base.x']"
        )
    _refuse_other_phases(map, x)
    slope = map.derivative(x)
    q, v = map.coordinates(x)
    drift = {map.names[k].name: float(new[k] - x[k]) for k in map.drifts}
    found = frame.multipliers(slope, kept_by(map, slope))
    return Orbit(map.event, q, v, time, residual, iteration, found, slope, drift, map.times, np.asarray(x))


def _moved(
    map: ReturnMap, frame: Frame, x: np.ndarray, step: np.ndarray, gap: np.ndarray, best: float
) -> tuple[np.ndarray, np.ndarray, float]:
    """The next state with its return; a shorter way where nothing returns at the end of the step."""
    for halving in range(HALVINGS):
        there = x + 0.5**halving * step
        try:
            return there, *map(there)
        except errors.CaromError as trouble:
            why = trouble
    raise errors.CaromError(
        f"no periodic motion was found: where Newton's method leads to, there is no return; the last one missed its "
        f"beginning by {_told(map, gap)}, at best by {best:.3g} ({why}); start nearer to a periodic motion, if there "
        f"is one{_moves_on(map, frame)}"
    ) from None


def _refuse_other_phases(map: ReturnMap, x: np.ndarray) -> None:
    """Without an exchange, everything has to be in the phase in which it was."""
    if map.swap is not None or not map.names:
        return
    end = map.returns(x)[-1].phases
    for automaton, old, new in zip(map.world.automata, map.phases, end, strict=True):
        if not np.array_equal(np.asarray(old), np.asarray(new)):
            words = automaton.anatomy.phases
            raise errors.CaromError(
                f"the motion comes back to '{map.event[1]}' of '{map.event[0]}' with '{automaton.name}' in phase "
                f"'{words[int(new)]}', not '{words[int(old)]}', in which it began; it is not periodic; with times=2 "
                "two returns are a period"
            )


def _moves_on(map: ReturnMap, frame: Frame) -> str:
    """The coordinate that one return shifts most, where none may be shifted."""
    if map.drifts or not map.names:
        return ""
    places = len(map.coordinates(frame.begin)[0])
    shift = (map(frame.begin)[0] - frame.begin)[:places]
    most = int(np.argmax(np.abs(shift)))
    name = map.names[most].name
    return f"; if {name}, which a return from there shifts by {shift[most]:.3g}, may drift, say so: drifts=['{name}']"


def _told(map: ReturnMap, gap: np.ndarray) -> str:
    """The largest of these differences, and whose it is."""
    worst: Index = int(np.argmax(np.abs(gap)))
    return f"{abs(gap[worst]):.3g}" + (f" in {map.names[worst]}" if map.names else "")
