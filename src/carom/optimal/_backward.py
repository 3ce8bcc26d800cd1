"""Backwards along a path: the quadratic model of the cost to go, the inputs that lower it, and the cost's gradient."""

from __future__ import annotations

import dataclasses

import numpy as np

from ._box import least_in_box

FLAT = 1e-9  # share of the largest second derivative that stands in for one that is nothing


@dataclasses.dataclass(frozen=True)
class Local:
    """Derivatives along a path: of the steps (A, B), and of the cost at every step and at the end."""

    A: np.ndarray  # (N, n, n)
    B: np.ndarray  # (N, n, m)
    lx: np.ndarray  # (N, n)
    lu: np.ndarray  # (N, m)
    lxx: np.ndarray  # (N, n, n)
    luu: np.ndarray  # (N, m, m)
    lux: np.ndarray  # (N, m, n)
    ex: np.ndarray  # (n,)
    exx: np.ndarray  # (n, n)

    @property
    def finite(self) -> bool:
        """Are all of them numbers?"""
        return all(bool(np.all(np.isfinite(getattr(self, f.name)))) for f in dataclasses.fields(self))


@dataclasses.dataclass(frozen=True)
class Advice:
    """How inputs should change: u + share * change + gains (x - path), and what that should gain (for share 1)."""

    change: np.ndarray  # (N, m)
    gains: np.ndarray  # (N, m, n)
    linear: float
    quadratic: float

    def expected(self, share: float) -> float:
        """By how much the cost should fall."""
        return -(share * self.linear + share**2 * self.quadratic)


def gradient_of(local: Local) -> np.ndarray:
    """dJ/du (N, m): exact, through all steps that follow."""
    slope, out = local.ex, np.zeros_like(local.lu)
    for k in reversed(range(len(out))):
        out[k] = local.lu[k] + local.B[k].T @ slope
        slope = local.lx[k] + local.A[k].T @ slope
    return out


def advice_of(local: Local, u: np.ndarray, limits: tuple[np.ndarray, np.ndarray], shift: float) -> Advice | None:
    """Changes and gains within the limits; the second derivatives by inputs are raised by a share `shift` of theirs.

    None where these are not positive: a larger shift is needed. An input's own second derivative is the measure of what
    is large, so that units do not matter; where it has none, the largest of the step, or of those that follow.
    """
    n, m = local.lx.shape[1], local.lu.shape[1]
    slope, bend = local.ex, local.exx
    change, gains = np.zeros_like(local.lu), np.zeros((len(u), m, n))
    linear = quadratic = most = 0.0
    for k in reversed(range(len(u))):
        A, B = local.A[k], local.B[k]
        Qx, Qu = local.lx[k] + A.T @ slope, local.lu[k] + B.T @ slope
        Qxx, Quu, Qux = local.lxx[k] + A.T @ bend @ A, local.luu[k] + B.T @ bend @ B, local.lux[k] + B.T @ bend @ A
        own = np.diag(Quu)
        most = max(most, float(np.max(own, initial=0.0)))
        bent = Quu + shift * np.diag(np.maximum(own, FLAT * (most or 1.0)))
        if not _positive(bent):
            return None
        d, free = least_in_box(bent, Qu, limits[0][k] - u[k], limits[1][k] - u[k])
        K = np.zeros((m, n))
        if np.any(free):
            K[free] = -np.linalg.solve(bent[np.ix_(free, free)], Qux[free])
        linear, quadratic = linear + float(d @ Qu), quadratic + 0.5 * float(d @ Quu @ d)
        slope = Qx + K.T @ Quu @ d + K.T @ Qu + Qux.T @ d
        bend = Qxx + K.T @ Quu @ K + K.T @ Qux + Qux.T @ K
        bend = 0.5 * (bend + bend.T)
        change[k], gains[k] = d, K
    return Advice(change, gains, linear, quadratic)


def _positive(H: np.ndarray) -> bool:
    try:
        np.linalg.cholesky(H)
    except np.linalg.LinAlgError:
        return False
    return True


def pressed(gradient: np.ndarray, u: np.ndarray, limits: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """The gradient without what presses an input on its limit."""
    out = ((u <= limits[0]) & (gradient > 0.0)) | ((u >= limits[1]) & (gradient < 0.0))
    return np.asarray(np.where(out, 0.0, gradient))
