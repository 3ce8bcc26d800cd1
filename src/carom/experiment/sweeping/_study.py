"""The plan of a study from a scenario and what is asked, and running it task by task."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..._arguments import NamesInOrder
from ..._progress import Line
from ...errors import CaromError, name_in
from ...hybrid.world import World
from ...scenario._build import world_of
from ...scenario._text import read
from ...scenario.model import Scenario
from ...scenario.places import shortened
from ...scenario.study_table import METHODS, Study
from ...study._asked import Asked, asked_of, lane_measure, wanted_of
from ._axes import Axis, axes_of, drawn, points_of
from ._study_formats import write_file
from ._study_plan import CHUNK, Plan, refuse_size
from ._study_store import Store, in_words, read_study, sheet
from ._study_task import Done, Failure, run_task
from ._workers import Workers

if TYPE_CHECKING:
    import xarray

TOLD = 10  # failed runs that are told by name


def study_of(scenario: Scenario, given: Mapping[str, Any]) -> Plan:
    """The plan of a scenario's [study] with what is given instead; everything that can be refused is refused here."""
    table = scenario.study or Study()
    asked = {key: getattr(table, key) if given.get(key) is None else given[key] for key in Study.model_fields}
    bare = scenario.model_copy(update={"study": None})
    name_in("method of a study", asked["method"], METHODS)
    for field, least in (("chunk", 1), ("sample", 1), ("seed", 0), ("impacts", 0)):
        value = asked[field]
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < least):
            raise CaromError(f"{field} of a study is {value!r}; it must be a whole number, at least {least}")
    if scenario.capture is not None or scenario.crawl is not None:
        raise CaromError(
            f"'{scenario.name}' is a {'capture' if scenario.capture else 'crawl'}; a study runs plain simulations"
        )
    axes, how = _axes(bare, asked)
    world = world_of(_first(bare, axes))
    measures = _measures(scenario, world, asked["measures"])
    plan = Plan(bare.toml(), axes, bool(how), tuple(measures), asked["impacts"], asked["chunk"] or CHUNK, how)
    refuse_size(plan)
    return plan


def _axes(scenario: Scenario, asked: dict[str, Any]) -> tuple[tuple[Axis, ...], str]:
    """What is varied, and, where these are points, how they were found."""
    if asked["points"] is not None:
        if asked["over"] or asked["sample"]:
            raise CaromError("points and over are two ways to say what is varied; give one of them")
        return points_of(scenario, asked["points"]), "from a table"
    if asked["over"] and not isinstance(asked["over"], Mapping):
        raise CaromError(
            f"over is {shortened(repr(asked['over']), 60)}; it must be paths with their values, such as "
            "{'gravity': [5.0, 9.8]}"
        )
    if not asked["over"]:
        raise CaromError("a study varies something; give over, such as contacts.tip.friction.mu=0:0.5:101, or points")
    if asked["sample"]:
        count, method, seed = asked["sample"], asked["method"], asked["seed"]
        return drawn(scenario, asked["over"], count, method, seed), f"{method}, {count} points, seed {seed}"
    return axes_of(scenario, asked["over"]), ""


def _first(scenario: Scenario, axes: Sequence[Axis]) -> Scenario:
    """The scenario with the first of every category: a world to ask for names."""
    return scenario.with_({axis.path: axis.values[0] for axis in axes if axis.category})


def _measures(scenario: Scenario, world: World, given: NamesInOrder) -> list[str]:
    """Those that were asked for; or those of the scenario's quantities that a batch can record."""
    wanted_of(given or (), 0, None, None, True)  # refuses what is no list of names
    ledger = scenario.run.ledger
    if given:
        for name in given:
            lane_measure(world, name, ledger)
        return list(dict.fromkeys(given))
    found = []
    for quantity in scenario.quantities.values():
        try:
            lane_measure(world, quantity.measure, ledger)
        except CaromError:
            continue
        found.append(quantity.measure)
    return list(dict.fromkeys(found))


def asked_by(plan: Plan) -> Asked:
    """What is recorded of every run."""
    scenario = read(plan.text)
    world = world_of(_first(scenario, plan.axes))
    return asked_of(world, wanted_of(plan.measures, plan.impacts, None, None, scenario.run.ledger))


def run_study(
    plan: Plan, place: Path | None, workers: Workers, progress: bool | None
) -> tuple[xarray.Dataset, list[Failure]]:
    """Run what is not done; the whole study, and failed runs by name."""
    asked = asked_by(plan)
    kept = Store(place, plan) if place is not None and place.suffix == ".zarr" else None
    todo = kept.opened(asked) if kept else list(range(math.prod(plan.counts)))
    whole = None if kept else sheet(plan, asked)
    counter = _Counter(plan, len(todo), progress)
    try:
        for number, done in _work(plan, todo, workers, kept):
            if whole is not None:
                task = plan.task(number)
                shape = tuple(part.stop - part.start for part in task)
                for name, column in done.columns.items():
                    whole[name].values[task] = column.reshape(*shape, *column.shape[1:])
            counter.done(done)
    finally:
        counter.line.close()
    data = read_study(place) if kept and place else in_words(whole)  # type: ignore[arg-type]
    if place is not None and kept is None:
        write_file(data, place)
    return data, counter.failures


def _work(plan: Plan, todo: list[int], workers: Workers, kept: Store | None) -> Iterator[tuple[int, Done]]:
    """Tasks as they are done, written where there is a store."""
    if workers.client is not None:
        yield from workers.run(plan, todo, None if kept is None else kept.path.resolve())
        return
    for number in todo:
        done = run_task(plan, number)
        if kept is not None:
            kept.write(number, done)
        yield number, done


class _Counter:
    """How far it has come: tasks, runs per second, failed runs."""

    def __init__(self, plan: Plan, tasks: int, progress: bool | None) -> None:
        self.line, self.began = Line(progress, float(max(tasks, 1))), time.perf_counter()
        self.plan, self.tasks, self.count, self.runs, self.failed = plan, tasks, 0, 0, 0
        self.failures: list[Failure] = []

    def done(self, done: Done) -> None:
        self.count, self.failed = self.count + 1, self.failed + done.failed
        self.runs += len(done.columns["outcome"])
        self.failures += done.failures[: max(TOLD - len(self.failures), 0)]
        speed = self.runs / max(time.perf_counter() - self.began, 1e-9)
        last = f", {self.failed} failed (last: {self.failures[-1].named})" if self.failures else ""
        self.line.update(f"chunk {self.count} of {self.tasks}, {speed:.3g} runs/s{last}", float(self.count))
