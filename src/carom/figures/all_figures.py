"""All figures of a single run, in one table."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from .. import registry
from ..result.result import Result
from . import style


@dataclasses.dataclass(frozen=True)
class Entry:
    """A figure: its name, what it shows in a line, why a result cannot give it (None if it can), how it is drawn.

    One that would show level lines alone is `dull`: it is drawn on request only. One of `curves` has nothing but lines
    over time: where a run swings too often for its width, the end is drawn once more, swing by swing.
    """

    name: str
    meaning: str
    lacks: Callable[[Any], str | None]
    draw: Callable[..., None]
    dull: Callable[[Any], bool] = lambda result: False
    curves: bool = False

    def suits(self, result: Result) -> bool:
        return self.lacks(result) is None and not self.dull(result)

    def check(self, result: Result) -> None:
        style.refuse(self.name, self.lacks(result))


def _entry(line: registry.Line) -> Entry:
    """That of the module in this line: its `lacks` and `draw`, and `dull` if it has one."""
    its, (name, meaning) = line.module(), line.more
    return Entry(name, meaning, its.lacks, its.draw, getattr(its, "dull", Entry.dull), getattr(its, "CURVES", False))


# Append one of your own, and results, pages and files know it.
FIGURES: list[Entry] = [_entry(line) for line in registry.FIGURES]
