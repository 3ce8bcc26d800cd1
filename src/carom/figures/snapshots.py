"""The motion as a picture: the mechanism at several instants, with the surfaces."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import errors
from ..quantities import Times
from ..result._drawing import Part, drawing
from ..result.result import Result
from . import style
from ._cycles import last_cycle

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TRACE = 600  # instants of the tips' paths


def lacks(result: Result) -> str | None:
    return None


def draw(figure: Figure, result: Result, times: np.ndarray, count: int = 8, at: Times | None = None) -> None:
    """`count` instants evenly over the run, or those given as `at` [s]; later ones are darker.

    Of a motion that repeats itself from impact to impact, the last cycle is shown.
    """
    errors.number("figure 'snapshots'", "count", count, least=1.0)
    first, last = float(result.t[0]), float(result.t[-1])
    cycle = last_cycle(result) if at is None else None
    if cycle is not None:
        first, last = cycle
    instants = np.linspace(first, last, count) if at is None else np.sort(np.atleast_1d(np.asarray(at, dtype=float)))
    shown, path = (
        drawing(result, instants, forces=False),
        drawing(result, np.linspace(first, last, TRACE), forces=False),
    )
    box, (part,), (trace,) = path.box, shown.parts, path.parts
    if hasattr(figure, "set_size_inches"):
        # Labels and the legend take 1.7 in of the width, labels 0.6 in of the height.
        high = (style.width() - 1.7) * (box.top - box.bottom) / max(box.right - box.left, 1e-9)
        figure.set_size_inches(style.width(), float(np.clip(high, 1.8, 5.0)) + 0.6)
    axes = figure.subplots()
    axes.set_aspect("equal")
    axes.set(xlim=(box.left, box.right), ylim=(box.bottom, box.top), xlabel="x [m]", ylabel="y [m]")
    for tip in trace.tips:
        axes.plot(*tip.T, color="#1d6fb8", linewidth=0.6, linestyle=(0, (4, 1.5)), zorder=1.0)
    colours = _colours(len(instants))
    for k in range(len(instants)):
        _draw_frame(axes, part, k, colours[k], 2.0 + 0.01 * k)
    for surface in (s for s in trace.surfaces if s.points.ndim == 2):
        _draw_surface(axes, surface.points, 0.02 * box.size, "0.0")
    for surface in (s for s in part.surfaces if s.points.ndim == 3):  # it moves
        for k, colour in enumerate(colours):
            _draw_surface(axes, surface.at(k), 0.02 * box.size, colour)
    if cycle is not None:
        axes.set_title(style.wrapped(f"one cycle, from impact to impact: {first:.4g} to {last:.4g} s"))
    _clock(figure, axes, instants, colours)


def _colours(count: int) -> list[str]:
    """From light to black."""
    return [f"{grey:.3f}" for grey in np.linspace(0.78, 0.0, count)] if count > 1 else ["0.0"]


def _draw_frame(axes: Axes, part: Part, k: int, colour: str, depth: float) -> None:
    patches = style.library().patches
    for line in part.links:
        thick = 2.0 if line.kind in ("rod", "beam", "body", "point") else 1.0
        axes.plot(*line.points[k].T, color=colour, linewidth=thick, solid_capstyle="round", zorder=depth)
        if line.radius > 0.0:
            guessed = line.kind != "disk"  # a body whose shape is not known: its radius of gyration
            _circle(axes, patches, line.points[k][0], line.radius, colour, depth, guessed)
    for ball in part.rounds:
        if ball.kind in ("bar", "outline"):
            axes.plot(*ball.points[k].T, color=colour, linewidth=1.0, zorder=depth)
        elif ball.radius > 0.0:
            _circle(axes, patches, ball.points[k][0], ball.radius, colour, depth)
    for spring in part.springs:
        axes.plot(*spring[k].T, color=colour, linewidth=0.8, linestyle=":", zorder=depth)
    joints: dict[str, Any] = {
        "marker": "o",
        "markersize": 3.2,
        "linestyle": "none",
        "markerfacecolor": "white",
        "markeredgewidth": 0.8,
    }
    axes.plot(*part.pins[k].T, color=colour, zorder=depth + 0.005, **joints)
    if k == 0 and len(part.bases):
        axes.plot(*part.bases.T, marker="s", markersize=6.0, linestyle="none", color="0.3", zorder=1.5)


def _circle(
    axes: Axes, patches: ModuleType, centre: np.ndarray, radius: float, colour: str, depth: float, guessed: bool = False
) -> None:
    look = {"linewidth": 0.5, "linestyle": (0, (5, 4))} if guessed else {"linewidth": 1.1}
    axes.add_patch(patches.Circle(centre, radius, fill=False, edgecolor=colour, zorder=depth, **look))


def _draw_surface(axes: Axes, points: np.ndarray, size: float, colour: str) -> None:
    """The line, and strokes on its solid side, which is to the right."""
    axes.plot(*points.T, color=colour, linewidth=1.4, zorder=1.8)
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    if along[-1] <= 0.0:
        return
    marks = np.arange(0.5 * size, along[-1], 1.2 * size)
    foot = np.stack([np.interp(marks, along, points[:, j]) for j in (0, 1)], axis=1)
    row = np.clip(np.searchsorted(along, marks) - 1, 0, len(points) - 2)
    way = points[row + 1] - points[row]
    way = way / np.maximum(np.linalg.norm(way, axis=1), 1e-300)[:, None]
    ends = foot + size * 0.7 * (np.stack([way[:, 1], -way[:, 0]], axis=1) - way)
    strokes = np.stack([foot, ends], axis=1)
    from matplotlib.collections import LineCollection

    axes.add_collection(
        LineCollection(list(strokes), colors=colour, alpha=0.65, linewidths=0.6, zorder=1.7), autolim=False
    )


def _clock(figure: Figure, axes: Axes, instants: np.ndarray, colours: list[str]) -> None:
    """Which shade is which instant."""
    lines = style.library().lines
    brief = 0.0 < np.max(np.abs(instants)) < style.BRIEF
    shown = 1e3 * instants if brief else instants
    digits = 3 if len(shown) < 2 else max(0, int(np.ceil(-np.log10(max(np.min(np.diff(shown)), 1e-9)))) + 1)
    handles = [
        lines.Line2D([], [], color=c, linewidth=2.0, label=f"{t:.{digits}f} {'ms' if brief else 's'}")
        for t, c in zip(shown, colours, strict=True)
    ]
    axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, title="time")
