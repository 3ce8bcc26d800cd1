"""A figure of basins of attraction: which of several motions each start ends in."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from .._arguments import NamesInOrder
from ..quantities import Given
from ..study.many_starts import FAILED, WANDERS
from . import style

COLOURS = (
    "#1d6fb8",
    "#f2a93b",
    "#2e8b57",
    "#c2410c",
    "#6b21a8",
    "#17becf",
    "#8c564b",
    "#e377c2",
)  # one after the other
NEITHER = {WANDERS: ("#3a3a3a", "repeats nothing"), FAILED: ("#ffffff", "failed")}


def basins(x: Given, y: Given, labels: Given, *, names: NamesInOrder = ("x", "y")) -> Any:
    """Attractors (`carom.attractors(...).labels`) of a grid of starts: a colour for each, the largest basin first.

    `labels` (len(y), len(x)); what repeats nothing is dark, what failed white and hatched.

        carom.figures.basins(x, v, found.labels.reshape(len(v), len(x)), names=("x [m]", "x' [m/s]"))
    """
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    across, up, grid = np.asarray(x, dtype=float), np.asarray(y, dtype=float), np.asarray(labels)
    if grid.shape != (len(up), len(across)) or min(grid.shape) < 2:
        raise errors.CaromError(
            f"labels of basins have shape {grid.shape}; x has {len(across)} values and y {len(up)}: reshape them to "
            f"({len(up)}, {len(across)}), two of each at least"
        )
    kinds = sorted({int(k) for k in np.unique(grid)}, key=lambda k: (k < 0, k))
    looks = [NEITHER[k] if k < 0 else (COLOURS[k % len(COLOURS)], f"attractor {k}") for k in kinds]
    number = np.searchsorted(np.sort(kinds), grid)
    ordered = [looks[kinds.index(k)] for k in sorted(kinds)]
    with style.page(figsize=(style.width(), 4.6)) as figure:
        axes = figure.subplots()
        colours = ListedColormap([colour for colour, _ in ordered])
        axes.pcolormesh(
            across, up, number, cmap=colours, vmin=-0.5, vmax=len(kinds) - 0.5, shading="nearest", rasterized=True
        )
        if FAILED in kinds:
            shade = np.ma.masked_where(grid != FAILED, np.ones(grid.shape))
            axes.pcolor(across, up, shade, cmap="gray", alpha=0.0, hatch="////", edgecolor="0.3", linewidth=0.0)
        axes.grid(False)
        axes.set_xlabel(names[0])
        axes.set_ylabel(names[1])
        told = [Patch(facecolor=colour, edgecolor="0.4", label=word) for colour, word in looks[:12]]
        figure.legend(handles=told, loc="outside upper center", ncols=4, frameon=False)
    return figure
