"""Signals over time, as they are asked for: a panel for each unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..result._expressed import values_of
from ..result.result import Result
from . import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CURVES = True  # nothing but lines over time


def lacks(result: Result) -> str | None:
    return None


def dull(result: Result) -> bool:
    """It is for what somebody asks for."""
    return True


def draw(figure: Figure, result: Result, times: np.ndarray, *signals: str) -> None:
    """Signals (carom.signal) over time, those of one unit in one panel: result.plot.signals("com.y", "tip.y")."""
    texts = signals or ("com.y", "energy.total")
    columns = dict(zip(texts, values_of(result, texts, times).T, strict=True))
    units: dict[str, list[str]] = {}
    for text in columns:
        units.setdefault(result.unit(text), []).append(text)
    axes = style.panels(figure, len(units), height=1.6 if len(units) > 2 else style.PANEL)
    for one, (unit, own) in zip(axes, units.items(), strict=True):
        style.over_time(one, times, [columns[text] for text in own], own)
        one.set_ylabel(f"[{unit}]" if len(own) > 1 else f"{own[0]} [{unit}]" if len(own[0]) <= 24 else f"[{unit}]")
    style.finish(axes, result)
