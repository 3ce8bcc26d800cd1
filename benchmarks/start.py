"""How long `carom run ball-drop` takes in a fresh process, beside `import jax`: the first start, and every later one.

    .venv/bin/python benchmarks/start.py [--json FILE] [--repeats N]

Each start is a new process, timed by the clock on the wall. The first has an empty cache, and compiles; later ones find
the programs on disk. "numbers only" leaves out figures and report.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from timing import machine

RUN = [sys.executable, "-m", "carom", "run", "ball-drop", "--quiet", "--out"]
NUMBERS = "--numbers-only"


def seconds(command: list[str], cache: Path) -> float:
    """Wall time of a process of its own."""
    began = time.perf_counter()
    done = subprocess.run(command, env=os.environ | {"XDG_CACHE_HOME": str(cache)}, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")
    return time.perf_counter() - began


def starts(options: list[str], repeats: int) -> tuple[float, float]:
    """First start, and median of the later ones [s]."""
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder) / "cache"
        first = seconds([*RUN, f"{folder}/first", *options], cache)
        return first, statistics.median(seconds([*RUN, f"{folder}/{k}", *options], cache) for k in range(repeats))


def imports(module: str, repeats: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", f"import {module}"]
        seconds(command, Path(folder))
        return statistics.median(seconds(command, Path(folder)) for _ in range(repeats))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--json", type=Path, help="write the numbers to this file as well")
    arguments.add_argument("--repeats", type=int, default=5, help="starts of each kind; their median counts")
    given = arguments.parse_args()
    unit = imports("jax", given.repeats)
    first, second = starts([], given.repeats)
    first_numbers, second_numbers = starts([NUMBERS], given.repeats)
    rows = {
        "import jax": unit,
        "import carom": imports("carom", given.repeats),
        "carom run ball-drop, first start": first,
        "carom run ball-drop, later starts": second,
        "the same, numbers only, first start": first_numbers,
        "the same, numbers only, later starts": second_numbers,
    }
    about = machine(["jax", "jaxlib", "numpy", "matplotlib", "xarray"])
    print(about)
    for name, value in rows.items():
        print(f"{name:40} {value:7.2f} s {value / unit:7.1f} times import jax")
    if given.json:
        given.json.write_text(json.dumps({"machine": about, "seconds": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
