"""Momentum of the whole over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..mechanism import Mechanism
from ..result._signals import momentum_signals
from ..result.result import Result
from . import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NOTHING = 1e-6  # of the largest momentum: smaller changes are none

CURVES = True  # nothing but lines over time


def lacks(result: Result) -> str | None:
    return None


def dull(result: Result) -> bool:
    """A mechanism that is held somewhere gives its momentum to the ground: a sum that nobody asks for."""
    return pinned(result.world.mechanism)


def pinned(mechanism: Mechanism) -> bool:
    top = mechanism.topology
    return any(top.base_index(tree) is None for tree in range(len(top.tree_names)))


def draw(figure: Figure, result: Result, times: np.ndarray) -> None:
    """Linear momentum [kg m/s], and angular momentum about the world's origin [kg m²/s]."""
    p = momentum_signals(result, times)
    # Where momentum is conserved, or zero by symmetry, what is left is the error of the integration.
    size, base = float(np.max(np.abs(p.linear))), result.q[:, : result.world.mechanism.topology.base_dof]
    least = NOTHING * size * (1.0 + float(np.max(np.abs(base), initial=0.0)))
    turns = bool(np.max(np.abs(p.angular)) > least)
    axes = style.panels(figure, 1 + turns)
    style.over_time(axes[0], times, p.linear.T, ["x", "y"])
    axes[0].set_ylabel("linear momentum\n[kg m/s]")
    if turns:
        axes[1].plot(times, p.angular, **style.line(0))
        axes[1].set_ylabel("angular momentum\nabout the origin [kg m²/s]")
        axes[1].margins(x=0.0)
    else:
        axes[0].set_title(style.wrapped("the angular momentum about the origin is 0 throughout"))
    style.finish(axes, result)
    style.steady(axes[0], NOTHING * size)
    if turns:
        style.steady(axes[1], least)
