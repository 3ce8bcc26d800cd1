"""Contact forces: impacts laid over each other with their peaks, stances over time, blows as impulses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..result._signals import ContactSignals, contact_signals
from ..result.impacts import Impact
from ..result.result import Result
from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NEEDLES = 0.03  # of a run: impacts that last less, all together, are needles on its axis
SAMPLES = 121  # of an impact
MOST = 6  # contacts in a figure
NOTHING = 1e-9  # of the largest force: what is smaller is rounding


class Row(NamedTuple):
    """What is drawn of a contact: its force over time, its impacts one over the other, its blows."""

    name: str
    signals: ContactSignals
    over_time: bool
    impacts: list[Impact]
    blows: list[Impact]

    @property
    def panels(self) -> int:
        return int(self.over_time) + int(bool(self.impacts)) + int(bool(self.blows))


def lacks(result: Result) -> str | None:
    if not result.world.contacts:
        return "this world has no contact; add one with carom.World(..., contacts=...)"
    return None


def dull(result: Result) -> bool:
    """Nothing ever touches."""
    return not result.impacts and not result.stances


def draw(figure: Figure, result: Result, times: np.ndarray) -> None:
    """Normal and friction force [N] on the mechanism, contact by contact.

    Impacts that are needles on the axis of a run are laid over each other, with the peak of each beside them; what
    stands is drawn over time; blows have an impulse [N s] and no force.
    """
    rows = _rows(result, times)
    shown = sorted(rows, key=lambda row: -float(np.max(np.abs(row.signals.normal), initial=0.0)))[:MOST]
    shown = [row for row in rows if row in shown]
    panels = sum(row.panels for row in shown)
    if hasattr(figure, "set_size_inches"):
        figure.set_size_inches(style.width(), 0.45 + (1.7 if panels > 2 else style.PANEL) * panels)
    grid = figure.add_gridspec(panels, 2, width_ratios=[1.6, 1.0])
    at, over_time, stems = 0, [], []
    for row in shown:
        title = f"contact '{row.name}'"
        if row.over_time:
            axes = figure.add_subplot(grid[at, :])
            _draw_forces(axes, times, row.signals, title)
            over_time.append(axes)
            at += 1
        if row.impacts:
            _draw_overlaid(figure.add_subplot(grid[at, 0]), result, row, "" if row.over_time else title)
            _draw_peaks(figure.add_subplot(grid[at, 1]), row)
            at += 1
        if row.blows:
            axes = figure.add_subplot(grid[at, :], sharex=over_time[0] if over_time else None)
            stems.append((axes, _draw_blows(axes, result, row, "" if row.over_time else title)))
            over_time.append(axes)
            at += 1
    if over_time:
        style.finish(over_time, result)
    for axes, values in stems:  # they stand on zero, whatever the others do
        low, high = min(0.0, *values), max(0.0, *values)
        axes.set_ylim(1.1 * low, 1.1 * high)
    if len(rows) > len(shown):
        figure.suptitle(f"the {len(shown)} of {len(rows)} contacts that push hardest", fontsize="medium")


def _rows(result: Result, times: np.ndarray) -> list[Row]:
    found, lasts = contact_signals(result, times), float(result.t[-1] - result.t[0])
    most = max((float(np.max(np.abs(s.normal), initial=0.0)) for s in found.values()), default=0.0)
    rows = []
    for name, s in found.items():
        strikes = [i for i in result.impacts if i.contact == name]
        lasting, blows = [i for i in strikes if i.duration > 0.0], [i for i in strikes if i.duration == 0.0]
        stands = any(stance.contact == name for stance in result.stances)
        needles = bool(lasting) and sum(i.duration for i in lasting) < NEEDLES * lasts
        pushes = float(np.max(np.abs(s.normal), initial=0.0)) > NOTHING * max(most, 1e-300)
        over_time = pushes and (stands or bool(lasting and not needles) or not strikes)
        rows.append(Row(name, s, over_time, lasting if needles else [], blows))
    return [row for row in rows if row.panels] or [row._replace(over_time=True) for row in rows[:1]]


def _word(s: ContactSignals) -> str:
    return "force" if s.unit == "m" else "torque"


def _draw_forces(axes: Axes, times: np.ndarray, s: ContactSignals, title: str) -> None:
    factor, unit = style.prefix(float(np.max(np.abs(s.normal))), s.force_unit)
    axes.plot(times, factor * s.normal, label="normal", **style.line(0))
    if np.any(np.abs(s.friction) > NOTHING * np.max(np.abs(s.normal))):
        axes.plot(times, factor * s.friction, label="friction", **style.line(1))
    axes.set_title(title)
    axes.set_ylabel(f"{_word(s)} [{unit}]")


def _draw_overlaid(axes: Axes, result: Result, row: Row, title: str) -> None:
    """Normal force since the touch: the first and the last impact by name, those between them in grey."""
    instants = [np.linspace(i.t_start, np.nextafter(i.t_end, i.t_start), SAMPLES) for i in row.impacts]
    order = np.concatenate(instants)
    normal = contact_signals(result, order)[row.name].normal.reshape(len(row.impacts), SAMPLES)
    late, time_unit = style.prefix(max(i.duration for i in row.impacts), "s")
    factor, unit = style.prefix(float(np.max(np.abs(normal))), row.signals.force_unit)
    numbers = [k for k, i in enumerate((i for i in result.impacts if i.struck), start=1) if i in row.impacts]
    last = len(row.impacts) - 1
    for k in (*range(1, last), *dict.fromkeys((0, last))):  # the two that are named lie on top
        t = late * (instants[k] - row.impacts[k].t_start)
        if 0 < k < last:
            axes.plot(t, factor * normal[k], color="0.72", linewidth=0.7, label="between them" if k == 1 else None)
        else:
            axes.plot(t, factor * normal[k], label=f"impact {numbers[k]}", **style.line(int(k != 0)))
    axes.set_xlabel(f"time since touch [{time_unit}]")
    axes.set_ylabel(f"normal {_word(row.signals)} [{unit}]")
    axes.set_title(title)
    axes.set_xlim(left=0.0)
    axes.legend(loc="best")


def _draw_peaks(axes: Axes, row: Row) -> None:
    peaks = np.array([i.max_normal_force for i in row.impacts])
    factor, unit = style.prefix(float(np.max(peaks)), row.signals.force_unit)
    t = np.array([i.t_start for i in row.impacts])
    axes.vlines(t, 0.0, factor * peaks, color="0.6", linewidth=0.8)
    axes.plot(t, factor * peaks, linestyle="none", marker="o", markersize=3.0, color="k")
    axes.set_ylim(0.0, 1.1 * factor * float(np.max(peaks)))
    axes.set_ylabel(f"largest {_word(row.signals)} [{unit}]")
    style.time_axis([axes], float(np.ptp(t)) if len(t) > 1 else 1.0)


def _draw_blows(axes: Axes, result: Result, row: Row, title: str) -> list[float]:
    """A blow has an impulse but no force; what was drawn is returned."""
    t, size = [i.t_start for i in row.blows], max(abs(i.normal_impulse) for i in row.blows)
    factor, unit = style.prefix(size, "N s" if row.signals.unit == "m" else "N m s")
    looks: tuple[tuple[list[float], dict[str, Any], str], ...] = (
        ([i.normal_impulse for i in row.blows], {"marker": "o"}, "normal impulse"),
        ([i.tangential_impulse for i in row.blows], {"marker": "x"}, "friction impulse"),
    )
    for k, (values, look, name) in enumerate(looks):
        if np.max(np.abs(values)) > NOTHING * size:
            colour = style.line(k)["color"]
            axes.vlines(t, 0.0, factor * np.asarray(values), color=colour, linewidth=0.9)
            axes.plot(
                t, factor * np.asarray(values), linestyle="none", markersize=3.5, label=name, color=colour, **look
            )
    axes.set_xlim(float(result.t[0]), float(result.t[-1]))
    axes.set_ylabel(f"impulse [{unit}]")
    axes.set_title(title)
    return [factor * value for values, _, _ in looks for value in values]
