"""A task of a study: some of its runs, as one batch for each structure."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from typing import NamedTuple

import numpy as np
from jaxtyping import PyTree

from ..._arguments import Count, StartLike, UntilLike
from ...errors import CaromError
from ...hybrid import outcome
from ...hybrid.settings import Settings
from ...quantities import Function
from ...scenario._build import settings_of
from ...scenario._change import changed
from ...scenario._text import read
from ...study.batches import Batch, batch
from ._axes import Value
from ._lane_worlds import Built, FilledUp, LaneStart, LaneWorld, as_it_is, built_one_by_one, can_be_traced, why
from ._study_plan import Plan, words_of

TOLD = 5  # failed runs of a task that are told by name
GOOD = outcome.GOOD


class Failure(NamedTuple):
    """A run that did not reach its end."""

    lane: int  # in the whole study
    named: str
    why: str


class Done(NamedTuple):
    """A task that was run: columns by name, (runs of the task, ...)."""

    columns: dict[str, np.ndarray]
    failed: int
    failures: list[Failure]


@dataclasses.dataclass
class _Columns:
    """Columns under construction; what no run has is nan, and no run has ended."""

    runs: int
    found: dict[str, np.ndarray]
    reasons: dict[int, str]

    def put(self, lanes: np.ndarray, out: Batch, impacts: int) -> None:
        rows = {"outcome": np.asarray(out.outcome, dtype=np.int8), "time": np.asarray(out.t), **out.measures}
        rows |= {f"impact.{field}": column for field, column in out.impacts.items()} if impacts else {}
        for name, column in rows.items():
            column = np.asarray(column)[: len(lanes)]
            if name not in self.found:
                self.found[name] = empty(name, (self.runs, *column.shape[1:]))
            self.found[name][lanes] = column


def empty(name: str, shape: tuple[int, ...]) -> np.ndarray:
    """A column in which nothing has been run."""
    return np.full(shape, -1, dtype=np.int8) if name == "outcome" else np.full(shape, np.nan)


def run_task(plan: Plan, number: int) -> Done:
    """Run a task."""
    task = plan.task(number)
    columns = plan.columns(task)
    runs = len(columns[0])
    made = _Columns(runs, {}, {})
    tags = [axis.category for axis in plan.axes]
    words = [c for c, tag in zip(columns, tags, strict=True) if tag]
    kinds: dict[tuple[Value, ...], list[int]] = {}
    for lane, kind in enumerate(zip(*words, strict=True) if words else itertools.repeat((), runs)):
        kinds.setdefault(kind, []).append(lane)
    numbers = [np.array(c, dtype=float) for c, tag in zip(columns, tags, strict=True) if not tag]
    paths = [tuple(a.path for a in plan.axes if a.category is tag) for tag in (True, False)]
    for kind, lanes in kinds.items():
        table = np.stack(numbers, axis=1)[lanes] if numbers else np.zeros((len(lanes), 0))
        _run_kind(plan, made, _kind_of(plan.text, paths[0], paths[1], *kind), np.array(lanes), table)
    return _done(plan, task, made)


class _Kind(NamedTuple):
    """Runs of one structure: their scenario, and how their worlds are made of numbers."""

    lane: LaneWorld
    settings: Settings
    until: UntilLike


@functools.lru_cache(maxsize=64, typed=True)  # typed: 1 and True are other words of a file
def _kind_of(text: str, named: tuple[str, ...], numbered: tuple[str, ...], *kind: Value) -> _Kind:
    """Kept from task to task: reading a scenario takes as long as many runs."""
    scenario = changed(read(text), dict(zip(named, kind, strict=True)))
    return _Kind(LaneWorld(scenario.toml(), numbered), settings_of(scenario), scenario.run.until)


def _run_kind(plan: Plan, made: _Columns, kind: _Kind, lanes: np.ndarray, numbers: np.ndarray) -> None:
    """The runs of one structure; where the world cannot be traced, of several."""
    lane, settings, until = kind
    if can_be_traced(lane):
        filled = _filled_up(numbers if numbers.shape[1] else np.zeros((len(lanes), 1)), _size(plan, len(lanes)))
        out = _batch(plan, FilledUp(lane), filled, LaneStart(lane), settings, until)
        made.put(lanes, out, plan.impacts)
        bad = [k for k in out.failed if k < len(lanes)]
        codes = np.asarray(out.outcome)
        for k in bad[:TOLD]:
            words = why(lane, numbers[k]) if codes[k] in outcome.IMPOSSIBLE else None
            made.reasons[int(lanes[k])] = words or outcome.describe(int(codes[k]))
        return
    groups, refused = built_one_by_one(lane, numbers)
    for group in groups:
        _run_built(plan, made, group, lanes, settings, until)
    if refused and not groups:
        raise CaromError(next(iter(refused.values())))
    for k, words in refused.items():
        made.found["outcome"][lanes[k]] = outcome.BAD_NUMBER
        made.reasons[int(lanes[k])] = words


def _run_built(
    plan: Plan, made: _Columns, group: Built, lanes: np.ndarray, settings: Settings, until: UntilLike
) -> None:
    out = _batch(plan, as_it_is, group.parameters, group.start, settings, until)
    made.put(lanes[group.lanes], out, plan.impacts)
    for k in out.failed[:TOLD]:
        made.reasons[int(lanes[group.lanes[k]])] = outcome.describe(int(np.asarray(out.outcome)[k]))


def _batch(
    plan: Plan, make: Function, parameters: PyTree, start: StartLike, settings: Settings, until: UntilLike
) -> Batch:
    return batch(
        make,
        parameters,
        start,
        until=until,
        settings=settings,
        measures=plan.measures,
        impacts=plan.impacts,
        throw=False,
    )


def _size(plan: Plan, runs: Count) -> int:
    """Programs are compiled for a number of runs: that of a whole task; of a kind among points, a power of two."""
    most = math.prod(plan.block)
    mixed = plan.points and any(axis.category for axis in plan.axes)
    return min(1 << (runs - 1).bit_length(), most) if mixed else most


def _filled_up(numbers: np.ndarray, size: Count) -> np.ndarray:
    """With rows of nan up to this size; what they would be is never run."""
    nothing = np.full((size - len(numbers), numbers.shape[1]), np.nan)
    return np.concatenate([numbers, nothing])


def _done(plan: Plan, task: tuple[slice, ...], made: _Columns) -> Done:
    codes = made.found["outcome"]
    bad = np.flatnonzero(~np.isin(codes, GOOD))
    told = []
    for k in bad[:TOLD]:
        inside = np.unravel_index(k, tuple(part.stop - part.start for part in task))
        at = [part.start + int(i) for part, i in zip(task, inside, strict=True)]
        lane = int(np.ravel_multi_index(at, plan.shape))
        told.append(Failure(lane, words_of(plan, lane), made.reasons.get(int(k), outcome.describe(int(codes[k])))))
    return Done(made.found, len(bad), told)
