"""The least of a quadratic form between bounds, for a handful of unknowns: Newton steps in those that are free."""

from __future__ import annotations

import numpy as np

ROUNDS = 60
STILL = 1e-12  # of the gradient's own size


def least_in_box(H: np.ndarray, g: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """x of the least x^T H x / 2 + g^T x with low <= x <= high (zero lies inside), and which entries are free there.

    Steps are projected on the box; each is the Newton step of the entries that the gradient does not press on a bound.
    """
    x = np.clip(np.zeros_like(g), low, high)
    free = np.ones(len(g), dtype=bool)
    for _ in range(ROUNDS):
        slope = g + H @ x
        free = ~(((x <= low) & (slope >= 0.0)) | ((x >= high) & (slope <= 0.0)))
        if not np.any(free) or np.max(np.abs(slope[free])) <= STILL * np.max(np.abs(g)):
            break
        step = np.zeros_like(x)
        step[free] = -np.linalg.solve(H[np.ix_(free, free)], slope[free])
        new = _best_cut(H, g, x, step, low, high)
        if np.array_equal(new, x):
            break
        x = new
    return x, free


def _best_cut(
    H: np.ndarray, g: np.ndarray, x: np.ndarray, step: np.ndarray, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """The step, or the longest half of a half of it, that lowers the form after it was cut at the bounds."""
    here = 0.5 * x @ H @ x + g @ x
    for half in range(40):
        new = np.clip(x + 0.5**half * step, low, high)
        if 0.5 * new @ H @ new + g @ new < here:
            return np.asarray(new)
    return x
