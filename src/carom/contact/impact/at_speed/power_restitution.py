"""Restitution by a power of the speed."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from .... import errors
from ....quantities import Real
from ...card import Card
from .speed_form import AbstractRestitution, check_restitution


class PowerRestitution(AbstractRestitution):
    """e = e_1 (v / v_1)^-p, no more than 1.

    - `value` e_1 in [0, 1], at the speed v_1
    - `exponent` p; 1/4 for bodies that yield. Below zero e grows with speed
    - `speed` v_1 [m/s] > 0
    """

    value: Any
    exponent: Any = 0.25
    speed: Any = 1.0

    card = Card(
        "power-restitution",
        "e = e_1 (v / v_1)^-p",
        (("value", "e_1 in [0, 1]"), ("exponent", "p"), ("speed", "v_1 [m/s] > 0")),
        "Johnson 1985, Contact Mechanics, section 11.5; its limit 1: McNamara and Falcon 2005, Physical Review E 71, "
        "031302",
        "Bodies that yield at nearly every blow (p = 1/4); a two-number fit to any measured restitution.",
    )

    def __check_init__(self) -> None:
        check_restitution("PowerRestitution", self.value, "value")
        errors.number("PowerRestitution", "exponent", self.exponent)
        errors.number("PowerRestitution", "speed", self.speed, above=0.0)

    def formula(self, speed: Real) -> Any:
        return self.value * jnp.exp(-self.exponent * jnp.log(speed / self.speed))
