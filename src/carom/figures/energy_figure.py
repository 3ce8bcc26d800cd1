"""Energies over time, and what went where: the ledger's entries, with the sum that is left over."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from ..result._signals import energy_signals
from ..result.result import Result
from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NOTHING = 1e-9  # of the energy in play: works below it are not drawn
SMALL = 0.02  # of the energy: works that are smaller are drawn without it
TALL = 0.21  # [in] of an entry


def lacks(result: Result) -> str | None:
    return None if result.final.y.work else "the run was made with ledger=False; run it again with ledger=True"


def dull(result: Result) -> bool:
    """Nothing moves, or what moves keeps its energy for ever: level lines."""
    e = result.energy
    size = NOTHING * max(e.in_play, 1e-300)
    still = float(np.ptp(e.kinetic)) <= size and float(np.ptp(e.potential)) <= size
    return still and all(float(np.max(np.abs(w))) <= size for w in e.works.values())


def draw(figure: Figure, result: Result, times: np.ndarray) -> None:
    """Kinetic and potential energy [J], works since the start, and the balance: what was there, what came and went."""
    e, scale = energy_signals(result, times), result.energy.in_play
    kinetic = np.sum(e.kinetic, axis=1)
    works = {n: w for n, w in e.works.items() if np.max(np.abs(w)) > NOTHING * scale}
    entries = 2 + len(works)
    heights = [1.9, *([1.7] if works else []), 0.35 + (1.6 if style.narrow() else 1.0) * TALL * entries]
    if hasattr(figure, "set_size_inches"):
        figure.set_size_inches(style.width(), 0.6 + sum(heights))
    grid = figure.add_gridspec(len(heights), 1, height_ratios=heights)
    above = figure.add_subplot(grid[0])
    curves = [above]
    style.over_time(above, times, [kinetic, e.potential, kinetic + e.potential], ["kinetic", "potential", "sum"])
    above.set_ylabel("energy [J]")
    if works:
        curves.append(figure.add_subplot(grid[1], sharex=above))
        style.over_time(curves[1], times, list(works.values()), list(works))
        curves[1].set_ylabel("work since\nthe start [J]")
        above.tick_params(labelbottom=False)
    style.finish(curves, result)
    _draw_balance(figure.add_subplot(grid[-1]), result, list(works))


def _draw_balance(axes: Axes, result: Result, names: list[str]) -> None:
    """Bars from the energy at the start, over the works of all forces, to the energy at the end."""
    ledger = result.energy
    end, works = float(ledger.total[-1]), [float(ledger.works[name][-1]) for name in names]
    most = max((abs(w) for w in works), default=0.0)
    whole = not works or most > SMALL * max(abs(ledger.start), abs(end))  # else what came and went would not be seen
    level = ledger.start if whole else 0.0
    entries = [("at the start", 0.0, ledger.start)] if whole else []
    for name, work in zip(names, works, strict=True):
        entries.append((name, level, work))
        level += work
    if whole:
        entries.append(("at the end", 0.0, 0.0 if abs(end) < NOTHING * ledger.in_play else end))
    low = min(0.0, *(min(a, a + b) for _, a, b in entries))
    reach = max(0.0, *(max(a, a + b) for _, a, b in entries)) - low or 1.0
    for k, (_, begin, size) in enumerate(entries):
        total = whole and k in (0, len(entries) - 1)
        tone = "0.45" if total else style.line(1)["color"] if size < 0.0 else style.line(2)["color"]
        axes.barh(
            k,
            size,
            left=begin,
            height=0.42 if style.narrow() else 0.62,
            color=tone,
            hatch="" if total or size >= 0.0 else "////",
            alpha=0.85,
        )
        sign = "" if total else "+" if size > 0.0 else ""
        told = f"{sign}{size:.4g}".replace("-", "\u2212")
        axes.text(max(begin, begin + size) + 0.01 * reach, k, told, va="center", fontsize="x-small")
    names = [textwrap.shorten(n, 28, placeholder="…") for n, _, _ in entries]
    if style.narrow():  # names stand over their bars
        axes.set_yticks([])
        for k, name in enumerate(names):
            axes.text(low, k - 0.36, name, va="bottom", fontsize="xx-small")
    else:
        axes.set_yticks(range(len(entries)), names)
    axes.set(
        ylim=(len(entries) - 0.4, -0.85 if style.narrow() else -0.6),
        xlim=(low - 0.02 * reach, low + (1.3 if style.narrow() else 1.14) * reach),
    )
    axes.axvline(0.0, color="0.4", linewidth=0.6)
    axes.grid(False, axis="y")
    axes.set_xlabel("energy [J]")
    axes.set_ylabel("entries")
    missing = ledger.max_error_percent
    left = f"at most {missing:.1e} % of the energy in play" if missing else "nothing but rounding"
    first = "" if whole else f" of {ledger.start:.6g} J at the start"
    axes.set_title(style.wrapped(f"what went where{first}; not accounted for: {left}"), loc="left")
