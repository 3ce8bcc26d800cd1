"""Contact forces over time, and impulses of rigid contacts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..result._signals import ContactSignals, contact_signals
from ..result.result import Result
from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def lacks(result: Result) -> str | None:
    if not result.world.contacts:
        return "this world has no contact; add one with carom.World(..., contacts=...)"
    return None


def draw(figure: Figure, result: Result, times: np.ndarray) -> None:
    """Normal and friction force [N] on the mechanism, a panel for every contact that touches; blows as stems [N s]."""
    found = contact_signals(result, times)
    struck = {i.contact for i in result.impacts}
    shown = {n: s for n, s in found.items() if n in struck or np.any(s.normal != 0.0)} or found
    axes = style.panels(figure, len(shown), height=1.6 if len(shown) > 2 else style.PANEL)
    for one, (name, s) in zip(axes, shown.items(), strict=True):
        _draw(one, times, name, s)
    style.finish(axes, result)
    for one, (name, s) in zip(axes, shown.items(), strict=True):
        blows = [i for i in result.impacts if i.contact == name and i.t_end == i.t_start]
        if blows:
            _draw_blows(one, blows, "N s" if s.unit == "m" else "N m s")


def _draw(axes: Axes, times: np.ndarray, name: str, s: ContactSignals) -> None:
    factor, unit = style.prefix(float(np.max(np.abs(s.normal))), s.force_unit)
    axes.plot(times, factor * s.normal, label="normal", **style.line(0))
    if np.any(s.friction != 0.0):
        axes.plot(times, factor * s.friction, label="friction", **style.line(1))
    axes.set_title(f"contact '{name}'")
    axes.set_ylabel(f"force [{unit}]" if s.unit == "m" else f"torque [{unit}]")


def _draw_blows(axes: Axes, blows: list[Any], unit: str) -> None:
    """A blow has an impulse but no force: stems on an axis of their own."""
    other = axes.twinx()
    other.grid(False)
    t = [i.t_start for i in blows]
    looks: tuple[tuple[list[float], dict[str, Any], str], ...] = (
        ([i.normal_impulse for i in blows], {"marker": "o", "color": "#1d6fb8"}, "normal impulse"),
        ([i.tangential_impulse for i in blows], {"marker": "x", "color": "#2e8b57"}, "friction impulse"),
    )
    for values, look, name in looks:
        if np.any(np.asarray(values) != 0.0):
            other.vlines(t, 0.0, values, color=look["color"], linewidth=0.9)
            other.plot(t, values, linestyle="none", markersize=3.5, label=name, **look)
    other.set_ylabel(f"impulse [{unit}]")
    _same_zero(axes, other)
    handles = [h for one in (axes, other) for h in one.get_legend_handles_labels()[0]]
    if (old := axes.get_legend()) is not None:
        old.remove()
    other.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.12, 1.03), borderaxespad=0.0)


def _same_zero(first: Axes, second: Axes) -> None:
    """Both axes have zero at one height."""
    shares = []
    for axes in (first, second):
        low, high = axes.get_ylim()
        low, high = min(low, 0.0), max(high, 0.0)
        shares.append((axes, max(high, -low, 1e-300), -low / max(high - low, 1e-300)))
    below = min(max(share for _, _, share in shares), 0.5)
    for axes, size, _ in shares:
        axes.set_ylim(-size * below / (1.0 - below), size)
