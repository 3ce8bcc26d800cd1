"""What an attempt and its compiling cost, against the size of the world: links from 2 to 64, contacts from 1 to 12.

    .venv/bin/python benchmarks/growth.py [--links 2 4 8 16 32 64] [--contacts 1 2 3 4 6 8 10 12] [--json FILE]

Chains hang from a pivot and strike a wall with their tips; a plank falls onto a floor that its sites may meet. Times
are those of the processor; compiling is that of the first run, with nothing kept on disk. The last column is how the
time of an attempt grew since the line before, over how the size did: 1 where cost grows as size does.
Many rigid contacts, with friction and in packings: size.py.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
from collections.abc import Callable
from pathlib import Path

os.environ |= {"CAROM_PROGRAMS": "off", "JAX_ENABLE_COMPILATION_CACHE": "false"}

import numpy as np

import carom  # before JAX compiles anything: it sets a compiler flag
from carom.hybrid import _run as programs
from timing import machine, table

REPEATS = 5
HEAD = ["world", "size", "operations", "compile s", "attempts", "us/attempt", "growth"]


def chain(links: int) -> tuple[carom.World, carom.State]:
    """Rods on a pivot, level at first; the last one's tip meets a wall."""
    rod, joint = carom.Rod(length=1.0 / links, mass=1.0 / links), carom.Joint(damping=0.01 / links)
    robot = carom.Mechanism([carom.Link(rod, name=f"link{k}", joint=joint) for k in range(links)], base=carom.Fixed())
    wall = carom.Contact(robot.tip, carom.Wall(0.0, "right"), carom.HuntCrossley(stiffness=1e5, restitution=0.6))
    return carom.World(robot, contacts=wall, gravity=9.81), robot.state(angles=np.full(links, -0.3))


def plank(law: object) -> Callable[[int], tuple[carom.World, carom.State]]:
    """A free rod with sites along it, each above the floor."""

    def made(contacts: int) -> tuple[carom.World, carom.State]:
        places = np.linspace(0.0, 1.0, contacts) if contacts > 1 else np.array([0.5])
        sites = {f"s{k}": (float(x), 0.0) for k, x in enumerate(places)}
        body = carom.Mechanism([carom.Link(carom.Rod(1.0, 1.0), name="plank", sites=sites)], base=carom.Free())
        floor = carom.Plane(height=0.0)
        each = [carom.Contact(body.site(name), floor, law, name=name) for name in sites]
        return carom.World(body, contacts=each, gravity=9.81), body.state(angles=[0.02], base=(0.0, 0.1))

    return made


WORLDS = {
    "chain, one compliant contact": (chain, "links"),
    "plank, compliant contacts": (plank(carom.HuntCrossley(stiffness=1e5, restitution=0.6)), "contacts"),
    "plank, rigid contacts": (plank(carom.Newton(0.5)), "contacts"),
}


def measured(made: Callable[[int], tuple[carom.World, carom.State]], size: int) -> tuple[int, float, int, float]:
    """Operations of the program, seconds of compiling, attempts, seconds of each."""
    programs._EXECUTABLES.clear()
    world, start = made(size)
    settings = carom.Settings(max_steps=3000)
    run = lambda: carom.simulate(world, start, until=1.0, settings=settings, throw=False)  # noqa: E731
    begin = time.process_time()
    result = run()
    compiling = time.process_time() - begin
    made_of = [p for key, p in programs._EXECUTABLES.items() if key[0] is programs.chunk]
    operations = made_of[0].layout.operations if hasattr(made_of[0], "layout") else 0
    best = math.inf
    for _ in range(REPEATS):
        begin = time.process_time()
        run()
        best = min(best, time.process_time() - begin)
    return operations, compiling - best, result.statistics.steps, best / result.statistics.steps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--links", type=int, nargs="*", default=[2, 4, 8, 16, 32, 64])
    parser.add_argument("--contacts", type=int, nargs="*", default=[1, 2, 3, 4, 6, 8, 10, 12])
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    about = machine(["jax", "jaxlib", "numpy", "llvmlite"])
    print(about)
    rows = []
    for name, (made, grows) in WORLDS.items():
        before: tuple[int, float] | None = None
        for size in getattr(args, grows):
            operations, compiling, attempts, each = measured(made, size)
            growth = "-" if before is None else f"{each / before[1] / (size / before[0]):.2f}"
            row = [
                name,
                str(size),
                str(operations or "XLA"),
                f"{compiling:.2f}",
                str(attempts),
                f"{1e6 * each:.2f}",
                growth,
            ]
            rows.append(row)
            print(*row, sep="; ", flush=True)
            before = (size, each)
    print(table(HEAD, rows))
    if args.json:
        args.json.write_text(json.dumps({"machine": about, "rows": rows}, indent=1, default=str))


if __name__ == "__main__":
    main()
