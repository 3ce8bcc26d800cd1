"""A blow without rebound."""

from __future__ import annotations

from typing import Any

from ...quantities import Real
from ..card import Card
from ._path import Path
from .impact_law import POISSON, AbstractImpactLaw


class Plastic(AbstractImpactLaw):
    """The blow ends with compression; the contact stays closed while it is pressed."""

    together = POISSON  # of which it is the first phase
    joins_any = True

    card = Card(
        "plastic",
        "u_n+ = 0",
        (),
        "Johnson 2024, lecture notes; e = 0 of every other law",
        "Captures, feet, tools that do not bounce.",
    )

    @property
    def asked(self) -> Any:
        return 0.0

    def end(self, path: Path, restitution: Real) -> Any:
        return path.impulse(0.0)
