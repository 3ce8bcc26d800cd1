"""The search for the least sum of squares: Levenberg and Marquardt's steps with geodesic acceleration."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import errors

PROBE = 0.1  # share of a step over which the second derivative is taken
STILL = 1e-6  # what is left to gain, relative to the residuals
ROUNDING = 1e-11  # the same, relative to the data


@dataclasses.dataclass(frozen=True)
class Found:
    p: np.ndarray
    residual: np.ndarray
    slopes: np.ndarray
    converged: bool
    steps: int


def search(evaluate: Callable[..., Any], first: np.ndarray, largest: float, max_steps: int) -> Found:
    """Levenberg and Marquardt: damped Gauss-Newton steps, the damping lowered when they help."""
    p, damping = first, 1e-3
    r, J = evaluate(p)
    if not (np.all(np.isfinite(r)) and np.all(np.isfinite(J))):
        raise errors.CaromError(
            f"predict gives values or derivatives that are not finite at the start, {first.tolist()}; start where the "
            "model makes sense"
        )
    scale = np.zeros_like(first)
    for step in range(max_steps):
        scale = np.maximum(scale, np.linalg.norm(J, axis=0))
        size = float(np.linalg.norm(r))
        left = float(np.linalg.norm(J @ np.linalg.lstsq(J, r, rcond=1e-12)[0]))
        if left <= max(STILL * size, ROUNDING * largest):
            return Found(p, r, J, True, step)
        while True:  # until a step helps
            trial = p + _step(evaluate, p, r, J, np.sqrt(damping) * np.where(scale > 0.0, scale, 1.0))
            new_r, new_J = evaluate(trial)
            good = np.all(np.isfinite(new_r)) and np.all(np.isfinite(new_J))
            if good and new_r @ new_r < r @ r:
                break
            damping *= 10.0
            if damping > 1e12:  # the noise of the integration hides what is left to gain
                return Found(p, r, J, left <= 1e-3 * size, step)
        p, r, J, damping = trial, new_r, new_J, max(damping / 10.0, 1e-12)
    return Found(p, r, J, False, max_steps)


def plain(found: Found, above: np.ndarray) -> Found:
    """Parameters and their Jacobian instead of logarithms."""
    p = np.where(above, np.exp(np.where(above, found.p, 0.0)), found.p)
    return dataclasses.replace(found, p=p, slopes=found.slopes / np.where(above, p, 1.0))


def _step(evaluate: Callable[..., Any], p: np.ndarray, r: np.ndarray, J: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """A damped Gauss-Newton step, and half of what the curvature of the prediction along it asks for."""
    system, none = np.vstack([J, np.diag(weight)]), np.zeros_like(p)
    velocity = np.linalg.lstsq(system, np.concatenate([r, none]), rcond=None)[0]
    ahead = evaluate(p + PROBE * velocity)[0]
    bend = 2.0 / PROBE * ((r - ahead) / PROBE - J @ velocity)
    if not np.all(np.isfinite(bend)):
        return velocity
    acceleration = np.linalg.lstsq(system, np.concatenate([-bend, none]), rcond=None)[0]
    small = np.linalg.norm(weight * acceleration) <= 0.75 * np.linalg.norm(weight * velocity)
    return velocity + 0.5 * acceleration if small else velocity
