"""Rigid contacts against size: time to compile and time per attempted step of chains that fall onto a floor.

    .venv/bin/python benchmarks/size.py [--json FILE] [--links 9 16 32 64] [--friction]
    .venv/bin/python benchmarks/size.py --disks 12 40                             # disks in a box instead

Both ends of every link can meet the floor; of disks each pair, and each with floor and walls. Compile time is that of a
process that has compiled nothing else of the size, without what is kept on disk; times are processor times, and the
exponent is that of time per step in links.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import time
from pathlib import Path

os.environ |= {"CAROM_PROGRAMS": "off", "JAX_ENABLE_COMPILATION_CACHE": "false"}

import numpy as np

import carom  # before JAX compiles anything: it sets a compiler flag
from timing import machine


def chain(links: int, friction: bool) -> carom.World:
    rod = carom.Rod(length=1.0 / links, mass=1.0 / links)
    first = carom.Link(rod, name="link1", sites={"start": (0.0, 0.0)})
    rest = [carom.Link(rod, name=f"link{k + 2}", joint=carom.Joint(damping=0.003 / links)) for k in range(links - 1)]
    robot = carom.Mechanism([first, *rest], base=carom.Free())
    rubs, floor = carom.Coulomb(0.3) if friction else None, carom.Plane(height=0.0)
    sites = [robot.site(x) for x in robot.topology.site_names]
    contacts = [carom.Contact(s, floor, carom.Plastic(), rubs, name=s.name) for s in sites]
    return carom.World(robot, contacts=contacts, gravity=9.81)


def disks(count: int, friction: bool) -> tuple[carom.World, carom.State]:
    """Disks in rows of five in a box 1 m wide."""
    disk = carom.Mechanism([carom.Disk(radius=0.05, mass=0.1)], base=carom.Free())
    box = carom.side_by_side(**{f"d{k}": disk for k in range(count)})
    sites = [box.site(x) for x in box.topology.site_names]
    laws = (carom.Poisson(0.3), carom.Coulomb(0.2)) if friction else (carom.Newton(0.3), None)
    walls = [carom.Plane(height=0.0), carom.Wall(0.0, "right"), carom.Wall(1.0, "left")]
    contacts = [
        carom.Contact(s, wall, *laws, radius=0.05, name=f"{s.name} {w}") for s in sites for w, wall in enumerate(walls)
    ]
    contacts += [
        carom.Contact(a, b, *laws, radius=0.05, other_radius=0.05, name=f"{a.name} {b.name}")
        for a, b in itertools.combinations(sites, 2)
    ]
    world = carom.World(box, contacts=contacts, gravity=9.81, settle_speed=1e-3)
    rng = np.random.default_rng(0)
    places = [(0.11 + 0.195 * (k % 5) + 0.01 * rng.random(), 0.1 + 0.13 * (k // 5)) for k in range(count)]
    return world, world.state(base=places)


def falling(links: int, friction: bool) -> tuple[carom.World, carom.State]:
    world = chain(links, friction)
    return world, world.state(angles=0.02 * np.sin(np.linspace(0.0, 6.0, links)), base=(0.0, 0.05))


def measured(world: carom.World, start: carom.State) -> dict[str, float]:
    """Compile and step times [s] of one world, in flight and in contact together."""
    settings = carom.Settings(max_steps=300)
    times = []
    for _ in range(2):
        begin = time.process_time()
        result = carom.simulate(world, start, until=0.6, settings=settings, throw=False)
        times.append(time.process_time() - begin)
    steps = result.statistics.steps
    return {
        "links": world.mechanism.topology.links,
        "compile": times[0] - times[1],
        "step": times[1] / steps,
        "events": result.statistics.events,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--links", type=int, nargs="+", default=[9, 16, 32, 64])
    parser.add_argument("--disks", type=int, nargs="+", help="disks in a box, instead of chains")
    parser.add_argument("--friction", action="store_true")
    given = parser.parse_args()
    print(machine(["jax", "jaxlib"]))
    rows = []
    for count in given.disks or given.links:
        rows.append(measured(*(disks if given.disks else falling)(count, given.friction)))
        print(
            "{links:4d} links: compiled in {compile:6.1f} s, {step:.2e} s per step, {events} events".format(**rows[-1])
        )
    if len(rows) > 1:
        x, y = (np.log([row[key] for row in rows]) for key in ("links", "step"))
        last = (y[-1] - y[-2]) / (x[-1] - x[-2])
        whole = np.polyfit(x, y, 1)[0]
        print(f"time per step grows like links^{whole:.2f}; between the last two like links^{last:.2f}")
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
