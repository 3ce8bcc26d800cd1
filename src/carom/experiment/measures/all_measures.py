"""All measures in one table, and quantities beside what is expected of them."""

from __future__ import annotations

import dataclasses
import re
from difflib import get_close_matches

import numpy as np

from ... import registry
from ...errors import CaromError
from ...hybrid.world import World
from ...signal._unit import unit_of
from ..experiment import Experiment
from .kind import Measure

DEGREES = ("deg", "degree", "degrees")  # or a rate of them
# The first whose pattern fits is the one; append one of your own.
MEASURES: list[Measure] = [its for line in registry.MEASURES for its in line.found()]


@dataclasses.dataclass(frozen=True)
class Measured:
    """A quantity of an experiment beside what is expected of it."""

    name: str
    value: float
    unit: str
    about: str
    expected: float | None
    allowed: float | None  # largest absolute difference that agrees
    source: str
    note: str
    missing: str = ""  # why there is no value

    @property
    def difference(self) -> float | None:
        return None if self.expected is None else self.value - self.expected

    @property
    def percent(self) -> float | None:
        """Difference in per cent of what is expected; None where that is zero or nothing."""
        return None if not self.expected else 100.0 * (self.value / self.expected - 1.0)

    @property
    def agrees(self) -> bool | None:
        """None where nothing is expected."""
        if self.expected is None or self.difference is None:
            return None
        return bool(abs(self.difference) <= (self.allowed or 0.0))

    @property
    def verdict(self) -> str:
        if self.missing:
            return f"missing: {self.missing}"
        if self.agrees is None:
            return ""
        if self.agrees:
            return "agrees"
        return f"differs: {self.note}" if self.note else "DIFFERS"


def measured(experiment: Experiment) -> list[Measured]:
    """All quantities of an experiment's scenario; one that this run does not have (a fifth impact of four) says why."""
    out = []
    for name, q in experiment.scenario.quantities.items():
        missing = ""
        try:
            value = measure(experiment, q.measure, q.unit)
        except CaromError as refusal:
            value, missing = float("nan"), str(refusal)
        relative = None if q.tolerance is None or q.expected is None else q.tolerance * abs(q.expected)
        allowed = max((a for a in (relative, q.within) if a is not None), default=None)
        out.append(Measured(name, value, q.unit, q.about, q.expected, allowed, q.source, q.note, missing))
    return out


def measure(experiment: Experiment, name: str, unit: str = "-") -> float:
    """The value of one measure; angles in degrees and shares in per cent if the unit says so."""
    kind, parts = kind_of(name)
    return _in_unit(kind.function(experiment, parts), kind, unit)


def kind_of(name: str) -> tuple[Measure, dict[str, str]]:
    """The kind of a measure, and what its name says besides."""
    for kind in MEASURES:
        found = re.fullmatch(kind.pattern, name)
        if found:
            return kind, {k: v for k, v in found.groupdict().items() if v is not None}
    raise CaromError(f"there is no measure '{name[:80]}'; {nearest(name)}")


def refuse_unit(world: World, name: str, unit: str) -> None:
    """Signals that the world does not have, and a unit that is not one of the measure."""
    kind, parts = kind_of(name)
    if kind.unit is None:
        return
    own = kind.unit(world, parts)
    asked = unit_of("-" if unit == "%" else unit)[1]
    if not asked.fits(own):
        raise CaromError(f"the unit of {name} is {own}, and '{unit}' is none of it; units do not fit", field="unit")


def nearest(name: str) -> str:
    """What to say about a measure that is not there."""
    near = get_close_matches(name, [m.form for m in MEASURES], n=1, cutoff=0.3)
    return f"the nearest form is {near[0]}" if near else "`carom show --measures` lists them"


def _in_unit(value: float, kind: Measure, unit: str) -> float:
    if kind.unit is not None and unit != "%":
        return float(value) / unit_of(unit)[0]
    if unit.partition("/")[0] in DEGREES:
        return float(np.rad2deg(value))
    return 100.0 * float(value) if unit == "%" and not kind.percent else float(value)
