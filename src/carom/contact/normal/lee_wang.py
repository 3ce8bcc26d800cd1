"""Lee and Wang's loss factor."""

from __future__ import annotations

from typing import Any, ClassVar

from ...quantities import Real
from ..card import Card
from .family import FORMULA, PARAMETERS, AbstractHuntCrossley


class LeeWang(AbstractHuntCrossley):
    """f = 3 (1 - c)/4. Lee and Wang 1983.

    Half of Hunt and Crossley's: about half of the loss of speed that is asked for.
    """

    card: ClassVar[Card] = Card(
        name="lee-wang",
        formula=FORMULA + "3 (1 - c)/4",
        parameters=PARAMETERS,
        source="Lee and Wang 1983, Journal of Mechanisms, Transmissions, and Automation in Design 105, 534-543",
        choose="to repeat work that used it; its loss is about half of what is asked for",
    )

    @staticmethod
    def loss(c: Real) -> Any:
        return 0.75 * (1.0 - c)
