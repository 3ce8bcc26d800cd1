"""Friction with a spring inside: Dahl's bristle."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ... import errors
from ...quantities import Real
from ..card import Card
from .friction_law import AbstractFriction


class Dahl(AbstractFriction):
    """F_t = -F_n s z, with the deflection z of a bristle: z' = v - |v| s z / mu.

    Stiffness is per unit of normal force, so that friction vanishes with it. The state is s z, the ratio of friction to
    normal force, which is of order one; z itself is micrometres, below what tolerances are set for.

    - `mu` >= 0, `stiffness` s [1/m] > 0
    """

    mu: Any
    stiffness: Any

    card = Card(
        "dahl",
        "F_t = -F_n s z,  z' = v - |v| s z / mu",
        (("mu", "coefficient of steady sliding, > 0"), ("stiffness", "s [1/m], > 0: mu/s is the pre-sliding distance")),
        "Dahl 1968",
        "Small reversals with hysteresis (bearings, pre-sliding). It has no stiction and no fall with speed.",
    )

    def __check_init__(self) -> None:
        errors.number("Dahl", "mu", self.mu, above=0.0)
        errors.number("Dahl", "stiffness", self.stiffness, above=0.0)

    @property
    def states(self) -> tuple[str, ...]:
        return ("force ratio",)

    def force(self, normal: Real, sliding: Real) -> Any:
        return -self.mu * normal * jnp.sign(sliding)

    def flow(self, states: tuple[Any, ...], normal: Real, sliding: Real) -> tuple[Any, tuple[Any, ...]]:
        (ratio,) = states
        rate = sliding - jnp.abs(sliding) * ratio / self.mu
        return -normal * ratio, (self.stiffness * rate,)
