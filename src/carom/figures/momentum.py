"""Momentum of the whole over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..result._signals import momentum_signals
from ..result.result import Result
from . import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NOTHING = 1e-6  # of the largest momentum: smaller changes are none


def lacks(result: Result) -> str | None:
    return None


def draw(figure: Figure, result: Result, times: np.ndarray) -> None:
    """Linear momentum [kg m/s], and angular momentum about the world's origin [kg m²/s]."""
    p = momentum_signals(result, times)
    above, below = axes = style.panels(figure, 2)
    style.over_time(above, times, p.linear.T, ["x", "y"])
    above.set_ylabel("linear momentum\n[kg m/s]")
    below.plot(times, p.angular, **style.line(0))
    below.set_ylabel("angular momentum\n[kg m²/s]")
    style.finish(axes, result)
    # Where momentum is conserved, or zero by symmetry, what is left is the error of the integration.
    size, base = float(np.max(np.abs(p.linear))), result.q[:, : result.world.mechanism.topology.base_dof]
    style.steady(above, NOTHING * size)
    style.steady(below, NOTHING * size * (1.0 + float(np.max(np.abs(base), initial=0.0))))
