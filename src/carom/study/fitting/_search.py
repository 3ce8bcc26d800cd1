"""The search for the least sum of squares: Levenberg and Marquardt's, as MINPACK has it, on exact derivatives."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from ... import errors

STILL = 1e-6  # what is left to gain, relative to the residuals
EXACT = 1e-11  # the same, relative to the data
NEARLY = 1e-3  # likewise, where the search ends because the noise of the integration hides the rest
FINE = 1e-12  # changes of sum and parameters, at which it ends

Evaluate = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]  # residuals (data less prediction), d prediction / dp


@dataclasses.dataclass(frozen=True)
class Found:
    p: np.ndarray
    residual: np.ndarray
    slopes: np.ndarray
    converged: bool
    evaluations: int


def search(evaluate: Evaluate, first: np.ndarray, largest: float, max_evaluations: int) -> Found:
    """Parameters of least squares near the first ones; `largest` is the size of the data."""
    import scipy.optimize  # half a second, for those who fit

    known = _Known(evaluate)
    r, J = known(first)
    if not (np.all(np.isfinite(r)) and np.all(np.isfinite(J))):
        raise errors.CaromError(
            f"predict gives values or derivatives that are not finite at the start, {first.tolist()}; start where the "
            "model makes sense"
        )

    found = scipy.optimize.least_squares(
        known.residual,
        first,
        known.slopes,
        method="lm",
        ftol=FINE,
        xtol=FINE,
        gtol=FINE,
        max_nfev=max_evaluations,
    )
    r, J = known(found.x)
    small = (NEARLY if found.status > 0 else STILL) * float(np.linalg.norm(r))
    return Found(found.x, r, J, _left(r, J) <= max(small, EXACT * largest), int(found.nfev))


def plain(found: Found, above: np.ndarray) -> Found:
    """Parameters and their Jacobian instead of logarithms."""
    p = np.where(above, np.exp(np.where(above, found.p, 0.0)), found.p)
    return dataclasses.replace(found, p=p, slopes=found.slopes / np.where(above, p, 1.0))


def _left(r: np.ndarray, J: np.ndarray) -> float:
    """How much of the residuals a linear step would still take away."""
    return float(np.linalg.norm(J @ np.linalg.lstsq(J, r, rcond=1e-12)[0]))


class _Known:
    """Residuals and slopes come together, and cost a run: those of the last two places are kept."""

    def __init__(self, evaluate: Evaluate) -> None:
        self.evaluate = evaluate
        self.seen: dict[bytes, tuple[np.ndarray, np.ndarray]] = {}

    def __call__(self, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        key = p.tobytes()
        if key not in self.seen:
            self.seen = dict([*self.seen.items()][-1:]) | {key: self.evaluate(p)}
        return self.seen[key]

    def residual(self, p: np.ndarray) -> np.ndarray:
        return -self(p)[0]

    def slopes(self, p: np.ndarray) -> np.ndarray:
        return self(p)[1]
