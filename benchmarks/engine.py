"""The arm paper's fifteen strikes: carom beside heyoka, SciPy and a hand-written C loop, in one run, on a CPU.

    .venv/bin/python benchmarks/engine.py [--json FILE] [--quick] [--lanes 1000] [--heyoka PYTHON]

Contenders are compared at the error of their final state (time, angles and rates at the fifteenth return to y = +1)
against a run of carom at rtol 3e-14. All times are those of the processor, the shortest of many, so that a busy machine
disturbs them little. Compile time stands apart: the first call in this process, with nothing kept on disk (heyoka keeps
its own). Then programs run until they are compiled thoroughly. `--heyoka` names a Python that has heyoka (`pip install
heyoka` into an environment of its own); without one its lines are left out. GPUs: lanes.py.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

os.environ |= {"CAROM_PROGRAMS": "off"}  # what compiling takes is asked for

import carom  # before JAX compiles anything: it sets a compiler flag

sys.path.insert(0, str(Path(__file__).parent.parent))

import jax
import numpy as np
from examples.arm_repeated_impact import make_world

from carom.hybrid import _run as programs
from carom.native._machine_code import LONG
from plain_arm import ANGLES, scipy_run
from timing import cores, machine, table

EVENTS = 90  # touch, switch, yield, peak, release, switch: six for each of fifteen strikes
WORLD = make_world()
START = WORLD.state(ANGLES)
SOLVERS = (("tsit5", 1e-8), ("dopri8", 1e-7), ("dopri8", 1e-8), ("dopri8", 1e-10), ("rodas5p", 1e-8))
HERE = Path(__file__).parent


class Row(NamedTuple):
    """A contender: seconds of a run, steps, final state, seconds of compiling, operations of an attempt's program."""

    name: str
    seconds: float
    steps: int
    state: np.ndarray
    compiling: float = math.nan
    operations: int = 0
    bound: str = ""

    def error(self, reference: np.ndarray) -> float:
        return float(np.max(np.abs(self.state - reference)))


def settings(solver: str, rtol: float, ledger: bool = True) -> carom.Settings:
    return carom.Settings(solver, rtol, 0.01 * rtol, max_events=EVENTS, ledger=ledger)


def final(c) -> np.ndarray:
    return np.array([float(x) for x in (c.t, *c.y.q, *c.y.v)])


def shortest(call: Callable[[], object], repeats: int) -> float:
    """Of several calls, in seconds of the processor."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def operations() -> int:
    """Of the longest program, the loop's, if it is machine code of carom's own."""
    made = [p.layout.operations for p in programs._EXECUTABLES.values() if hasattr(p, "layout")]
    return max(made, default=0)


# -- contenders ------------------------------------------------------------------------------------------------------


def ours() -> list[Row]:
    """carom's solvers: ends only, and recorded with every step and the ledger."""
    rows = []
    for solver, rtol in SOLVERS:
        plain, full = settings(solver, rtol, ledger=False), settings(solver, rtol)
        ends = lambda s=plain: carom.final_state(WORLD, START, 100.0, settings=s)  # noqa: E731
        kept = lambda s=full: carom.simulate(WORLD, START, until=100.0, settings=s)  # noqa: E731
        for what, call in (("ends", ends), ("recorded", kept)):
            programs._EXECUTABLES.clear()
            begin = time.process_time()
            got = call()
            compiling = time.process_time() - begin
            size, end = operations(), got if what == "ends" else got.final
            steps = int(end.steps)
            for _ in range(LONG // steps + 1):  # until it is compiled as thoroughly as it ever is
                call()
            own = "calls from Python" if what == "recorded" else "operations of an attempt"
            seconds = shortest(call, 25)
            rows.append(Row(f"carom {solver} {rtol:g}, {what}", seconds, steps, final(end), compiling, size, own))
    return rows


def in_c(folder: str) -> Path | None:
    """The hand-written loop, compiled; None without a compiler."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        return None
    program = Path(folder) / "arm"
    source = HERE / "arm_in_c.c"
    subprocess.run([compiler, "-O3", "-march=native", "-ffast-math", source, "-lm", "-o", program], check=True)
    return program


def c_rows(program: Path) -> list[Row]:
    rows = []
    for rtol in (1e-8, 1e-9):
        out = subprocess.run([program, str(rtol), "40"], check=True, capture_output=True, text=True).stdout.split()
        state = np.array([float(x) for x in out[2:]])
        rows.append(Row(f"C by hand, tsit5 {rtol:g}", float(out[0]), int(out[1]), state, bound="sines and cosines"))
    return rows


def heyoka_rows(python: str) -> list[Row]:
    """heyoka's integrators, in a Python that has them."""
    done = subprocess.run([python, HERE / "arm_in_heyoka.py", "1e-9", "1e-12"], capture_output=True, text=True)
    if done.returncode:
        print(f"heyoka is left out: {python} says {(done.stderr.strip().splitlines() or ['nothing'])[-1]}")
        return []
    rows = []
    for line in done.stdout.splitlines():
        what, tolerance, compiling, seconds, steps, *state = line.split()
        end = np.array([float(x) for x in state])
        name = f"heyoka {float(tolerance):g}, {what}"
        rows.append(Row(name, float(seconds), int(steps), end, float(compiling), bound="series of each step"))
    return rows


def scipy_rows(quick: bool) -> list[Row]:
    grid = [("DOP853", (1e-8, 1e-9)), ("LSODA", (1e-9, 1e-10, 1e-11)), ("RK45", (1e-8, 1e-9))]
    rows = []
    for method, tolerances in grid[:1] if quick else grid:
        for rtol in tolerances:
            start = time.process_time()
            state = scipy_run(method, rtol)
            seconds = time.process_time() - start
            rows.append(Row(f"SciPy {method} {rtol:g}", seconds, 0, state, bound="Python, stage by stage"))
    return rows


# -- batches ---------------------------------------------------------------------------------------------------------


def batches(sizes: list[int], program: Path | None, single: dict[str, float]) -> list[list[str]]:
    """Runs per second on all cores: of carom, of C, and what the time of a single run would give."""
    lines = []
    for lanes in sizes:
        for solver, rtol in SOLVERS[:2]:
            mus, few = np.linspace(0.05, 0.5, lanes), settings(solver, rtol, ledger=False)
            call = lambda m=mus, s=few: carom.batch(make_world, m, START, until=100.0, settings=s)  # noqa: E731
            start = time.process_time()
            call()
            first, wall = time.process_time() - start, time.perf_counter()
            seconds = shortest(call, 3)
            wall = (time.perf_counter() - wall) / 3
            alone = cores() / single[f"carom {solver} {rtol:g}, ends"]
            rates = (cores() * lanes / seconds, lanes / wall, alone)
            name = f"carom {solver} {rtol:g}, {lanes} lanes"
            lines.append([name, *(f"{rate:.0f}" for rate in rates), f"{max(first - seconds, 0.0):.1f}"])
        if program is not None:
            lines.append(_c_batch(program, lanes, single))
    return lines


def _c_batch(program: Path, lanes: int, single: dict[str, float]) -> list[str]:
    """One process for every core."""
    start = time.perf_counter()
    command = [program, "1e-8", "1", str(-(-lanes // cores()))]
    each = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(cores())]
    seconds = [float(p.communicate()[0].split()[0]) for p in each]
    wall = time.perf_counter() - start
    rates = (cores() * lanes / sum(seconds), lanes / wall, cores() / single["C by hand, tsit5 1e-08"])
    return [f"C by hand, tsit5 1e-08, {lanes} lanes", *(f"{rate:.0f}" for rate in rates), "-"]


# -- what is printed -------------------------------------------------------------------------------------------------


def shown(rows: list[Row], reference: np.ndarray) -> str:
    """All contenders; times also as multiples of C's and of heyoka's."""
    unit = next((r.seconds for r in rows if r.name.startswith("C by hand")), math.nan)
    peer = next((r.seconds for r in rows if r.name.startswith("heyoka")), math.nan)
    lines = [
        [
            r.name,
            f"{1e3 * r.seconds:.2f}",
            *("-" if math.isnan(x) else f"{r.seconds / x:.2f}" for x in (unit, peer)),
            f"{r.error(reference):.1e}",
            str(r.steps or "-"),
            str(r.operations or "-"),
            f"{1e9 * r.seconds / r.steps:.0f}" if r.steps else "-",
            "-" if math.isnan(r.compiling) else f"{r.compiling:.2f}",
            r.bound,
        ]
        for r in rows
    ]
    head = [
        "one run",
        "ms",
        "/ C",
        "/ heyoka",
        "error",
        "attempts",
        "operations",
        "ns/attempt",
        "compile s",
        "bound by",
    ]
    return table(head, lines)


def ratios(rows: list[Row], reference: np.ndarray) -> list[str]:
    """The fastest of each peer whose error is at most twice that of a line of carom's; of heyoka's both kinds."""
    out = []
    for mine in (r for r in rows if r.name.startswith("carom") and "rodas" not in r.name):
        for peer, what in (("heyoka", "ends"), ("heyoka", "recorded"), ("C by hand", ""), ("SciPy", "")):
            limit = 2.0 * mine.error(reference)
            alike = [r for r in rows if r.name.startswith(peer) and r.name.endswith(what)]
            equal = [r for r in alike if r.error(reference) <= limit]
            if equal:
                best = min(equal, key=lambda r: r.seconds)
                out.append(f"  {mine.name} / {best.name}: {mine.seconds / best.seconds:.3g}")
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--quick", action="store_true", help="fewer methods of SciPy's")
    parser.add_argument("--lanes", type=int, nargs="*", default=[1000])
    parser.add_argument("--heyoka", default=sys.executable, help="a Python that has heyoka")
    args = parser.parse_args()
    about = machine(["jax", "jaxlib", "scipy", "numpy", "diffrax", "llvmlite"])
    print(about, jax.default_backend())

    tight = carom.Settings("dopri8", 3e-14, 3e-16, max_events=EVENTS)
    reference = final(carom.simulate(WORLD, START, until=100.0, settings=tight).final)
    with tempfile.TemporaryDirectory() as folder:
        program = in_c(folder)
        rows = [*ours(), *(c_rows(program) if program else []), *heyoka_rows(args.heyoka), *scipy_rows(args.quick)]
        print(shown(rows, reference))
        print("times at equal error (at most twice):", *ratios(rows, reference), sep="\n")
        single = {row.name: row.seconds for row in rows}
        lines = batches(args.lanes, program, single)
    head = ["batch", "runs/s of the processor", "runs/s on the clock", "cores / single", "compile s"]
    print(table(head, lines))
    if args.json:
        kept = [row._asdict() | {"state": row.state.tolist(), "error": row.error(reference)} for row in rows]
        args.json.write_text(json.dumps({"machine": about, "rows": kept, "batches": lines}, indent=1, default=str))


if __name__ == "__main__":
    main()
