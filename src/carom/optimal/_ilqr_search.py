"""The search of iLQR from one guess: linearise, go backwards, try shares of the advice, take what is truly cheaper."""

from __future__ import annotations

import dataclasses
import time

import numpy as np

from .._progress import Line
from ..hybrid import outcome
from ..hybrid._carry import Carry
from ._backward import Advice, Local, advice_of, gradient_of, pressed
from .cost import Costs
from .stepping import Rollout, Stepping

LEAST, FIRST, MOST = 1e-9, 1e-6, 1e9  # of the shift: shares of the second derivatives by inputs
UP, DOWN = 20.0, 0.1
SHARES = 0.5 ** np.arange(12)
ENOUGH = 1e-4  # share of what the model promises that a step must bring
ROUNDED = 1e-6  # of the cost: what is promised beyond a search that is stuck is no more than rounding
SLOW, PATIENT = 1e-2, 8  # a cost that fell by so small a share of the tolerance, in so many iterations, is at rest


@dataclasses.dataclass(frozen=True)
class Task:
    """What is to be made cheap, and within what."""

    stepping: Stepping
    begun: Carry
    costs: Costs
    limits: tuple[np.ndarray, np.ndarray]  # (N, inputs) each
    iterations: int
    tolerance: float


@dataclasses.dataclass(frozen=True)
class Path:
    """A rollout with its cost."""

    rollout: Rollout
    cost: float


@dataclasses.dataclass
class Search:
    """How far the search from one guess has come: what it has when it is interrupted."""

    path: Path
    history: list[float]
    local: Local | None = None
    advice: Advice | None = None
    converged: bool = False
    reason: str = ""
    rollouts: int = 1


class Clock:
    """How long the whole may go on, and what is shown meanwhile."""

    def __init__(self, seconds: float | None, progress: bool | None, whole: float) -> None:
        self.ends = None if seconds is None else time.monotonic() + seconds
        self.line, self.done, self.now = Line(progress, whole, 2.0), 0.0, ""

    def look(self, words: str) -> bool:
        """Show these words; is there time left?"""
        self.line.update(f"{self.now}{words}", self.done)
        return self.ends is None or time.monotonic() < self.ends


def rolled(task: Task, u: np.ndarray, gains: np.ndarray | None = None, about: Rollout | None = None) -> Path:
    """The path under these inputs, and what it costs; infinitely much where it ends early."""
    found = task.stepping.rollout(task.begun, u, gains, about, task.limits)
    good = found.outcome in outcome.GOOD and bool(np.all(np.isfinite(found.x)))
    return Path(found, task.costs.whole(found.x, found.u) if good else np.inf)


def local_of(task: Task, path: Path) -> Local:
    """Derivatives along a path."""
    A, B = task.stepping.linear_along(path.rollout)
    lx, lu, lxx, luu, lux, ex, exx = task.costs.bent(path.rollout.x, path.rollout.u)
    return Local(A, B, lx, lu, lxx, luu, lux, ex, exx)


def search(task: Task, search: Search, clock: Clock) -> None:
    """Go on from the path that is there; what is found stands in `search` at every moment."""
    shift, slow, most = FIRST, 0, 0.0
    while True:
        at = search.path
        if search.local is None:
            search.local, search.advice, most = local_of(task, at), None, 0.0
        if len(search.history) > task.iterations:
            search.reason = f"{task.iterations} iterations were done; raise iterations to go on"
            return
        if not clock.look(f"iteration {len(search.history)}, cost {at.cost:.6g}, {_events(at)} events"):
            search.reason = "the time that it was allowed was over; this is the best so far"
            return
        if not search.local.finite:
            search.reason = "derivatives of the cost or of a step are not finite on this path; the cost must be smooth"
            return
        if not np.any(pressed(gradient_of(search.local), at.rollout.u, task.limits)):
            search.converged, search.reason = True, "no input changes the cost, within its limits"
            return
        advice = advice_of(search.local, at.rollout.u, task.limits, shift)
        promised = 0.0 if advice is None else advice.expected(1.0)
        if advice is not None:
            search.advice, most = advice, max(most, promised)
            if promised <= task.tolerance * abs(at.cost) and shift <= FIRST:
                search.converged, search.reason = True, _nothing_left(task)
                return
        better = None if advice is None else _cheaper(task, search, advice)
        if better is None:
            shift *= UP
            if shift > MOST:
                _stuck(search, most)
                return
            continue
        slow = slow + 1 if at.cost - better.cost <= SLOW * task.tolerance * abs(at.cost) else 0
        search.path, search.local, shift = better, None, max(LEAST, DOWN * shift)
        search.history.append(better.cost)
        if slow >= PATIENT:
            search.reason = f"the cost hardly fell in the last {PATIENT} iterations"
            return


def _nothing_left(task: Task) -> str:
    return f"a quadratic model promises less than {task.tolerance:g} of the cost"


def _stuck(search: Search, promised: float) -> None:
    """No step however short is cheaper: rounding, or an edge where strikes change their order."""
    if promised <= ROUNDED * abs(search.path.cost):
        search.converged, search.reason = True, "what is left to gain is lost in rounding"
        return
    search.reason = (
        f"no step is cheaper, although a model promises {promised:.3g}: the path is at an edge, where a strike passes "
        "from one step to the next, comes or goes; other guesses, or shorter steps, lead elsewhere"
    )


def _cheaper(task: Task, search: Search, advice: Advice) -> Path | None:
    """The first of ever smaller shares of the advice that brings what it promises."""
    at = search.path
    for share in SHARES:
        promised = advice.expected(share)
        if promised <= 0.0:
            continue
        search.rollouts += 1
        new = rolled(task, at.rollout.u + share * advice.change, advice.gains, at.rollout)
        if at.cost - new.cost > ENOUGH * promised:
            return new
    return None


def _events(path: Path) -> int:
    return int(path.rollout.events[-1] - path.rollout.events[0])
