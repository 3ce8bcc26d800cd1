"""Poincare map: the state whenever a velocity passes through zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from ..result.signals import states
from . import style
from .coordinates import STILL, axis_name, index_of, is_angle, main_ones

BISECTIONS = 50  # of a step of the integration: as exact as the times can be told apart
NOISE = 1e-9  # of the largest velocity: what is smaller is zero already


def lacks(result: Any) -> str | None:
    return "no velocity passes through zero during the run; run longer" if _section(result) is None else None


def _section(result: Any) -> int | None:
    """The first coordinate whose velocity passes through zero."""
    return next((k for k in main_ones(result) if len(_spans(result, k)[0])), None)


def _spans(result: Any, cut: int) -> tuple[np.ndarray, np.ndarray]:
    """Spans of time (count, 2) in which the velocity changes its sign, and whether it grows.

    A flight may be a single step of the integration, between two blows: both sides of events are looked at.
    """
    t = np.concatenate([result.t, [np.nextafter(e.t, 0.0) for e in result.events]])
    v = np.concatenate([result.v[:, cut], [e.v[cut] for e in result.events]])
    order = np.argsort(t, kind="stable")
    t, v = t[order], v[order]
    up, down = (v[:-1] < 0.0) & (v[1:] >= 0.0), (v[:-1] > 0.0) & (v[1:] <= 0.0)
    size = np.maximum(np.abs(v[:-1]), np.abs(v[1:]))
    rows = np.flatnonzero((up | down) & (size > NOISE * np.max(np.abs(v))))
    return np.stack([t[rows], t[rows + 1]], axis=1), up[rows]


def draw(figure: Any, result: Any, times: np.ndarray, section: Any = None, x: Any = None, y: Any = None) -> None:
    """Points where the velocity of `section` is zero: coordinate x and velocity of y, by default another one's."""
    cut = _section(result) if section is None else index_of(result, "section", section)
    assert cut is not None  # lacks has looked
    other = next((k for k in main_ones(result) if k != cut), cut)
    single = result.world.mechanism.topology.links == 1  # where a body turns back says more than how far it came
    ix = (cut if single else other) if x is None else index_of(result, "x", x)
    iy = other if y is None else index_of(result, "y", y)
    labels = result.world.mechanism.topology.labels
    spans, rising = _spans(result, cut)
    if not len(spans):
        raise errors.CaromError(
            f"section of figure 'poincare' is '{labels[cut]}', whose velocity never passes through zero; choose another"
        )
    q, v = _crossings(result, cut, spans, rising)
    if hasattr(figure, "set_size_inches"):
        figure.set_size_inches(5.4, 3.6)
    axes = figure.subplots()
    px, py = np.rad2deg(q[:, ix]) if is_angle(result, ix) else q[:, ix], v[:, iy]
    axes.plot(px, py, color="0.7", linewidth=0.5, zorder=0.5)
    for way, marker, fill, name in ((True, "^", "k", "grows through zero"), (False, "v", "none", "falls through zero")):
        chosen = rising == way
        look = {"marker": marker, "linestyle": "none", "markersize": 5.0, "color": "k", "markerfacecolor": fill}
        if np.any(chosen):
            axes.plot(px[chosen], py[chosen], label=name, **look)
    _number(axes, px, py)
    axes.set_xlabel(axis_name(result, ix))
    axes.set_ylabel(axis_name(result, iy, rate=True))
    axes.set_title(f"where the velocity of {labels[cut]} is zero, joined in order of time")
    axes.margins(0.1)
    style.steady(axes, STILL * float(np.max(np.abs(result.v[:, iy]))))
    style.legend(axes)


def _crossings(result: Any, cut: int, spans: np.ndarray, rising: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates and velocities at all crossings, by bisection on the dense output."""
    low, high = spans.T
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        passed = (states(result, middle).v[:, cut] >= 0.0) == rising
        low, high = np.where(passed, low, middle), np.where(passed, middle, high)
    at = states(result, high)
    return at.q, at.v


def _number(axes: Any, x: np.ndarray, y: np.ndarray) -> None:
    """The first and the last point are named; between them the line leads."""
    for k, (dx, dy) in ((0, (6, 6)), (len(x) - 1, (6, -10))):
        axes.annotate(str(k + 1), (x[k], y[k]), textcoords="offset points", xytext=(dx, dy), fontsize=7.5)
