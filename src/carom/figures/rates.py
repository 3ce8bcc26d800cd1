"""Rates of the link angles over time."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..result.dense import states
from . import style
from .angles import grouped


def lacks(result: Any) -> str | None:
    return None


def draw(figure: Any, result: Any, times: np.ndarray) -> None:
    """Rates [rad/s] of all links; a blow shows as a step."""
    top = result.world.mechanism.topology
    shown, groups = states(result, times).v[:, top.angles], grouped(top.names)
    axes = style.panels(figure, len(groups), height=max(style.PANEL, 2.8 - 0.4 * len(groups)))
    for one, group in zip(axes, groups, strict=True):
        style.over_time(one, times, shown[:, group].T, [top.names[k] for k in group])
        one.set_ylabel("rate [rad/s]")
    style.finish(axes, result)
