"""Phase portrait: two coordinates and a velocity in three dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._arguments import Name
from ..result._dense import states
from ..result.result import Result
from . import style
from ._coordinates import STILL, axis_name, index_of, is_angle, moving_ones

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def lacks(result: Result) -> str | None:
    return None


def dull(result: Result) -> bool:
    """A velocity that stays the same draws a level line."""
    best = moving_ones(result)
    moved = np.ptp(result.v[:, best], axis=0)
    return bool(np.all(moved <= STILL * np.max(np.abs(result.v[:, best]), axis=0, initial=1e-300)))


def draw(
    figure: Figure,
    result: Result,
    times: np.ndarray,
    x: Name | None = None,
    y: Name | None = None,
    rate: Name | None = None,
) -> None:
    """Coordinates x and y over the velocity of `rate` (labels such as 'link1'); in the plane if only one moves."""
    best = moving_ones(result)
    ix = best[0] if x is None else index_of(result, "x", x)
    others = [k for k in best if k != ix]
    iy = None if y is None and not others else others[0] if y is None else index_of(result, "y", y)
    iz = (ix if iy is None or is_angle(result, ix) else iy) if rate is None else index_of(result, "rate", rate)
    at = states(result, times)
    px, pz = _shown(result, at.q, ix), at.v[:, iz]
    strikes = np.isin(times, [i.t_start for i in result.impacts])
    dots: dict[str, Any] = {
        "linestyle": "none",
        "marker": "v",
        "markersize": 4.0,
        "color": "#c2410c",
        "label": "impact",
    }
    ends: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 4.5, "color": "k", "label": "start"}
    if hasattr(figure, "set_size_inches"):
        figure.set_size_inches(min(5.4, style.width()), 3.4 if iy is None else 4.6)
    if iy is None:
        axes = figure.subplots()
        columns: tuple[Any, ...] = (px, pz)
        axes.set_ylabel(axis_name(result, iz, rate=True))
    else:
        axes = figure.add_subplot(projection="3d")
        columns = (px, _shown(result, at.q, iy), pz)
        axes.set_ylabel(axis_name(result, iy))
        axes.set_zlabel(axis_name(result, iz, rate=True))
        axes.set_box_aspect(None, zoom=0.7 if style.narrow() else 0.86)  # labels of the axes stay inside
        for each, shown in zip((axes.xaxis, axes.yaxis, axes.zaxis), columns, strict=True):
            each.set_pane_color((0.97, 0.97, 0.97, 1.0))
            each.labelpad = 4.0 + 2.2 * max(_letters(shown) - 3, 0)  # names stand beyond the numbers
    axes.set_xlabel(axis_name(result, ix))
    axes.plot(*columns, color="k", linewidth=0.8)
    axes.plot(*(c[:1] for c in columns), **ends)
    if np.any(strikes):
        axes.plot(*(c[strikes] for c in columns), **dots)
    place: dict[str, Any] = (
        {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0)} if iy is None else {"loc": "upper right"}
    )
    axes.legend(ncols=2, **place)


def _letters(values: np.ndarray) -> int:
    """How many letters the numbers of an axis will have, roughly."""
    span = float(np.ptp(values)) or 1.0
    behind = max(int(np.ceil(-np.log10(span / 6.0))), 0)
    return len(f"{np.min(values):.{behind}f}")


def _shown(result: Result, q: np.ndarray, index: int) -> np.ndarray:
    return np.rad2deg(q[:, index]) if is_angle(result, index) else q[:, index]
