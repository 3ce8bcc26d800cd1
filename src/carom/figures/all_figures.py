"""All figures of a single run, in one table."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable
from typing import Any

from ..result.result import Result
from . import style


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


def _figure(name: str, meaning: str, module: str | None = None) -> Entry:
    """That of the module of this name: its `lacks` and `draw`, and `dull` if it has one."""
    its = importlib.import_module(f".{module or name}", __package__)
    return Entry(name, meaning, its.lacks, its.draw, getattr(its, "dull", Entry.dull))


FIGURES: list[Entry] = [  # append one of your own, and results, pages and files know it
    _figure("snapshots", "the mechanism at several instants"),
    _figure("angles", "link angles over time"),
    _figure("rates", "rates of the link angles over time"),
    _figure("impact", "one impact: indentation, force and their loop"),
    _figure("reaction", "contact forces over time", "reaction_figure"),
    _figure("tip", "velocity of the tip by components"),
    _figure("joints", "positions and velocities of the joints"),
    _figure("modes", "modal coordinates of the elastic links", "modes_figure"),
    _figure("torques", "torques of the controllers over time"),
    _figure("energy", "the energy ledger: energies, works, error", "energy_figure"),
    _figure("energy_by_link", "kinetic energy of every link"),
    _figure("momentum", "linear and angular momentum of the whole system"),
    _figure("phase", "phase portrait: two coordinates and a velocity"),
    _figure("poincare", "Poincare map where a velocity is zero"),
]
