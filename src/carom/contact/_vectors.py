"""Vectors in the plane: length and direction, points of an arc."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..quantities import Real

# Added under square roots of squared distances: directions stay finite where they are undefined, as at a ring's
# centre, and nothing changes at distances above 1e-20 m.
NOWHERE = 1e-60


def direction(dx: Real, dy: Real) -> tuple[Any, tuple[Any, Any]]:
    """Length and unit vector of (dx, dy)."""
    size = jnp.sqrt(dx * dx + dy * dy + NOWHERE)
    return size, (dx / size, dy / size)


def arc(centre: np.ndarray, radius: float, begin: float, end: float, count: int) -> np.ndarray:
    """Points on a circle."""
    turn = np.linspace(begin, end, count)
    return centre + radius * np.stack([np.cos(turn), np.sin(turn)], axis=1)
