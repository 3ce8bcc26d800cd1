"""Positions and velocities of the joints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .. import errors
from ..result._dense import states
from ..result._signals import all_site_signals
from ..result.result import Result
from . import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


STILL = 1e-9  # of the largest value of its kind

CURVES = True  # nothing but lines over time


def lacks(result: Result) -> str | None:
    return None


def draw(figure: Figure, result: Result, times: np.ndarray, points: Sequence[str] | None = None) -> None:
    """x, y [m] and their velocities [m/s] of free bases and link tips, or of the `points` (sites, bases) named."""
    found = _places(result, times)
    every = _different(found)
    names = _spread(every) if points is None else list(points)
    for name in names:
        errors.name_in("site or base (points of figure 'joints')", name, list(found))
    labels = ("x [m]", "y [m]", "x velocity\n[m/s]", "y velocity\n[m/s]")
    moves = [k for k in range(4) if _moves(found, names, k)] or [0]
    axes = style.panels(figure, len(moves), height=1.6)
    for row, (one, k) in enumerate(zip(axes, moves, strict=True)):
        style.over_time(one, times, [found[name][k] for name in names], names if row == 0 else [None] * len(names))
        one.set_ylabel(labels[k])
    if points is None and len(every) > len(names):
        axes[0].set_title(f"{len(names)} of {len(every)} points")
    style.finish(axes, result)


def _places(result: Result, times: np.ndarray) -> dict[str, tuple[np.ndarray, ...]]:
    """(x, y, x velocity, y velocity) by name: free bases, then tips, then other sites."""
    top, at = result.world.mechanism.topology, states(result, times)
    out: dict[str, tuple[np.ndarray, ...]] = {}
    for tree, name in enumerate(top.tree_names):
        k = top.base_index(tree)
        if k is not None:
            out[name] = (at.q[:, k], at.q[:, k + 1], at.v[:, k], at.v[:, k + 1])
    sites = all_site_signals(result, times)
    tips = [f"{name}.tip" for name in top.names]
    for name in (*tips, *(n for n in sites if n not in tips)):
        s = sites[name]
        out[name] = (*s.position.T, *s.velocity.T)
    return out


def _moves(found: dict[str, tuple[np.ndarray, ...]], names: Sequence[str], k: int) -> bool:
    """A component that stays where it is, to rounding, needs no panel."""
    like = [found[name][j] for name in names for j in (k, k ^ 1)]
    size = max(float(np.max(np.abs(each))) for each in like)
    return any(float(np.ptp(found[name][k])) > STILL * size for name in names)


def _different(found: dict[str, tuple[np.ndarray, ...]]) -> list[str]:
    """Names of points that do not always coincide with one before them."""
    out: list[str] = []
    for name, place in found.items():
        if not any(np.allclose(place[:2], found[other][:2], atol=1e-12) for other in out):
            out.append(name)
    return out


def _spread(names: list[str]) -> list[str]:
    """As many as can be told apart, the first and the last among them."""
    rows = np.linspace(0, len(names) - 1, min(len(names), style.MOST)).round().astype(int)
    return [names[k] for k in rows]
