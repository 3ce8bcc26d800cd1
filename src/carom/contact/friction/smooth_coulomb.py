"""Coulomb friction smoothed by a hyperbolic tangent."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ... import errors
from ...quantities import Real
from ..card import Card
from .friction_law import AbstractFriction


class SmoothCoulomb(AbstractFriction):
    """F_t = -mu F_n tanh(v / v_d). The arm paper's law; its equation (14) has one sign too many.

    - `mu` >= 0, `speed` v_d [m/s] > 0: sliding well below it creeps instead of sticking
    """

    mu: Any
    speed: Any

    card = Card(
        "smooth-coulomb",
        "F_t = -mu F_n tanh(v / v_d)",
        (("mu", "coefficient, >= 0"), ("speed", "v_d [m/s], > 0")),
        "the arm paper's law, whose equation (14) has one sign too many",
        "Short blows, batches on a GPU, gradients: cheap and smooth. It creeps at rest; use Coulomb to hold.",
    )

    def __check_init__(self) -> None:
        errors.number("SmoothCoulomb", "mu", self.mu, least=0.0)
        errors.number("SmoothCoulomb", "speed", self.speed, above=0.0)

    def force(self, normal: Real, sliding: Real) -> Any:
        return -self.mu * normal * jnp.tanh(sliding / self.speed)
