"""Hunt and Crossley's own loss factor."""

from __future__ import annotations

from typing import Any, ClassVar

from ...quantities import Real
from ..card import Card
from .family import FORMULA, PARAMETERS, AbstractHuntCrossley


class HuntCrossley(AbstractHuntCrossley):
    """f = 3 (1 - c)/2. Hunt and Crossley 1975.

    Exact to first order in 1 - c.
    """

    card: ClassVar[Card] = Card(
        name="hunt-crossley",
        formula=FORMULA + "3 (1 - c)/2",
        parameters=PARAMETERS,
        source="Hunt and Crossley 1975, Journal of Applied Mechanics 42, 440-445",
        choose="slight losses, c above 0.9; below that it rebounds too fast: 0.66 for c = 0.5, and never less "
        "than 0.49",
    )

    @staticmethod
    def loss(c: Real) -> Any:
        return 1.5 * (1.0 - c)
