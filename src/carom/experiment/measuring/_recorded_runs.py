"""Records of a scenario: what its tables say, with the names of its world, run by run."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from ...errors import CaromError
from ...hybrid.world import World
from ...scenario._change import changed
from ...scenario.model import Scenario
from ._channels import (
    INTERVAL,
    OF_IMPACT,
    Channel,
    ImpactChannel,
    RunChannel,
    SeriesChannel,
    impact_channel,
    run_channel,
    series_channel,
)
from ._plausible import refuse_gravity
from ._recorded_tables import Table
from ._units import factor_of

MOST_IMPACTS = 1000  # of a run, as in batches


@dataclasses.dataclass(frozen=True)
class Records:
    """Runs that were recorded; a row of each array is a run, gaps are nan.

    - `times` (runs, instants) [s]: infinite where a run has no more of them
    - `measured`: channels by name; `noise`: their standard deviations, None where that is not known
    - `known`: numbers of the scenario that differ from run to run and were written down
    """

    names: tuple[str, ...]
    times: np.ndarray
    series: tuple[SeriesChannel, ...]
    impacts: tuple[ImpactChannel, ...]
    runs: tuple[RunChannel, ...]
    rows: int  # impacts that are looked at
    measured: dict[str, np.ndarray]
    noise: dict[str, float | None]
    known: dict[str, np.ndarray]
    stated: frozenset[str]  # channels whose unit was written down

    @property
    def data(self) -> int:
        return int(sum(np.isfinite(x).sum() for x in self.measured.values()))

    def chosen(self, rows: Sequence[int]) -> Records:
        """Some of the runs."""
        take = np.asarray(rows)
        return dataclasses.replace(
            self,
            names=tuple(self.names[k] for k in rows),
            times=self.times[take],
            measured={name: x[take] for name, x in self.measured.items()},
            known={name: x[take] for name, x in self.known.items()},
        )

    @property
    def unit(self) -> dict[str, str]:
        return {c.name: c.unit for c in self.channels}

    @property
    def channels(self) -> tuple[Channel, ...]:
        return (*self.series, *self.impacts, *self.runs)


class _Filling:
    """Records under construction."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.channels: dict[str, Channel] = {}
        self.cells: dict[str, dict[tuple[int, int], float]] = {}
        self.noise: dict[str, float | None] = {}
        self.known: dict[str, np.ndarray] = {}
        self.stated: set[str] = set()
        self.rows = 0

    def add(self, channel: Channel, table: Table, column: str) -> float:
        """A channel of a table's column; the factor of its unit."""
        self.channels[channel.name] = channel
        factor = 1.0
        if column in table.units:
            self.stated.add(channel.name)
            factor = factor_of(table.where, column, table.units[column], channel.unit)
        level = table.noise.get(column)
        self.noise[channel.name] = None if level is None else level * factor
        return factor

    def put(self, name: str, run: int, row: int, value: float, where: str) -> None:
        cells = self.cells.setdefault(name, {})
        if (run, row) in cells:
            raise CaromError(f"{where} is there twice; keep one of the two")
        if np.isfinite(value):
            cells[run, row] = value

    def array(self, name: str, width: int) -> np.ndarray:
        out = np.full((len(self.names), width), np.nan)
        for at, value in self.cells.get(name, {}).items():
            out[at] = value
        return out


def records_of(scenario: Scenario, world: World, tables: Sequence[Table], from_first: bool) -> Records:
    """Tables matched with a scenario's world, or a sentence about what does not fit."""
    names = tuple(dict.fromkeys(name for table in tables for name in table.record))
    filling = _Filling(names)
    clock = _series(scenario, world, [t for t in tables if t.kind == "series"], filling, from_first)
    for table in tables:
        if table.kind == "impacts":
            _impacts(scenario, world, table, filling)
        elif table.kind == "runs":
            _runs(scenario, world, table, filling)
    widths = {SeriesChannel: clock.shape[1], ImpactChannel: filling.rows, RunChannel: 1}
    measured = {c.name: filling.array(c.name, widths[type(c)]) for c in filling.channels.values()}
    for name, x in measured.items():
        if not np.any(np.isfinite(x)):
            raise CaromError(f"column '{name}' has no number, only gaps; leave it out")
    if not measured:
        listed = ", ".join(table.where for table in tables)
        raise CaromError(
            f"{listed} has no column that was measured; name one as carom does, such as y.ball.tip or t_start"
        )
    channels = filling.channels.values()
    impacts = tuple(c for c in channels if isinstance(c, ImpactChannel))
    return Records(
        names,
        clock,
        tuple(c for c in channels if isinstance(c, SeriesChannel)),
        impacts,
        tuple(c for c in channels if isinstance(c, RunChannel)),
        filling.rows + any(c.field == INTERVAL for c in impacts),
        measured,
        filling.noise,
        filling.known,
        frozenset(filling.stated),
    )


def _series(
    scenario: Scenario, world: World, tables: Sequence[Table], filling: _Filling, from_first: bool
) -> np.ndarray:
    """Signals over time; what comes back are the instants of every run."""
    clocks: dict[int, np.ndarray] = {}
    for table in tables:
        factor = factor_of(table.where, "t", table.units.get("t", "s"), "s")
        for run, rows in _rows_of(table, filling.names).items():
            t = _in_order(table, rows, factor, from_first)
            if run in clocks and not np.array_equal(clocks[run], t):
                raise CaromError(f"{table.where}: run '{filling.names[run]}' has other times than in another table")
            clocks[run] = t
    clock = np.full((len(filling.names), max((len(t) for t in clocks.values()), default=0)), np.inf)
    for run, t in clocks.items():
        clock[run, : len(t)] = t
    for table in tables:
        for column, values in table.columns.items():
            if column == "t":
                continue
            if _leads_into(scenario, column):
                _known(scenario, table, column, filling)
                continue
            factor = filling.add(series_channel(world, table.where, column), table, column)
            for run, rows in _rows_of(table, filling.names).items():
                for k, row in enumerate(rows):
                    filling.put(column, run, k, float(values[row]) * factor, f"column '{column}' of {table.where}")
    return clock


def _in_order(table: Table, rows: np.ndarray, factor: float, from_first: bool) -> np.ndarray:
    """The instants of a run."""
    t, lines = table.columns["t"][rows] * factor, [table.lines[k] for k in rows]
    if not np.all(np.isfinite(t)):
        k = int(np.argmin(np.isfinite(t)))
        raise CaromError(f"{table.where}, line {lines[k]}: t is missing; every row has its instant")
    late = np.flatnonzero(np.diff(t) <= 0.0)
    if len(late):
        k = int(late[0])
        raise CaromError(
            f"{table.where}: times are out of order: {t[k + 1]:g} s (line {lines[k + 1]}) follows {t[k]:g} s; sort the "
            "rows, and keep one for each instant; several runs in a file have their names in a column 'record'"
        )
    t = t - t[0] if from_first else t
    if t[0] < 0.0:
        raise CaromError(
            f"{table.where}, line {lines[0]}: t is {t[0]:g} s, before the run begins; let t = 0 be its start, or "
            "say that it begins at the first row (--from-first)"
        )
    return t


def _rows_of(table: Table, names: tuple[str, ...]) -> dict[int, np.ndarray]:
    """Rows of every run that the table has."""
    record = np.array(table.record, dtype=object)
    return {names.index(name): np.flatnonzero(record == name) for name in dict.fromkeys(table.record)}


def _impacts(scenario: Scenario, world: World, table: Table, filling: _Filling) -> None:
    """A row for each impact; column `impact` numbers them from 1."""
    numbers = table.columns["impact"]
    for k, number in enumerate(numbers):
        if not (np.isfinite(number) and number == round(number) and 1 <= number <= MOST_IMPACTS):
            raise CaromError(
                f"{table.where}, line {table.lines[k]}: impact is {number:g}; impacts of a run are numbered 1, 2, 3 .. "
                f"up to {MOST_IMPACTS}"
            )
    runs = [filling.names.index(name) for name in table.record]
    for column, values in table.columns.items():
        if column == "impact":
            continue
        if _leads_into(scenario, column):
            _known(scenario, table, column, filling)
            continue
        factor = filling.add(impact_channel(world, table.where, column), table, column)
        for run, number, value in zip(runs, numbers, values, strict=True):
            where = f"{table.where}: impact {number:g}" + (f" of '{filling.names[run]}'" if filling.names[run] else "")
            filling.put(column, run, int(number) - 1, float(value) * factor, where)
    filling.rows = max(filling.rows, int(np.max(numbers)))


def _runs(scenario: Scenario, world: World, table: Table, filling: _Filling) -> None:
    """A row for each run."""
    for column, values in table.columns.items():
        if _leads_into(scenario, column):
            _known(scenario, table, column, filling)
            continue
        found = OF_IMPACT.fullmatch(column)
        row = int(found["number"]) - 1 if found else 0
        if found is not None and 0 <= row < MOST_IMPACTS and "." not in found["field"]:
            channel: ImpactChannel | RunChannel = impact_channel(world, table.where, found["field"])
            filling.rows = max(filling.rows, row + 1)
        else:
            channel = run_channel(world, table.where, column)
        factor = filling.add(channel, table, column)
        for name, value in zip(table.record, values, strict=True):
            where = f"run '{name}' of {table.where}"
            filling.put(channel.name, filling.names.index(name), row, float(value) * factor, where)


def _leads_into(scenario: Scenario, column: str) -> bool:
    """Is it a path of the scenario, such as start.base.1?"""
    return column.replace('"', "").split(".")[0] in type(scenario).model_fields


def _known(scenario: Scenario, table: Table, path: str, filling: _Filling) -> None:
    """A number of the scenario that was written down for every run."""
    values = table.columns[path] * (factor_of(table.where, path, table.units[path], None) if path in table.units else 1)
    out = filling.known.setdefault(path, np.full(len(filling.names), np.nan))
    for name, value, line in zip(table.record, values, table.lines, strict=True):
        run = filling.names.index(name)
        if not np.isfinite(value):
            continue
        if np.isfinite(out[run]) and out[run] != value:
            raise CaromError(
                f"{table.where}, line {line}: {path} is {value:g}, and {out[run]:g} before; it is one number for a run"
            )
        out[run] = value
    if not np.all(np.isfinite(out)):
        missing = filling.names[int(np.argmin(np.isfinite(out)))]
        raise CaromError(f"{table.where}: {path} is missing for run '{missing}'; write it in one of its rows")
    changed(scenario, {path: float(out[0])})
    if path == "gravity":
        for value in out:
            refuse_gravity(float(value), table.where)
