"""The arm paper's fifteen strikes: carom beside SciPy and a hand-written C loop, in one run.

    .venv/bin/python benchmarks/engine.py [--json FILE] [--quick]

Contenders are compared at the error of their final state (time, angles and rates at the fifteenth return to y = +1)
against a run of carom at rtol 3e-14. Compile time stands apart. `--lanes 1000 100000` runs batches of these sizes on
whatever JAX runs on.
"""

from __future__ import annotations

import argparse
import json
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

from plain_arm import ANGLES, scipy_run
from timing import machine

EVENTS = 90  # touch, switch, yield, peak, release, switch: six for each of fifteen strikes
START = make_world().state(ANGLES)
FEW = carom.Settings(max_events=EVENTS, ledger=False)


def final(result) -> np.ndarray:
    c = result.final
    return np.array([c.t, *c.y.q, *c.y.v])


def simulate(**options):
    return carom.simulate(make_world(), START, until=100.0, settings=carom.Settings(max_events=EVENTS, **options))


def best_of(call, repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


# -- C ---------------------------------------------------------------------------------------------------------------


def c_run(rtol: float) -> tuple[float, int, np.ndarray] | None:
    """Seconds, steps and final state of the hand-written loop; None without a compiler."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        program, source = Path(folder) / "arm", Path(__file__).parent / "arm_in_c.c"
        subprocess.run([compiler, "-O3", "-march=native", "-ffast-math", source, "-lm", "-o", program], check=True)
        out = subprocess.run([program, str(rtol), "30"], check=True, capture_output=True, text=True).stdout.split()
    return float(out[0]), int(out[1]), np.array([float(x) for x in out[2:]])


# -- starts ----------------------------------------------------------------------------------------------------------

FRESH = """
import time; a = time.perf_counter()
import sys; sys.path.insert(0, {root!r})
from examples.arm_repeated_impact import make_world
import carom; b = time.perf_counter()
w = make_world(); carom.simulate(w, w.state([60, 45], degrees=True), until=6.0); c = time.perf_counter()
print(b - a, c - b)
"""


def fresh_process(cache: str) -> tuple[float, float]:
    """Seconds of import and of the first run in a new process with that compilation cache."""
    root = str(Path(__file__).parent.parent)
    run = subprocess.run(
        [sys.executable, "-c", FRESH.format(root=root)],
        check=True,
        capture_output=True,
        text=True,
        env={**__import__("os").environ, "JAX_COMPILATION_CACHE_DIR": cache},
    )
    a, b = run.stdout.split()
    return float(a), float(b)


def eight_with_four_contacts() -> carom.World:
    """Six links on a free base, with four compliant contacts: 8 degrees of freedom."""
    chain = carom.Mechanism([carom.Rod(length=0.3, mass=0.5)] * 6, base=carom.Free())
    law = carom.HuntCrossley(stiffness=1e6, restitution=0.7)
    floor = carom.Plane(height=-2.0)
    contacts = [
        carom.Contact(chain.site(f"link{k}.tip"), floor, law, carom.SmoothCoulomb(mu=0.3, speed=0.01))
        for k in (1, 3, 5, 6)
    ]
    return carom.World(chain, contacts=contacts)


# -- the run ---------------------------------------------------------------------------------------------------------


class Rows:
    """Contenders as they come: name, seconds, error of the final state against the reference, remark."""

    def __init__(self, reference: np.ndarray) -> None:
        self.reference = reference
        self.rows: list[tuple[str, float, float, str]] = []

    def note(self, name: str, seconds: float, state: np.ndarray, remark: str) -> None:
        error = float(np.max(np.abs(state - self.reference)))
        self.rows.append((name, seconds, error, remark))
        print(f"  {name:34} {1e3 * seconds:10.2f} ms   error {error:8.1e}   {remark}", flush=True)


def ours(table: Rows) -> None:
    """carom's solvers, ends only and recorded."""
    for solver, rtol in (("tsit5", 1e-8), ("dopri8", 1e-8), ("dopri8", 1e-7), ("rodas5p", 1e-8)):
        options = {"solver": solver, "rtol": rtol, "atol": 0.01 * rtol}
        result = simulate(**options)
        bare = jax.jit(
            lambda start, o=options: carom.final_state(
                make_world(), start, 100.0, settings=carom.Settings(max_events=EVENTS, ledger=False, **o)
            ),
            compiler_options=carom.hybrid._run.compiler_options(),
        )
        jax.block_until_ready(bare(START))
        seconds = best_of(lambda: jax.block_until_ready(bare(START)), 15)  # noqa: B023
        table.note(f"carom {solver} {rtol:g}", seconds, final(result), f"{result.statistics.steps} steps; ends only")
        seconds = best_of(lambda: simulate(**options), 5)  # noqa: B023
        compiled = f"compiled in {result.statistics.compile_seconds:.2f} s"
        remark = f"with ledger and all steps; {compiled}"
        table.note(f"carom {solver} {rtol:g}, recorded", seconds, final(result), remark)


def others(table: Rows, quick: bool) -> float | None:
    """C and SciPy; returns the seconds of C, None without a compiler."""
    in_c = c_run(1e-8)
    if in_c:
        table.note("C, by hand, tsit5 1e-08", in_c[0], in_c[2], f"{in_c[1]} steps, gcc -O3 -march=native -ffast-math")
    grid = [("DOP853", (1e-8, 1e-9)), ("LSODA", (1e-9, 1e-10, 1e-11)), ("RK45", (1e-8, 1e-9))]
    for method, tolerances in grid[:1] if quick else grid:
        for rtol in tolerances:
            start = time.perf_counter()
            state = scipy_run(method, rtol)
            table.note(f"SciPy {method} {rtol:g}", time.perf_counter() - start, state, "plain Python right-hand side")
    return in_c[0] if in_c else None


def ratios(rows: list[tuple[str, float, float, str]], c_seconds: float | None, report: dict) -> None:
    """SciPy's best at equal error, and C, over carom's default and over its fastest."""
    default = next(r for r in rows if r[0] == "carom tsit5 1e-08")
    fastest = min((r for r in rows if r[3].endswith("ends only")), key=lambda r: r[1])
    for mine in (default, fastest):
        equal = [r for r in rows if r[0].startswith("SciPy") and r[2] <= 2 * mine[2]] or rows[-1:]
        best = min(equal, key=lambda r: r[1])
        ratio = report[f"scipy / {mine[0]}"] = best[1] / mine[1]
        print(f"  SciPy's best at the error of {mine[0]} ({best[0]}): {ratio:.0f} times its time (prototype 41)")
        if c_seconds:
            print(f"  {mine[0]} / C: {mine[1] / c_seconds:.1f} times (prototype 9)")


def starts(report: dict) -> None:
    """Fresh processes, and what a larger world takes to compile."""
    print("starts, in fresh processes: import and first run [s]")
    with tempfile.TemporaryDirectory() as cache:
        for name in ("first", "second"):
            a, b = fresh_process(cache)
            print(f"  {name:6} {a:6.2f} {b:6.2f}")
            report[f"{name}_start"] = (a, b)
    world = eight_with_four_contacts()
    result = carom.simulate(world, world.state(angles=np.linspace(0.1, 0.6, 6), base=(0.0, 0.0)), until=0.7)
    print(f"8 degrees of freedom, four contacts: {result}")
    report["eight"] = result.statistics._asdict()


def batches(sizes: list[int], report: dict) -> None:
    where = jax.default_backend().upper()
    for lanes in sizes:
        mus = jnp.linspace(0.05, 0.5, lanes)
        call = lambda: carom.batch(make_world, mus, START, until=100.0, settings=FEW)  # noqa: E731, B023
        start = time.perf_counter()
        ends = call()
        jax.block_until_ready(ends.q)
        first = time.perf_counter() - start
        seconds = best_of(lambda: jax.block_until_ready(call().q), 2)  # noqa: B023
        print(f"batch of {lanes} on the {where}: {lanes / seconds:.0f} runs/s (first call {first:.1f} s); {ends}")
        report[f"batch_{lanes}"] = lanes / seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--quick", action="store_true", help="fewer SciPy methods and repeats")
    parser.add_argument("--lanes", type=int, nargs="*", default=[1000])
    args = parser.parse_args()
    report: dict = {"machine": machine(["jax", "jaxlib", "scipy", "numpy", "diffrax"])}
    print(report["machine"], jax.default_backend())

    table = Rows(final(simulate(solver="dopri8", rtol=3e-14, atol=3e-16)))
    print("one run of fifteen strikes, warm")
    ours(table)
    ratios(table.rows, others(table, args.quick), report)

    result = simulate()
    touching = np.asarray(result.steps.phases[0]) != 0
    print(f"accepted steps: {int(np.sum(~touching))} in flight, {int(np.sum(touching))} in contact")
    starts(report)
    batches(args.lanes, report)
    report["rows"] = table.rows
    if args.json:
        args.json.write_text(json.dumps(report, indent=1, default=str))


if __name__ == "__main__":
    main()
