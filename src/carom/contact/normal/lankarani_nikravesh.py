"""Lankarani and Nikravesh's loss factor."""

from __future__ import annotations

from typing import Any, ClassVar

from ...quantities import Real
from ..card import Card
from .family import FORMULA, PARAMETERS, AbstractHuntCrossley


class LankaraniNikravesh(AbstractHuntCrossley):
    """f = 3 (1 - c^2)/4. Lankarani and Nikravesh 1990.

    Derived from the energy lost in an impact that hardly loses any.
    """

    card: ClassVar[Card] = Card(
        name="lankarani-nikravesh",
        formula=FORMULA + "3 (1 - c^2)/4",
        parameters=PARAMETERS,
        source="Lankarani and Nikravesh 1990, Journal of Mechanical Design 112, 369-376",
        choose="slight losses, c above 0.9, and to repeat work that used it, the most cited of all; below that "
        "it rebounds too fast: 0.73 for c = 0.5",
    )

    @staticmethod
    def loss(c: Real) -> Any:
        return 0.75 * (1.0 - c * c)
