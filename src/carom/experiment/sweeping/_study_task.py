"""A task of a study: some of its runs, as one batch for each structure."""

from __future__ import annotations

import dataclasses
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
from ...scenario.model import Scenario
from ...study.batches import Batch, batch
from ._axes import Value
from ._lane_worlds import Built, LaneStart, LaneWorld, as_it_is, built_one_by_one, can_be_traced, why
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
    task = plan.tasks()[number]
    columns = plan.columns(task)
    runs = len(columns[0])
    made = _Columns(runs, {}, {})
    tags = [axis.category for axis in plan.axes]
    kinds: dict[tuple[Value, ...], list[int]] = {}
    for lane in range(runs):
        kinds.setdefault(tuple(c[lane] for c, tag in zip(columns, tags, strict=True) if tag), []).append(lane)
    numbers = [np.array(c, dtype=float) for c, tag in zip(columns, tags, strict=True) if not tag]
    paths = [[a.path for a in plan.axes if a.category is tag] for tag in (True, False)]
    for kind, lanes in kinds.items():
        scenario = changed(read(plan.text), dict(zip(paths[0], kind, strict=True)))
        world = LaneWorld(scenario.toml(), tuple(paths[1]))
        table = np.stack(numbers, axis=1)[lanes] if numbers else np.zeros((len(lanes), 0))
        _run_kind(plan, made, scenario, world, np.array(lanes), table)
    return _done(plan, task, made)


def _run_kind(
    plan: Plan, made: _Columns, scenario: Scenario, lane: LaneWorld, lanes: np.ndarray, numbers: np.ndarray
) -> None:
    """The runs of one structure; where the world cannot be traced, of several."""
    settings, until = settings_of(scenario), scenario.run.until
    if can_be_traced(lane):
        padded = _padded(numbers if numbers.shape[1] else np.zeros((len(lanes), 1)), math.prod(plan.block))
        out = _batch(plan, lane, padded, LaneStart(lane), settings, until)
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


def _padded(numbers: np.ndarray, most: Count) -> np.ndarray:
    """Filled up with the last run to a whole task or a power of two: programs are compiled for a number of runs."""
    size = min(1 << max(len(numbers) - 1, 0).bit_length(), most)
    return np.concatenate([numbers, np.repeat(numbers[-1:], size - len(numbers), axis=0)])


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
