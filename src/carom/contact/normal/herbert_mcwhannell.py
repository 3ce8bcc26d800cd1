"""Herbert and McWhannell's loss factor."""

from __future__ import annotations

from typing import Any, ClassVar

from ...quantities import Real
from ..card import Card
from .family import FORMULA, PARAMETERS, AbstractHuntCrossley


class HerbertMcWhannell(AbstractHuntCrossley):
    """f = 6 (1 - c)/((2 c - 1)^2 + 3). Herbert and McWhannell 1977.

    Exact to second order in 1 - c.
    """

    card: ClassVar[Card] = Card(
        name="herbert-mcwhannell",
        formula=FORMULA + "6 (1 - c)/((2 c - 1)^2 + 3)",
        parameters=PARAMETERS,
        source="Herbert and McWhannell 1977, Journal of Engineering for Industry 99, 270-275",
        choose="slight to moderate losses, c above 0.8; below that it rebounds too fast: 0.59 for c = 0.5, and "
        "never less than 0.49",
    )

    @staticmethod
    def loss(c: Real) -> Any:
        return 6.0 * (1.0 - c) / ((2.0 * c - 1.0) ** 2 + 3.0)
