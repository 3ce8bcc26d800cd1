"""How many digits of a run hold: the run is repeated at a tenth of its tolerance, and its numbers are compared.

Two runs that agree may still both be wrong, but numbers in which they differ are certainly no digits of the answer.
"""

from __future__ import annotations

import dataclasses
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .. import registry
from ..hybrid import outcome
from ._columns import AT_STOPS, IMPACTS, Column
from .impacts import Impact

if TYPE_CHECKING:
    from .result import Result

TENTH = 0.1  # of the tolerance
LEAST = 1e-14  # below it, float64 has nothing left to gain
MOST = 12  # digits: beyond them, events (located to 1e-12 s) and rounding decide, which both runs share
SMALL = 1e-3  # of the largest of its kind: a smaller number is judged by that, because zero has no digits
SHOWN = 20  # rows of a printed table
WHY = "the motion amplifies errors (or an event was gained or lost)"


@dataclasses.dataclass(frozen=True)
class Number:
    """A number of a run, the same of its repetition, and how many digits they share."""

    name: str
    unit: str
    value: float
    other: float
    digits: int


@dataclasses.dataclass(frozen=True)
class Convergence:
    """Numbers of a run beside those of its repetition at tolerances `rtol` and `atol`."""

    rtol: float
    atol: float
    rows: tuple[Number, ...]
    differs: str = ""  # from where on the two runs are no longer the same motion; empty if they are

    @property
    def digits(self) -> int:
        """That hold in every number."""
        return min((row.digits for row in self.rows), default=0)

    @property
    def sentence(self) -> str:
        if self.differs:
            return f"{self.differs}: {WHY}"
        if self.digits < 1:
            worst = min(self.rows, key=lambda row: row.digits).name
            return f"the two runs differ in every digit of '{worst}': {WHY}"
        return f"every number holds to at least {self.digits} digit{'s' * (self.digits != 1)}"

    def __str__(self) -> str:
        return "\n".join([*table(self.rows), self.sentence])


def table(rows: Sequence[Number], most: int = SHOWN) -> list[str]:
    """Lines of a table, least digits first."""
    worst = sorted(rows, key=lambda row: row.digits)[:most]
    names = [f"{row.name} [{row.unit}]" for row in worst]
    wide = max([len("number"), *map(len, names)])
    lines = [f"{'number':{wide}}  {'value':>22}  {'at a tenth of rtol':>22}  digits"]
    lines += [
        f"{n:{wide}}  {r.value:22.15g}  {r.other:22.15g}  {r.digits:6}" for n, r in zip(names, worst, strict=True)
    ]
    left = len(rows) - len(worst)
    return lines + ([f"and {left} more, of at least {worst[-1].digits} digits"] if left else [])


def converge(result: Result, progress: bool | None = None) -> Convergence:
    """Repeat a run at a tenth of its tolerance, and compare. Ctrl-C goes on to the caller, who still has the result."""
    repeat = registry.REPEAT.found()
    rtol, atol = (tighter(float(x)) for x in (result.integration.rtol, result.integration.atol))
    # What was stopped from outside is compared up to there; what failed by itself may fail elsewhere, or not at all.
    stopped = int(result.final.outcome) in (outcome.RUNNING, outcome.STEP_LIMIT)
    until = float(result.final.t if stopped else result.integration.until)
    other = repeat(result, rtol=rtol, atol=atol, until=until, progress=progress)
    if int(other.final.outcome) == outcome.RUNNING:
        raise KeyboardInterrupt
    return compared(result, other, stopped)


def tighter(tolerance: float) -> float:
    return min(tolerance, max(TENTH * tolerance, LEAST))


def compared(first: Result, second: Result, stopped: bool = False) -> Convergence:
    """Two runs of one world from one state, number by number; `stopped`: the first did not come to its own end."""
    struck, differs = _impacts(first, second)
    rows = [
        number("end", "s", float(first.final.t), float(second.final.t)),
        _count("events", first.statistics.events, second.statistics.events),
        *_states(first, second),
        *struck,
        *_works(first, second),
    ]
    if first.outcome != second.outcome and not (stopped and second.finished):
        differs = f"the first run: {first.outcome}; the second: {second.outcome}"
    elif not differs and first.statistics.events != second.statistics.events:
        differs = f"the two runs have {first.statistics.events} and {second.statistics.events} events"
    rtol, atol = (float(x) for x in (second.integration.rtol, second.integration.atol))
    return Convergence(rtol, atol, tuple(row for row in rows if row is not None), differs)


def number(name: str, unit: str, value: float, other: float, largest: float = 0.0) -> Number | None:
    """A row; none for what is no number in either run, such as the largest force of a rigid contact."""
    if not (math.isfinite(value) and math.isfinite(other)):
        return None
    return Number(name, unit, value, other, digits_of(value, other, SMALL * largest))


def digits_of(a: float, b: float, scale: float = 0.0) -> int:
    """Digits that two numbers share, counted from the first one of the larger, or of the scale."""
    size = max(abs(a), abs(b), scale)
    if a == b or size == 0.0:
        return MOST
    return int(np.clip(math.floor(-math.log10(abs(a - b) / size)), 0, MOST))


def _count(name: str, value: int, other: int) -> Number:
    """Counts are right or wrong."""
    return Number(name, "-", float(value), float(other), MOST if value == other else 0)


# -- states and works --------------------------------------------------------------------------------------------------


def _states(first: Result, second: Result) -> list[Number | None]:
    """Coordinates and velocities at the end; zero is judged by the largest of the run."""
    top = first.world.mechanism.topology
    turning = [top.angle_index(k) for k in top.hinged]
    units = ["rad" if k in turning else "m" for k in range(top.dof)]
    rows: list[Number | None] = []
    for head, per, a, b in (("", "", first.q, second.q), ("velocity of ", "/s", first.v, second.v)):
        largest = {u: float(np.max(np.abs(a[:, [k for k, x in enumerate(units) if x == u]]))) for u in set(units)}
        ends = zip(top.labels, units, a[-1].tolist(), b[-1].tolist(), strict=True)
        rows += [number(f"{head}{label}", f"{u}{per}", x, y, largest[u]) for label, u, x, y in ends]
    return rows


def _works(first: Result, second: Result) -> list[Number | None]:
    if not (first.final.y.work and second.final.y.work):
        return []
    a, b = first.energy, second.energy
    return [number(f"work of {n}", "J", float(w[-1]), float(b.works[n][-1]), a.in_play) for n, w in a.works.items()]


# -- impacts -----------------------------------------------------------------------------------------------------------


FIELDS = tuple(column for column in IMPACTS if column.kind)


def _impacts(first: Result, second: Result) -> tuple[list[Number | None], str]:
    """Rows of impacts that both runs have, and from which one on they have no longer the same."""
    turns = {contact.name for contact in first.world.contacts if contact.pair.length_unit == "rad"}
    largest = _largest(first.impacts, turns)
    rows: list[Number | None] = []
    lost = count = 0
    for i, other in _matched(first.impacts, second.impacts):
        count += i.struck  # shares of closed contacts in a blow go by its number
        found: list[Number | None] = []
        for field in () if other is None else FIELDS:
            unit, kind = _kind(field, i, turns)
            name = f"impact {count} ({i.contact}): {field.words}"
            found.append(number(name, unit, float(field.read(i)), float(field.read(other)), largest[kind]))
        rows += found
        same = other is not None and all(row is None or row.digits > 0 for row in found)
        lost = lost or (0 if same else count)
    if not lost and len(second.impacts) > len(first.impacts):
        lost = count + 1
    return rows, f"from impact {lost} on, the two runs differ" if lost else ""


def _matched(first: Sequence[Impact], second: Sequence[Impact]) -> Iterable[tuple[Impact, Impact | None]]:
    """Each impact with the other run's of the same contact and turn; the order of contacts at one instant is free."""
    waiting: dict[tuple[str, bool], list[Impact]] = defaultdict(list)
    for i in reversed(second):
        waiting[i.contact, i.struck].append(i)
    for i in first:
        left = waiting[i.contact, i.struck]
        yield i, left.pop() if left else None


def _kind(field: Column, i: Impact, turns: set[str]) -> tuple[str, tuple[str, str]]:
    """The unit of a number, and what it is compared with in size."""
    unit = AT_STOPS.get(field.unit, field.unit) if i.contact in turns else field.unit
    return unit, (field.kind, unit)


def _largest(impacts: Sequence[Impact], turns: set[str]) -> dict[tuple[str, str], float]:
    """The largest of every kind of number."""
    out: dict[tuple[str, str], float] = defaultdict(float)
    for i in impacts:
        for field in FIELDS:
            kind, size = _kind(field, i, turns)[1], abs(float(field.read(i)))
            # What is lost is a difference of energies, and as exact as they are.
            size = i.kinetic_energy_before / SMALL if field.kind == "energy" else size
            out[kind] = max(out[kind], size) if math.isfinite(size) else out[kind]
    return out
