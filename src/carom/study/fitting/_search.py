"""The search for the least sum of squares: Levenberg and Marquardt's, as MINPACK has it, on exact derivatives.

Within bounds it is SciPy's trust region, which stays inside; what comes to lie on a bound is put there, and MINPACK
finishes with the others. What does not end soon is begun again with steps that bend (_bent_valleys.py). A search that
is stopped, by its time or by Ctrl-C, gives the best place that it has seen.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable

import numpy as np

from ... import errors
from ..._progress import Line
from ._bent_valleys import along_bent_valleys

STILL = 1e-6  # what is left to gain, relative to the residuals
EXACT = 1e-11  # the same, relative to the data
NEARLY = 1e-3  # likewise, where the search ends because the noise of the integration hides the rest
FINE = 1e-12  # changes of sum and parameters, at which it ends
STRAIGHT = 40  # evaluations of MINPACK's; a search that takes longer follows a valley, and bends its steps
AT_BOUND = 1e-5  # of the size of a parameter: nearer to a bound, it is tried on it

Evaluate = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]  # residuals (data less prediction), d prediction / dp


@dataclasses.dataclass(frozen=True)
class Found:
    p: np.ndarray
    residual: np.ndarray
    slopes: np.ndarray
    converged: bool
    evaluations: int
    held: np.ndarray  # which parameters lie on a bound, with the data pulling them beyond: -1, 0 or 1
    stopped: str = ""  # why the search ended before it was done

    @property
    def squares(self) -> float:
        return float(self.residual @ self.residual)


class Enough(Exception):
    """The time that the search was allowed is over."""


class Watch:
    """How long a search may go on, and what is shown meanwhile."""

    def __init__(self, seconds: float | None = None, progress: bool | None = False, whole: float | None = None) -> None:
        self.ends = None if seconds is None else time.monotonic() + seconds
        self.line = Line(progress, whole, 2.0)
        self.done, self.now = 0, ""

    def look(self, squares: float) -> None:
        self.line.update(f"{self.now}sum of squares {squares:.6g}", float(self.done))
        if self.ends is not None and time.monotonic() > self.ends:
            raise Enough


def search(
    evaluate: Evaluate,
    first: np.ndarray,
    largest: float,
    max_evaluations: int,
    bounds: tuple[np.ndarray, np.ndarray] | None = None,
    size: np.ndarray | None = None,
    watch: Watch | None = None,
) -> Found:
    """Parameters of least squares near the first ones; `largest` is the size of the data."""
    known = _Known(evaluate, watch or Watch())
    r, J = known.again(first)
    if not (np.all(np.isfinite(r)) and np.all(np.isfinite(J))):
        raise errors.CaromError(
            f"predict gives values or derivatives that are not finite at the start, {first.tolist()}; start where the "
            "model makes sense"
        )
    count = len(first)
    try:
        if bounds is None or not np.any(np.isfinite(bounds)):
            p, status = _freely(known, first, np.ones(count, dtype=bool), max_evaluations)
            held = np.zeros(count, dtype=int)
        else:
            p, status, held = _within(known, first, bounds, np.ones(count) if size is None else size, max_evaluations)
        stopped = ""
    except (Enough, KeyboardInterrupt) as end:
        stopped = "the time that it was allowed was over" if isinstance(end, Enough) else "it was interrupted"
        p, status, held = known.best, 0, np.zeros(count, dtype=int)
    r, J = known.again(p)
    small = (NEARLY if status > 0 else STILL) * float(np.linalg.norm(r))
    still = _left(r, J[:, held == 0]) <= max(small, EXACT * largest)
    return Found(p, r, J, still and not stopped, known.evaluations, held, stopped)


def _freely(known: _Known, first: np.ndarray, free: np.ndarray, max_evaluations: int) -> tuple[np.ndarray, int]:
    """Over the free parameters; the others stay: the place, and 0 if it was out of evaluations."""
    import scipy.optimize  # half a second, for those who fit

    def whole(p: np.ndarray) -> np.ndarray:
        out = first.copy()
        out[free] = p
        return out

    if not np.any(free):
        return first, 1

    def residual(p: np.ndarray) -> np.ndarray:
        return known.residual(whole(p))

    def slopes(p: np.ndarray) -> np.ndarray:
        return known.slopes(whole(p))[:, free]

    most = min(STRAIGHT, max_evaluations)
    found = scipy.optimize.least_squares(
        residual, first[free], slopes, method="lm", ftol=FINE, xtol=FINE, gtol=FINE, max_nfev=most
    )
    if found.status == 0 and most < max_evaluations:  # from the start: it may have strayed far along its valley
        bent = along_bent_valleys(residual, slopes, first[free], FINE, max_evaluations - most)
        better = np.sum(residual(bent.x) ** 2) <= np.sum(residual(found.x) ** 2)
        return whole(bent.x if better else found.x), bent.status if better else 0
    return whole(found.x), found.status


def _within(
    known: _Known, first: np.ndarray, bounds: tuple[np.ndarray, np.ndarray], size: np.ndarray, max_evaluations: int
) -> tuple[np.ndarray, int, np.ndarray]:
    """A search that stays between bounds: the place, how it ended, and what lies on a bound."""
    import scipy.optimize  # half a second, for those who fit

    low, high = bounds
    rough = scipy.optimize.least_squares(
        known.residual, np.clip(first, low, high), known.slopes, bounds=bounds, method="trf", x_scale=size,
        ftol=1e-9, xtol=1e-9, gtol=1e-14, max_nfev=max_evaluations,
    )  # fmt: skip
    p = rough.x.copy()
    near = AT_BOUND * size
    held = np.where(p - low <= near, -1, np.where(high - p <= near, 1, 0))
    p = np.where(held < 0, low, np.where(held > 0, high, p))
    r, J = known(p)
    if not (np.all(np.isfinite(r)) and np.all(np.isfinite(J))):  # on the bound itself there is no number
        p, held = rough.x, np.zeros(len(p), dtype=int)
        r, J = known(p)
    held = np.where(held * (J.T @ r) > 0.0, held, 0)  # the data pull it beyond
    fine, status = _freely(known, p, held == 0, max_evaluations)
    inside = np.all((fine >= low) & (fine <= high))
    better = float(np.sum(known.again(fine)[0] ** 2)) <= float(np.sum(known.again(rough.x)[0] ** 2)) * (1.0 + 1e-9)
    return (fine, status, held) if inside and better else (rough.x, rough.status, np.zeros(len(p), dtype=int))


def plain(found: Found, above: np.ndarray) -> Found:
    """Parameters and their Jacobian instead of logarithms."""
    p = np.where(above, np.exp(np.where(above, found.p, 0.0)), found.p)
    return dataclasses.replace(found, p=p, slopes=found.slopes / np.where(above, p, 1.0))


def _left(r: np.ndarray, J: np.ndarray) -> float:
    """How much of the residuals a linear step would still take away."""
    return float(np.linalg.norm(J @ np.linalg.lstsq(J, r, rcond=1e-12)[0])) if J.size else 0.0


class _Known:
    """Residuals and slopes come together, and cost a run: those of the last two places are kept, and the best one."""

    def __init__(self, evaluate: Evaluate, watch: Watch) -> None:
        self.evaluate, self.watch = evaluate, watch
        self.seen: dict[bytes, tuple[np.ndarray, np.ndarray]] = {}
        self.best, self.least = np.zeros(0), np.inf
        self.evaluations = 0

    def __call__(self, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = self.again(p)
        self.watch.look(self.least)
        return found

    def again(self, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Without a look at the clock."""
        key = p.tobytes()
        if key not in self.seen:
            found = self.evaluate(p)
            self.evaluations += 1
            self.seen = dict([*self.seen.items()][-1:]) | {key: found}
            squares = float(np.sum(found[0] ** 2))
            if squares < self.least and np.all(np.isfinite(found[1])):
                self.best, self.least = p.copy(), squares
            elif not len(self.best):
                self.best = p.copy()
        return self.seen[key]

    def residual(self, p: np.ndarray) -> np.ndarray:
        return -self(p)[0]

    def slopes(self, p: np.ndarray) -> np.ndarray:
        return self(p)[1]
