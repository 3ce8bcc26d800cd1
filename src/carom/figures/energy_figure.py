"""The energy ledger over time: energies, works, and what is not accounted for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..result._signals import energy_signals
from ..result.result import Result
from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NOTHING = 1e-9  # of the energy in play: works below it are not drawn


def lacks(result: Result) -> str | None:
    return None if result.final.y.work else "the run was made with ledger=False; run it again with ledger=True"


def draw(figure: Figure, result: Result, times: np.ndarray) -> None:
    """Kinetic and potential energy, works [J], and the ledger's error [% of the energy in play] below."""
    e, scale = energy_signals(result, times), result.energy.in_play
    assert e.error is not None  # lacks has looked
    kinetic = np.sum(e.kinetic, axis=1)
    works = {n: w for n, w in e.works.items() if np.max(np.abs(w)) > NOTHING * scale}
    axes = style.panels(figure, 3 if works else 2, height=1.9)
    above, below = axes[0], axes[-1]
    style.over_time(above, times, [kinetic, e.potential, kinetic + e.potential], ["kinetic", "potential", "sum"])
    above.set_ylabel("energy [J]")
    if works:
        style.over_time(axes[1], times, list(works.values()), list(works))
        axes[1].set_ylabel("work since\nthe start [J]")
    _draw_error(below, times, 100.0 * np.abs(e.error) / scale if scale > 0.0 else np.zeros_like(e.error))
    style.finish(axes, result)


def _draw_error(axes: Axes, times: np.ndarray, percent: np.ndarray) -> None:
    """On a logarithmic axis; an error of exactly nothing has no place there."""
    shown = np.where(percent > 0.0, percent, np.nan)
    if np.all(np.isnan(shown)):
        shown = np.zeros_like(percent)
    else:
        axes.set_yscale("log")
        axes.set_ylim(max(float(np.nanmin(shown)), 1e-6 * float(np.nanmax(shown))), 10.0 * float(np.nanmax(shown)))
    axes.plot(times, shown, **style.line(0))
    axes.set_ylabel("not accounted\nfor [%]")
