"""What a scenario predicts for recorded runs, with exact derivatives by the numbers that are varied."""

from __future__ import annotations

import dataclasses
import functools

import jax
import numpy as np
from jaxtyping import PyTree

from ...errors import CaromError
from ...hybrid import outcome
from ...hybrid.settings import Integration
from ...hybrid.world import World
from ...mechanism import State
from ...scenario._build import beginning, settings_of, world_of
from ...scenario._change import changed
from ...scenario.model import Scenario
from ...study._slopes import GOOD, Recorded, Wanted, recorded
from ...study.recording._series import AwaitedImpacts
from ..sweeping._lane_worlds import LaneStart, LaneWorld, can_be_traced, why
from ._channels import read_impacts
from ._recorded_runs import Records

STEP = 1e-6  # of a number's size: differences of worlds that cannot be traced
LONGER = 20.0  # times the length of the scenario's run: impacts that were measured may come later on the way
SLACK = 1e-9  # a run ends this much after its last instant, so that this is inside


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A number that is varied: its path, and in which run, if each has its own."""

    path: str
    run: int | None = None
    name: str = ""


@dataclasses.dataclass(frozen=True, eq=False)
class RunPredictor:
    """Channels of every run from the values of the parameters."""

    scenario: Scenario
    records: Records
    parameters: tuple[Parameter, ...]

    @functools.cached_property
    def paths(self) -> tuple[str, ...]:
        varied = tuple(dict.fromkeys(p.path for p in self.parameters))
        return (*varied, *(path for path in self.records.known if path not in varied))

    @functools.cached_property
    def _lane(self) -> LaneWorld:
        return LaneWorld(self.scenario.toml(), self.paths)

    @functools.cached_property
    def _wanted(self) -> Wanted:
        needs = tuple(sorted({name for c in self.records.impacts for name in c.needs}))
        table = (AwaitedImpacts(self.records.rows, needs),) if self.records.impacts else ()
        rest = {c.recorder.key: c.recorder for c in self.records.runs}
        return Wanted(tuple(c.signal for c in self.records.series), (*table, *rest.values()))

    @functools.cached_property
    def _integration(self) -> Integration:
        return settings_of(self.scenario).integration(horizon_of(self.scenario))

    @functools.cached_property
    def _lasting(self) -> bool:
        """Do impacts take time? Then a lane does not know when it has seen enough of them."""
        return not all(contact.rigid for contact in world_of(self.scenario).contacts)

    @functools.cached_property
    def until(self) -> np.ndarray:
        """When each run ends [s]: at its last instant, with the scenario, or with the last impact that is awaited."""
        last = np.max(np.where(np.isfinite(self.records.times), self.records.times, 0.0), axis=1, initial=0.0)
        last = last * (1.0 + SLACK)
        if self.records.impacts or self.records.runs:
            last = np.maximum(last, horizon_of(self.scenario) * (1.0 if self.records.runs or self._lasting else LONGER))
        return np.maximum(last, 1e-12)

    def numbers(self, p: np.ndarray) -> np.ndarray:
        """What stands at the paths, a row for each run."""
        runs = len(self.records.names)
        out = np.empty((runs, len(self.paths)))
        for k, path in enumerate(self.paths):
            out[:, k] = self.records.known.get(path, np.nan)
        for value, parameter in zip(p, self.parameters, strict=True):
            rows = slice(None) if parameter.run is None else parameter.run
            out[rows, self.paths.index(parameter.path)] = value
        return out

    def linearised(self, p: np.ndarray) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Channels (runs, n), and their slopes (runs, n, parameters); nan where a run fails or has no such impact."""
        table = self.numbers(np.asarray(p, dtype=float))
        varied = tuple(dict.fromkeys(x.path for x in self.parameters))
        runs, count = len(table), len(varied)
        columns = [self._along(table, self.paths.index(path)) for path in varied]
        values = {name: x[:, : self.records.measured[name].shape[1]] for name, x in columns[0][0].items()}
        slopes = {}
        for name, x in values.items():
            by_path = np.stack([columns[k][1][name][:, : x.shape[1]] for k in range(count)], axis=-1)
            out = np.zeros((*x.shape, len(self.parameters)))
            for k, parameter in enumerate(self.parameters):
                rows = np.arange(runs) if parameter.run is None else np.array([parameter.run])
                out[rows, :, k] = by_path[rows, :, varied.index(parameter.path)]
            slopes[name] = out
        return values, slopes

    def codes(self, p: np.ndarray) -> np.ndarray:
        """How the runs end."""
        return self._plainly(p).outcome

    def values(self, p: np.ndarray) -> dict[str, np.ndarray]:
        """Channels (runs, n) alone."""
        found = self._channels(self._plainly(p))[0]
        return {name: x[:, : self.records.measured[name].shape[1]] for name, x in found.items()}

    def _plainly(self, p: np.ndarray) -> Recorded:
        """Without slopes; of worlds that are traced by the program that has them, which is there already."""
        table = self.numbers(np.asarray(p, dtype=float))
        return self._record(table, np.zeros_like(table) if self.traced else None)

    # -- lanes ---------------------------------------------------------------------------------------------------------

    def _along(self, table: np.ndarray, k: int) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Channels of every run, and how they change with the number at one path."""
        direction = np.zeros_like(table)
        direction[:, k] = 1.0
        if self.traced:
            return self._channels(self._record(table, direction))
        size = np.where(table[:, k] == 0.0, 1.0, np.abs(table[:, k]))[:, None] * direction
        here, up, down = (
            self._channels(self._record(table + sign * STEP * size, None))[0] for sign in (0.0, 1.0, -1.0)
        )
        step = 2.0 * STEP * np.max(size, axis=1)[:, None]
        return here, {name: (up[name] - down[name]) / step for name in here}

    @functools.cached_property
    def traced(self) -> bool:
        """Can the world be made of numbers that are not known yet? Otherwise slopes are differences of runs."""
        return can_be_traced(self._lane)

    def _record(self, table: np.ndarray, along: np.ndarray | None) -> Recorded:
        times = self.records.times
        if self.traced:
            return recorded(
                self._lane, LaneStart(self._lane), self._wanted, table, along, times, self.until, self._integration
            )
        built = [self._built(row) for row in table]
        whole = jax.tree.map(lambda *x: np.stack([np.asarray(y) for y in x]), *built)
        return recorded(_world, _state, self._wanted, whole, None, times, self.until, self._integration)

    def _built(self, row: np.ndarray) -> tuple[World, State]:
        scenario = changed(self.scenario, dict(zip(self.paths, row.tolist(), strict=True)))
        world = world_of(scenario)
        return world, beginning(scenario, world)

    def _channels(self, out: Recorded) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Numbers of the channels from what the lanes recorded; a lane that failed has none."""
        good = np.isin(out.outcome, GOOD)[:, None]
        values, slopes = dict[str, np.ndarray](), dict[str, np.ndarray]()
        with_slopes = bool(out.slopes)

        def keep(name: str, value: np.ndarray, slope: np.ndarray) -> None:
            values[name], slopes[name] = np.where(good, value, np.nan), np.where(good, slope, np.nan)

        for k, c in enumerate(self.records.series):
            x = out.values["series"][str(k)]
            keep(c.name, x, out.slopes["series"][str(k)] if with_slopes else np.zeros_like(x))
        for each in self.records.impacts:
            keep(each.name, *read_impacts(each, out.values["impacts"], out.slopes["impacts"] if with_slopes else None))
        for run in self.records.runs:
            y = np.asarray(out.values[run.recorder.key]["value"])[:, None]
            keep(run.name, y, out.slopes[run.recorder.key]["value"][:, None] if with_slopes else np.zeros_like(y))
        return values, slopes

    # -- words ---------------------------------------------------------------------------------------------------------

    def trouble(self, p: np.ndarray) -> str | None:
        """Why there is no prediction with these values for something that was measured; None if there is."""
        table = self.numbers(p)
        codes = self.codes(p)
        for k, code in enumerate(codes):
            if code not in GOOD:
                words = why(self._lane, table[k]) or outcome.describe(int(code))
                return f"the run{self._of(k)} fails at the start of the search: {words}"
        values = self.values(p)
        for channel in self.records.channels:
            missing = np.isfinite(self.records.measured[channel.name]) & ~np.isfinite(values[channel.name])
            if not np.any(missing):
                continue
            run, row = (int(x) for x in np.argwhere(missing)[0])
            if channel in self.records.impacts:
                last = int(np.sum(np.isfinite(values[channel.name][run])))
                return (
                    f"impact {row + 1}{self._of(run)} was measured ({channel.name}), and with the numbers at the "
                    f"start of the search the run has {last} until {self.until[run]:g} s; start nearer, or let it last"
                )
            return f"'{channel.name}'{self._of(run)} has no value with the numbers at the start of the search"
        return None

    def _of(self, run: int) -> str:
        return f" of '{self.records.names[run]}'" if self.records.names[run] else ""


def _world(pair: PyTree) -> World:
    world: World = pair[0]
    return world


def _state(pair: PyTree) -> State:
    state: State = pair[1]
    return state


def horizon_of(scenario: Scenario) -> float:
    """[s] A fit compares runs at times, so that their end must be one."""
    until = scenario.run.until
    if isinstance(until, str | list):
        raise CaromError(f"until of [run] is {until!r}; a fit needs a time [s] there, when its runs end")
    return until
