"""Inputs that make a motion with strikes cheap: iterative LQR on exact derivatives, strikes free to come and go."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from .._arguments import Count, StateLike
from ..hybrid import outcome
from ..quantities import Function, Real, Rows
from ._backward import advice_of, gradient_of, pressed
from ._ilqr_search import MOST, OUT_OF_TIME, UP, Search, search
from ._input_limits import narrowed
from ._paths import Clock, Path, Task, local_of, rolled
from .cost import Costs
from .optimal_path import OptimalPath
from .stepping import Stepping

MOST_STEPS, MOST_GUESSES = 100_000, 1_000
WIDTH = 4  # random guesses hold one input over a run of steps, this many runs along the path or more


def ilqr(
    stepping: Stepping,
    state: StateLike,
    running: Function | None = None,
    terminal: Function | None = None,
    *,
    steps: Count | None = None,
    horizon: Real | None = None,
    guesses: Rows | Count | None = None,
    limits: tuple[Rows, Rows] | None = None,
    iterations: Count = 200,
    tolerance: Real = 1e-8,
    seed: Count = 0,
    time: Real | None = None,
    progress: bool | None = None,
) -> OptimalPath:
    """Inputs u_k, held over each step, that make J = sum of running(x_k, u_k) dt + terminal(x_N) as small as it gets.

    Every iteration runs the motion, whatever strikes on it, takes the exact A and B of its steps (saltation matrices of
    events included), goes backwards for a change and gains, and tries ever smaller shares of them by the cost itself.
    Number and order of strikes are not given: they are what the run does. Where they change the cost has an edge or a
    jump, and on each side a minimum of its own: give several guesses.

    - `running(x, u)` [1/s], `terminal(x)`: functions made of jax.numpy, or `carom.QuadraticCost`; one may be left out
    - `steps`, or `horizon` [s], a multiple of the step's length
    - `guesses`: inputs to begin with, (N, inputs); several of them, (many, N, inputs); or a whole number: zero, and
      others drawn by `seed` between the limits. The best end is the result. Zero inputs if left out
    - `limits`: least and largest input of each joint, beside the joints' own
    - `iterations`: at most, from each guess; `tolerance`: it ends when less than this share of the cost is promised
    - `time` [s]: stop then; the best so far is the result, as after Ctrl-C
    - `progress`: a bar; None shows it on a terminal alone, after two seconds

    Second derivatives of the steps are left out, and a cost's second derivatives that bend down: J falls in every
    iteration all the same, because it is J that is compared.

        cost = carom.QuadraticCost(x=[100.0, 10.0], target=[0.5, 0.0])
        path = carom.ilqr(stepping, world.state(), carom.QuadraticCost(u=[0.1]), cost, horizon=1.0, guesses=8)
    """
    if not isinstance(stepping, Stepping):
        raise errors.CaromError(
            f"stepping of ilqr is a {type(stepping).__name__}; give carom.Stepping(world, joints, dt)"
        )
    if not stepping.inputs:
        raise errors.CaromError("stepping of ilqr has no joint with an input; there is nothing to optimise")
    count = _steps(stepping, steps, horizon)
    costs = Costs(running, terminal, stepping.dt).checked(stepping.size, stepping.inputs)
    errors.number("ilqr", "tolerance", tolerance, above=0.0)
    _whole("iterations", iterations, 1, 1_000_000)
    if time is not None:
        errors.number("ilqr", "time", time, above=0.0)
    low, high = narrowed("ilqr", stepping.joints, stepping.limits, limits, (stepping.inputs,))
    within = np.tile(low, (count, 1)), np.tile(high, (count, 1))
    first = _guesses(guesses, count, within, seed)
    task = Task(stepping, stepping.begin(state), costs, within, iterations, float(tolerance))
    clock = Clock(None if time is None else float(time), progress, float(len(first)))
    try:
        found, ends = _from_guesses(task, first, clock)
    finally:
        clock.line.close()
    return _told(task, found, ends)


def _from_guesses(task: Task, guesses: list[np.ndarray], clock: Clock) -> tuple[Search, tuple[float, ...]]:
    """The best end of all searches, and the costs at all ends."""
    best: Search | None = None
    ends, refusal = list[float](), ""
    for k, u in enumerate(guesses):
        clock.done, clock.now = float(k), f"guess {k + 1} of {len(guesses)}, " if len(guesses) > 1 else ""
        now: Search | None = None
        try:
            path = rolled(task, u)
            if not np.isfinite(path.cost):
                refusal = refusal or _no_cost(task, path)
                ends.append(np.inf)
                continue
            now = Search(path, [path.cost])
            search(task, now, clock)
        except KeyboardInterrupt:
            if now is None and best is None:
                raise
            for each in (now, best):
                if each is not None:
                    each.converged, each.reason = False, "it was interrupted; this is the best so far"
            best = _better(best, now)
            break
        ends.append(now.path.cost)
        best = _better(best, now)
        if not clock.look("") and k + 1 < len(guesses):
            best.converged, best.reason = False, OUT_OF_TIME
            break
    if best is None:
        raise errors.CaromError(refusal)
    return best, tuple(ends) or (best.path.cost,)


def _better(best: Search | None, now: Search | None) -> Search:
    if best is None or (now is not None and now.path.cost < best.path.cost):
        assert now is not None
        return now
    return best


def _no_cost(task: Task, path: Path) -> str:
    """Why a guess cannot be begun with."""
    found = path.rollout
    if found.outcome not in outcome.GOOD:
        codes = np.asarray(found.carries.outcome)[1:]
        k = int(np.argmax(~np.isin(codes, outcome.GOOD)))
        return (
            f"guess of ilqr: the motion ends in step {k}, after {found.t[k]:g} s: {outcome.describe(found.outcome)}; "
            "begin with other inputs"
        )
    each, end = task.costs.rows(found.x, found.u)
    bad = np.flatnonzero(~np.isfinite(each))
    if len(bad):
        k = int(bad[0])
        return (
            f"running of ilqr is {each[k] / task.costs.dt:g} at step {k} of the first path (t = {found.t[k]:g} s), at "
            f"x = {found.x[k].tolist()} and u = {found.u[k].tolist()}; it must be a finite number there"
        )
    return (
        f"terminal of ilqr is {end:g} at the end of the first path, x = {found.x[-1].tolist()}; it must be a finite "
        "number there"
    )


def _told(task: Task, found: Search, ends: tuple[float, ...]) -> OptimalPath:
    """The result; gains are those about the path that is told."""
    path = found.path.rollout
    local = found.local or local_of(task, found.path)
    if not local.finite:
        raise errors.CaromError(
            "derivatives of the cost are not finite on the path from the first guess; running and terminal of ilqr "
            f"must be smooth there (a root at zero is not); the path ends at x = {path.x[-1].tolist()}"
        )
    shift, advice = 0.0, found.advice if found.local is not None else None
    while advice is None and shift <= MOST:
        advice = advice_of(local, path.u, task.limits, shift)
        shift = max(1e-12, shift * UP)
    size = (*path.u.shape, path.x.shape[1])
    gains = np.zeros(size) if advice is None else advice.gains
    gradient = gradient_of(local)
    return OptimalPath(
        t=path.t,
        x=path.x,
        u=path.u,
        gains=gains,
        cost=found.path.cost,
        history=tuple(found.history),
        gradient=gradient,
        gradient_norm=float(np.linalg.norm(pressed(gradient, path.u, task.limits))),
        on_limits=int(np.sum((path.u <= task.limits[0]) | (path.u >= task.limits[1]))),
        converged=found.converged,
        reason=found.reason,
        rollouts=found.rollouts,
        ends=ends,
        rollout=path,
    )


# -- what is given -----------------------------------------------------------------------------------------------------


def _whole(field: str, given: Any, least: int, most: int) -> int:
    if not isinstance(given, int | np.integer) or isinstance(given, bool) or not least <= given <= most:
        raise errors.CaromError(f"{field} of ilqr is {given!r}; it must be a whole number from {least} to {most}")
    return int(given)


def _steps(stepping: Stepping, steps: Count | None, horizon: Real | None) -> int:
    """How many steps there are."""
    if (steps is None) == (horizon is None):
        raise errors.CaromError("ilqr needs either steps, a whole number of them, or horizon, their length [s]")
    if steps is not None:
        return _whole("steps", steps, 1, MOST_STEPS)
    errors.number("ilqr", "horizon", horizon, above=0.0)
    assert horizon is not None
    count = round(float(horizon) / stepping.dt)
    if count < 1 or abs(count * stepping.dt - float(horizon)) > 1e-9 * float(horizon):
        raise errors.CaromError(
            f"horizon of ilqr is {float(horizon):g} s; it must be a multiple of the step's length, {stepping.dt:g} s"
        )
    return _whole("horizon, in steps,", count, 1, MOST_STEPS)


def _guesses(given: Any, count: int, limits: tuple[np.ndarray, np.ndarray], seed: Any) -> list[np.ndarray]:
    """First inputs, (N, inputs) each."""
    low, high = limits
    nothing = np.clip(np.zeros_like(low), low, high)
    if given is None:
        return [nothing]
    if isinstance(given, int | np.integer):
        many, rng = _whole("guesses", given, 1, MOST_GUESSES), np.random.default_rng(_whole("seed", seed, 0, 2**63))
        if many > 1 and not np.all(np.isfinite([low, high])):
            raise errors.CaromError(
                "guesses of ilqr is a number, and an input has no limit to draw between; give limits, or the guesses"
            )
        return [nothing, *(_drawn(rng, low, high) for _ in range(many - 1))]
    try:
        found = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise errors.CaromError(
            f"guesses of ilqr are {given!r:.60}; give numbers of shape {low.shape}, several of them, or how many"
        ) from None
    found = found[None] if found.ndim == 2 else found
    if found.ndim != 3 or found.shape[1:] != low.shape or not len(found):
        raise errors.CaromError(
            f"guesses of ilqr have shape {np.shape(given)}; one has shape {low.shape} (steps, inputs), several of them "
            f"(many, {low.shape[0]}, {low.shape[1]})"
        )
    if not np.all(np.isfinite(found)):
        raise errors.CaromError("guesses of ilqr have an entry that is not finite")
    return list(np.clip(found, low, high))


def _drawn(rng: np.random.Generator, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Inputs that are held over a few runs of steps: single steps of noise would average to nothing."""
    pieces = int(rng.integers(1, WIDTH + 1)) * WIDTH
    share = rng.random((min(pieces, len(low)), low.shape[1]))
    rows = np.arange(len(low)) * len(share) // len(low)
    return np.asarray(low + share[rows] * (high - low))
