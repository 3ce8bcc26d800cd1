"""Compare runs: what is given, in one table and on one page."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from ..._arguments import ComparedLike, FileLike, NamesInOrder
from ...errors import CaromError, name_in
from ..experiment import Say
from ._compared import Compared, compared
from ._comparison_page import write_page
from ._differences import Difference, differences_of

MOST = 6  # colours that can be told apart
TOLD = 40  # rows of the text


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Runs beside each other; `print` shows the numbers, `page` writes the curves and the pictures."""

    sides: tuple[Compared, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(side.label for side in self.sides)

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """Every number of the runs, side by side."""
        return differences_of(self.sides)

    @property
    def signals(self) -> tuple[str, ...]:
        """Names of all that there is over time."""
        return tuple(dict.fromkeys(name for side in self.sides for name in side.signals))

    def page(self, path: FileLike, signals: NamesInOrder | None = None) -> Path:
        """Write one HTML page, complete in itself: pictures in step, curves of `signals`, the table."""
        for name in signals or ():
            name_in("signal", name, self.signals)
        return write_page(self.sides, self.differences, Path(path), signals)

    def __repr__(self) -> str:
        rows = [row for row in self.differences if row.kind != "signal"]
        head = ["", *self.labels, "difference"]
        lines = [head, *([_name(row), *map(_shown, row.values), _spread(row)] for row in rows[:TOLD])]
        widths = [max(len(line[k]) for line in lines) for k in range(len(head))]
        text = [
            "  ".join(
                cell.rjust(w) if k else cell.ljust(w) for k, (cell, w) in enumerate(zip(line, widths, strict=True))
            )
            for line in lines
        ]
        more = [f"and {len(rows) - TOLD} more; .differences has all of them"] if len(rows) > TOLD else []
        return "\n".join([*(line.rstrip() for line in text), *more])


def compare(
    *runs: ComparedLike,
    labels: NamesInOrder | None = None,
    changes: Sequence[Mapping[str, Any]] | None = None,
    say: Say = lambda words: None,
) -> Comparison:
    """Compare runs with each other.

    - `runs`: results of `carom.simulate`; scenarios, their names or files, 'NAME@VARIANT'; folders that `carom run`
      wrote (which are run again); NetCDF files, which have curves but no picture
    - `labels`: what each is called; `changes`: for each, paths and values of its scenario, as `Scenario.with_` takes

        both = carom.compare("ball-drop", "ball-drop", changes=[{}, {"contacts.floor.normal.restitution": 0.8}])
        print(both)
        both.page("comparison.html")
    """
    if not 2 <= len(runs) <= MOST:
        raise CaromError(f"compare got {len(runs)} run{'s' * (len(runs) != 1)}; it compares 2 to {MOST}")
    for field, given in (("labels", labels), ("changes", changes)):
        if given is not None and len(given) != len(runs):
            raise CaromError(f"{field} of compare has {len(given)} entries; it needs one for each of {len(runs)} runs")
    sides = [
        compared(run, "" if labels is None else labels[k], {} if changes is None else changes[k], say)
        for k, run in enumerate(runs)
    ]
    return Comparison(tuple(_told_apart(sides)))


def _told_apart(sides: Sequence[Compared]) -> list[Compared]:
    """Labels that occur twice get a number."""
    names = [side.label for side in sides]
    numbered = [
        f"{name} ({names[: k + 1].count(name)})" if names.count(name) > 1 else name for k, name in enumerate(names)
    ]
    return [dataclasses.replace(side, label=name) for side, name in zip(sides, numbered, strict=True)]


def _name(row: Difference) -> str:
    return f"{row.name} [{row.unit}]" if row.unit not in ("", "-") else row.name


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.7g}"


def _spread(row: Difference) -> str:
    if row.spread is None:
        return ""
    if row.spread == 0.0:
        return "equal"
    return f"{row.spread:+.3g}" if row.percent is None else f"{row.percent:+.3g} %"
