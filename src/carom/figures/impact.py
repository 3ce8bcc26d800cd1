"""One impact under the microscope: indentation, forces and their loop, by the phases of the law."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import errors
from ..result._signals import ContactSignals, contact_signals
from ..result.impacts import Impact
from ..result.result import Result
from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SAMPLES = 401

COLUMNS = 3  # of the legend: names of phases are long


def lacks(result: Result) -> str | None:
    if lasting(result):
        return None
    if result.impacts:
        return "all impacts of this run are rigid and instantaneous; a compliant law gives impacts that last"
    return "there is no complete impact in this run; run longer"


def lasting(result: Result) -> list[int]:
    """Numbers of the impacts that take time, from 1."""
    return [k for k, i in enumerate(_strikes(result), start=1) if i.t_end > i.t_start]


def _strikes(result: Result) -> list[Any]:
    """Impacts as reports count them: without the shares of closed contacts in a blow."""
    return [i for i in result.impacts if i.struck]


def draw(figure: Figure, result: Result, times: np.ndarray, number: int = 1) -> None:
    """Impact `number` of those in `result.impacts` that are struck, counted from 1."""
    if number not in lasting(result):
        known = lasting(result)
        listed = f"1 to {known[-1]}" if known == list(range(1, known[-1] + 1)) else ", ".join(map(str, known))
        raise errors.CaromError(f"number of figure 'impact' is {number!r}; impacts that take time are number {listed}")
    impact = _strikes(result)[number - 1]
    instants = _instants(result, impact)
    s = contact_signals(result, instants)[impact.contact]
    if hasattr(figure, "set_size_inches"):
        figure.set_size_inches(style.width(), 5.6 if style.narrow() else 4.0)
    if style.narrow():
        grid = figure.add_gridspec(3, 1, height_ratios=[1.0, 1.0, 1.3])
        places = (grid[0], grid[1], grid[2])
    else:
        grid = figure.add_gridspec(2, 2, width_ratios=[1.25, 1.0], wspace=0.05)
        places = (grid[0, 0], grid[1, 0], grid[:, 1])
    upper, right = figure.add_subplot(places[0]), figure.add_subplot(places[2])
    lower = figure.add_subplot(places[1], sharex=upper)
    late, unit = style.prefix(impact.duration, "s")
    stretches = _stretches(s.phase)
    shades = {
        phase: style.SHADES[k % len(style.SHADES)] for k, phase in enumerate(dict.fromkeys(p for p, _ in stretches))
    }
    t = late * (instants - impact.t_start)
    for axes in (upper, lower):
        _shade(axes, t, stretches, shades)
    _draw_curves(upper, lower, t, s)
    _draw_loop(right, s, stretches)
    upper.tick_params(labelbottom=False)
    lower.set_xlabel(f"time since touch [{unit}]")
    figure.suptitle(f"impact {number}: '{impact.contact}' touches at {impact.t_start:.6g} s", fontsize=9.0)
    bands = [style.library().patches.Patch(facecolor=c, edgecolor="0.4", label=p) for p, c in shades.items()]
    figure.legend(handles=bands, loc="outside lower left", ncols=min(len(bands), COLUMNS))


def _instants(result: Result, impact: Impact) -> np.ndarray:
    """From just after touch to just before release, with both sides of every event between them."""
    within = [e.t for e in result.events if impact.t_start < e.t < impact.t_end]
    even = np.linspace(impact.t_start, impact.t_end, SAMPLES)
    found = np.unique(np.concatenate([even, within, np.nextafter(within, 0.0), [np.nextafter(impact.t_end, 0.0)]]))
    return np.asarray(found[found < impact.t_end])


def _stretches(phases: np.ndarray) -> list[tuple[str, slice]]:
    """Phases in their order, each with the rows that it covers."""
    cuts = [0, *(np.flatnonzero(phases[1:] != phases[:-1]) + 1), len(phases)]
    return [(str(phases[a]), slice(a, b)) for a, b in pairwise(cuts)]


def _shade(axes: Axes, t: np.ndarray, stretches: Sequence[tuple[str, slice]], shades: dict[str, str]) -> None:
    for phase, rows in stretches:
        end = t[rows.stop] if rows.stop < len(t) else t[-1]
        axes.axvspan(t[rows.start], end, color=shades[phase], linewidth=0.0, zorder=0.0)
    axes.margins(x=0.0)
    axes.grid(False)


def _draw_curves(upper: Axes, lower: Axes, t: np.ndarray, s: ContactSignals) -> None:
    deep, length = style.prefix(float(np.max(np.abs(s.indentation))), s.unit)
    strong, force = style.prefix(float(np.max(np.abs(s.normal))), s.force_unit)
    upper.plot(t, deep * s.indentation, **style.line(0))
    upper.set_ylabel(f"indentation [{length}]")
    lower.plot(t, strong * s.normal, label="normal", **style.line(0))
    if np.any(s.friction != 0.0):
        lower.plot(t, strong * s.friction, label="friction", **style.line(1))
        lower.legend(loc="best")
    lower.set_ylabel(f"force [{force}]" if s.unit == "m" else f"torque [{force}]")


def _draw_loop(axes: Axes, s: ContactSignals, stretches: Sequence[tuple[str, slice]]) -> None:
    """Force over indentation; the area within is the energy that the contact took."""
    deep, length = style.prefix(float(np.max(np.abs(s.indentation))), s.unit)
    strong, force = style.prefix(float(np.max(np.abs(s.normal))), s.force_unit)
    kinds = list(dict.fromkeys(phase for phase, _ in stretches))
    named: set[str] = set()
    for phase, rows in stretches:
        joined = slice(rows.start, min(rows.stop + 1, len(s.normal)))
        label = None if phase in named else phase
        named.add(phase)
        columns = deep * s.indentation[joined], strong * s.normal[joined]
        axes.plot(*columns, label=label, **style.line(kinds.index(phase)))
    axes.set_xlabel(f"indentation [{length}]")
    axes.set_ylabel(f"normal force [{force}]" if s.unit == "m" else f"torque [{force}]")
    axes.legend(loc="best")
