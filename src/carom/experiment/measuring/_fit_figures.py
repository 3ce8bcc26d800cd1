"""Figures of a fit: what was recorded and predicted, one above the other, and what is left in units of the noise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...figures.style import legend, line, page, panels, steady
from ._recorded_runs import Records
from .fit_scenario import ScenarioFit

MOST_RUNS = 6  # drawn in one panel; the residuals have all of them
MOST_CHANNELS = 24


def figures_of_fit(found: ScenarioFit) -> Iterator[tuple[str, str, Any]]:
    """(name, what it shows, figure) of every channel."""
    for name in list(found.measured)[:MOST_CHANNELS]:
        yield name, f"{name}: recorded and fitted, and residuals in units of the noise", channel_figure(found, name)


def channel_figure(found: ScenarioFit, name: str) -> Any:
    """One channel of a fit."""
    records, unit = found.records, found.records.unit[name]
    where, said = _places(records, name)
    residual = found.fit.residuals[name] / found.fit.noise[name]
    with page() as figure:
        upper, lower = panels(figure, 2)
        for run in range(len(records.names)):
            look = line(run % MOST_RUNS)
            there = np.isfinite(found.measured[name][run])
            if run < MOST_RUNS:
                _draw_run(upper, found, name, run, where[run], look)
            lower.plot(where[run][there], residual[run][there], ".", color=look["color"], markersize=3.0)
        steady(upper)  # what hardly moves is a level line, not its rounding
        upper.set_ylabel(f"{name} [{unit}]")
        lower.set_ylabel("residual / noise [-]")
        for level in (-2.0, 0.0, 2.0):
            lower.axhline(level, color="0.5", linewidth=0.6, linestyle="-" if level == 0.0 else ":")
        lower.set_xlabel(said if said == "time [s]" else f"{said} [-]")
        legend(upper)
        made: Any = figure
    return made


def _draw_run(axes: Any, found: ScenarioFit, name: str, run: int, x: np.ndarray, look: dict[str, Any]) -> None:
    """Data as points, the fit as a line, and its band."""
    label = found.records.names[run] or "recorded"
    there = np.isfinite(found.measured[name][run])
    axes.plot(x[there], found.measured[name][run][there], "o", color=look["color"], markersize=2.6, label=label)
    value, band = found.predicted[name][run], found.band[name][run]
    shown = np.isfinite(value) & np.isfinite(x)
    mark = {"marker": "_", "markersize": 9.0} if np.sum(shown) < 2 else {}
    axes.plot(x[shown], value[shown], label="fit" if run == 0 else None, **look, **mark)
    both = shown & np.isfinite(band)
    low, high = (value + sign * 2.0 * band for sign in (-1.0, 1.0))
    axes.fill_between(x[both], low[both], high[both], color=look["color"], alpha=0.2, linewidth=0.0)


def _places(records: Records, name: str) -> tuple[np.ndarray, str]:
    """Where the data of a channel stand on the axis below, and what it says."""
    if name in {c.name for c in records.series}:
        return np.where(np.isfinite(records.times), records.times, np.nan), "time [s]"
    runs, width = records.measured[name].shape
    if name in {c.name for c in records.impacts}:
        return np.tile(np.arange(1.0, width + 1.0), (runs, 1)), "number of the impact"
    return np.arange(1.0, runs + 1.0)[:, None], "number of the run"
