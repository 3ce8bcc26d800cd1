"""Restitution of viscoelastic spheres."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from .... import errors
from ....quantities import Real
from ...card import Card
from .speed_form import AbstractRestitution

ABOVE, BELOW = 0.501086, (0.501086, 1.15345, 0.577977, 0.532178)  # of x, and of x to x^4


class ViscoelasticRestitution(AbstractRestitution):
    """e = (1 + c x) / (1 + b_1 x + b_2 x^2 + b_3 x^3 + b_4 x^4) with x = b^(1/2) v^(1/10).

    - `loss` b [(s/m)^(1/5)] >= 0

    It is the solution of m x'' + k x^(3/2) + g x^(1/2) x' = 0 up to the instant at which the force vanishes, for every
    m, k and g, within 0.01: b = g / m (m / k)^(3/5). At low speed e = 1 - 1.1534 b v^(1/5).
    """

    loss: Any

    card = Card(
        "viscoelastic-restitution",
        "e(b v^(1/5)), for low speeds 1 - 1.1534 b v^(1/5)",
        (("loss", "b [(s/m)^(1/5)] >= 0"),),
        "Kuwabara and Kono 1987; Schwager and Poeschel 1998; this form: Mueller and Poeschel 2011, Physical Review "
        "E 84, 021302",
        "Spheres of rubber, polymers and ice that do not yield: one number.",
    )

    def __check_init__(self) -> None:
        errors.number("ViscoelasticRestitution", "loss", self.loss, least=0.0)

    def formula(self, speed: Real) -> Any:
        lossy = self.loss > 0.0
        x = jnp.where(lossy, jnp.sqrt(jnp.where(lossy, self.loss, 1.0)), 0.0) * jnp.exp(0.1 * jnp.log(speed))
        b1, b2, b3, b4 = BELOW
        return (1.0 + ABOVE * x) / (1.0 + x * (b1 + x * (b2 + x * (b3 + x * b4))))
