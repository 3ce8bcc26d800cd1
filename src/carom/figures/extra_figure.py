"""Extra states over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..result.result import Result
from . import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CURVES = True  # nothing but lines over time


def lacks(result: Result) -> str | None:
    if result.world.extra:
        return None
    return "this world has no extra states; add some with carom.World(..., elements=carom.ExtraStates(...))"


def draw(figure: Figure, result: Result, times: np.ndarray) -> None:
    """A panel for every extra state, in its unit."""
    found, told = result.extra(times), result.world.extra
    axes = style.panels(figure, len(told), height=1.6 if len(told) > 2 else style.PANEL)
    for one, quantity in zip(axes, told, strict=True):
        style.over_time(one, times, found[quantity.name][None], [quantity.name])
        one.set_ylabel(f"{quantity.name} [{quantity.unit}]" if quantity.unit else quantity.name)
    style.finish(axes, result)
