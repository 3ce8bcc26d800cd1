"""A round surface, from outside or inside."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp

from ... import errors
from .surface import AbstractSurface


class Circle(AbstractSurface):
    """Circle of a radius [m] about a centre [m]; the free side is outside, or inside with `inside=True`."""

    centre: Any
    radius: Any
    inside: bool = eqx.field(static=True, default=False)

    def __init__(self, centre: Any, radius: Any, inside: bool = False) -> None:
        errors.vector("Circle", "centre", centre, 2)
        errors.number("Circle", "radius", radius, above=0.0)
        self.centre = (jnp.asarray(centre[0], dtype=float), jnp.asarray(centre[1], dtype=float))
        self.radius = jnp.asarray(radius, dtype=float)
        self.inside = inside

    def gap(self, x: Any, y: Any) -> Any:
        dx, dy = x - self.centre[0], y - self.centre[1]
        away = jnp.sqrt(dx * dx + dy * dy) - self.radius
        return -away if self.inside else away

    def normal(self, x: Any, y: Any) -> tuple[Any, Any]:
        dx, dy = x - self.centre[0], y - self.centre[1]
        size = jnp.sqrt(dx * dx + dy * dy)
        sign = -1.0 if self.inside else 1.0
        return sign * dx / size, sign * dy / size
