"""Velocity of a site, by its components."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..result.signals import site_signals
from . import style


def lacks(result: Any) -> str | None:
    return None


def draw(figure: Any, result: Any, times: np.ndarray, site: Any = None) -> None:
    """Horizontal and vertical velocity [m/s] of a site, by default the last link's tip."""
    m = result.world.mechanism
    chosen = m.tip if site is None else m.site(site)
    speed = site_signals(result, times, chosen).velocity
    axes = style.panels(figure, 2)
    for k, (one, name) in enumerate(zip(axes, ("horizontal", "vertical"), strict=True)):
        one.plot(times, speed[:, k], label=chosen.name if k == 0 else None, **style.line(0))
        one.set_ylabel(f"{name} velocity [m/s]")
    style.finish(axes, result)
