"""Time several ways to do one thing, in one run on one machine, and print them side by side.

Machines differ, and other work disturbs them. So contenders take turns, several rounds long; a contender's time in a
round is the shortest of its repeats there, and the median over the rounds is reported. Only ratios between contenders
of one run mean anything.
"""

from __future__ import annotations

import dataclasses
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any


@dataclasses.dataclass(frozen=True)
class Contender:
    """One call to be timed; it handles `states` states."""

    call: Callable[[], Any]
    states: int = 1


def race(contenders: Mapping[str, Contender], rounds: int = 5, seconds: float = 0.1) -> dict[str, float]:
    """Time per state [s] of every contender: median over the rounds of the shortest repeat.

    Every contender repeats its call for `seconds` in every round, and at least once.
    """
    best: dict[str, list[float]] = {name: [] for name in contenders}
    for contender in contenders.values():
        contender.call()  # caches and allocators settle
    for _ in range(rounds):
        for name, contender in contenders.items():
            best[name].append(_shortest(contender.call, seconds) / contender.states)
    return {name: statistics.median(times) for name, times in best.items()}


def _shortest(call: Callable[[], Any], seconds: float) -> float:
    shortest, end = float("inf"), time.perf_counter() + seconds
    while True:
        start = time.perf_counter()
        call()
        now = time.perf_counter()
        shortest = min(shortest, now - start)
        if now >= end:
            return shortest


def machine(packages: Iterable[str]) -> dict[str, Any]:
    """What ran this: processor, cores that this process may use, load before the run, versions."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        model = names[0] if names else model
    return {
        "processor": model,
        "cores": cores(),
        "load": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "versions": {name: metadata.version(name) for name in packages},
    }


def one_blas_thread() -> None:
    """Start this script again with LAPACK on one thread: on busy cores its threads mostly wait for each other."""
    if "OPENBLAS_NUM_THREADS" not in os.environ:
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "OPENBLAS_NUM_THREADS": "1"})


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def free_memory() -> float:
    """Bytes that may be asked for without pushing anything out; infinite where the system does not say."""
    info = Path("/proc/meminfo")
    lines = info.read_text().splitlines() if info.exists() else []
    sizes = [float(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable")]
    return sizes[0] if sizes else float("inf")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Plain text, columns flush right."""
    lines = [tuple(head), *map(tuple, rows)]
    width = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return "\n".join("  ".join(cell.rjust(w) for cell, w in zip(line, width, strict=True)) for line in lines)


def digits(value: float, scale: float = 1.0) -> str:
    """Three significant digits, never in powers of ten."""
    value *= scale
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
