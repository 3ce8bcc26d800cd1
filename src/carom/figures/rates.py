"""Rates of the link angles over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..result._dense import states
from ..result.result import Result
from . import style
from ._coordinates import no_link_turns as dull  # noqa: F401
from ._coordinates import nothing_turns as lacks  # noqa: F401
from .angles import grouped

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CURVES = True  # nothing but lines over time


def draw(figure: Figure, result: Result, times: np.ndarray) -> None:
    """Rates [rad/s] of all links on hinges; a blow shows as a step."""
    top = result.world.mechanism.topology
    shown, groups = states(result, times).v[:, top.angles], grouped(top.hinged)
    axes = style.panels(figure, len(groups), height=max(style.PANEL, 2.8 - 0.4 * len(groups)))
    for one, group in zip(axes, groups, strict=True):
        style.over_time(one, times, shown[:, group].T, [top.names[k] for k in group])
        one.set_ylabel("rate [rad/s]")
    style.finish(axes, result)
