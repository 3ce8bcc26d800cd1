"""What all figures share: sizes, lines that differ without colour, marks of impacts, legends beside the axes."""

from __future__ import annotations

import contextlib
import functools
import logging
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _cache, errors
from ..result.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, PANEL = 6.8, 2.1  # [in] of a figure, and height of one of its panels
DPI = 160
LINES = (
    ("#000000", "-"),
    ("#c2410c", "--"),
    ("#1d6fb8", "-."),
    ("#7a7a7a", "-"),
    ("#6b21a8", ":"),
    ("#2e8b57", (0, (6, 1, 1, 1, 1, 1))),
    ("#b8860b", (0, (8, 2))),
    ("#444444", (0, (2, 1))),
)
MOST = len(LINES)  # lines that can be told apart in one panel
SHADES = ("0.93", "0.80", "0.66", "0.87", "0.73")  # of phases
RULES = {
    "font.size": 8.5,
    "font.family": "DejaVu Sans",
    "axes.titlesize": 8.5,
    "axes.titlepad": 7.0,
    "axes.labelsize": 8.5,
    "axes.linewidth": 0.7,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.formatter.limits": (-3, 4),
    "grid.linewidth": 0.4,
    "grid.color": "0.85",
    "lines.linewidth": 1.2,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "legend.handlelength": 2.6,
    "hatch.linewidth": 0.4,
}


def library() -> Any:
    """matplotlib, or a sentence that says how to get it."""
    # Where carom's cache cannot be written, neither can matplotlib's: that was said already, with the cure.
    logging.getLogger("matplotlib").setLevel(logging.ERROR if _cache.folder("programs") is None else logging.NOTSET)
    try:
        import matplotlib
        import matplotlib.ticker
    except ImportError:
        raise errors.CaromError(
            "figures need matplotlib, which is not installed; pip install 'carom[figures]'"
        ) from None
    return matplotlib


@contextlib.contextmanager
def page(**options: Any) -> Iterator[Any]:
    """A figure to draw on, in carom's style."""
    matplotlib = library()
    from matplotlib.figure import Figure

    with matplotlib.rc_context(RULES):
        figure = Figure(dpi=DPI, layout="constrained", **options)
        yield figure
        _plain_ticks(figure)


def panels(figure: Figure, rows: int, columns: int = 1, *, height: float = PANEL, share: bool = True) -> list[Any]:
    """Axes in rows, as a flat list; the figure grows with their number."""
    if hasattr(figure, "set_size_inches"):  # not a part of another figure
        figure.set_size_inches(WIDTH, 0.45 + height * rows)
    return list(figure.subplots(rows, columns, sharex=share, squeeze=False).flat)


def _plain_ticks(figure: Figure) -> None:
    """Ticks in plain letters, powers of ten raised: matplotlib's mathematical typesetting takes half of the time."""
    powers = _powers()
    for axes in figure.axes:
        for axis in axes._axis_map.values():
            if axis.isDefault_majfmt and isinstance(axis.get_major_formatter(), powers.__base__):
                axis.set_major_formatter(powers())


@functools.cache
def _powers() -> Any:
    ticker = library().ticker

    class Powers(ticker.ScalarFormatter):  # type: ignore[misc, name-defined]
        """The common factor of an axis as ×10⁻⁵."""

        def get_offset(self) -> str:
            raised = str.maketrans("0123456789-\u2212+", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻⁺")
            return re.sub(r"(?:^1|(?<=\d))e(\S\d*)", lambda m: "×10" + m[1].translate(raised), super().get_offset())

    return Powers


def line(k: int) -> dict[str, Any]:
    """Look of the k-th line of a panel: neither colour alone nor dashes alone tell it apart."""
    colour, dashes = LINES[k % MOST]
    return {"color": colour, "linestyle": dashes, "linewidth": 1.2 * (1 + k // MOST)}


def over_time(axes: Axes, times: np.ndarray, columns: Iterable[np.ndarray], names: Iterable[str | None]) -> None:
    """One line for every column."""
    for k, (column, name) in enumerate(zip(columns, names, strict=True)):
        axes.plot(times, column, label=name, **line(k))


def finish(axes: list[Any], result: Result, bottom: list[Any] | None = None) -> None:
    """Impacts marked, legends placed, and time named under the lowest panels."""
    for k, one in enumerate(axes):
        steady(one)
        mark_impacts(one, result, named=k == 0)
        legend(one)
        one.margins(x=0.0)
    for one in bottom or axes[-1:]:
        one.set_xlabel("time [s]")


def steady(axes: Axes, least: float = 0.0) -> None:
    """What stays the same is drawn as a level line, not as rounding blown up to the height of the panel.

    `least`: changes smaller than this are none; by default 1e-9 of the values.
    """
    drawn = [np.ravel(one.get_ydata()) for one in axes.get_lines() if one.get_transform() == axes.transData]
    values = np.concatenate([np.zeros(0), *drawn])
    values = values[np.isfinite(values)]
    if axes.get_yscale() != "linear" or not len(values):
        return
    low, high = float(np.min(values)), float(np.max(values))
    size = max(abs(low), abs(high))
    if high - low < max(least, 1e-9 * max(size, 1e-3)):
        reach = 0.1 * size if size > max(least, 1e-9) else 1.0
        axes.set_ylim(low - reach, high + reach)


def mark_impacts(axes: Axes, result: Result, named: bool = True) -> None:
    """A triangle on the upper edge and a thin line at every impact: one of 0.1 ms would otherwise be invisible."""
    instants = np.array([i.t_start for i in result.impacts if i.struck])
    if not len(instants):
        return
    if len(instants) <= 60:
        for t in instants:
            axes.axvline(t, color="0.6", linewidth=0.5, zorder=0.5)
    label = "impact" if named else None
    top = np.ones_like(instants)
    edge = axes.get_xaxis_transform()
    shape: dict[str, Any] = {"marker": 7, "linestyle": "none", "markersize": 4.0, "color": "0.25"}
    axes.plot(instants, top, transform=edge, clip_on=False, label=label, **shape)


def legend(axes: Axes) -> None:
    """Beside the axes, where it hides nothing."""
    handles, _ = axes.get_legend_handles_labels()
    if handles:
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.03), borderaxespad=0.0)


def refuse(name: str, why: str | None) -> None:
    """A figure that does not suit this result."""
    if why is not None:
        raise errors.CaromError(f"figure '{name}' cannot be drawn: {why}")


def prefix(largest: float, unit: str) -> tuple[float, str]:
    """Factor and unit with a prefix in which the largest value reads well: 2.8e4 N is 28 kN."""
    for factor, letter in ((1e-6, "M"), (1e-3, "k"), (1.0, ""), (1e3, "m"), (1e6, "µ"), (1e9, "n")):
        if largest * factor >= 1.0:
            return factor, f"{letter}{unit}"
    return 1.0, unit
