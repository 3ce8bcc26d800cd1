"""The arm paper's fifteen strikes: carom beside SciPy and a hand-written C loop, in one run.

    .venv/bin/python benchmarks/engine.py [--json FILE] [--quick]

Contenders are compared at the error of their final state (time, angles and rates at the fifteenth return to y = +1)
against a run of carom at rtol 3e-14. Compile time stands apart. `--lanes 1000 100000` runs batches of these sizes on
whatever JAX runs on.
"""

from __future__ import annotations

import argparse
import json
import math
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
from scipy.integrate import solve_ivp

from timing import machine

EVENTS = 90  # touch, switch, yield, peak, release, switch: six for each of fifteen strikes
ANGLES = np.deg2rad([60.0, 45.0])
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


# -- SciPy: the same equations in plain Python floats, restarted at every event --------------------------------------


def scipy_run(method: str, rtol: float) -> np.ndarray:
    world = make_world()
    law = world.automata[0].normal
    modulus, hard, critical, load = (float(x) for x in law._constants())
    strength, radius = float(law.first.yield_strength), float(law.radius)
    exponent = 0.14 * math.exp(23 * strength / modulus)

    def plastic(d):
        d = max(d, 1e-6 * critical)  # trial steps may look outside the phase
        r = d / critical
        a = math.sqrt(radius * d * (r / 1.9) ** exponent)
        h = strength * (2.84 - 0.92 * (1 - math.cos(math.pi * a / radius)))
        return load * (
            math.exp(-0.25 * r ** (5 / 12)) * r**1.5 + 4 * h / hard * (1 - math.exp(-0.04 * r ** (5 / 9))) * r
        )

    def hertz(d, radius):
        return 4 / 3 * modulus * math.sqrt(radius) * d**1.5 if d > 0 else 0.0

    def rates(y, push, target):
        s1, c1, s2, c2 = math.sin(y[0]), math.cos(y[0]), math.sin(y[1]), math.cos(y[1])
        off, skew = 0.5 * (c1 * c2 + s1 * s2), 0.5 * (s1 * c2 - c1 * s2)
        q1, q2 = -skew * y[3] ** 2, skew * y[2] ** 2
        if target is not None:
            t1, t2 = -100 * y[2] - 600 * (y[0] - target[0]), -100 * y[3] - 300 * (y[1] - target[1])
            q1, q2 = q1 + t1 - t2, q2 + t2
        else:
            n = push(-1 - s1 - s2)
            f = -0.2 * n * math.tanh((-s1 * y[2] - s2 * y[3]) / 0.02)
            q1, q2 = q1 + c1 * n - s1 * f, q2 + c2 * n - s2 * f
        det = 4 / 9 - off * off
        return y[2], y[3], (q1 / 3 - off * q2) / det, (4 / 3 * q2 - off * q1) / det

    def high(y):
        return math.sin(y[0]) + math.sin(y[1])

    def phase(t, y, push, target, guard, rising):
        def event(t, y):
            return guard(y)

        event.terminal, event.direction = True, 1.0 if rising else -1.0
        flow = lambda t, y: rates(y, push, target)  # noqa: E731
        done = solve_ivp(flow, (t, t + 5), y, method=method, rtol=rtol, atol=0.01 * rtol, events=event)
        return done.t[-1], done.y[:, -1]

    down, up = np.deg2rad([-80, -70]), np.deg2rad([80, 70])
    t, y = 0.0, np.array([*ANGLES, 0.0, 0.0])
    for _ in range(15):
        t, y = phase(t, y, None, down, lambda y: high(y) + 1, False)
        t, y = phase(t, y, lambda d: hertz(d, radius), None, lambda y: -1 - high(y) - 1.9 * critical, True)
        climb = lambda y: math.cos(y[0]) * y[2] + math.cos(y[1]) * y[3]  # noqa: E731
        t, y = phase(t, y, plastic, None, climb, True)
        d = -1 - high(y)
        left = 1.02 * d * (1 - ((d / critical + 5.9) / 6.9) ** -0.54)
        wide = (0.75 * plastic(d) / modulus) ** 2 / (d - left) ** 3
        t, y = phase(t, y, lambda d: hertz(d - left, wide), None, lambda y: left + 1 + high(y), True)  # noqa: B023
        t, y = phase(t, y, None, up, lambda y: high(y) - 1, True)
    return np.array([t, *y])


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--quick", action="store_true", help="fewer SciPy methods and repeats")
    parser.add_argument("--lanes", type=int, nargs="*", default=[1000])
    args = parser.parse_args()
    report: dict = {"machine": machine(["jax", "jaxlib", "scipy", "numpy", "diffrax"])}
    print(report["machine"], jax.default_backend())

    reference = final(simulate(solver="dopri8", rtol=3e-14, atol=3e-16))
    rows: list[tuple[str, float, float, str]] = []

    def note(name: str, seconds: float, state: np.ndarray, remark: str) -> None:
        error = float(np.max(np.abs(state - reference)))
        rows.append((name, seconds, error, remark))
        print(f"  {name:34} {1e3 * seconds:10.2f} ms   error {error:8.1e}   {remark}", flush=True)

    print("one run of fifteen strikes, warm")
    for solver, rtol in (("tsit5", 1e-8), ("dopri8", 1e-8), ("dopri8", 1e-7), ("rodas5p", 1e-8)):
        options = {"solver": solver, "rtol": rtol, "atol": 0.01 * rtol}
        result = simulate(**options)
        bare = jax.jit(
            lambda start, o=options: carom.final_state(
                make_world(), start, 100.0, settings=carom.Settings(max_events=EVENTS, ledger=False, **o)
            ),
            compiler_options=carom.hybrid.run.compiler_options(),
        )
        jax.block_until_ready(bare(START))
        seconds = best_of(lambda: jax.block_until_ready(bare(START)), 15)  # noqa: B023
        note(f"carom {solver} {rtol:g}", seconds, final(result), f"{result.statistics.steps} steps; ends only")
        seconds = best_of(lambda: simulate(**options), 5)  # noqa: B023
        compiled = f"compiled in {result.statistics.compile_seconds:.2f} s"
        note(f"carom {solver} {rtol:g}, recorded", seconds, final(result), f"with ledger and all steps; {compiled}")
    default = next(r for r in rows if r[0] == "carom tsit5 1e-08")
    fastest = min((r for r in rows if r[3].endswith("ends only")), key=lambda r: r[1])

    in_c = c_run(1e-8)
    if in_c:
        note("C, by hand, tsit5 1e-08", in_c[0], in_c[2], f"{in_c[1]} steps, gcc -O3 -march=native -ffast-math")
    grid = [("DOP853", (1e-8, 1e-9)), ("LSODA", (1e-9, 1e-10, 1e-11)), ("RK45", (1e-8, 1e-9))]
    for method, tolerances in grid[:1] if args.quick else grid:
        for rtol in tolerances:
            start = time.perf_counter()
            state = scipy_run(method, rtol)
            note(f"SciPy {method} {rtol:g}", time.perf_counter() - start, state, "plain Python right-hand side")
    for ours in (default, fastest):
        equal = [r for r in rows if r[0].startswith("SciPy") and r[2] <= 2 * ours[2]] or rows[-1:]
        best = min(equal, key=lambda r: r[1])
        ratio = report[f"scipy / {ours[0]}"] = best[1] / ours[1]
        print(f"  SciPy's best at the error of {ours[0]} ({best[0]}): {ratio:.0f} times its time (prototype 41)")
        if in_c:
            print(f"  {ours[0]} / C: {ours[1] / in_c[0]:.1f} times (prototype 9)")

    result = simulate()
    touching = np.asarray(result.steps.phases[0]) != 0
    print(f"accepted steps: {int(np.sum(~touching))} in flight, {int(np.sum(touching))} in contact")

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

    where = jax.default_backend().upper()
    for lanes in args.lanes:
        mus = jnp.linspace(0.05, 0.5, lanes)
        call = lambda: carom.batch(make_world, mus, START, until=100.0, settings=FEW)  # noqa: E731, B023
        start = time.perf_counter()
        ends = call()
        jax.block_until_ready(ends.q)
        first = time.perf_counter() - start
        seconds = best_of(lambda: jax.block_until_ready(call().q), 2)  # noqa: B023
        print(f"batch of {lanes} on the {where}: {lanes / seconds:.0f} runs/s (first call {first:.1f} s); {ends}")
        report[f"batch_{lanes}"] = lanes / seconds
    report["rows"] = rows
    if args.json:
        args.json.write_text(json.dumps(report, indent=1, default=str))


if __name__ == "__main__":
    main()
