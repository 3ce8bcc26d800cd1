"""Levenberg and Marquardt's search with steps that bend (Transtrum and Sethna, arXiv:1201.5885).

Where data hardly tell two parameters apart, the least squares lie at the bottom of a long valley. If it is bent,
straight steps leave it after a thousandth of its length, and MINPACK crawls. Here a step v is followed by half of the
acceleration a of the path along which the prediction would move evenly; the curvature that this needs costs one more
prediction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

PROBE = 0.1  # of a step, for the curvature along it
MOST_BENT = 0.75  # 2 |a| / |v|: a step that bends more is too long
LESS, MORE = 5.0, 3.0  # damping after a step that was good, and after one that was not

Residual = Callable[[np.ndarray], np.ndarray]  # prediction less data
Slopes = Callable[[np.ndarray], np.ndarray]  # its derivatives


class Bottom(NamedTuple):
    """Where the search ended; `status` is 0 if it was out of evaluations."""

    x: np.ndarray
    status: int


def along_bent_valleys(residual: Residual, slopes: Slopes, x: np.ndarray, fine: float, evaluations: int) -> Bottom:
    """Least squares near x, until neither the sum nor the parameters change by more than `fine` of themselves."""
    r, J, damping = residual(x), slopes(x), 1e-3
    for _ in range(evaluations // 2):
        scale = np.sqrt(np.sum(J * J, axis=0))
        scale = np.where(scale > 0.0, scale, 1.0)
        damped = np.concatenate([J, np.sqrt(damping) * np.diag(scale)])
        v = -_solved(damped, r, len(x))
        bend = 2.0 / PROBE * ((residual(x + PROBE * v) - r) / PROBE - J @ v)
        a = -_solved(damped, bend, len(x)) if np.all(np.isfinite(bend)) else np.full(len(x), np.inf)
        size = float(np.linalg.norm(scale * v))
        if not 2.0 * np.linalg.norm(scale * a) <= MOST_BENT * size:
            if size <= fine * np.linalg.norm(scale * x):
                return Bottom(x, 3)
            damping *= MORE
            continue
        there = x + v + 0.5 * a
        new = residual(there)
        gain = float(r @ r - new @ new)
        if not gain >= 0.0:
            if size <= fine * np.linalg.norm(scale * x):
                return Bottom(x, 3)
            damping *= MORE
            continue
        x, r, J, damping = there, new, slopes(there), max(damping / LESS, 1e-15)
        if gain <= fine * float(r @ r):
            return Bottom(x, 2)
    return Bottom(x, 0)


def _solved(damped: np.ndarray, right: np.ndarray, count: int) -> np.ndarray:
    return np.asarray(np.linalg.lstsq(damped, np.concatenate([right, np.zeros(count)]), rcond=None)[0])
