"""How well the data determine the parameters: covariance, intervals, and the directions that they do not show."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ._found_noise import small_samples
from ._search import Found

VISIBLE = 0.2  # standard deviations of all data together, for a change of the parameters by their own size
DEPENDENT = 1e-7  # singular values of J with unit columns below this fraction of the largest count as zero
TAKES_PART = 0.05  # share of a parameter in a direction from which the direction touches it


class Levels(NamedTuple):
    """What is known of the noise: is it, and with how many degrees of freedom was it found if not?"""

    known: bool  # up to one factor for all
    degrees: float  # of what was estimated, all together; 0: nothing was
    channels: tuple[np.ndarray, ...] = ()  # rows of each noise that was found


def uncertainty(
    found: Found,
    names: tuple[str, ...],
    size: np.ndarray,
    levels: Levels,
    confidence: float,
    bounds: tuple[np.ndarray, np.ndarray],
) -> dict[str, Any]:
    """Estimates, covariance, intervals, and what the data do not show.

    A parameter on a bound stays there for the others; its own interval is where the sum of squares, which grows from
    the bound on, has grown by what the confidence allows.
    """
    from scipy import stats  # here, because it loads slowly and few need it

    free = np.flatnonzero(found.held == 0)
    level = float(np.sqrt(found.squares / max(len(found.residual) - len(names), 1)))
    spread = 1.0 if levels.known else level
    slopes = (found.slopes * size)[:, free]
    visible, hidden = directions_of(slopes, spread)
    quantile = np.full(len(names), stats.t.ppf(0.5 + confidence / 2, levels.degrees or np.inf))
    if levels.channels:
        visible, quantile[free] = small_samples(slopes, hidden, levels.channels, confidence)
    visible, hidden = _over(names, free, visible, hidden)
    hidden = hidden * size  # in units of the parameters
    lost = np.zeros(len(names), dtype=bool)
    for d in hidden:
        lost |= np.abs(d / size) > TAKES_PART * np.max(np.abs(d / size))
    shown = found.slopes * size @ visible  # what the data do not show moves no prediction
    band = np.sqrt(np.maximum(np.einsum("ij,ij->i", shown, found.slopes * size), 0.0)) * spread
    covariance = np.where(lost[:, None] | lost[None, :], np.inf, visible * np.outer(size, size) * spread**2)
    errors_ = np.sqrt(np.diag(covariance))
    reach = quantile * np.where(found.held == 0, errors_, _from_bound(found, size, spread, quantile))
    low = np.where(found.held < 0, found.p, np.maximum(found.p - reach, bounds[0]))
    high = np.where(found.held > 0, found.p, np.minimum(found.p + reach, bounds[1]))
    low, high = np.where(lost, bounds[0], low), np.where(lost, bounds[1], high)
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


def _over(
    names: tuple[str, ...], free: np.ndarray, visible: np.ndarray, hidden: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Covariance and directions of the free parameters among all."""
    whole, rows = np.zeros((len(names),) * 2), np.zeros((len(hidden), len(names)))
    whole[np.ix_(free, free)] = visible
    rows[:, free] = hidden
    return whole, rows


def _from_bound(found: Found, size: np.ndarray, spread: float, quantile: np.ndarray) -> np.ndarray:
    """How far those on a bound may be from it, in units of their quantile: 2 g x + h x^2 = quantile^2."""
    J = found.slopes * size
    curvature = 1.0 / np.maximum(np.diag(np.linalg.pinv(J.T @ J)), np.finfo(float).tiny)
    pull = np.abs(J.T @ found.residual)
    far = (np.sqrt(pull**2 + curvature * (quantile * spread) ** 2) - pull) / curvature
    return far * size / quantile


def directions_of(J: np.ndarray, spread: float) -> tuple[np.ndarray, np.ndarray]:
    """Covariance along the directions that the data show, and unit vectors along those that they do not."""
    if not J.shape[1]:
        return np.zeros((0, 0)), np.zeros((0, 0))
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
