"""Poincare maps: two coordinates whenever the velocity of one of them passes through zero."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import errors
from .._arguments import Name
from ..result.result import Result
from ..study.poincare_section import Section, poincare
from . import style
from ._coordinates import axis_name, index_of, is_angle, main_ones, moves_straight, moving_ones

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEAST = 2  # points of a map
WORTH = 6  # points from which a map tells anything
MAPS = 2  # drawn where none is asked for


def lacks(result: Result) -> str | None:
    if result.world.mechanism.dof < 2:
        return "a map needs two coordinates, and this mechanism has one"
    if not any(_may_turn(result, k) for k in main_ones(result)):
        return "no velocity passes through zero twice during the run; run longer"
    return None


def dull(result: Result) -> bool:
    """Few points, or points on a line, are no map."""
    return moves_straight(result) or all(_turned(result, k) < WORTH for k in main_ones(result))


def _may_turn(result: Result, cut: int) -> bool:
    return _turned(result, cut) >= LEAST


def _turned(result: Result, cut: int) -> int:
    """How often a velocity changes its sign, by the ends of the steps and both sides of events alone."""
    t = np.concatenate([result.t, [np.nextafter(e.t, 0.0) for e in result.events]])
    v = np.concatenate([result.v[:, cut], [e.v[cut] for e in result.events]])[np.argsort(t, kind="stable")]
    most = np.max(np.abs(v)) if cut in moving_ones(result) else np.inf  # what trembles by rounding turns nowhere
    told = v[np.abs(v) > 1e-9 * most]
    return int(np.sum(np.diff(np.sign(told)) != 0.0))


def draw(
    figure: Figure,
    result: Result,
    times: np.ndarray,
    section: Name | None = None,
    x: Name | None = None,
    y: Name | None = None,
) -> None:
    """Points (x, y) of two coordinates where the velocity of `section` is zero; by default of each of the first two."""
    first = sorted(main_ones(result)[:2])
    iy = None if y is None else index_of(result, "y", y)
    ix = next(k for k in first if k != iy) if x is None else index_of(result, "x", x)
    iy = next(k for k in first if k != ix) if iy is None else iy
    if section is None:
        maps = [(cut, _turns(result, cut)) for cut in _cuts(result)]
    else:
        maps = [_section(result, index_of(result, "section", section))]
    rows = len(maps) if style.narrow() else 1
    if hasattr(figure, "set_size_inches"):
        figure.set_size_inches(style.width() if len(maps) > 1 else min(4.6, style.width()), 3.4 * rows)
    for axes, (cut, points) in zip(figure.subplots(rows, len(maps) // rows, squeeze=False).flat, maps, strict=True):
        _map(axes, result, cut, points, ix, iy)
    marks = [zip(*axes.get_legend_handles_labels(), strict=True) for axes in figure.axes]
    known = {name: handle for each in marks for handle, name in each}
    figure.legend(known.values(), known.keys(), loc="outside lower center", ncols=len(known))


def _cuts(result: Result) -> list[int]:
    return [k for k in main_ones(result) if _may_turn(result, k)][:MAPS]


def _turns(result: Result, cut: int) -> Section:
    return poincare(result, lambda t, q, v: v[cut])


def _section(result: Result, cut: int) -> tuple[int, Section]:
    """The section that is asked for, if it is worth a map."""
    found = _turns(result, cut)
    if len(found.t) < LEAST:
        name = result.world.mechanism.topology.labels[cut]
        times = "once" if len(found.t) else "never"
        raise errors.CaromError(
            f"section of figure 'poincare' is '{name}', whose velocity {times} passes through zero; a map needs "
            f"{LEAST} points; choose another, or run longer"
        )
    return cut, found


def _map(axes: Axes, result: Result, cut: int, points: Section, ix: int, iy: int) -> None:
    px, py = (np.rad2deg(points.q[:, k]) if is_angle(result, k) else points.q[:, k] for k in (ix, iy))
    axes.plot(px, py, color="0.7", linewidth=0.5, zorder=0.5)
    kinds = ((False, "o", "none", "reverses by itself"), (True, "D", "k", "reversed by an event"))
    for blow, marker, fill, name in kinds:
        look: dict[str, Any] = {
            "marker": marker,
            "linestyle": "none",
            "markersize": 4.5,
            "color": "k",
            "markerfacecolor": fill,
        }
        if np.any(points.jumped == blow):
            axes.plot(px[points.jumped == blow], py[points.jumped == blow], label=name, **look)
    ends = ((0, (6, 6)), (len(px) - 1, (6, -10)))  # the first and the last are named; between them the line leads
    for k, shift in ends if len(px) else ():
        axes.annotate(str(k + 1), (px[k], py[k]), textcoords="offset points", xytext=shift, fontsize=7.5)
    axes.set_xlabel(axis_name(result, ix))
    axes.set_ylabel(axis_name(result, iy))
    axes.set_title(f"where the velocity\nof {result.world.mechanism.topology.labels[cut]} is zero")
    axes.margins(0.1)
    style.steady(axes)
