"""Link angles over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import jax
import numpy as np

from ..result._dense import states
from ..result.result import Result
from . import style
from ._coordinates import no_link_turns as dull  # noqa: F401
from ._coordinates import nothing_turns as lacks  # noqa: F401
from ._targets import targets_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CURVES = True  # nothing but lines over time


def draw(figure: Figure, result: Result, times: np.ndarray, relative: bool = False, targets: bool = True) -> None:
    """Angles [°] of all links on hinges, absolute or relative to the parent; a controller's targets as thin lines."""
    m = result.world.mechanism
    at, q = m.topology.angles, states(result, times).q
    shown = np.asarray(jax.vmap(m.to_relative)(q))[:, at] if relative else q[:, at]
    groups = grouped(m.topology.hinged)
    axes = style.panels(figure, len(groups), height=max(style.PANEL, 2.8 - 0.4 * len(groups)))
    wanted = targets_of(result, times) if targets and not relative else None
    for one, group in zip(axes, groups, strict=True):
        style.over_time(one, times, np.rad2deg(shown[:, group]).T, [m.topology.names[k] for k in group])
        if wanted is not None:
            for n, k in enumerate(group):
                one.plot(times, np.rad2deg(wanted[:, k]), **style.line(n) | {"linewidth": 0.6})
            one.plot([], [], color="k", linewidth=0.6, label="target (thin)")
        one.set_ylabel("relative angle [°]" if relative else "angle [°]")
    style.finish(axes, result)


def grouped(links: Sequence[int]) -> list[list[int]]:
    """Indices of links, as many to a panel as can be told apart."""
    return [list(links[k : k + style.MOST]) for k in range(0, len(links), style.MOST)]
