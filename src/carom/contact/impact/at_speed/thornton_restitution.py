"""Restitution of spheres that are elastic up to a pressure, and perfectly plastic beyond it."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from .... import errors
from ....quantities import Real
from ...card import Card
from .speed_form import AbstractRestitution


class ThorntonRestitution(AbstractRestitution):
    """e^2 = (6 sqrt(3) / 5) (1 - r^2 / 6) (r / (r + 2 sqrt(6/5 - r^2 / 5)))^(1/2) with r = v_y / v; 1 below v_y.

    - `yield_speed` v_y [m/s] > 0, at which a blow just begins to yield

    At high speed it tends to 1.185 r^(1/4).
    """

    yield_speed: Any

    card = Card(
        "thornton-restitution",
        "e(v_y / v), 1 for v <= v_y; tends to 1.185 (v_y / v)^(1/4)",
        (("yield_speed", "v_y [m/s] > 0"),),
        "Thornton 1997, Journal of Applied Mechanics 64, 383-386",
        "Metals and hard plastics that yield: one number. Slow blows lose nothing, so give a settle speed.",
    )

    def __check_init__(self) -> None:
        errors.number("ThorntonRestitution", "yield_speed", self.yield_speed, above=0.0)

    def formula(self, speed: Real) -> Any:
        yields = speed > self.yield_speed
        r = self.yield_speed / jnp.where(yields, speed, self.yield_speed)
        share = r / (r + 2.0 * jnp.sqrt((6.0 - r**2) / 5.0))
        squared = 6.0 * jnp.sqrt(3.0) / 5.0 * (1.0 - r**2 / 6.0) * jnp.sqrt(share)
        return jnp.where(yields, jnp.sqrt(squared), 1.0)
