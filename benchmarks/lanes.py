"""Batches of the arm paper's fifteen strikes on whatever JAX runs on, and their ends beside the CPU's.

    .venv/bin/python benchmarks/lanes.py [--lanes 1000 10000 100000 1000000] [--compare 1000] [--solver tsit5]

Every lane has its own friction coefficient, hence its own steps and events. carom's times are those of whole calls from
Python, the first of which compiles and is printed apart; the hand-written loop's (arm_in_c.c, compiled as CUDA where
there is nvcc) are those of its kernel alone. The comparison runs the same lanes in a second process that sees only the
CPU.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import carom  # before JAX compiles anything: it sets a compiler flag

sys.path.insert(0, str(Path(__file__).parent.parent))

import jax
import jax.numpy as jnp
import numpy as np
from examples.arm_repeated_impact import make_world

from carom.study._lanes import _KERNELS

EVENTS = 90  # touch, switch, yield, peak, release, switch: six for each of fifteen strikes
START = make_world().state([60.0, 45.0], degrees=True)


def ends_of(lanes: int, solver: str, **options) -> carom.study.batches.Batch:
    mus = jnp.linspace(0.05, 0.5, lanes)
    settings = carom.Settings(solver, max_events=EVENTS, ledger=False)
    ends = carom.batch(make_world, mus, START, until=100.0, settings=settings, **options)
    return jax.block_until_ready(ends)


def by_hand(lanes: list[int]) -> dict[int, float]:
    """Runs per second of the hand-written kernel, for each number of lanes; none without a compiler."""
    compiler = shutil.which("nvcc") if jax.default_backend() == "gpu" else None
    if compiler is None:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "arm"
        source = Path(__file__).parent / "arm_in_c.c"
        subprocess.run([compiler, "-x", "cu", "-arch=native", "-O3", source, "-o", program], check=True)
        called = subprocess.run([program, "1e-8", *map(str, lanes)], check=True, capture_output=True, text=True)
    rows = [line.split() for line in called.stdout.splitlines()]
    for n, seconds, steps in rows:
        print(f"{n:>9} lanes by hand {int(n) / float(seconds):>11,.0f} runs/s; {int(steps) / int(n):.0f} steps")
    return {int(n): int(n) / float(seconds) for n, seconds, _ in rows}


def of_the_kernel() -> str:
    """Registers and operations, where lanes are threads of a kernel."""
    kernels = list(_KERNELS.values())
    if not kernels:
        return "no kernel"
    return f"{kernels[-1].registers} registers, {kernels[-1].source.operations} operations in the program"


def measure(lanes: int, solver: str, hand: dict[int, float], **options) -> None:
    start = time.perf_counter()
    ends = ends_of(lanes, solver, **options)
    first = time.perf_counter() - start
    times = []
    for _ in range(3):
        start = time.perf_counter()
        ends_of(lanes, solver, **options)
        times.append(time.perf_counter() - start)
    longest, mean = int(ends.steps.max()), float(ends.steps.mean())
    rate = lanes / min(times)
    beside = f"; {rate / hand[lanes]:.2f} of the kernel by hand" if lanes in hand else ""
    told = f"first call {first:5.1f} s; {mean:.0f} steps, {longest} longest"
    print(f"{lanes:>9} lanes {rate:>11,.0f} runs/s, {told}{beside}")
    print(f"          {ends}", flush=True)


def compare(lanes: int, solver: str, lockstep: bool) -> None:
    """Ends here, in every form this backend has, against ends of a process that sees only the CPU."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "ends.npz"
        command = [sys.executable, __file__, "--compare", str(lanes), "--solver", solver, "--save-ends", str(file)]
        subprocess.run(command, check=True, env={**os.environ, "JAX_PLATFORMS": "cpu"})
        expected = np.load(file)
    forms = (
        {"as chosen": {}}
        if jax.default_backend() == "cpu"
        else {"one kernel": True} | ({"lockstep": False} if lockstep else {})
    )
    for name, kernel in forms.items():
        ends = ends_of(lanes, solver, **({} if name == "as chosen" else {"one_kernel": kernel}))
        words = []
        for key, unit in (("t", "s"), ("q", "rad"), ("v", "rad/s")):
            there = expected[key]
            worst = float(np.max(np.abs(np.asarray(getattr(ends, key)) - there)))
            words.append(f"{worst:.1e} {unit} of {np.max(np.abs(there)):.3g}")
        print(f"ends of {lanes} lanes, {name}, less the CPU's: at most {', '.join(words)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lanes", type=int, nargs="*", default=[1000])
    parser.add_argument("--compare", type=int, default=1000, metavar="LANES", help="0 compares nothing")
    parser.add_argument("--solver", default="tsit5")
    parser.add_argument("--lockstep", action="store_true", help="compare that form, too (it compiles for a minute)")
    parser.add_argument("--save-ends", type=Path, help="write the ends of --compare lanes to this file, and stop")
    args = parser.parse_args()
    if args.save_ends:
        ends = ends_of(args.compare, args.solver)
        np.savez(args.save_ends, t=ends.t, q=ends.q, v=ends.v)
        return
    print(f"JAX {jax.__version__} on {jax.devices()[0].device_kind}; {args.solver}, rtol 1e-8")
    if args.compare:
        compare(args.compare, args.solver, args.lockstep)
    hand = by_hand(args.lanes)
    for lanes in args.lanes:
        measure(lanes, args.solver, hand)
    print(of_the_kernel())


if __name__ == "__main__":
    main()
