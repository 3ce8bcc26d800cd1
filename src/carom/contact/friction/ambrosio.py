"""Coulomb friction that fades in between two speeds."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ... import errors
from ...quantities import PhaseNumber, Real
from ..card import Card
from .friction_law import AbstractFriction


class Ambrosio(AbstractFriction):
    """Zero below v0, rising linearly to mu F_n at v1. Ambrosio 2003; the elastic-chain paper prints the sign reversed.

    - `mu` >= 0, `slow` v0 [m/s] >= 0, `fast` v1 [m/s] > v0
    """

    mu: Any
    slow: Any
    fast: Any

    card = Card(
        "ambrosio",
        "F_t = -mu F_n clip((|v| - v0)/(v1 - v0), 0, 1) sgn(v)",
        (("mu", "coefficient, >= 0"), ("slow", "v0 [m/s], >= 0"), ("fast", "v1 [m/s], > v0")),
        "Ambrosio 2003; the elastic-chain paper's law, whose printed sign is reversed",
        "To reproduce that paper. Below v0 there is no friction at all.",
    )

    def __check_init__(self) -> None:
        errors.number("Ambrosio", "mu", self.mu, least=0.0)
        errors.number("Ambrosio", "slow", self.slow, least=0.0)
        low = errors.known(self.slow)
        errors.number("Ambrosio", "fast", self.fast, above=None if low is None else float(low))
        if low is None:
            errors.flaw(~(self.fast > self.slow))

    def force(self, normal: Real, sliding: Real) -> Any:
        share = jnp.clip((jnp.abs(sliding) - self.slow) / (self.fast - self.slow), 0.0, 1.0)
        return -self.mu * normal * share * jnp.sign(sliding)

    @property
    def corners(self) -> tuple[Any, ...]:
        return (-self.fast, -self.slow, self.slow, self.fast)

    def piecewise(self, piece: PhaseNumber, normal: Real, sliding: Real) -> Any:
        way = jnp.sign(piece - 2.0)  # the middle piece is without friction
        rising = (way * sliding - self.slow) / (self.fast - self.slow)
        return -self.mu * normal * way * jnp.where((piece == 0) | (piece == 4), 1.0, rising)
