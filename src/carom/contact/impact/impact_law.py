"""What a law of restitution is: it says when a blow is over."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any, ClassVar

import equinox as eqx

from ...quantities import Real
from ..card import Card
from ._path import Path
from .at_speed.speed_form import restitution_at

NEWTON, POISSON = "newton", "poisson"  # rules for a blow that several contacts share


class AbstractImpactLaw(eqx.Module):
    """Restitution of an impulsive blow: `end` says where a blow on one contact is over, with friction or without.

    What it is beyond that, it states itself:

    - `together`: the rule of blows that several contacts share, with the restitutions that are `asked`: "newton",
      velocities u_n + e u_n- complementary to impulses; or "poisson", compression and then e times its impulse. None:
      the law knows one contact alone, and a world with several rigid contacts refuses it
    - `along_path`: with friction it holds along the path of one contact alone, whatever `together` says
    - `joins_any`: it asks for nothing back, so that it goes with the rule of any other law
    - `gains`: how its blows can create energy, for the warning where one did
    """

    card: ClassVar[Card]
    together: ClassVar[str | None] = None
    along_path: ClassVar[bool] = False
    joins_any: ClassVar[bool] = False
    gains: ClassVar[str] = ""

    @property
    @abc.abstractmethod
    def asked(self) -> Any:
        """Restitution e in [0, 1], or an `AbstractRestitution`; too slow a rebound, e times the approach, settles."""

    def asked_at(self, speed: Real) -> Any:
        """e of a contact that approaches at this speed [m/s]."""
        return restitution_at(self.asked, speed)

    @abc.abstractmethod
    def end(self, path: Path, restitution: Real) -> Any:
        """Normal impulse [N s] at which the blow is over; `restitution` is e, or 0 where the rebound is to settle."""

    def agree(self, owner: str, others: Sequence[AbstractImpactLaw]) -> None:
        """Refuse laws, though of the same rule, of contacts that can share a blow with contact `owner`."""
