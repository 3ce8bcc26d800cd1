"""The search: SciPy's sequential quadratic programming on scaled numbers, keeping the best place that it has seen."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from typing import Any

import numpy as np

from ..._progress import Line
from ...errors import CaromError
from ._goals import Goal, Limit
from ._measured_lanes import MeasuredLanes, Seen

FINE = 1e-10  # relative change of the cost at which a search ends
NEAR = 1e-6  # of a parameter's size: so close to a bound it is tried on it
MET = 1e-6  # of a limit's size: by so much it may be missed
BAD = 10.0  # cost, in units of the first one's, of a place without a run
PATIENT = 60  # evaluations without anything better, after which a search ends
AGAIN = 4  # searches from where the last one ended: its guess of the second derivatives begins anew
STILL = 1e-3  # what is left of the slopes of the cost, relative, at a minimum


class Stalled(Exception):
    """Nothing better was found in many evaluations."""


class Enough(Exception):
    """The time, or the number of evaluations, that the search was allowed is over."""


@dataclasses.dataclass(frozen=True)
class Place:
    """A place with its cost and how its limits are met."""

    seen: Seen
    cost: float
    slope: np.ndarray
    margins: np.ndarray  # sign (measure - bound), of every limit
    turns: np.ndarray  # their slopes, (limits, parameters)
    missed: float  # by how much the worst limit is, relative to its size


@dataclasses.dataclass(frozen=True)
class Problem:
    """What is searched for."""

    lanes: MeasuredLanes
    goal: Goal
    limits: tuple[Limit, ...]
    bounds: tuple[np.ndarray, np.ndarray]
    size: np.ndarray

    @property
    def scales(self) -> np.ndarray:
        """Sizes of the limits."""
        return np.array([abs(limit.bound) or 1.0 for limit in self.limits])

    def place(self, p: np.ndarray) -> Place | str:
        """What is there; or why nothing is."""
        seen = self.lanes.at(p)
        if seen.trouble:
            return seen.trouble
        cost, slope = self.goal.value(seen.values, seen.slopes)
        if not np.isfinite(cost) or not np.all(np.isfinite(slope)):
            return f"the cost is {cost}, with slopes {slope.tolist()}"
        margins = np.array([limit.sign * (seen.values[limit.measure] - limit.bound) for limit in self.limits])
        turns = np.array([limit.sign * seen.slopes[limit.measure] for limit in self.limits]).reshape(-1, len(p))
        equal = np.array([limit.sense == "=" for limit in self.limits], dtype=bool)
        short = np.where(equal, np.abs(margins), np.maximum(-margins, 0.0)) / self.scales
        return Place(seen, cost, slope, margins, turns, float(np.max(short, initial=0.0)))


class Hunt:
    """Evaluations of a search: what was seen, and the best of it."""

    def __init__(self, problem: Problem, most: int, seconds: float | None, line: Line) -> None:
        self.problem, self.most, self.line = problem, most, line
        self.ends = None if seconds is None else time.monotonic() + seconds
        self.evaluations, self.words = 0, ""
        self.known: dict[bytes, Place | str] = {}
        self.best: Place | None = None

    def at(self, p: np.ndarray) -> Place | str:
        """What is there; kept for the few places seen last."""
        key = p.tobytes()
        if key not in self.known:
            if self.evaluations >= self.most:
                raise Enough(f"{self.most} evaluations were done")
            if self.ends is not None and time.monotonic() > self.ends and self.best is not None:
                raise Enough("the time that it was allowed was over")
            self.evaluations += 1
            found = self.problem.place(p)
            self.known = dict([*self.known.items()][-8:]) | {key: found}
            if isinstance(found, Place) and better(found, self.best):
                self.best = found
            shown = "" if self.best is None else f", cost {self.best.cost:.6g}"
            self.line.update(f"{self.words}evaluation {self.evaluations}{shown}", float(self.evaluations))
        return self.known[key]


def better(new: Place, old: Place | None) -> bool:
    """Limits first, then the cost."""
    if old is None:
        return True
    if new.missed <= MET and old.missed <= MET:
        return new.cost < old.cost
    return new.missed < old.missed


def descend(hunt: Hunt, first: np.ndarray) -> Place:
    """From one start to where it ends, again and again until that is nowhere else."""
    begin = hunt.at(first)
    if isinstance(begin, str):
        raise CaromError(f"optimize cannot begin there: {begin}; start where the run has all that is measured")
    best = begin
    for _ in range(AGAIN):
        found = _once(hunt, best)
        gained = found.cost < best.cost - 1e-7 * abs(best.cost) or best.missed > max(MET, found.missed)
        best = found if better(found, best) else best
        if not gained:
            break
    return _on_bounds(hunt, best)


def _on_bounds(hunt: Hunt, best: Place) -> Place:
    """What is nearly on a bound is put there, where that is no worse."""
    p, (low, high) = best.seen.p, hunt.problem.bounds
    near = NEAR * hunt.problem.size
    put = np.where(p - low <= near, low, np.where(high - p <= near, high, p))
    found = best if np.array_equal(put, p) else hunt.at(put)
    if isinstance(found, str) or found.missed > max(MET, best.missed):
        return best
    return found if found.cost <= best.cost + FINE * abs(best.cost) else best


def _once(hunt: Hunt, begin: Place) -> Place:
    """One search of SciPy's, in units of the sizes."""
    import scipy.optimize  # half a second, for those who optimise

    problem, p0, size = hunt.problem, begin.seen.p, hunt.problem.size
    scale = max(float(np.max(np.abs(begin.slope * size))), 1e-9 * abs(begin.cost)) or 1.0
    best, last, gained = begin, begin, hunt.evaluations

    def at(z: np.ndarray) -> Place | str:
        nonlocal best, last, gained
        found = hunt.at(np.clip(p0 + z * size, *problem.bounds))
        if isinstance(found, Place):
            best, last, gained = (found, found, hunt.evaluations) if better(found, best) else (best, found, gained)
        if hunt.evaluations - gained > PATIENT:  # without anything better than in this search before
            raise Stalled
        return found

    def cost(z: np.ndarray) -> float:
        found = at(z)
        return (found.cost - begin.cost) / scale if isinstance(found, Place) else BAD + float(np.abs(z).max())

    def slope(z: np.ndarray) -> np.ndarray:
        found = at(z)
        return (found if isinstance(found, Place) else last).slope * size / scale

    def margins(z: np.ndarray, rows: np.ndarray) -> np.ndarray:
        found = at(z)
        return np.asarray(((found if isinstance(found, Place) else last).margins / problem.scales)[rows])

    def turns(z: np.ndarray, rows: np.ndarray) -> np.ndarray:
        found = at(z)
        place = found if isinstance(found, Place) else last
        return np.asarray((place.turns * size / problem.scales[:, None])[rows])

    equal = np.array([limit.sense == "=" for limit in problem.limits], dtype=bool)
    rules: list[dict[str, Any]] = [
        {"type": kind, "fun": margins, "jac": turns, "args": (rows,)}
        for kind, rows in (("eq", np.flatnonzero(equal)), ("ineq", np.flatnonzero(~equal)))
        if len(rows)
    ]
    low, high = ((bound - p0) / size for bound in problem.bounds)
    with np.errstate(all="ignore"), contextlib.suppress(Stalled):
        scipy.optimize.minimize(
            cost, np.zeros(len(p0)), jac=slope, method="SLSQP", bounds=list(zip(low, high, strict=True)),
            constraints=rules, options={"maxiter": 200, "ftol": FINE},
        )  # fmt: skip
    return best


@dataclasses.dataclass(frozen=True)
class Prices:
    """What holds the best place where it is: multipliers of limits and of bounds, and the share of the slopes left."""

    limits: np.ndarray  # d cost / d bound of each
    bounds: np.ndarray  # d cost / d parameter where it lies on its bound
    left: float


def prices_of(problem: Problem, place: Place, first: np.ndarray) -> Prices:
    """Multipliers by least squares over what is active: slopes of the cost as a sum of those of limits and bounds.

    What is left is told as a share of the slopes there, at the start (`first`), or of the cost itself, the largest.
    """
    import scipy.optimize

    count, size = len(problem.limits), problem.size
    equal = np.array([limit.sense == "=" for limit in problem.limits], dtype=bool)
    active = equal | (np.abs(place.margins) <= 10.0 * MET * problem.scales)
    p, (low, high) = place.seen.p, problem.bounds
    edges = [(k, 1.0) for k in range(len(p)) if p[k] - low[k] <= 1e-9 * size[k]]
    edges += [(k, -1.0) for k in range(len(p)) if high[k] - p[k] <= 1e-9 * size[k]]
    slope = place.slope * size
    whole = max(float(np.linalg.norm(slope)), float(np.linalg.norm(first * size)), abs(place.cost))
    by_limit, by_bound = np.zeros(count), np.zeros(len(p))
    rows = np.flatnonzero(active)
    columns = [place.turns[k] * size for k in rows] + [sign * np.eye(len(p))[k] for k, sign in edges]
    if not columns or whole == 0.0:
        return Prices(by_limit, by_bound, float(np.linalg.norm(slope)) / (whole or 1.0))
    matrix = np.stack(columns, axis=1)
    weight = np.where(np.linalg.norm(matrix, axis=0) > 0.0, np.linalg.norm(matrix, axis=0), 1.0)
    least = np.array([-np.inf if equal[k] else 0.0 for k in rows] + [0.0] * len(edges))
    found = scipy.optimize.lsq_linear(matrix / weight, slope, (least, np.full(len(least), np.inf)))
    mine = found.x / weight
    for k, each in zip(rows, mine[: len(rows)], strict=True):
        by_limit[k] = problem.limits[k].sign * each
    for (edge, sign), each in zip(edges, mine[len(rows) :], strict=True):
        by_bound[edge] += sign * each / size[edge]
    return Prices(by_limit, by_bound, float(np.linalg.norm(matrix @ mine - slope)) / whole)
