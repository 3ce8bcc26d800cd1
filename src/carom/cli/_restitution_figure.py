"""The figure of `carom restitution --all --figure`: achieved against asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .. import errors
from ..result._files import written

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ASKED = np.linspace(0.02, 1.0, 50)
# Told apart without colour: dash pattern and grey, and a name on every line.
STYLES = (
    ("-", "0.0"),
    ("--", "0.0"),
    (":", "0.0"),
    ("-.", "0.0"),
    ("-", "0.55"),
    ("--", "0.55"),
    (":", "0.45"),
    ("-.", "0.5"),
    ((0, (8, 2)), "0.3"),
)
TIGHT = 0.02  # nearer to another line than this, a name would hide it


def check_target(path: Path) -> None:
    """Refuse, before anything is computed, a figure that cannot be drawn or written."""
    try:
        from matplotlib.backend_bases import FigureCanvasBase
    except ModuleNotFoundError:
        raise errors.CaromError(
            "--figure needs matplotlib, which is not installed; run: pip install 'carom[figures]'"
        ) from None
    kinds = sorted(FigureCanvasBase.get_supported_filetypes())
    if path.suffix[1:] not in kinds:
        raise errors.CaromError(f"--figure is {path}; its ending must be one of {', '.join(kinds)}; such as .png")
    if not path.parent.is_dir():
        raise errors.CaromError(f"--figure is {path}, and there is no folder {path.parent}; make it first")


def draw(laws: dict[str, Callable[[float], float]], path: Path) -> None:
    """Draw to a temporary name beside the file, then rename: a reader never sees half a picture."""
    import matplotlib  # an extra of its own; `check_target` has looked for it

    matplotlib.use("Agg")  # a file, never a window
    from matplotlib import pyplot

    curves = {name: np.array([achieved(float(c)) for c in ASKED]) for name, achieved in laws.items()}
    figure, axes = pyplot.subplots(figsize=(8.0, 6.5), layout="constrained")
    axes.plot([0, 1], [0, 1], color="0.85", linewidth=6.0, solid_capstyle="butt", zorder=0)
    for k, values in enumerate(curves.values()):
        dashes, grey = STYLES[k % len(STYLES)]
        axes.plot(ASKED, values, linestyle=dashes, color=grey, linewidth=1.4)
    _label(axes, curves)
    axes.set(
        xlim=(0, 1),
        ylim=(0, 1),
        xlabel="restitution asked for [1]",
        ylabel="restitution achieved [1]",
        title="A point mass strikes a compliant wall (broad grey: achieved = asked)",
    )
    axes.grid(color="0.92")
    try:
        with written(path) as half:
            figure.savefig(half, dpi=150)
    finally:
        pyplot.close(figure)


def _label(axes: Axes, curves: dict[str, np.ndarray]) -> None:
    """Each name on its own line, where that line is farthest from the others and from names already there."""
    table = np.array(list(curves.values()))
    taken: list[tuple[float, float]] = []
    inner = np.flatnonzero((ASKED > 0.12) & (ASKED < 0.85))
    for k, name in enumerate(curves):
        room = np.min(np.abs(np.delete(table, k, axis=0) - table[k]), axis=0)
        far = np.array([[abs(ASKED[i] - x) / 2.0 + abs(table[k][i] - y) for x, y in taken] or [1.0] for i in inner])
        place = int(inner[np.argmax(np.minimum(room[inner], 0.1) + 0.8 * np.minimum(np.min(far, axis=1), 0.12))])
        x, y = float(ASKED[place]), float(table[k][place])
        taken.append((x, y))
        if room[place] < TIGHT:
            arrow = {"arrowstyle": "-", "color": "0.0", "linewidth": 0.6, "shrinkA": 1.0, "shrinkB": 0.0}
            axes.annotate(name, (x, y), (x + 0.1, y - 0.07), fontsize=8.5, va="center", arrowprops=arrow)
            continue
        slope = np.degrees(np.arctan2(table[k][place + 1] - y, ASKED[place + 1] - x))
        box = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
        turn = {"rotation": slope, "transform_rotates_text": True, "rotation_mode": "anchor"}
        axes.text(x, y, name, fontsize=8.5, ha="center", va="center", bbox=box, **turn)
