"""Friction that falls with speed before it rises: Stribeck's curve, with exact stick."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ... import errors
from ...quantities import Real
from ..card import Card
from .dry import AbstractDry, check_limit


class Stribeck(AbstractDry):
    """mu(v) = mu + (mu_s - mu) exp(-(v/v_s)^2), and a viscous part c v.

    - `mu` >= 0, `static` mu_s >= mu, `speed` v_s [m/s] > 0, `viscous` c [N s/m] >= 0
    """

    mu: Any
    static: Any
    speed: Any
    viscous: Any = 0.0

    card = Card(
        "stribeck",
        "sliding: F_t = -[mu + (mu_s - mu) exp(-(v/v_s)^2)] F_n sgn(v) - c v;  sticking: |F_t| <= mu_s F_n",
        (
            ("mu", "coefficient at high speed, >= 0"),
            ("static", "static coefficient mu_s, >= mu"),
            ("speed", "v_s [m/s] over which friction falls, > 0"),
            ("viscous", "c [N s/m], >= 0"),
        ),
        "Stribeck 1902; Bo and Pavelescu 1982",
        "Lubricated or brake-like contacts in which falling friction drives stick-slip oscillation.",
        (
            ("sliding", "F_t = -[mu + (mu_s - mu) exp(-(v/v_s)^2)] F_n sgn(v) - c v"),
            ("sticking", "v = 0, |F_t| <= mu_s F_n"),
        ),
    )

    def __check_init__(self) -> None:
        check_limit("Stribeck", self.mu, self.static)
        errors.number("Stribeck", "static", self.static)
        errors.number("Stribeck", "speed", self.speed, above=0.0)
        errors.number("Stribeck", "viscous", self.viscous, least=0.0)

    @property
    def limit(self) -> Any:
        return self.static

    def coefficient(self, speed: Real) -> Any:
        return self.mu + (self.static - self.mu) * jnp.exp(-((speed / self.speed) ** 2))

    @property
    def drag(self) -> Any:
        return self.viscous
