"""Numbers of several runs beside each other."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Literal

import numpy as np

from ...result._columns import IMPACTS
from ...result.impacts import Impact
from ..measures import measured
from ._compared import Compared

Kind = Literal["run", "quantity", "impact", "signal"]
MOST = 5  # impacts that are told one by one
ROUNDING = 1e-12  # of the larger of two numbers: they are equal


@dataclasses.dataclass(frozen=True)
class Difference:
    """A number of every run; None where a run has none."""

    kind: Kind
    name: str
    unit: str
    values: tuple[float | None, ...]

    @property
    def spread(self) -> float | None:
        """The largest difference from the first run; None where the first run, or every other one, has no number."""
        first, others = self.values[0], [v for v in self.values[1:] if v is not None]
        if first is None or not others:
            return None
        furthest = max((v - first for v in others), key=abs)
        size = max(abs(first), *(abs(v) for v in others))
        return 0.0 if abs(furthest) <= ROUNDING * size else furthest

    @property
    def percent(self) -> float | None:
        """The same in per cent of the first run's number."""
        return None if self.spread is None or not self.values[0] else 100.0 * self.spread / abs(self.values[0])


def differences_of(sides: Sequence[Compared]) -> tuple[Difference, ...]:
    """Of the runs, of what their scenarios are about, of their impacts, and of every signal."""
    return (*_of_runs(sides), *_of_quantities(sides), *_of_impacts(sides), *_of_signals(sides))


def _row(kind: Kind, name: str, unit: str, values: Sequence[float | None]) -> Difference:
    """Infinite and missing numbers are none."""
    return Difference(kind, name, unit, tuple(None if v is None or not np.isfinite(v) else float(v) for v in values))


def _impacts(side: Compared) -> list[Impact] | None:
    """Impacts as people count them, in common time; None of a run of which there is only a table."""
    if side.experiment is not None:
        return side.experiment.strikes
    if not side.clips:
        return None
    return [impact for clip in side.clips for impact in clip.result.impacts if impact.struck]


def _of_runs(sides: Sequence[Compared]) -> list[Difference]:
    lists = [_impacts(side) for side in sides]
    ledgers = [side.clips[-1].result.energy if side.clips else None for side in sides]
    return [
        _row("run", "length of the run", "s", [float(side.times[-1] - side.times[0]) for side in sides]),
        _row("run", "number of impacts", "", [None if found is None else len(found) for found in lists]),
        _row("run", "taken by impacts", "J", [None if f is None else sum(i.energy_lost for i in f) for f in lists]),
        _row("run", "energy at the end", "J", [None if each is None else float(each.total[-1]) for each in ledgers]),
    ]


def _of_quantities(sides: Sequence[Compared]) -> list[Difference]:
    """What the scenarios measure, by the names that they give it."""
    tables = []
    for side in sides:
        finished = side.experiment is not None and side.experiment.finished
        found = measured(side.experiment) if finished and side.experiment is not None else []
        tables.append({(m.name.replace("_", " "), m.unit): m.value for m in found})
    names = dict.fromkeys(key for each in tables for key in each)
    return [_row("quantity", name, unit, [each.get((name, unit)) for each in tables]) for name, unit in names]


def _of_impacts(sides: Sequence[Compared]) -> list[Difference]:
    """The first impacts, one beside the other in the order of time."""
    lists = [_impacts(side) or [] for side in sides]
    out = []
    for k in range(min(max(map(len, lists)), MOST)):
        for column in IMPACTS:
            if column.terse is not None:
                values = [column.read(found[k]) if k < len(found) else None for found in lists]
                out.append(_row("impact", f"impact {k + 1}: {column.words}", column.unit, values))
    return [row for row in out if any(row.values)]


def _of_signals(sides: Sequence[Compared]) -> list[Difference]:
    """Where every signal ends, its least and its largest value."""
    names = dict.fromkeys(name for side in sides for name in side.signals)
    out = []
    for name in names:
        found = [side.signals.get(name) for side in sides]
        unit = next(signal.unit for signal in found if signal is not None)
        for word, read in (("at the end", lambda x: x[-1]), ("least", np.min), ("largest", np.max)):
            values = [None if signal is None else float(read(signal.values)) for signal in found]
            out.append(_row("signal", f"{name}, {word}", unit, values))
    return out
