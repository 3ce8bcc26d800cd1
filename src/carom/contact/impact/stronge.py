"""Restitution as a ratio of energies."""

from __future__ import annotations

from typing import Any

from ...quantities import Real
from ..card import Card
from ._path import Path
from .impact_law import AbstractImpactLaw, check_restitution


class Stronge(AbstractImpactLaw):
    """The normal force gives back e^2 of the energy that it took in compression. It never creates energy.

    - `restitution` e in [0, 1]
    """

    restitution: Any
    several = False

    card = Card(
        "stronge",
        "work of the normal force in restitution = -e^2 times that in compression",
        (("restitution", "e in [0, 1]"),),
        "Stronge 1990",
        "One contact with friction: the law that is consistent with energy. Several contacts at once: Poisson.",
    )

    def __check_init__(self) -> None:
        check_restitution("Stronge", self.restitution)

    @property
    def asked(self) -> Any:
        return self.restitution

    def end(self, path: Path, restitution: Real) -> Any:
        turn = path.impulse(0.0)
        return path.impulse_after(turn, -(restitution**2) * path.work(turn))
