"""All figures of a single run, in one table."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from ..result.result import Result
from . import (
    angles,
    energy_by_link,
    forces_figure,
    impact,
    joints,
    ledger_figure,
    modal_figure,
    momentum,
    phase,
    poincare,
    rates,
    snapshots,
    style,
    tip,
    torques,
)
from .coordinates import moves_straight, no_link_turns


@dataclasses.dataclass(frozen=True)
class Entry:
    """A figure: its name, what it shows in a line, why a result cannot give it (None if it can), how it is drawn.

    One that would show level lines alone is `dull`: drawn for who asks for it, but not by itself.
    """

    name: str
    meaning: str
    lacks: Callable[[Any], str | None]
    draw: Callable[..., None]
    dull: Callable[[Any], bool] = lambda result: False

    def suits(self, result: Result) -> bool:
        return self.lacks(result) is None and not self.dull(result)

    def check(self, result: Result) -> None:
        style.refuse(self.name, self.lacks(result))


FIGURES: list[Entry] = [  # append one of your own, and results, pages and files know it
    Entry("snapshots", "the mechanism at several instants", snapshots.lacks, snapshots.draw),
    Entry("angles", "link angles over time", angles.lacks, angles.draw, no_link_turns),
    Entry("rates", "rates of the link angles over time", rates.lacks, rates.draw, no_link_turns),
    Entry("impact", "one impact: indentation, force and their loop", impact.lacks, impact.draw),
    Entry("reaction", "contact forces over time", forces_figure.lacks, forces_figure.draw),
    Entry("tip", "velocity of the tip by components", tip.lacks, tip.draw),
    Entry("joints", "positions and velocities of the joints", joints.lacks, joints.draw),
    Entry("modes", "modal coordinates of the elastic links", modal_figure.lacks, modal_figure.draw),
    Entry("torques", "torques of the controllers over time", torques.lacks, torques.draw),
    Entry("energy", "the energy ledger: energies, works, error", ledger_figure.lacks, ledger_figure.draw),
    Entry("energy_by_link", "kinetic energy of every link", energy_by_link.lacks, energy_by_link.draw),
    Entry("momentum", "linear and angular momentum of the whole system", momentum.lacks, momentum.draw),
    Entry("phase", "phase portrait: two coordinates and a velocity", phase.lacks, phase.draw),
    Entry("poincare", "Poincare map where a velocity is zero", poincare.lacks, poincare.draw, moves_straight),
]
