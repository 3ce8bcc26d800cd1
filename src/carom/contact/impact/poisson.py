"""Restitution as a ratio of impulses."""

from __future__ import annotations

from typing import Any

from ...quantities import Real
from ..card import Card
from ._path import Path
from .at_speed.speed_form import check_restitution
from .impact_law import POISSON, AbstractImpactLaw


class Poisson(AbstractImpactLaw):
    """The impulse of restitution is e times that of compression.

    One contact never gains energy by it. Several with friction could: there, restitution ends where it would begin to.

    - `restitution` e in [0, 1], or a function of the approach speed (`carom.PowerRestitution`, ...)
    """

    restitution: Any
    together = POISSON

    card = Card(
        "poisson",
        "P_restitution = e P_compression",
        (("restitution", "e in [0, 1], or e(v)"),),
        "Poisson 1817; several contacts: Glocker and Pfeiffer 1995",
        "Blows with friction, one contact or several. It never creates energy; with friction even e = 1 loses some.",
    )

    def __check_init__(self) -> None:
        check_restitution("Poisson", self.restitution)

    @property
    def asked(self) -> Any:
        return self.restitution

    def end(self, path: Path, restitution: Real) -> Any:
        return (1.0 + restitution) * path.impulse(0.0)
