"""Joint torques of the controllers over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..result._signals import effort_signals
from ..result.result import Result
from . import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def lacks(result: Result) -> str | None:
    if any(a.report.drive is not None for a in result.world.automata):
        return None
    return "this world has no controller; add one with carom.World(..., control=...)"


def draw(figure: Figure, result: Result, times: np.ndarray) -> None:
    """A panel for every controller [N m], and one for forces on a free base [N]."""
    found = effort_signals(result, times)
    torques = {name: e.torques for name, e in found.items()}
    forces = {f"{name} on {tree}": push for name, e in found.items() for tree, push in e.pushes.items()}
    axes = style.panels(figure, len(torques) + len(forces))
    names = result.world.mechanism.topology.names
    for one, (control, values) in zip(axes, torques.items(), strict=False):
        style.over_time(one, times, values.T, names)
        one.set_ylabel("torque [N m]")
        one.set_title(f"{control}: torque of the parent on each link")
    for one, (control, values) in zip(axes[len(torques) :], forces.items(), strict=True):
        style.over_time(one, times, values.T, ["x", "y"])
        one.set_ylabel("force [N]")
        one.set_title(f"force of {control}")
    style.finish(axes, result)
