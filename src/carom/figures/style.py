"""What all figures share: sizes, lines that differ without colour, marks of impacts, legends beside the axes."""

from __future__ import annotations

import contextlib
import contextvars
import functools
import logging
import re
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import _cache, errors
from .._arguments import Name
from ..result.result import Result
from ._painting import sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANEL = 2.1  # [in] height of one panel
COLUMNS = {"single": 3.4, "double": 6.8}  # [in] widths of a figure: columns of a journal's page
LETTERS = 48  # of a legend's row above a narrow figure
NARROW = 4.5  # [in]: below it, legends stand above the axes instead of beside them
DASHES = ("-", "--", "-.", "-", ":", (0, (6, 1, 1, 1, 1, 1)), (0, (8, 2)), (0, (2, 1)))
MOST = len(DASHES)  # lines that can be told apart in one panel
SHADES = ("0.93", "0.80", "0.66", "0.87", "0.73")  # of phases
OWN = Path(__file__).with_name("carom.mplstyle")
FINE = 0.45  # of the width of a line, where lines stand close
BRIEF = 0.1  # [s] a run that is shorter has milliseconds on its axis


class Look(NamedTuple):
    """The style sheet, and the width of a figure by its name."""

    sheet: str = str(OWN)
    columns: str = "double"


PLAIN = Look()
_look = contextvars.ContextVar("look of carom's figures", default=PLAIN)


def use_style(sheet: str | Path | None = None, *, columns: Name | None = None) -> None:
    """How figures look from now on: a matplotlib style sheet of yours, and the width, 'single' or 'double' column.

    carom.figures.use_style("mine.mplstyle", columns="single")

    What is left out is carom's own: `carom.figures.use_style()` goes back to it.
    """
    _look.set(_checked_look(sheet, columns))


@contextlib.contextmanager
def styled(sheet: str | Path | None = None, columns: Name | None = None) -> Iterator[None]:
    """The same for a while."""
    token = _look.set(_checked_look(sheet, columns))
    try:
        yield
    finally:
        _look.reset(token)


def _checked_look(sheet: str | Path | None, columns: Name | None) -> Look:
    if columns is not None:
        errors.name_in("width (columns of the figures)", columns, list(COLUMNS))
    if sheet is None:
        return Look(columns=columns or "double")
    matplotlib = library()
    try:
        matplotlib.style.library.get(str(sheet)) or matplotlib.rc_params_from_file(
            str(sheet), fail_on_error=True, use_default_template=False
        )
    except FileNotFoundError:
        raise errors.CaromError(
            f"style of the figures is '{sheet}', which is not there; copy {OWN} and change it"
        ) from None
    except (KeyError, ValueError, OSError) as trouble:
        said = " ".join(str(trouble).split())[:200]
        raise errors.CaromError(
            f"style of the figures, '{sheet}', is no style sheet of matplotlib: {said}; copy {OWN} and change it"
        ) from None
    return Look(str(sheet), columns or "double")


def width() -> float:
    """[in] of a figure."""
    return COLUMNS[_look.get().columns]


def narrow() -> bool:
    return width() < NARROW


def library() -> Any:
    """matplotlib, or a sentence that says how to get it."""
    # Where carom's cache cannot be written, neither can matplotlib's: that was said already, with the cure.
    logging.getLogger("matplotlib").setLevel(logging.ERROR if _cache.folder("programs") is None else logging.NOTSET)
    try:
        import matplotlib
        import matplotlib.style
        import matplotlib.ticker
    except ImportError:
        raise errors.CaromError(
            "figures need matplotlib, which is not installed; pip install 'carom[figures]'"
        ) from None
    return matplotlib


@contextlib.contextmanager
def page(*, fine: bool = False, **options: Any) -> Iterator[Any]:
    """A figure to draw on, in carom's style; with `fine` lines."""
    matplotlib = library()
    with matplotlib.rc_context():
        matplotlib.rcParams.update(_own_rules())
        if _look.get().sheet != str(OWN):
            matplotlib.style.use(_look.get().sheet)
        if fine:
            matplotlib.rcParams["lines.linewidth"] *= FINE
        figure = sheet()(layout="constrained", **options)
        yield figure
        _plain_ticks(figure)


@functools.cache
def _own_rules() -> Any:
    return library().rc_params_from_file(str(OWN), use_default_template=False)


@contextlib.contextmanager
def not_fine() -> Iterator[None]:
    """Lines as wide as usual, on a page with fine ones."""
    rc = library().rcParams
    with library().rc_context({"lines.linewidth": rc["lines.linewidth"] / FINE}):
        yield


def halves(figure: Figure) -> tuple[Any, Any]:
    """Two parts beside each other, the second with room for legends; in a narrow figure one above the other."""
    beside = not narrow()
    if not beside:
        figure.set_figheight(2.0 * figure.get_figheight())
    parts: Any = figure.subfigures(1, 2, width_ratios=(1.0, 1.45)) if beside else figure.subfigures(2, 1)
    return parts[0], parts[1]


def panels(figure: Figure, rows: int, columns: int = 1, *, height: float = PANEL, share: Any = True) -> list[Any]:
    """Axes in rows, as a flat list; the figure grows with their number."""
    if hasattr(figure, "set_size_inches"):  # not a part of another figure
        figure.set_size_inches(width(), 0.45 + height * rows)
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
    colours = library().rcParams["axes.prop_cycle"].by_key().get("color", ["k"])
    wide = float(library().rcParams["lines.linewidth"]) * (1 + k // MOST)
    return {"color": colours[k % len(colours)], "linestyle": DASHES[k % MOST], "linewidth": wide}


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
    time_axis(bottom or axes[-1:], float(result.t[-1] - result.t[0]))


def time_axis(axes: Iterable[Axes], lasts: float) -> None:
    """Time by its name, in milliseconds where a run is short: no power of ten stands in a corner."""
    brief = 0.0 < lasts < BRIEF
    for one in axes:
        one.set_xlabel("time [ms]" if brief else "time [s]")
        if brief:
            one.xaxis.set_major_formatter(library().ticker.FuncFormatter(lambda t, _: f"{1e3 * t:g}"))


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
    drawn = [np.ravel(one.get_xdata()) for one in axes.get_lines() if len(np.ravel(one.get_xdata())) > 2]
    if drawn:  # a part of the run has the marks of its impacts
        instants = instants[(instants >= min(map(np.min, drawn))) & (instants <= max(map(np.max, drawn)))]
    if not len(instants):
        return
    if len(instants) <= 60:
        every, ends = np.repeat(instants, 3), np.tile([0.0, 1.0, np.nan], len(instants))
        axes.plot(every, ends, transform=axes.get_xaxis_transform(), color="0.6", linewidth=0.5, zorder=0.5)
    label = "impact" if named else None
    top = np.ones_like(instants)
    edge = axes.get_xaxis_transform()
    shape: dict[str, Any] = {"marker": 7, "linestyle": "none", "markersize": 4.0, "color": "0.25"}
    axes.plot(instants, top, transform=edge, clip_on=False, label=label, **shape)


def legend(axes: Axes) -> None:
    """Beside the axes, where it hides nothing; above them where a figure is narrow."""
    handles, names = axes.get_legend_handles_labels()
    if not handles:
        return
    if not narrow():
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.03), borderaxespad=0.0)
        return
    longest = max(len(str(name)) for name in names)
    columns = max(min(len(handles), 3, LETTERS // (longest + 7)), 1)
    rows = -(-len(handles) // columns)
    place: dict[str, Any] = {
        "loc": "lower left",
        "bbox_to_anchor": (0.0, 1.01),
        "borderaxespad": 0.2,
        "columnspacing": 1.0,
    }
    axes.legend(ncols=columns, handlelength=1.8, **place)
    if axes.get_title():
        axes.set_title(axes.get_title(), pad=8.0 + 11.0 * rows)


def wrapped(title: str) -> str:
    """In lines that fit the width of the figure."""
    return "\n".join(textwrap.wrap(title, int(13 * width())))


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
