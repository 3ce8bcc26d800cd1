"""Velocity of a site, by its components."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._arguments import SiteLike
from ..result._signals import site_signals
from ..result.result import Result
from . import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


NOTHING = 1e-9  # of the largest velocity: a component that is smaller is rounding

CURVES = True  # nothing but lines over time


def lacks(result: Result) -> str | None:
    return None


def dull(result: Result) -> bool:
    """The tip never moves."""
    return not bool(np.any(result.v != 0.0))


def draw(figure: Figure, result: Result, times: np.ndarray, site: SiteLike | None = None) -> None:
    """Horizontal and vertical velocity [m/s] of a site, by default the last link's tip."""
    m = result.world.mechanism
    chosen = m.tip if site is None else m.site(site)
    speed = site_signals(result, times, chosen).velocity
    names = ("horizontal", "vertical")
    moves = [k for k in (0, 1) if np.max(np.abs(speed[:, k])) > NOTHING * np.max(np.abs(speed))] or [0, 1]
    axes = style.panels(figure, len(moves))
    for one, k in zip(axes, moves, strict=True):
        one.plot(times, speed[:, k], label=chosen.name if k == moves[0] else None, **style.line(0))
        one.set_ylabel(f"{names[k]} velocity [m/s]")
    if len(moves) == 1:
        axes[0].set_title(style.wrapped(f"the {names[1 - moves[0]]} velocity is 0 throughout"))
    style.finish(axes, result)
