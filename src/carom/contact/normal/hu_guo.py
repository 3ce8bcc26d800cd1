"""Hu and Guo's loss factor."""

from __future__ import annotations

from typing import Any, ClassVar

from ...quantities import Real
from ..card import Card
from .family import FORMULA, PARAMETERS_ABOVE_ZERO, AbstractHuntCrossley


class HuGuo(AbstractHuntCrossley):
    """f = 3 (1 - c)/(2 c). Hu and Guo 2015. The elastic-chain paper uses it."""

    card: ClassVar[Card] = Card(
        name="hu-guo",
        formula=FORMULA + "3 (1 - c)/(2 c)",
        parameters=PARAMETERS_ABOVE_ZERO,
        source="Hu and Guo 2015, Multibody System Dynamics 35, 145-151",
        choose="any c above 0, best above 0.7; 0.49 for c = 0.5, 0.07 for c = 0.1",
    )
    divides: ClassVar[bool] = True

    @staticmethod
    def loss(c: Real) -> Any:
        return 1.5 * (1.0 - c) / c
