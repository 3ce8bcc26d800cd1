"""Friction that rises smoothly to its static value and falls beyond it."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ... import errors
from ...quantities import PhaseNumber, Real
from ..card import Card
from .dry import check_limit
from .friction_law import AbstractFriction


class BengisuAkay(AbstractFriction):
    """A parabola up to mu_s F_n at v_0, then an exponential down to mu F_n.

    - `mu` >= 0, `static` mu_s >= mu, `speed` v_0 [m/s] > 0, `fall` xi [s/m] > 0
    """

    mu: Any
    static: Any
    speed: Any
    fall: Any

    card = Card(
        "bengisu-akay",
        "|v| < v_0: F_t = -mu_s F_n [1 - (|v|/v_0 - 1)^2] sgn(v);  "
        "else -[mu + (mu_s - mu) exp(-xi (|v| - v_0))] F_n sgn(v)",
        (
            ("mu", "coefficient at high speed, >= 0"),
            ("static", "coefficient at v_0, mu_s >= mu"),
            ("speed", "v_0 [m/s], > 0"),
            ("fall", "xi [s/m], > 0"),
        ),
        "Bengisu and Akay 1994",
        "Smooth stick-slip with falling friction; below v_0 it creeps instead of sticking.",
    )

    def __check_init__(self) -> None:
        check_limit("BengisuAkay", self.mu, self.static)
        errors.number("BengisuAkay", "static", self.static)
        errors.number("BengisuAkay", "speed", self.speed, above=0.0)
        errors.number("BengisuAkay", "fall", self.fall, above=0.0)

    def force(self, normal: Real, sliding: Real) -> Any:
        speed = jnp.abs(sliding)
        rise = self.static * (1.0 - (jnp.minimum(speed / self.speed, 1.0) - 1.0) ** 2)
        beyond = jnp.maximum(speed - self.speed, 0.0)
        falling = self.mu + (self.static - self.mu) * jnp.exp(-self.fall * beyond)
        return -normal * jnp.sign(sliding) * jnp.where(speed < self.speed, rise, falling)

    @property
    def corners(self) -> tuple[Any, ...]:
        return (-self.speed, self.speed)

    def piecewise(self, piece: PhaseNumber, normal: Real, sliding: Real) -> Any:
        way = piece - 1.0
        share = sliding / self.speed
        rise = self.static * share * (2.0 - jnp.abs(share))  # the parabola, with its sign
        fall = self.mu + (self.static - self.mu) * jnp.exp(-self.fall * (way * sliding - self.speed))
        return -normal * jnp.where(piece == 1, rise, way * fall)
