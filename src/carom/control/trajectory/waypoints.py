"""Motions through points: cubics whose accelerations agree where they meet."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ... import errors
from ...forms import Form, Slot, Spelled
from ...quantities import Given, Matrix, Points, Real, Times, Vector
from ._knots import length_of, like, refuse_times
from .polynomials import Polynomials, hermite, polynomials


def Waypoints(
    times: Times, points: Points, start_velocity: Real | Given | None = None, end_velocity: Real | Given | None = None
) -> Polynomials:
    """Cubics through points[i] at times[i] whose velocities and accelerations agree at every inner point.

    - `times` [s]: rising, the first is 0; `points`: one vector for each
    - `start_velocity`, `end_velocity`: zero if left out
    """
    at, via = _via(times, points)
    v0 = like("Waypoints", "start_velocity", start_velocity, via[0])
    v1 = like("Waypoints", "end_velocity", end_velocity, via[0])
    h = at[1:] - at[:-1]
    speeds = _speeds(h, via, v0, v1)
    rows = [hermite(via[i], via[i + 1], speeds[i], speeds[i + 1], h[i]) for i in range(via.shape[0] - 1)]
    return polynomials([at[i] for i in range(via.shape[0])], rows)


WAYPOINTS = Spelled(
    Waypoints,
    Form(
        "waypoints",
        "a cubic spline in time",
        (
            Slot("times", "numbers", "rising from 0 [s]"),
            Slot("points", "table", "values at these times, one row each"),
        ),
    ),
)


def _speeds(h: Vector, via: Matrix, v0: Vector, v1: Vector) -> Any:
    """Velocities at all points such that the accelerations agree: one tridiagonal equation for every inner point."""
    count = via.shape[0]
    if count == 2:
        return jnp.stack([v0, v1])
    inverse = 1.0 / h
    pull = 3.0 * (via[1:] - via[:-1]) * (inverse**2)[:, None]
    inner = np.arange(count - 2)
    matrix = jnp.zeros((count, count)).at[0, 0].set(1.0).at[count - 1, count - 1].set(1.0)
    matrix = matrix.at[inner + 1, inner].set(inverse[:-1]).at[inner + 1, inner + 2].set(inverse[1:])
    matrix = matrix.at[inner + 1, inner + 1].set(2.0 * (inverse[:-1] + inverse[1:]))
    right = jnp.concatenate([v0[None], pull[:-1] + pull[1:], v1[None]])
    return jnp.linalg.solve(matrix, right)


def _via(times: Times, points: Points) -> tuple[Any, Any]:
    count = length_of("Waypoints", "times", times)
    first: Any = points[0] if isinstance(points, list | tuple) and points else points
    if np.ndim(first) == 0:
        raise errors.CaromError("points of Waypoints must be one vector for every time, such as [[0, 0], [0.5, 0.2]]")
    if len(points) != count:
        raise errors.CaromError(
            f"times of Waypoints holds {count} instants and points {len(points)} vectors; each point needs its instant"
        )
    if count < 2:
        raise errors.CaromError("times of Waypoints holds 1 instant; a motion needs at least two; use Hold instead")
    size = length_of("Waypoints", "points[0]", points[0])
    for i in range(1, count):
        errors.vector("Waypoints", f"points[{i}]", points[i], size)
    refuse_times("times of Waypoints", errors.known(times))
    return jnp.asarray(times, dtype=float), jnp.stack([jnp.asarray(p, dtype=float) for p in points])
