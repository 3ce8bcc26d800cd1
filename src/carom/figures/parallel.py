"""A study as parallel coordinates, and the Sobol indices of its numbers as bars."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from .._arguments import Name, NamesInOrder, StudyLike
from ..hybrid import outcome
from . import style

GOOD = (outcome.FINISHED, outcome.EVENT_LIMIT)
MOST = 5000  # lines; of more runs, as many are drawn, evenly chosen


def parallel(data: StudyLike, names: NamesInOrder, *, colour: Name | None = None) -> Any:
    """Every run of a study as a line over its parameters and the numbers `names`, each on an axis of its own.

    Lines have the colour of the number `colour` (the last of `names` if left out); runs that failed, or do not have a
    number, are grey and dashed, and end where a number is missing.

        carom.figures.parallel(data, ["impact.1.restitution", "impacts.count"])
    """
    if isinstance(names, str):
        raise errors.CaromError(f"names of parallel is '{names}'; it must be a list of names, such as ['{names}']")
    shown = list(names) + ([colour] if colour is not None and colour not in names else [])
    if not shown:
        raise errors.CaromError("names of parallel is empty; name a variable of the study, or several")
    for each in shown:
        errors.name_in("variable of the study", each, [str(n) for n in data.data_vars])
        if data[each].dims != data["outcome"].dims:
            raise errors.CaromError(
                f"'{each}' has more than one number for each run; take a part of it: data.isel(...)"
            )
    paths = [str(p) for p, column in data.coords.items() if set(column.dims) <= set(data["outcome"].dims)]
    paths = [p for p in paths if p != "point" and data[p].ndim]
    columns = [_column(data, name) for name in (*paths, *shown)]
    tint = columns[-1] if colour is None else columns[len(paths) + shown.index(colour)]
    bad = ~np.isin(np.asarray(data["outcome"].values).ravel(), GOOD) | ~np.all(
        np.isfinite([values for values, _ in columns]), axis=0
    )
    return _drawn(data, [*paths, *shown], columns, tint, bad, colour or shown[-1])


def _column(data: StudyLike, name: Name) -> tuple[np.ndarray, list[str] | None]:
    """A number of every run; words stand above each other."""
    values = np.asarray(data[name].broadcast_like(data["outcome"]).transpose(*data["outcome"].dims).values).ravel()
    if values.dtype.kind in "US":
        words, places = np.unique(values, return_inverse=True)
        return places.astype(float), [str(word) for word in words]
    return values.astype(float), None


def _drawn(data: StudyLike, names: list[str], columns: list[Any], tint: Any, bad: np.ndarray, colour: Name) -> Any:
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.collections import LineCollection
    from matplotlib.colors import Normalize

    rows = np.unique(np.linspace(0, len(bad) - 1, min(len(bad), MOST)).astype(int))
    spans = [_span(values) for values, _ in columns]
    heights = np.stack([(v - low) / (high - low) for (v, _), (low, high) in zip(columns, spans, strict=True)], axis=1)
    lines = np.stack([np.broadcast_to(np.arange(len(columns)), heights.shape), heights], axis=2)[rows]
    scale, fine = Normalize(*_span(tint[0])), ~bad[rows]
    with style.page(figsize=(max(style.width(), 1.5 * len(columns)), 3.8)) as figure:
        axes = figure.subplots()
        alpha = float(np.clip(60.0 / len(rows), 0.08, 0.9))
        axes.add_collection(
            LineCollection(list(lines[~fine]), colors="0.6", linestyles="--", linewidths=0.6, alpha=alpha)
        )
        colours = colormaps["viridis"](scale(tint[0][rows][fine]))
        axes.add_collection(LineCollection(list(lines[fine]), colors=colours, linewidths=0.9, alpha=alpha))
        axes.set_xlim(-0.15, len(columns) - 0.85)
        axes.set_ylim(-0.04, 1.04)
        axes.grid(False)
        axes.set_yticks([])
        axes.set_xticks(range(len(names)), [_titled(data, name) for name in names], fontsize="small")
        for k, ((_, words), (low, high)) in enumerate(zip(columns, spans, strict=True)):
            axes.axvline(k, color="0.3", linewidth=0.8)
            marks = enumerate(words) if words else [(low, f"{low:.4g}"), (high, f"{high:.4g}")]
            for place, mark in marks:
                axes.annotate(mark, (k, (place - low) / (high - low)), xytext=(3, 0), textcoords="offset points",
                              fontsize="x-small", va="center")  # fmt: skip
        figure.colorbar(ScalarMappable(scale, "viridis"), ax=axes, label=_titled(data, colour).replace("\n", " "))
    return figure


def _span(values: np.ndarray) -> tuple[float, float]:
    there = values[np.isfinite(values)]
    low, high = (float(there.min()), float(there.max())) if len(there) else (0.0, 1.0)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _titled(data: StudyLike, name: Name) -> str:
    words = name.split(".")
    last = 2 if words[-1].isdigit() else 1  # of start.angles.0 both
    lines = [".".join(words[:-last]), ".".join(words[-last:])] if len(words) > last else [name]
    unit = data[name].attrs.get("units", "-")
    return "\n".join(lines) + (f" [{unit}]" if unit not in ("-", "") else "")


def sobol_bars(indices: StudyLike) -> Any:
    """Bars of `carom.sobol_indices`: what a parameter accounts for alone, and with the others; 95 % intervals."""
    with style.page(figsize=(style.width(), 0.9 + 0.5 * len(indices["parameter"]))) as figure:
        axes = figure.subplots()
        rows = np.arange(len(indices["parameter"]))
        looks = (("first", "#1d6fb8", -0.2, "alone"), ("total", "#f2a93b", 0.2, "with the others"))
        for name, look, aside, label in looks:
            near = indices[f"{name}_confidence"].values
            axes.barh(
                rows + aside, indices[name].values, 0.36, xerr=near, color=look, label=label, ecolor="0.3", capsize=2
            )
        axes.set_yticks(rows, indices["parameter"].values.tolist())
        axes.invert_yaxis()
        axes.set_xlabel(f"share of the variance of {indices.attrs['measure']}")
        style.legend(axes)
    return figure
