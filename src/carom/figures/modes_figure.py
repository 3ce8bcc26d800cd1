"""Modal coordinates of the elastic links over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..result._signals import bending_signals
from ..result.result import Result
from . import style
from ._cycles import CLOSE, close_up, swings

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def lacks(result: Result) -> str | None:
    if result.world.mechanism.topology.elastic:
        return None
    return "all links of this world are rigid; bending needs a carom.Beam"


def draw(figure: Figure, result: Result, times: np.ndarray) -> None:
    """Modal coordinate of every mode, as the deflection [m] that it gives; a panel for every elastic link."""
    found = bending_signals(result, times)
    factor, unit = style.prefix(max(float(np.max(np.abs(v))) for v in found.values()), "m")
    many = swings(result) > 2 * CLOSE
    tall = 1.6 if len(found) > 2 else style.PANEL
    axes = style.panels(figure, len(found), 1 + many, height=tall, share="col")
    left, right = axes[:: 1 + many], axes[1::2] if many else []
    for one, (link, values) in zip(left, found.items(), strict=True):
        names = [f"mode {j + 1}" for j in range(values.shape[1])]
        style.over_time(one, times, factor * values.T, [None] * len(names) if many else names)
        one.set_ylabel(f"{link}, modal\ncoordinate [{unit}]")
    style.finish(left, result)
    begin, words = close_up(result)
    for one, values in zip(right, found.values() if many else (), strict=True):
        near = times >= begin
        style.over_time(one, times[near], factor * values[near].T, [f"mode {j + 1}" for j in range(values.shape[1])])
        one.set_ylabel(f"the same [{unit}]")
        if values.shape[1] > 1:
            style.legend(one)
        one.margins(x=0.0)
    if right:
        right[0].set_title(words)
        style.time_axis(right[-1:], float(result.t[-1] - result.t[0]))
