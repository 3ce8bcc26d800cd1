"""Displacements of links on sliders over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..result._dense import states
from ..result.result import Result
from . import style
from ._targets import targets_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CURVES = True  # nothing but lines over time


def lacks(result: Result) -> str | None:
    if result.world.mechanism.topology.sliding:
        return None
    return "no link of this mechanism slides; give one a carom.Slider"


def draw(figure: Figure, result: Result, times: np.ndarray, targets: bool = True) -> None:
    """Displacements [m] of the links on sliders and their rates [m/s]; wanted ones of a controller as thin lines."""
    top, at = result.world.mechanism.topology, states(result, times)
    shown = list(top.slid)[: style.MOST]
    names, own = [top.names[k] for k in shown], [top.angle_index(k) for k in shown]
    place, rate = style.panels(figure, 2)
    style.over_time(place, times, at.q[:, own].T, names)
    wanted = targets_of(result, times) if targets else None
    if wanted is not None:
        for n, k in enumerate(shown):
            place.plot(times, wanted[:, k], **style.line(n) | {"linewidth": 0.6})
        place.plot([], [], color="k", linewidth=0.6, label="target (thin)")
    place.set_ylabel("displacement [m]")
    style.over_time(rate, times, at.v[:, own].T, [None] * len(names))
    rate.set_ylabel("rate [m/s]")
    if len(top.slid) > len(shown):
        place.set_title(f"{len(shown)} of {len(top.slid)} sliders")
    style.finish([place, rate], result)
