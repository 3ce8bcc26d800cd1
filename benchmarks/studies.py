"""A study beside the bare batch: arms over friction and posture, ten impacts' records of each, in a store.

    .venv/bin/python benchmarks/studies.py [--side 142] [--turns 3]

Processor time, in turns: the batch without records, the batch that records, and `carom.sweep` into a Zarr store, all of
the same side x side runs of 1.5 s (three or four strikes). The page and a map of the last study are written, too.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import carom  # before JAX compiles anything: it sets a compiler flag

# isort: split
import numpy as np

from carom.experiment.sweeping import study_page
from carom.experiment.sweeping._lane_worlds import LaneStart, LaneWorld
from carom.scenario._build import settings_of

MU, ANGLE = "contacts.tip.friction.mu", "start.angles.0"
ARM = carom.Scenario.load("arm-repeated-impact").with_({"run.until": 1.5})
MEASURES, IMPACTS = ["impacts.count", "impact.1.restitution", "impact.1.max_normal_force"], 10


def timed(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--side", type=int, default=142, help="142 x 142 are 20,164 arms")
    parser.add_argument("--turns", type=int, default=3)
    asked = parser.parse_args()
    over = {MU: np.linspace(0.0, 0.5, asked.side), ANGLE: np.linspace(40.0, 80.0, asked.side)}
    rows = np.stack([each.ravel() for each in np.meshgrid(*over.values(), indexing="ij")], axis=1)
    make = LaneWorld(ARM.toml(), (MU, ANGLE))
    given = {"until": ARM.run.until, "settings": settings_of(ARM), "throw": False}
    folder = Path(tempfile.mkdtemp(prefix="carom-study-"))
    stores = iter(range(1000))

    def bare() -> object:
        return carom.batch(make, rows, LaneStart(make), **given)

    def recorded() -> object:
        return carom.batch(make, rows, LaneStart(make), **given, measures=MEASURES, impacts=IMPACTS)

    def study() -> object:
        place = folder / f"study-{next(stores)}.zarr"
        return carom.sweep(ARM, over, MEASURES, impacts=IMPACTS, store=place, progress=False)

    contenders = {"bare batch": bare, "batch with records": recorded, "study in a store": study}
    first = {name: timed(work) for name, work in contenders.items()}
    times = {name: [] for name in contenders}
    for _ in range(asked.turns):
        for name, work in contenders.items():
            times[name].append(timed(work))
    best = {name: min(each) for name, each in times.items()}
    for name, seconds in best.items():
        ratio = seconds / best["bare batch"]
        print(
            f"{name:20} {len(rows) / seconds:9,.0f} runs/s of processor, {ratio:5.2f} of the bare batch's time", end=""
        )
        print(f"; first call {first[name]:.1f} s")
    data = study()
    print(f"page: {study_page(data, folder / 'study.html').stat().st_size / 1e6:.1f} MB in {folder}")
    carom.figures.study_map(data, "impact.1.restitution").savefig(folder / "study.png")


if __name__ == "__main__":
    main()
