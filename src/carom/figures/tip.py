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


def lacks(result: Result) -> str | None:
    return None


def draw(figure: Figure, result: Result, times: np.ndarray, site: SiteLike | None = None) -> None:
    """Horizontal and vertical velocity [m/s] of a site, by default the last link's tip."""
    m = result.world.mechanism
    chosen = m.tip if site is None else m.site(site)
    speed = site_signals(result, times, chosen).velocity
    axes = style.panels(figure, 2)
    for k, (one, name) in enumerate(zip(axes, ("horizontal", "vertical"), strict=True)):
        one.plot(times, speed[:, k], label=chosen.name if k == 0 else None, **style.line(0))
        one.set_ylabel(f"{name} velocity [m/s]")
    style.finish(axes, result)
