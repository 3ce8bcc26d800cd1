"""Restitution that falls in proportion to speed."""

from __future__ import annotations

from typing import Any

from .... import errors
from ....quantities import Real
from ...card import Card
from .speed_form import AbstractRestitution, check_restitution


class LinearRestitution(AbstractRestitution):
    """e = e_0 - a v, no less than 0.

    - `slope` a [s/m] >= 0
    - `at_rest` e_0 in [0, 1], its limit at low speed
    """

    slope: Any
    at_rest: Any = 1.0

    card = Card(
        "linear-restitution",
        "e = e_0 - a v",
        (("slope", "a [s/m] >= 0"), ("at_rest", "e_0 in [0, 1]")),
        "Hunt and Crossley 1975, Journal of Applied Mechanics 42, 440-445, after Goldsmith 1960",
        "Low speeds, slight losses. With e_0 = 1 a ball that bounces never comes to rest; give a settle speed.",
    )

    def __check_init__(self) -> None:
        errors.number("LinearRestitution", "slope", self.slope, least=0.0)
        check_restitution("LinearRestitution", self.at_rest, "at_rest")

    def formula(self, speed: Real) -> Any:
        return self.at_rest - self.slope * speed
