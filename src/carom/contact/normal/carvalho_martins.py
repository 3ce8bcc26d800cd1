"""Carvalho and Martins' loss factor, completed towards plastic blows."""

from __future__ import annotations

from typing import Any, ClassVar

import jax.numpy as jnp

from ...quantities import Real
from ..card import Card
from .family import FORMULA, PARAMETERS_ABOVE_ZERO, AbstractHuntCrossley


class CarvalhoMartins(AbstractHuntCrossley):
    """f = 3 (1 - c)(11 - c)/(2 (1 + 9 c)) for c > 1/3, (1 - c^2)/c below. Carvalho and Martins 2019.

    A closed form of the family's exact relation (`family.py`), within 0.006 of the restitution asked for everywhere and
    within 0.0002 from c = 0.5 on. The original was not at hand; both branches are those of the Exudyn manual, which
    takes the second one (Gonthier's short cut) for strong losses. They meet at c = 1/3, both with f = 8/3.
    """

    card: ClassVar[Card] = Card(
        name="carvalho-martins",
        formula=FORMULA + "3 (1 - c)(11 - c)/(2 (1 + 9 c)) for c > 1/3, else (1 - c^2)/c",
        parameters=PARAMETERS_ABOVE_ZERO,
        source="Carvalho and Martins 2019, Mechanism and Machine Theory 139, 174-194 (as quoted in the Exudyn manual)",
        choose="any c above 0, where a formula is wanted instead of an equation to solve; within 0.006 of exact",
    )

    divides: ClassVar[bool] = True

    @staticmethod
    def loss(c: Real) -> Any:
        strong = jnp.minimum(c, 1.0 / 3.0)
        return jnp.where(
            c > 1.0 / 3.0,
            1.5 * (1.0 - c) * (11.0 - c) / (1.0 + 9.0 * c),
            (1.0 - strong * strong) / strong,
        )
