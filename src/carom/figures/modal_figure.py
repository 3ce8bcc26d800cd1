"""Modal coordinates of the elastic links over time."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..result.signals import bending_signals
from . import style


def lacks(result: Any) -> str | None:
    if result.world.mechanism.topology.elastic:
        return None
    return "all links of this world are rigid; bending needs a carom.Beam"


def draw(figure: Any, result: Any, times: np.ndarray) -> None:
    """Weight of every mode, as the deflection [m] that it gives; a panel for every elastic link."""
    found = bending_signals(result, times)
    factor, unit = style.prefix(max(float(np.max(np.abs(v))) for v in found.values()), "m")
    axes = style.panels(figure, len(found), height=1.6 if len(found) > 2 else style.PANEL)
    for one, (link, values) in zip(axes, found.items(), strict=True):
        style.over_time(one, times, factor * values.T, [f"{link}, mode {j + 1}" for j in range(values.shape[1])])
        one.set_ylabel(f"weight [{unit}]")
    style.finish(axes, result)
