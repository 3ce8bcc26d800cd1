"""From a prediction with its slopes to estimates: several starts, noise that is not known, intervals."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import errors
from ..._arguments import Count
from ._fit_input import FitProblem
from ._search import Evaluate, Found, Watch, plain, search
from ._uncertainty import Levels, directions_of, uncertainty

ROUNDS, SETTLED = 30, 1e-3  # of noise levels that are found from the residuals, and when they are
GONE = 1e-9  # of its first size: a positive parameter below that is as good as zero
NUDGE = 1e-4  # standard deviations by which a change by its own size counts, where the data say nothing
SAME = 1e-6  # of the sum of squares: two starts that differ by less ended at the same place

Linearised = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]  # values, and their derivatives


@dataclasses.dataclass(frozen=True)
class Guess:
    """Where the search begins, and what it may do."""

    first: np.ndarray
    names: tuple[str, ...]
    size: np.ndarray
    sized: bool  # were sizes given?
    above: np.ndarray  # which stay above zero
    bounds: tuple[np.ndarray, np.ndarray]


@dataclasses.dataclass(frozen=True)
class Effort:
    """How much is done for it."""

    max_evaluations: int = 200
    starts: int = 1
    seed: int = 0
    seconds: float | None = None
    progress: bool | None = False


@dataclasses.dataclass(frozen=True)
class Solved:
    """Where the search ended."""

    problem: FitProblem  # with the noise that was found
    found: Found
    ends: tuple[float, ...]  # sums of squares at the ends of all starts
    size: np.ndarray
    free: float  # degrees of freedom of the noise that was found


def solve(problem: FitProblem, linearised: Linearised, guess: Guess, effort: Effort) -> Solved:
    """The place of the least sum of squares; noise of channels that is not known is found on the way."""
    watch, free = Watch(effort.seconds, effort.progress, float(effort.starts)), 0.0
    try:
        found, ends = _from_starts(problem, linearised, guess, effort, watch)
        for _ in range(ROUNDS if problem.unknown else 0):
            problem, found, free, moved = _weighed_again(problem, found)
            if found.stopped or moved < SETTLED:
                break
            watch.now = "noise levels, "
            at = dataclasses.replace(guess, first=found.p)
            found = _one(problem, linearised, at, effort, watch, found.evaluations)
        found = found if found.stopped else _drawn_back(problem, linearised, guess, effort, watch, found)
    finally:
        watch.line.close()
    above = guess.above & (not guess.sized)
    # What the search drove to nothing is zero as far as the data tell: how far they tell, its first size shows.
    above &= found.p > GONE * guess.size
    size = np.where(above, found.p, np.maximum(guess.size, np.abs(found.p)))
    return Solved(problem, found, ends, size, free)


def answer(solved: Solved, guess: Guess, known: bool, confidence: float) -> dict[str, Any]:
    """The fields of a Fit but for the parameters in their user's shape."""
    problem, found, free = solved.problem, solved.found, solved.free
    degrees = len(found.residual) - len(guess.names)
    channels = tuple(problem.rows_of(c)[problem.there] for c in problem.unknown)
    levels = Levels(known, free if channels else 0.0 if known else float(max(degrees, 0)), channels)
    out = uncertainty(found, guess.names, solved.size, levels, confidence, guess.bounds)
    for name in (n for n, above in zip(guess.names, guess.above, strict=True) if above):
        low, high = out["intervals"][name]
        out["intervals"][name] = (max(low, 0.0) if np.isfinite(low) else low, high)
    out["band"] = problem.shaped(problem.spread_out(out["band"]) * problem.noise)
    out["residuals"] = problem.shaped(problem.spread_out(found.residual) * problem.noise)
    out["noise"] = problem.shaped(problem.noise)
    words = {-1: "least", 1: "largest"}
    out["on_bounds"] = {n: words[int(k)] for n, k in zip(guess.names, found.held, strict=True) if k}
    firsts = {c: float(problem.noise[problem.rows_of(c)][0]) for c in problem.unknown}
    return out | {
        "names": guess.names,
        "noise_known": known and not firsts,
        "noise_found": firsts,
        "degrees": degrees,
        "confidence": confidence,
        "ends": solved.ends,
        "evaluations": found.evaluations,
        "converged": found.converged,
        "stopped": found.stopped,
    }


def evaluation(problem: FitProblem, above: np.ndarray, linearised: Linearised) -> Evaluate:
    """What the search asks at u, the parameters, as logarithms where they stay above zero."""

    def evaluate(u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Residuals and Jacobian of the prediction, both in units of the noise."""
        with np.errstate(over="ignore"):
            p = np.where(above, np.exp(np.where(above, u, 0.0)), u)
        values, slopes = linearised(p)
        with np.errstate(invalid="ignore"):
            slopes = np.asarray(slopes) * np.where(above, p, 1.0)
        there = problem.there
        r, J = (problem.measured - np.asarray(values)) / problem.noise, slopes / problem.noise[:, None]
        return r[there], J[there]

    return evaluate


def _one(
    problem: FitProblem,
    linearised: Linearised,
    guess: Guess,
    effort: Effort,
    watch: Watch,
    before: int = 0,
    changed: Callable[[Evaluate], Evaluate] | None = None,
) -> Found:
    """One search, from one first guess."""
    above = guess.above
    evaluate = evaluation(problem, above, linearised)
    evaluate = evaluate if changed is None else changed(evaluate)
    begin, low, high = (
        np.where(above, np.log(np.where(above & (x > 0.0), x, 1.0)), x) for x in (guess.first, *guess.bounds)
    )
    low = np.where(above & (guess.bounds[0] <= 0.0), -np.inf, low)
    largest = float(np.linalg.norm((problem.measured / problem.noise)[problem.there]))
    size = np.where(above, 1.0, guess.size)
    found = plain(search(evaluate, begin, largest, effort.max_evaluations, (low, high), size, watch), above)
    return dataclasses.replace(found, evaluations=found.evaluations + before)


def _drawn_back(
    problem: FitProblem, linearised: Linearised, guess: Guess, effort: Effort, watch: Watch, found: Found
) -> Found:
    """Where data leave a direction open the search drifts along it: the same fit, as near to the start as it goes."""
    free = found.held == 0
    size = np.maximum(guess.size, np.abs(found.p))
    level = 1.0 if problem.unknown else float(np.sqrt(found.squares / max(len(found.residual) - len(found.p), 1)))
    if not len(directions_of((found.slopes * size)[:, free], min(level, 1.0))[1]):
        return found
    weight = NUDGE * (min(level, 1.0) or 1.0) / np.where(guess.above, 1.0, guess.size)
    begin = np.where(guess.above, np.log(np.where(guess.above, guess.first, 1.0)), guess.first)

    def nudged(evaluate: Evaluate) -> Evaluate:
        def both(u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            r, J = evaluate(u)
            return np.append(r, weight * (begin - u)), np.concatenate([J, np.diag(weight)])

        return both

    try:
        near = _one(problem, linearised, guess, effort, watch, found.evaluations, nudged)
    except errors.CaromError:  # the start itself makes no sense
        return found
    extra = len(near.residual) - len(found.residual)
    near = dataclasses.replace(near, residual=near.residual[:-extra], slopes=near.slopes[:-extra])
    good = near.squares <= found.squares * (1.0 + 1e-3) + NUDGE**2
    return dataclasses.replace(near, converged=near.converged or found.converged) if good else found


def _from_starts(
    problem: FitProblem, linearised: Linearised, guess: Guess, effort: Effort, watch: Watch
) -> tuple[Found, tuple[float, ...]]:
    """The best end of several searches, and the sums of squares at all ends; starts that make no sense have none."""
    best, ends, refusal, evaluations = None, list[float](), None, 0
    for k, first in enumerate(first_guesses(guess, effort.starts, effort.seed)):
        watch.done, watch.now = k, f"start {k + 1} of {effort.starts}, " if effort.starts > 1 else ""
        try:
            found = _one(problem, linearised, dataclasses.replace(guess, first=first), effort, watch)
        except errors.CaromError as trouble:
            refusal = refusal or trouble
            ends.append(float("inf"))
            continue
        except KeyboardInterrupt:
            if best is None:
                raise
            best = dataclasses.replace(best, stopped="it was interrupted")
            break
        ends.append(found.squares)
        evaluations += found.evaluations
        if best is None or found.squares < best.squares * (1.0 - SAME):
            best = found
        if found.stopped:
            best = dataclasses.replace(best, stopped=found.stopped)
            break
    if best is None:
        raise refusal if refusal is not None else errors.CaromError("there is no start")
    return dataclasses.replace(best, evaluations=evaluations), tuple(ends)


def first_guesses(guess: Guess, count: Count, seed: Count) -> list[np.ndarray]:
    """The first guess, and others: between bounds, else up to three times as large or small, or three sizes away."""
    if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= 10_000:
        raise errors.CaromError(f"starts of fit is {count!r}; it must be a whole number from 1 to 10000")
    rng, (low, high), n = np.random.default_rng(seed), guess.bounds, len(guess.first)
    strata = np.stack([(rng.permutation(count) + rng.random(count)) / count for _ in range(n)], axis=1)
    out = [guess.first]
    for unit in strata[1:]:
        wide = guess.first + guess.size * 3.0 * (2.0 * unit - 1.0)
        ratio = guess.first * 3.0 ** (2.0 * unit - 1.0)
        here = np.where(guess.first == 0.0, wide, ratio)
        with np.errstate(invalid="ignore"):
            between = low + unit * (high - low)
        here = np.where(np.isfinite(low) & np.isfinite(high), between, here)
        out.append(np.clip(here, low, high))
    return out


def _weighed_again(problem: FitProblem, found: Found) -> tuple[FitProblem, Found, float, float]:
    """The same with noise from the residuals where it is not known; its degrees of freedom; the largest change.

    A channel's residuals are smaller than its noise by what the parameters took of them: its share of the trace of the
    projection onto the slopes.
    """
    weights = np.linalg.norm(found.slopes, axis=0)
    q, s, _ = np.linalg.svd(found.slopes / np.where(weights > 0.0, weights, 1.0), full_matrices=False)
    taken = np.sum(q[:, s > 1e-9 * max(float(s[0]), 1e-300)] ** 2, axis=1)
    noise, total, moved = problem.noise.copy(), 0.0, 0.0
    for channel in problem.unknown:
        rows = problem.rows_of(channel)
        mine = rows[problem.there]
        left = float(np.sum(mine) - np.sum(taken[mine]))
        if left < 0.5:
            raise errors.CaromError(
                f"the noise of channel '{channel}' is not known, and its {int(np.sum(mine))} data are all "
                "needed for the parameters; say how noisy it is"
            )
        level = float(np.sqrt(np.sum(found.residual[mine] ** 2) / left))
        least = 1e-12 * max(float(np.max(np.abs(problem.measured[rows & problem.there]))), 1e-300)
        new = np.maximum(noise[rows] * level, least)
        moved = max(moved, float(np.max(np.abs(new / noise[rows] - 1.0))))
        noise[rows] = new
        total += left
    ratio = (problem.noise / noise)[problem.there]
    found = dataclasses.replace(found, residual=found.residual * ratio, slopes=found.slopes * ratio[:, None])
    return dataclasses.replace(problem, noise=noise), found, total, moved
