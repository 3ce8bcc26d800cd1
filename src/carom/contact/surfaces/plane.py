"""A straight surface: floor, slope, wall, ceiling."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ... import errors
from .surface import AbstractSurface


class Plane(AbstractSurface):
    """Half-plane through a point; its free side lies to the left of its direction (above, for slope 0).

    - `Plane(height=-1.0)`: a floor [m]
    - `Plane(point=(0, 0), slope=0.1)`: a slope, inclined by `slope` [rad]
    - `Plane(point=(2, 0), slope=pi / 2)`: a wall with its free side to the left

            free side
        n ^      /  slope
          | ___/______ direction
    """

    point: Any
    slope: Any

    def __init__(self, height: Any = None, *, point: Any = None, slope: Any = 0.0) -> None:
        if (height is None) == (point is None):
            raise errors.CaromError(
                "Plane needs either a height or a point (x, y), not both; such as Plane(height=0.0)"
            )
        if point is not None:
            errors.vector("Plane", "point", point, 2)
        else:
            errors.number("Plane", "height", height)
        errors.number("Plane", "slope", slope)
        x, y = (0.0, height) if point is None else (point[0], point[1])
        self.point = (jnp.asarray(x, dtype=float), jnp.asarray(y, dtype=float))
        self.slope = jnp.asarray(slope, dtype=float)

    def gap(self, x: Any, y: Any) -> Any:
        nx, ny = self.normal(x, y)
        return nx * (x - self.point[0]) + ny * (y - self.point[1])

    def normal(self, x: Any, y: Any) -> tuple[Any, Any]:
        return -jnp.sin(self.slope), jnp.cos(self.slope)
