"""The loss factor of Flores, Machado, Silva and Martins."""

from __future__ import annotations

from typing import Any, ClassVar

from ...quantities import Real
from ..card import Card
from .family import FORMULA, PARAMETERS_ABOVE_ZERO, AbstractHuntCrossley


class Flores(AbstractHuntCrossley):
    """f = 8 (1 - c)/(5 c). Flores et al. 2011."""

    card: ClassVar[Card] = Card(
        name="flores",
        formula=FORMULA + "8 (1 - c)/(5 c)",
        parameters=PARAMETERS_ABOVE_ZERO,
        source="Flores, Machado, Silva and Martins 2011, Multibody System Dynamics 25, 357-375",
        choose="any c above 0; it rebounds a little too slowly: 0.47 for c = 0.5, 0.79 for c = 0.8",
    )
    divides: ClassVar[bool] = True

    @staticmethod
    def loss(c: Real) -> Any:
        return 1.6 * (1.0 - c) / c
