"""Stances: what a contact carries between touch-down and lift-off."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from ._spells import spells_of, stances_among
from ._within import carried_in

if TYPE_CHECKING:
    from .result import Result


@dataclasses.dataclass(frozen=True)
class Stance:
    """A contact that carries: from touch-down to lift-off.

    - `touched`: it began within the run; `lifted`: it ended within it
    - `share`: of the run's time
    - impulses [N s] of the forces on the mechanism, and `energy_lost` [J], what they took; for a rigid contact without
      the blow with which it began, which is an impact
    """

    contact: str
    t_start: float
    t_end: float
    touched: bool
    lifted: bool
    share: float
    max_indentation: float
    max_normal_force: float
    normal_impulse: float
    tangential_impulse: float
    energy_lost: float

    @property
    def duration(self) -> float:
        return self.t_end - self.t_start


def stances_of(result: Result) -> list[Stance]:
    """Every stance, in the order of touch-down; those still standing at the end are among them."""
    whole, found = float(result.t[-1] - result.t[0]), []
    for i, automaton in enumerate(result.world.automata):
        for j, contact in enumerate(automaton.report.contacts):
            spells = spells_of(result, i, j)
            chosen = [s for s, stands in zip(spells, stances_among(result, spells), strict=True) if stands]
            for s, c in zip(chosen, carried_in(result, chosen), strict=True):
                share = (s.end - s.begin) / whole if whole > 0.0 else 1.0
                found.append(Stance(contact.name, s.begin, s.end, s.begun, s.ended, share, *c))
    return sorted(found, key=lambda stance: stance.t_start)
