"""Measures of a run and their slopes by what is varied: exact where a lane records them, else differences."""

from __future__ import annotations

import dataclasses
import functools
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import jax
import numpy as np

from ...errors import CaromError, name_in
from ...hybrid import outcome
from ...hybrid.settings import Integration
from ...hybrid.world import World
from ...mechanism import State
from ...quantities import Reals
from ...scenario._build import world_of
from ...scenario._change import changed
from ...scenario.model import Scenario
from ...study._slopes import Recorded, Wanted, recorded
from ...study.recording._series import AwaitedImpacts
from ..experiment import perform
from ..measures.all_measures import measure
from ..measuring._channels import OF_IMPACT, ImpactChannel, RunChannel, impact_channel, read_impacts, run_channel
from ..measuring._run_predictor import STEP as SMALL
from ..sweeping._lane_worlds import LaneStart, LaneWorld, can_be_traced, why

STEP = 1e-4  # of a parameter's size: differences of runs, whose steps are chosen anew each time


class _Numbers(dict[str, Any]):
    """What is varied, by name; another name is refused with the nearest one."""

    def __missing__(self, name: str) -> Any:
        name_in("number varied (vary of optimize)", name, tuple(self))
        raise KeyError(name)


@dataclasses.dataclass(frozen=True)
class UserWorld:
    """Makes the world of a lane by a function of the user's, from a dictionary of numbers."""

    function: Callable[[Mapping[str, Any]], Any]
    names: tuple[str, ...]

    def pair(self, numbers: Reals) -> tuple[World, State]:
        """World and start."""
        found = self.function(_Numbers((name, numbers[k]) for k, name in enumerate(self.names)))
        good = isinstance(found, tuple) and len(found) == 2
        if not good or not isinstance(found[0], World) or not isinstance(found[1], State):
            raise CaromError(
                f"what optimize is given returns a {type(found).__name__}; it must return a world and its start, "
                "(carom.World, carom.State)"
            )
        return found[0], found[1]

    def __call__(self, numbers: Reals) -> World:
        return self.pair(numbers)[0]


@dataclasses.dataclass(frozen=True)
class UserStart:
    """Where that lane starts."""

    made: UserWorld

    def __call__(self, numbers: Reals) -> State:
        return self.made.pair(numbers)[1]


@dataclasses.dataclass(frozen=True)
class Seen:
    """Measures at one place, with their slopes; `trouble` says why there are none."""

    p: np.ndarray
    values: dict[str, float]
    slopes: dict[str, np.ndarray]
    trouble: str = ""


@dataclasses.dataclass(frozen=True, eq=False)
class MeasuredLanes:
    """The measures of a run from the numbers that are varied."""

    made: LaneWorld | UserWorld
    scenario: Scenario | None  # None for a world of the user's
    names: tuple[str, ...]  # of measures
    size: np.ndarray  # of the parameters
    until: float
    integration: Integration
    world: World  # the one to begin with

    @functools.cached_property
    def _kinds(self) -> tuple[dict[str, Any], dict[str, bool], tuple[str, ...]]:
        """Channels by measure; whether their slopes are exact; measures that no lane records."""
        channels: dict[str, Any] = {}
        exact: dict[str, bool] = {}
        slow = []
        for name in self.names:
            try:
                channels[name] = _channel(self.world, name)
                exact[name] = self.traced
            except CaromError as refusal:
                if self.scenario is None or not _known(name):
                    raise CaromError(_refused(self.world, name, str(refusal))) from None
                slow.append(name)
        return channels, exact, tuple(slow)

    @property
    def units(self) -> dict[str, str]:
        """Of the measures; '-' where nobody says it."""
        return {name: self._kinds[0][name].unit if name in self._kinds[0] else "" for name in self.names}

    @property
    def exact(self) -> tuple[str, ...]:
        """Measures whose slopes are exact; those of the others are differences."""
        return tuple(name for name, yes in self._kinds[1].items() if yes)

    @functools.cached_property
    def traced(self) -> bool:
        """Can the world be made of numbers that are not known yet?"""
        if isinstance(self.made, LaneWorld):
            return can_be_traced(self.made)
        numbers = [jax.ShapeDtypeStruct((), np.float64)] * len(self.made.names)
        try:
            jax.eval_shape(lambda p: jax.tree.leaves(self.made.pair(p)), numbers)  # type: ignore[union-attr]
        except Exception:  # whatever a function does with a number that it cannot look at
            return False
        return True

    def at(self, p: np.ndarray) -> Seen:
        """Values and slopes of all measures."""
        channels, _, slow = self._kinds
        values, slopes, trouble = dict[str, float](), dict[str, np.ndarray](), ""
        if channels:
            values, slopes, trouble = self._in_lanes(p)
        if slow and not trouble:
            try:
                more, steps = self._one_by_one(p, slow)
            except CaromError as refusal:
                return Seen(p, {}, {}, str(refusal))
            values, slopes = values | more, slopes | steps
        if not trouble:
            trouble = next((_missing(n, values[n], self) for n in self.names if not np.isfinite(values[n])), "")
        return Seen(p, {}, {}, trouble) if trouble else Seen(p, values, slopes)

    # -- lanes ---------------------------------------------------------------------------------------------------------

    @functools.cached_property
    def _wanted(self) -> Wanted:
        channels = self._kinds[0]
        impacts = {n: c for n, c in channels.items() if isinstance(c, ImpactChannel)}
        rows = max((_number(n) for n in impacts), default=0)
        needs = tuple(sorted({need for c in impacts.values() for need in c.needs}))
        table = (AwaitedImpacts(rows, needs),) if impacts else ()
        rest = {c.recorder.key: c.recorder for c in channels.values() if isinstance(c, RunChannel)}
        return Wanted((), (*table, *rest.values()))

    def _in_lanes(self, p: np.ndarray) -> tuple[dict[str, float], dict[str, np.ndarray], str]:
        """A lane for each direction, in one call; of worlds that cannot be traced, for each difference."""
        count = len(p)
        if self.traced:
            out = self._recorded(np.tile(p, (count, 1)), np.eye(count))
            trouble = self._failed(out, p)
            read = {n: self._read(n, c, out) for n, c in self._kinds[0].items()}
            return {n: float(v[0]) for n, (v, _) in read.items()}, {n: s for n, (_, s) in read.items()}, trouble
        step = SMALL * np.diag(self.size)
        rows = np.concatenate([p[None], p + step, p - step])
        try:
            out = self._recorded(rows, None)
        except CaromError as refusal:
            return {}, {}, str(refusal)
        plain = {n: self._read(n, c, out)[0] for n, c in self._kinds[0].items()}
        slopes = {n: (v[1 : count + 1] - v[count + 1 :]) / (2.0 * SMALL * self.size) for n, v in plain.items()}
        return {n: float(v[0]) for n, v in plain.items()}, slopes, self._failed(out, p)

    def _recorded(self, rows: np.ndarray, along: np.ndarray | None) -> Recorded:
        times, until = np.zeros((len(rows), 0)), np.full(len(rows), self.until)
        if self.traced:
            made: Any = self.made
            begin: Any = LaneStart(made) if isinstance(made, LaneWorld) else UserStart(made)
            return recorded(made, begin, self._wanted, rows, along, times, until, self.integration)
        built = [self._built(row) for row in rows]
        whole = jax.tree.map(lambda *x: np.stack([np.asarray(y) for y in x]), *built)
        return recorded(_world, _state, self._wanted, whole, None, times, until, self.integration)

    def _built(self, row: np.ndarray) -> tuple[World, State]:
        if isinstance(self.made, UserWorld):
            return self.made.pair(row.tolist())
        assert self.scenario is not None
        scenario = changed(self.scenario, dict(zip(self.made.paths, row.tolist(), strict=True)))
        world = world_of(scenario)
        from ...scenario._build import beginning

        return world, beginning(scenario, world)

    def _read(self, name: str, channel: Any, out: Recorded) -> tuple[np.ndarray, np.ndarray]:
        """A measure of every lane, and its slope along the lane's direction."""
        if isinstance(channel, ImpactChannel):
            slopes = out.slopes["impacts"] if out.slopes else None
            values, turns = read_impacts(channel, out.values["impacts"], slopes)
            row = _number(name) - 1
            return values[:, row], turns[:, row]
        values = np.asarray(out.values[channel.recorder.key]["value"])
        turns = out.slopes[channel.recorder.key]["value"] if out.slopes else np.zeros_like(values)
        return values, np.asarray(turns)

    def _failed(self, out: Recorded, p: np.ndarray) -> str:
        bad = out.outcome[~np.isin(out.outcome, outcome.GOOD)]
        if not len(bad):
            return ""
        words = why(self.made, p) if isinstance(self.made, LaneWorld) else None
        return words or f"the run fails: {outcome.describe(int(bad[0]))}"

    # -- runs one by one -----------------------------------------------------------------------------------------------

    def _one_by_one(self, p: np.ndarray, names: tuple[str, ...]) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        """What no lane records: whole runs, and their differences."""
        assert self.scenario is not None and isinstance(self.made, LaneWorld)

        def run(row: np.ndarray) -> np.ndarray:
            scenario = changed(self.scenario, dict(zip(self.made.paths, row.tolist(), strict=True)))  # type: ignore
            with warnings.catch_warnings(action="ignore"):
                done = perform(scenario, progress=False)
                if not done.finished:
                    raise CaromError(f"the run fails: {done.outcome}")
                return np.array([measure(done, name) for name in names])

        here = run(p)
        steps = STEP * np.diag(self.size)
        slopes = np.stack([(run(p + d) - run(p - d)) / (2.0 * np.sum(d)) for d in steps], axis=1)
        return dict(zip(names, here.tolist(), strict=True)), dict(zip(names, slopes, strict=True))


def _channel(world: World, name: str) -> ImpactChannel | RunChannel:
    found = OF_IMPACT.fullmatch(name)
    if found and int(found["number"]) > 0 and "." not in found["field"]:
        return impact_channel(world, "optimize", found["field"])
    return run_channel(world, "optimize", name)


def _number(name: str) -> int:
    found = OF_IMPACT.fullmatch(name)
    assert found
    return int(found["number"])


def _known(name: str) -> bool:
    from ..measures.all_measures import kind_of

    try:
        kind, parts = kind_of(name)
    except CaromError:
        return False
    return "stat" not in parts or kind.lane is None or "after" in parts


def _refused(world: World, name: str, words: str) -> str:
    try:
        run_channel(world, "optimize", f"final({name})")
    except CaromError:
        return f"measure '{name}' of optimize: {words}"
    return f"measure '{name}' of optimize is a signal; take a statistic of it, such as final({name}) or most({name})"


def _missing(name: str, value: float, lanes: MeasuredLanes) -> str:
    if OF_IMPACT.fullmatch(name):
        return f"the run until {lanes.until:g} s has no value of '{name}': it has not so many impacts"
    return f"'{name}' is {value}"


def _world(pair: Any) -> World:
    world: World = pair[0]
    return world


def _state(pair: Any) -> State:
    state: State = pair[1]
    return state
