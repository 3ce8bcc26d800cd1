"""Batches of the arm paper's fifteen strikes on whatever JAX runs on, and their ends beside the CPU's.

    .venv/bin/python benchmarks/lanes.py [--lanes 1000 10000 100000 1000000] [--compare 1000] [--solver tsit5]

Every lane has its own friction coefficient, hence its own steps and events. The first call compiles and is printed
apart. The comparison runs the same lanes in a second process that sees only the CPU.
"""

from __future__ import annotations

import argparse
import os
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

EVENTS = 90  # touch, switch, yield, peak, release, switch: six for each of fifteen strikes
START = make_world().state([60.0, 45.0], degrees=True)


def ends_of(lanes: int, solver: str, **options) -> carom.study.batches.Batch:
    mus = jnp.linspace(0.05, 0.5, lanes)
    settings = carom.Settings(solver, max_events=EVENTS, ledger=False)
    ends = carom.batch(make_world, mus, START, until=100.0, settings=settings, **options)
    return jax.block_until_ready(ends)


def measure(lanes: int, solver: str, **options) -> None:
    start = time.perf_counter()
    ends = ends_of(lanes, solver, **options)
    first = time.perf_counter() - start
    times = []
    for _ in range(2):
        start = time.perf_counter()
        ends_of(lanes, solver, **options)
        times.append(time.perf_counter() - start)
    longest, mean = int(ends.steps.max()), float(ends.steps.mean())
    rate = lanes / min(times)
    print(f"{lanes:>9} lanes {rate:>11,.0f} runs/s, first call {first:5.1f} s; {mean:.0f} steps, {longest} longest")
    print(f"          {ends}", flush=True)


def compare(lanes: int, solver: str) -> None:
    """Ends here, in every form this backend has, against ends of a process that sees only the CPU."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "ends.npz"
        command = [sys.executable, __file__, "--compare", str(lanes), "--solver", solver, "--save-ends", str(file)]
        subprocess.run(command, check=True, env={**os.environ, "JAX_PLATFORMS": "cpu"})
        expected = np.load(file)
    forms = {"as chosen": {}} if jax.default_backend() == "cpu" else {"lockstep": False, "one kernel": True}
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
    parser.add_argument("--save-ends", type=Path, help="write the ends of --compare lanes to this file, and stop")
    args = parser.parse_args()
    if args.save_ends:
        ends = ends_of(args.compare, args.solver)
        np.savez(args.save_ends, t=ends.t, q=ends.q, v=ends.v)
        return
    print(f"JAX {jax.__version__} on {jax.devices()[0].device_kind}; {args.solver}, rtol 1e-8")
    if args.compare:
        compare(args.compare, args.solver)
    for lanes in args.lanes:
        measure(lanes, args.solver)


if __name__ == "__main__":
    main()
