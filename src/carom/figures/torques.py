"""Joint torques of the controllers over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..result._signals import effort_signals
from ..result.result import Result
from . import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CURVES = True  # nothing but lines over time


def lacks(result: Result) -> str | None:
    if any(a.report.drive is not None for a in result.world.automata):
        return None
    return "this world has no controller; add one with carom.World(..., control=...)"


def dull(result: Result) -> bool:
    """No controller ever acts."""
    found = effort_signals(result, result.t).values()
    return not any(np.any(e.torques) or any(np.any(push) for push in e.pushes.values()) for e in found)


def draw(figure: Figure, result: Result, times: np.ndarray) -> None:
    """A panel for every controller [N m], one for forces along sliders [N], and one for those on a free base [N]."""
    found, top = effort_signals(result, times), result.world.mechanism.topology
    kinds = [("torque [N m]", "torque", top.hinged), ("force [N]", "force", top.slid)]
    torques = [(name, e.torques, kind) for name, e in found.items() for kind in kinds if kind[2]]
    acting = [each for each in torques if np.any(each[1][:, list(each[2][2])])]  # where nothing acts there is no curve
    forces = {f"{name} on {tree}": push for name, e in found.items() for tree, push in e.pushes.items()}
    torques = acting or torques[: not forces]
    axes = style.panels(figure, len(torques) + len(forces))
    for one, (control, values, (label, word, links)) in zip(axes, torques, strict=False):
        style.over_time(one, times, values[:, list(links)].T, [top.names[k] for k in links])
        one.set_ylabel(label)
        one.set_title(
            f"{control}: {word} of the parent on each link" + (" along its slider" if word == "force" else "")
        )
    for one, (control, values) in zip(axes[len(torques) :], forces.items(), strict=True):
        style.over_time(one, times, values.T, ["x", "y"])
        one.set_ylabel("force [N]")
        one.set_title(f"force of {control}")
    style.finish(axes, result)
