"""The plan of a study: every run, and the tasks that they are done in. Plain data, which goes to workers as it is."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
from importlib.metadata import version
from typing import Any

import numpy as np

from ... import native
from ..._arguments import Count, NamesInOrder
from ...errors import CaromError
from ._axes import MOST, Axis, Value

CHUNK = 2048  # runs of a task: of the arm a second on two cores, beside which a hundredth for its files is little
POINT = "point"  # the dimension of a study over points


@dataclasses.dataclass(frozen=True)
class Plan:
    """A grid over all axes, or points, one for each value that the axes have.

    `text` is the scenario; `chunk` how many runs a task has at most; `drawn` how points were drawn, in words.
    """

    text: str
    axes: tuple[Axis, ...]
    points: bool
    measures: NamesInOrder
    impacts: Count
    chunk: Count
    drawn: str = ""

    @property
    def dims(self) -> tuple[str, ...]:
        return (POINT,) if self.points else tuple(axis.path for axis in self.axes)

    @property
    def shape(self) -> tuple[int, ...]:
        counts = tuple(len(axis.values) for axis in self.axes)
        return counts[:1] if self.points else counts

    @property
    def block(self) -> tuple[int, ...]:
        """The shape of a task: whole rows at the end of the grid; one value of a category."""
        left, out = self.chunk, list[int]()
        for k in range(len(self.shape) - 1, -1, -1):
            size = 1 if self.axes[k].category and not self.points else max(min(self.shape[k], left), 1)
            out.insert(0, size)
            left //= size
        return tuple(out)

    @property
    def runs(self) -> int:
        return math.prod(self.shape)

    @property
    def counts(self) -> tuple[int, ...]:
        """How many tasks there are along every dimension."""
        return tuple(-(-size // step) for size, step in zip(self.shape, self.block, strict=True))

    def task(self, number: Count) -> tuple[slice, ...]:
        """A task as the part of the grid that it is."""
        begins = [int(k) * step for k, step in zip(np.unravel_index(number, self.counts), self.block, strict=True)]
        ends = [min(begin + step, size) for begin, step, size in zip(begins, self.block, self.shape, strict=True)]
        return tuple(slice(*each) for each in zip(begins, ends, strict=True))

    def tasks(self) -> list[tuple[slice, ...]]:
        """All of them, in order."""
        return [self.task(number) for number in range(math.prod(self.counts))]

    def columns(self, task: tuple[slice, ...]) -> list[tuple[Value, ...]]:
        """Of every axis, the values that the runs of a task have, one after the other."""
        if self.points:
            return [axis.values[task[0]] for axis in self.axes]
        parts = [axis.values[part] for axis, part in zip(self.axes, task, strict=True)]
        rows = itertools.product(*parts)
        return [tuple(column) for column in zip(*rows, strict=True)]

    def identity(self) -> dict[str, Any]:
        """What makes it this study and no other, for a store to be compared with."""
        return {
            "scenario": self.text,
            "axes": [[axis.path, list(axis.values)] for axis in self.axes],
            "points": self.points,
            "measures": list(self.measures),
            "impacts": self.impacts,
            "chunk": self.chunk,
            "drawn": self.drawn,
            **versions(),
        }


def versions() -> dict[str, str]:
    """What the last digits depend on."""
    return {"carom": version("carom"), "jax": version("jax"), "back_end": native.name()}


def refuse_size(plan: Plan) -> None:
    if plan.runs > MOST:
        raise CaromError(f"the study has {plan.runs:,} runs; at most {MOST:,} are one study; take fewer values")


def differences(ours: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    """What differs between two studies, in words."""
    out = []
    for key, value in ours.items():
        other = theirs.get(key)
        if json.dumps(other) == json.dumps(value):
            continue
        if key == "scenario":
            out.append(f"the scenario ({_first_difference(str(other), str(value))})")
        elif key == "axes":
            paths = [[axis[0] for axis in axes or []] for axes in (other, value)]
            same = (
                "other values"
                if paths[0] == paths[1]
                else f"over {', '.join(paths[0])} there, {', '.join(paths[1])} here"
            )
            out.append(f"what is varied ({same})")
        else:
            out.append(f"{key} ({_short(other)} there, {_short(value)} here)")
    return out


def _first_difference(there: str, here: str) -> str:
    for a, b in itertools.zip_longest(there.splitlines(), here.splitlines(), fillvalue="nothing"):
        if a != b:
            return f"'{_short(a)}' there, '{_short(b)}' here"
    return "other line ends"


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."


def words_of(plan: Plan, lane: Count) -> str:
    """A run by its numbers: contacts.tip.friction.mu=0.3, start.angles.0=60."""
    at: Any = (lane,) * len(plan.axes) if plan.points else np.unravel_index(lane, plan.shape)
    named = ", ".join(said_of(a.path, a.values[int(k)]) for a, k in zip(plan.axes, at, strict=True))
    return f"point {lane}: {named}" if plan.points else named


def said_of(path: str, value: Value) -> str:
    """mu=0.3"""
    return f"{path}={value:.12g}" if isinstance(value, float) else f"{path}={value}"
