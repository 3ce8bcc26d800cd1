"""Restitution as a ratio of velocities."""

from __future__ import annotations

from typing import Any

from ...quantities import Real
from ..card import Card
from ._path import Path
from .at_speed.speed_form import check_restitution
from .impact_law import NEWTON, AbstractImpactLaw


class Newton(AbstractImpactLaw):
    """u_n+ = -e u_n-. With friction it can create energy: the ledger shows it, and a warning says so.

    - `restitution` e in [0, 1], or a function of the approach speed (`carom.PowerRestitution`, ...)
    """

    restitution: Any
    together = NEWTON
    gains = "Newton's law with friction can do that; use Stronge or Poisson"

    card = Card(
        "newton",
        "u_n+ = -e u_n-",
        (("restitution", "e in [0, 1], or e(v)"),),
        "Newton 1687; Johnson 2024, lecture notes",
        "Without friction, where all laws agree. With friction prefer Stronge or Poisson: this one can create energy.",
    )

    def __check_init__(self) -> None:
        check_restitution("Newton", self.restitution)

    @property
    def asked(self) -> Any:
        return self.restitution

    def end(self, path: Path, restitution: Real) -> Any:
        return path.impulse(-restitution * path.approach)
