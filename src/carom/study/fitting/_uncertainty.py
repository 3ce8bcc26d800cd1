"""How well the data determine the parameters: covariance, intervals, and the directions that they do not show."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._search import Found

VISIBLE = 0.2  # standard deviations of all data together, for a change of the parameters by their own size
DEPENDENT = 1e-7  # singular values of J with unit columns below this fraction of the largest count as zero
TAKES_PART = 0.05  # share of a parameter in a direction from which the direction touches it


def uncertainty(found: Found, names: tuple[str, ...], size: np.ndarray, known: bool, confidence: float) -> Any:
    """Estimates, covariance, intervals, and what the data do not show."""
    from scipy import stats  # here, because it loads slowly and few need it

    count, degrees = len(names), len(found.residual) - len(names)
    level = float(np.sqrt(found.residual @ found.residual / max(degrees, 1)))
    spread = 1.0 if known else level
    visible, hidden = _directions(found.slopes * size, spread)
    hidden = hidden * size  # in units of the parameters
    lost = np.zeros(count, dtype=bool)
    for d in hidden:
        lost |= np.abs(d / size) > TAKES_PART * np.max(np.abs(d / size))
    shown = found.slopes * size @ visible  # what the data do not show moves no prediction
    band = np.sqrt(np.maximum(np.einsum("ij,ij->i", shown, found.slopes * size), 0.0)) * spread
    covariance = np.where(lost[:, None] | lost[None, :], np.inf, visible * np.outer(size, size) * spread**2)
    errors_ = np.sqrt(np.diag(covariance))
    unknown = not known and degrees > 0
    quantile = float(stats.t.ppf(0.5 + confidence / 2, degrees) if unknown else stats.norm.ppf(0.5 + confidence / 2))
    low, high = found.p - quantile * errors_, found.p + quantile * errors_
    return {
        "estimate": {n: float("nan") if lost[i] else float(found.p[i]) for i, n in enumerate(names)},
        "standard_error": {n: float(errors_[i]) for i, n in enumerate(names)},
        "intervals": {n: (float(low[i]), float(high[i])) for i, n in enumerate(names)},
        "covariance": covariance,
        "undetermined": tuple(_sentence(names, d, size, found.slopes, spread) for d in hidden),
        "directions": hidden,
        "noise_level": level,
        "band": band,
    }


def _directions(J: np.ndarray, spread: float) -> tuple[np.ndarray, np.ndarray]:
    """Covariance along the directions that the data show, and unit vectors along those that they do not."""
    _, s, rows = np.linalg.svd(J, full_matrices=False)
    norms = np.linalg.norm(J, axis=0)
    unit = J / np.where(norms > 0.0, norms, 1.0)
    _, t, tilted = np.linalg.svd(unit, full_matrices=False)
    # A column may be small because of its unit; numerically, only columns that repeat each other are none.
    gone = [w / np.where(norms > 0.0, norms, np.inf) for w, x in zip(tilted, t, strict=True) if x < DEPENDENT * t[0]]
    gone += [np.eye(len(norms))[i] for i in np.flatnonzero(norms <= DEPENDENT * np.max(norms) * 1e-6)]
    weak = [row for row, x in zip(rows, s, strict=True) if x < VISIBLE * spread]
    hidden = _basis([*gone, *weak], len(norms))
    # What is left over is seen by the data: invert there.
    rest = np.linalg.svd(np.eye(len(norms)) - hidden.T @ hidden)[0][:, : len(norms) - len(hidden)]
    seen = rest @ np.linalg.pinv((J @ rest).T @ (J @ rest)) @ rest.T if rest.size else np.zeros((len(norms),) * 2)
    return seen, hidden


def _basis(vectors: list[np.ndarray], count: int) -> np.ndarray:
    """Orthonormal rows that span the vectors."""
    found: list[np.ndarray] = []
    for v in vectors:
        if np.linalg.norm(v) == 0.0:
            continue
        v = v / np.linalg.norm(v)
        rest = v - sum((v @ f) * f for f in found) if found else v
        if np.linalg.norm(rest) > 1e-3:
            found.append(rest / np.linalg.norm(rest))
    return np.asarray(found).reshape(-1, count)


def _sentence(names: tuple[str, ...], d: np.ndarray, size: np.ndarray, J: np.ndarray, spread: float) -> str:
    relative = d / size
    d = d / relative[np.argmax(np.abs(relative))]  # by its own size, along the parameter that changes most
    relative = d / size
    parts = [i for i in range(len(names)) if abs(relative[i]) > TAKES_PART]
    seen = float(np.linalg.norm(J @ d)) / spread if spread > 0.0 else 0.0
    moved = "not at all" if seen < 1e-6 else f"by {seen:.2g} standard deviations, all together"
    if len(parts) == 1:
        return f"the data do not determine {names[parts[0]]}: a change of {abs(d[parts[0]]):.3g} moves them {moved}"
    changes = ", ".join(f"{names[i]} by {d[i]:+.3g}" for i in parts)
    return f"the data cannot tell these apart: changing {changes} together moves them {moved}"
