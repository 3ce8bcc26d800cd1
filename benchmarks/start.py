"""What a person waits for at a start, beside `import jax`: help, `carom run`, and the first run of worlds of one's own.

    .venv/bin/python benchmarks/start.py [--json FILE] [--repeats N] [--first]

Each start is a new process, and its time the processor's (user and system), which other work on the machine hardly
changes; the clock stands beside it. First starts have an empty cache, and compile; later ones find the programs on
disk. "numbers only" leaves out figures and report. `--first` adds first runs of larger worlds (`first_worlds.py`).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from timing import machine

WORLDS = Path(__file__).parent / "first_worlds.py"
NUMBERS = "--numbers-only"
LARGER = {
    "own hopper: three links, foot with friction": [str(WORLDS), "hopper"],
    "four rigid feet with friction": [str(WORLDS), "four-feet"],
    "carom run capture-sideways": ["-m", "carom", "run", "capture-sideways"],
    "carom run inchworm": ["-m", "carom", "run", "inchworm"],
}


class Took(NamedTuple):
    """[s] of a processor, and by the clock."""

    processor: float
    clock: float


def took(command: list[str], cache: Path) -> Took:
    """A process of its own. Its bytecode is kept, as an installed package's is."""
    env = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    whole = [sys.executable, *command]
    done = subprocess.run(whole, env=env | {"XDG_CACHE_HOME": str(cache)}, capture_output=True, text=True)
    clock, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{' '.join(whole)} failed:\n{done.stderr}")
    return Took(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, clock)


def median(each: list[Took]) -> Took:
    return Took(*(statistics.median(column) for column in zip(*each, strict=True)))


def several(command: list[str], repeats: int) -> Took:
    with tempfile.TemporaryDirectory() as folder:
        took(command, Path(folder))
        return median([took(command, Path(folder)) for _ in range(repeats)])


def starts(command: list[str], repeats: int) -> tuple[Took, Took]:
    """First start and later ones; a run of carom writes into a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:

        def once(name: str, cache: str) -> Took:
            out = ["--quiet", "--out", f"{folder}/{name}"] if "carom" in command else []
            return took([*command, *out], Path(folder) / cache)

        first = median([once(f"first{k}", f"cache{k}") for k in range(min(repeats, 3))])
        return first, median([once(f"later{k}", "cache0") for k in range(repeats)])


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--json", type=Path, help="write the numbers to this file as well")
    arguments.add_argument("--repeats", type=int, default=5, help="starts of each kind; their median counts")
    arguments.add_argument("--first", action="store_true", help="first runs of larger worlds as well")
    given = arguments.parse_args()
    names = "from carom import Arm, Contact, Newton, Plane, Rod, World, simulate"
    rows = {
        "import jax": several(["-c", "import jax"], given.repeats),
        "import carom": several(["-c", "import carom"], given.repeats),
        "the same, and what a first script asks of it": several(["-c", names], given.repeats),
        "carom --help": several(["-m", "carom", "--help"], given.repeats),
        "carom list": several(["-m", "carom", "list"], given.repeats),
        "carom check ball-drop": several(["-m", "carom", "check", "ball-drop"], given.repeats),
    }
    for name in ("ball-drop", "arm-repeated-impact"):
        for words, options in (("", []), (", numbers only", [NUMBERS])):
            first, later = starts(["-m", "carom", "run", name, *options], given.repeats)
            rows |= {f"carom run {name}{words}, first start": first, f"carom run {name}{words}, later starts": later}
    for name, command in LARGER.items() if given.first else ():
        rows[f"{name}, first run"], rows[f"{name}, later runs"] = starts(command, 1)
    about = machine(["jax", "jaxlib", "numpy", "matplotlib", "h5netcdf"])
    print(about)
    unit = rows["import jax"]
    print(f"{'':62} processor    clock   times import jax, processor")
    for name, (processor, clock) in rows.items():
        print(f"{name:62} {processor:7.2f} s {clock:6.2f} s {processor / unit.processor:7.1f}")
    if given.json:
        seconds = {name: each._asdict() for name, each in rows.items()}
        given.json.write_text(json.dumps({"machine": about, "seconds": seconds}, indent=1) + "\n")


if __name__ == "__main__":
    main()
