"""Modal coordinates of the elastic links over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..result._signals import bending_signals
from ..result.result import Result
from . import style

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
    axes = style.panels(figure, len(found), height=1.6 if len(found) > 2 else style.PANEL)
    for one, (link, values) in zip(axes, found.items(), strict=True):
        style.over_time(one, times, factor * values.T, [f"{link}, mode {j + 1}" for j in range(values.shape[1])])
        one.set_ylabel(f"modal coordinate [{unit}]")
    style.finish(axes, result)
