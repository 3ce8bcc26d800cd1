"""Gharib and Hurmuzlu's loss factor."""

from __future__ import annotations

from typing import Any, ClassVar

from ...quantities import Real
from ..card import Card
from .family import FORMULA, PARAMETERS_ABOVE_ZERO, AbstractHuntCrossley


class GharibHurmuzlu(AbstractHuntCrossley):
    """f = 1/c, for blows that lose nearly everything. Gharib and Hurmuzlu 2012.

    **Not verified**: neither the original nor a text that quotes its formula was at hand, so compare before relying on
    it. What speaks for it: it agrees with the exact relation of the family (`family.py`) as c goes to 0, and low
    restitution is the authors' subject: 0.09998 for c = 0.1. Near 1 a loss remains: 0.59 for c = 1.
    """

    card: ClassVar[Card] = Card(
        name="gharib-hurmuzlu",
        formula=FORMULA + "1/c",
        parameters=PARAMETERS_ABOVE_ZERO,
        source="Gharib and Hurmuzlu 2012, Journal of Applied Mechanics 79, 064506 (formula not verified)",
        choose="heavy losses, c below 0.2, where it is nearly exact; never for c near 1: it loses 41 % of the speed "
        "where none should be lost",
    )

    divides: ClassVar[bool] = True

    @staticmethod
    def loss(c: Real) -> Any:
        return 1.0 / c
