"""Kinetic energy of every link over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..result._signals import energy_signals
from ..result.result import Result
from . import style
from .angles import grouped

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CURVES = True  # nothing but lines over time


def lacks(result: Result) -> str | None:
    return None


def dull(result: Result) -> bool:
    """Of one link, it is the kinetic energy that the ledger shows."""
    return len(result.world.mechanism.topology.names) < 2


def draw(figure: Figure, result: Result, times: np.ndarray) -> None:
    """Kinetic energy [J] by link; steps at impacts show who gave and who took."""
    names, kinetic = result.world.mechanism.topology.names, energy_signals(result, times).kinetic
    groups = grouped(range(len(names)))
    axes = style.panels(figure, len(groups), height=max(style.PANEL, 2.8 - 0.4 * len(groups)))
    for one, group in zip(axes, groups, strict=True):
        style.over_time(one, times, kinetic[:, group].T, [names[k] for k in group])
        one.set_ylabel("kinetic energy [J]")
    style.finish(axes, result)
