"""Figures of studies: a number over one or two parameters, where runs ended otherwise shaded; bifurcation diagrams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import errors
from .._arguments import Name, StudyLike
from ..hybrid import outcome
from ..quantities import Given
from ..study.poincare_section import Section
from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GOOD = outcome.GOOD
PERIODS = ("#1d6fb8", "#2e8b57", "#c2410c", "#6b21a8")  # of period 1, 2, 3, 4
MANY = "#7a7a7a"  # of longer ones, and of none


def study_map(data: StudyLike, name: Name, **at: Any) -> Any:
    """A number of every run: a curve over one parameter, a map over two; runs that failed are shaded.

    `at` fixes further parameters, by their last word: mu=0.3 takes the nearest value.

        carom.figures.study_map(data, "impact.1.restitution")
    """
    errors.name_in("variable of the study", name, [str(n) for n in data.data_vars])
    chosen = _fixed(data, at)
    column = chosen[name]
    dims = [str(d) for d in column.dims]
    if not 1 <= len(dims) <= 2 or "point" in dims:
        raise errors.CaromError(
            f"study_map draws over one or two parameters; '{name}' has {', '.join(dims) or 'none'}; fix others, such "
            f"as {_last(dims[0]) if dims else 'mu'}=0.3, or draw the points themselves"
        )
    with style.page(figsize=(style.width(), 3.6)) as figure:
        axes = figure.subplots()
        if len(dims) == 1:
            _curve(axes, chosen, name, dims[0])
        else:
            _map(figure, axes, chosen, name, dims)
        fixed = [f"{_last(str(d))} = {chosen[d].values}" for d in data[name].dims if d not in dims]
        axes.set_title(", ".join([name, *fixed]))
    return figure


def _last(path: Name) -> str:
    """The word of a path that says what it is: of start.angles.0 both."""
    words = path.split(".")
    return ".".join(words[-2:]) if words[-1].isdigit() else words[-1]


def _fixed(data: StudyLike, at: dict[str, Any]) -> Any:
    for word, value in at.items():
        found = [d for d in data.dims if word in (d, _last(str(d)), *str(d).split("."))]
        if len(found) != 1:
            raise errors.CaromError(
                f"'{word}' is {len(found) or 'none'} of the parameters {', '.join(map(str, data.dims))}"
            )
        words = data[found[0]].dtype.kind in "US"
        data = data.sel({found[0]: value}) if words else data.sel({found[0]: value}, method="nearest")
    return data


def _places(data: StudyLike, dim: Name) -> tuple[np.ndarray, list[str] | None]:
    """Where values stand on an axis; words stand beside each other."""
    values = data[dim].values
    return (np.arange(len(values)), list(map(str, values))) if values.dtype.kind in "US" else (values, None)


def _edges(values: np.ndarray) -> np.ndarray:
    """Borders of the cells around values in order."""
    if len(values) == 1:
        return np.array([values[0] - 0.5, values[0] + 0.5])
    middle = 0.5 * (values[1:] + values[:-1])
    return np.concatenate([[1.5 * values[0] - 0.5 * values[1]], middle, [1.5 * values[-1] - 0.5 * values[-2]]])


def _curve(axes: Axes, data: StudyLike, name: Name, dim: Name) -> None:
    data = data.sortby(dim)
    at, words = _places(data, dim)
    axes.plot(at, data[name].values, marker=".", **style.line(0))
    edges = _edges(np.asarray(at, dtype=float))
    for k in np.flatnonzero(~np.isin(data["outcome"].values, GOOD)):
        axes.axvspan(edges[k], edges[k + 1], color="0.85", hatch="///", zorder=0.4)
    axes.set_xlabel(_named(data, dim))
    axes.set_ylabel(_unit(data, name))
    if words is not None:
        axes.set_xticks(at, words)


def _map(figure: Figure, axes: Axes, data: StudyLike, name: Name, dims: list[str]) -> None:
    data = data.sortby(dims)
    (y, y_words), (x, x_words) = (_places(data, dim) for dim in dims)
    borders = [_edges(np.asarray(each, dtype=float)) for each in (x, y)]
    drawn = axes.pcolormesh(*borders, data[name].values, cmap="viridis", rasterized=True)
    bad = ~np.isin(data["outcome"].values, GOOD)
    axes.set_facecolor("0.9")  # runs that do not have the number
    if np.any(bad):
        shade = np.ma.masked_where(~bad, np.ones(bad.shape))
        axes.pcolor(*borders, shade, cmap="gray", alpha=0.0, hatch="////", edgecolor="0.3", linewidth=0.0)
    figure.colorbar(drawn, ax=axes, label=_unit(data, name))
    axes.grid(False)
    axes.set_xlabel(_named(data, dims[1]))
    axes.set_ylabel(_named(data, dims[0]))
    for put, at, words in ((axes.set_xticks, x, x_words), (axes.set_yticks, y, y_words)):
        if words is not None:
            put(at, words)


def _unit(data: StudyLike, name: Name) -> str:
    unit = data[name].attrs.get("units", "-")
    return f"{_last(name)} [{unit}]" if unit not in ("-", "") else _last(name)


def _named(data: StudyLike, dim: Name) -> str:
    """A parameter by its path, with its unit if it has one."""
    unit = data[dim].attrs.get("units")
    return f"{dim} [{unit}]" if unit else dim


def bifurcation_diagram(values: Given, sections: Sequence[Section], index: int = 0, *, near: float = 1e-6) -> Any:
    """A coordinate at the returns of `carom.bifurcation`, over the parameter; colours say the period.

    Returns that differ by less than `near` of the largest are one; the period is the least after which they repeat.
    """
    if len(np.asarray(values)) != len(sections):
        raise errors.CaromError(
            f"values are {len(np.asarray(values))} and sections {len(sections)}; they belong together"
        )
    sizes = [np.max(np.abs(s.q[:, index])) for s in sections if len(s.q)]
    within = near * max(sizes, default=1.0)
    with style.page(figsize=(style.width(), 3.6)) as figure:
        axes = figure.subplots()
        periods = np.array([period_of(s.q, within) for s in sections])
        for period in sorted(set(periods.tolist())):
            rows = [
                (v, q) for v, s, p in zip(values, sections, periods, strict=True) if p == period for q in s.q[:, index]
            ]
            if rows:
                x, y = zip(*rows, strict=True)
                told = period in range(1, len(PERIODS) + 1)
                label = f"period {period}" if told else "longer, or none"
                colour = PERIODS[period - 1] if told else MANY
                axes.plot(x, y, linestyle="none", marker="o", markersize=1.2, color=colour, label=label)
        axes.set_ylabel(f"coordinate {index} at returns")
        axes.set_xlabel("parameter")
        style.legend(axes)
    return figure


def period_of(q: np.ndarray, within: float) -> int:
    """The least number of returns after which they repeat, up to 4; 0: more, or none that is seen twice."""
    for period in range(1, len(PERIODS) + 1):
        if len(q) >= 2 * period and np.max(np.abs(q[period:] - q[:-period])) <= within:
            return period
    return 0
