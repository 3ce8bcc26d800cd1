"""Covariances as people give them: standard deviations, or matrices."""

from __future__ import annotations

import numpy as np

from .. import errors
from .._arguments import NoiseLike

ROUNDING = 1e-10  # of the largest eigenvalue


def covariance_of(field: str, given: NoiseLike, size: int, definite: bool = False) -> np.ndarray:
    """A covariance matrix (size, size) from standard deviations (size,), or from itself; zero if left out."""
    if given is None and not definite:
        return np.zeros((size, size))
    what = f"{field} of KalmanFilter"
    try:
        found = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise errors.CaromError(f"{what} is {given!r}; it must hold numbers") from None
    if found.shape not in ((size,), (size, size)):
        raise errors.CaromError(
            f"{what} has shape {found.shape}; it must be {size} standard deviations, shape ({size},), or a covariance "
            f"matrix, shape ({size}, {size})"
        )
    if not np.all(np.isfinite(found)):
        raise errors.CaromError(f"{what} has an entry that is not finite")
    least = "positive" if definite else "zero or positive"
    if found.ndim == 1:
        if np.any(found < 0.0) or (definite and np.any(found == 0.0)):
            raise errors.CaromError(f"{what} is {found.tolist()}; standard deviations must be {least}")
        return np.diag(found**2)
    sizes = np.sqrt(np.abs(np.diag(found)))
    scale = np.where(sizes > 0.0, sizes, 1.0)  # so that units do not matter
    unit = found / np.outer(scale, scale)
    if np.max(np.abs(unit - unit.T)) > ROUNDING:
        raise errors.CaromError(f"{what} is not symmetric; a covariance matrix equals its transpose")
    smallest = float(np.linalg.eigvalsh(0.5 * (unit + unit.T))[0])
    if smallest < -ROUNDING or (definite and smallest <= ROUNDING):
        raise errors.CaromError(
            f"{what} is no covariance matrix: scaled to a unit diagonal its smallest eigenvalue is {smallest:.3g}; "
            f"eigenvalues must be {least}"
        )
    return np.asarray(0.5 * (found + found.T))
