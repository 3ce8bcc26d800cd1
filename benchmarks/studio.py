"""From a slider of the studio to a new motion: what is computed for it, warm, on one processor.

    .venv/bin/python benchmarks/studio.py [--json FILE] [--moves N]

A move changes a number of a shipped scenario: the scenario is read and checked, its world is made, the whole run is
simulated again, and packed for the page, with a quarter of the frames while the slider moves and all of them when it is
let go. Times are the processor's, medians over the moves; the last column is their ratio to the simulation alone. The
arm has to stay below 0.1 s, of which its page takes some milliseconds more to draw.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from carom.experiment.experiment import perform
from carom.report._data import as_json
from carom.studio._desk import Asked, Desk, shown
from timing import machine

MOVED = {
    "arm-repeated-impact": ("contacts.tip.friction.mu", 0.2, 0.3),
    "ball-drop": ("contacts.floor.normal.restitution", 0.4, 0.6),
    "arm-controllers": ("gravity", 9.0, 9.8),
    "slider-crank-clearance": ("contacts.pin.normal.restitution", 0.8, 0.9),
    "elastic-chain-rigid": ("contacts.O1.normal.restitution", 0.7, 0.8),
}


def processor(call: Callable[[], object]) -> float:
    began = time.process_time()
    call()
    return time.process_time() - began


def moved(name: str, moves: int) -> dict[str, float]:
    """Medians [s]: while the slider moves, when it is let go, and what the simulation alone takes of it."""
    desk, (path, low, high) = Desk(name), MOVED[name]
    values = [low + (high - low) * k / moves for k in range(moves + 1)]

    def move(value: float, quick: bool) -> Callable[[], object]:
        return lambda: as_json(shown(desk.sides(Asked({path: value}, None, quick))[0], quick))

    for quick in (True, False):
        move(high, quick)()  # what is compiled, is compiled once
    runs = [desk.sides(Asked({path: value}))[0] for value in values]
    return {
        "sliding": statistics.median(processor(move(value, True)) for value in values),
        "let go": statistics.median(processor(move(value, False)) for value in values),
        "simulation": statistics.median(processor(partial(perform, run, progress=False)) for run in runs),
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--json", type=Path, help="write the times to a file")
    options.add_argument("--moves", type=int, default=15, help="how many moves of each slider")
    asked = options.parse_args()
    about = machine(["jax", "numpy"])
    print(", ".join(f"{key} {value}" for key, value in about.items()), "\n")
    print(f"{'scenario':26}{'sliding [ms]':>14}{'let go [ms]':>14}{'simulation [ms]':>17}{'ratio':>8}")
    found = {}
    for name in MOVED:
        times = found[name] = moved(name, asked.moves)
        own = {key: 1e3 * value for key, value in times.items()}
        ratio = own["sliding"] / own["simulation"]
        print(f"{name:26}{own['sliding']:14.1f}{own['let go']:14.1f}{own['simulation']:17.1f}{ratio:8.1f}")
    if asked.json:
        asked.json.write_text(json.dumps({"machine": about, "seconds": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
