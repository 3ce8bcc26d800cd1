"""The search of iLQR from one guess: linearise, go backwards, try shares of the advice, take what is truly cheaper."""

from __future__ import annotations

import dataclasses

import numpy as np

from ._backward import Advice, Local, advice_of, gradient_of, pressed
from ._edges import along_edge
from ._paths import Clock, Path, Task, local_of, rolled

LEAST, FIRST, MOST = 1e-9, 1e-6, 1e4  # of the shift: shares of the second derivatives by inputs
UP, DOWN = 50.0, 0.1
SHARES = 0.5 ** np.arange(12)
ENOUGH = 1e-4  # share of what the model promises that a step must bring
ROUNDED = 1e-6  # of the cost: what is promised beyond a search that is stuck is no more than rounding
EDGES, LITTLE = 30, 1e-5  # steps along edges at a time; and the share of the cost that the last one brings at least
STUCK = "no step is cheaper: the path is at an edge, where a strike passes from one step to the next, comes or goes"
AT_AN_EDGE = (
    "a minimum at an edge, where a strike passes from one step to the next, comes or goes: all sides are dearer"
)
OUT_OF_TIME = "the time that it was allowed was over; this is the best so far"
SLOW, PATIENT = 1e3, 8  # a cost that fell by less than so many tolerances, in so many iterations each, is at rest


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


def search(task: Task, search: Search, clock: Clock) -> None:
    """Go on from the path that is there; what is found stands in `search` at every moment."""
    shift, slow = FIRST, 0
    while not search.reason:
        at = search.path
        if search.local is None:
            search.local, search.advice = local_of(task, at), None
        if _over(task, search, clock):
            return
        better = _step(task, search, shift)
        if search.reason:
            return
        if better is None:
            shift *= UP
            if shift <= MOST:
                continue
            better, shift = _beyond_the_edge(task, search, clock), FIRST
            if better is None:
                return
        slow = slow + 1 if at.cost - better.cost <= SLOW * task.tolerance * abs(at.cost) else 0
        search.path, search.local, shift = better, None, max(LEAST, DOWN * shift)
        search.history.append(better.cost)
        if slow >= PATIENT:
            search.reason = f"the cost hardly fell in the last {PATIENT} iterations"


def _over(task: Task, search: Search, clock: Clock) -> bool:
    """Is there a reason to end before another step? It stands in `search` then."""
    at = search.path
    assert search.local is not None
    if len(search.history) > task.iterations:
        search.reason = f"{task.iterations} iterations were done; raise iterations to go on"
    elif not clock.look(f"iteration {len(search.history)}, cost {at.cost:.6g}, {at.events} events"):
        search.reason = OUT_OF_TIME
    elif not search.local.finite:
        search.reason = "derivatives of the cost or of a step are not finite on this path; the cost must be smooth"
    elif not np.any(pressed(gradient_of(search.local), at.rollout.u, task.limits)):
        search.converged, search.reason = True, "no input changes the cost, within its limits"
    return bool(search.reason)


def _step(task: Task, search: Search, shift: float) -> Path | None:
    """A cheaper path by the model with this shift; or a reason to end, in `search`, where it promises nothing."""
    assert search.local is not None
    advice = advice_of(search.local, search.path.rollout.u, task.limits, shift)
    if advice is None:
        return None
    search.advice = advice
    if shift <= FIRST and advice.expected(1.0) <= task.tolerance * abs(search.path.cost):
        search.converged = True
        search.reason = f"a quadratic model promises less than {task.tolerance:g} of the cost"
        return None
    return _cheaper(task, search, advice)


def _beyond_the_edge(task: Task, search: Search, clock: Clock) -> Path | None:
    """No step however short is cheaper: rounding, or an edge. A cheaper path along it, or a reason to end."""
    assert search.local is not None
    at = search.path
    if _promised(task, search.local, at.rollout.u) <= ROUNDED * abs(at.cost):
        search.converged, search.reason = True, "what is left to gain is lost in rounding"
        return None
    for _ in range(EDGES):
        if not clock.look(f"iteration {len(search.history)}, cost {search.path.cost:.6g}, along an edge"):
            search.reason = OUT_OF_TIME
            return None
        local = search.local if search.path is at and search.local is not None else local_of(task, search.path)
        new, promised, rollouts = along_edge(task, search.path, local)
        search.rollouts += rollouts
        if new is None:
            search.converged = promised <= task.tolerance * abs(search.path.cost)
            search.reason = AT_AN_EDGE if search.converged else f"{STUCK}, although {promised:.3g} is promised"
            break
        little = search.path.cost - new.cost <= LITTLE * abs(search.path.cost)
        search.path, search.local, search.advice = new, None, None
        search.history.append(new.cost)
        if little or len(search.history) > task.iterations:
            break
    if at.cost - search.path.cost <= EDGES * LITTLE * abs(at.cost):
        search.reason = search.reason or STUCK
        return None
    search.reason, search.converged = "", False
    search.history.pop()
    return search.path


def _promised(task: Task, local: Local, u: np.ndarray) -> float:
    """What a model with the least shift that it bears promises."""
    shift = LEAST
    while shift <= MOST:
        advice = advice_of(local, u, task.limits, shift)
        if advice is not None:
            return advice.expected(1.0)
        shift *= UP
    return 0.0


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
