"""Draws docs/img/optimal-ball.png: the ball of examples/optimal_strikes.py on its best path, and the force on it.

.venv/bin/python tools/optimal_figure.py
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from examples.optimal_strikes import ball

from carom.figures.style import page, panels

ROOT = Path(__file__).parents[1]


def main() -> None:
    task = ball()
    path = task.solved()
    with page() as figure:
        upper, lower = panels(figure, 2)
        upper.plot(path.t, path.x[:, 0], marker="o", markersize=2.5)
        upper.axhline(0.6, color="0.5", linewidth=0.6, linestyle=":")
        upper.axhline(0.0, color="0.3", linewidth=0.8)
        upper.set_ylabel("height [m]")
        lower.step(path.t, np.append(path.u[:, 0], path.u[-1, 0]), where="post")
        lower.set_ylabel("force [N]")
        lower.set_xlabel("time [s]")
        figure.savefig(ROOT / "docs" / "img" / "optimal-ball.png", dpi=150)
    print(path)


if __name__ == "__main__":
    main()
