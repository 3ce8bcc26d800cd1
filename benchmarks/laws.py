"""One impact under every law of the catalogue: a batch of carom on the CPU beside a single run of SciPy.

    .venv/bin/python benchmarks/laws.py [--lanes 10000] [--only hertz lugre] [--solvers tsit5 dopri8] [--json FILE]

A disk is thrown obliquely on a floor, a millimetre above it; every lane has its own speed. Normal laws go with
SmoothCoulomb, friction laws with Hertz, impulsive laws with Coulomb.

- carom: `carom.batch` at its default tolerances, warm, on all cores, with the solver of the best ratio; compile time
  stands apart.
- SciPy: `solve_ivp` with events, the law's formula in plain Python floats, restarted at every change of phase; the
  fastest of several methods and tolerances whose velocity after the impact is as exact as carom's. Errors are measured
  against SciPy's tightest run, so that they also say that both compute the same thing.

"ratio" compares what a clock shows, "per core" the processor time of both, which other work on the machine disturbs
less. A law of the catalogue whose formula is not written out here is listed without SciPy's time.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("JAX_ENABLE_COMPILATION_CACHE", "0")  # compile times are of compiling, not of reading

import jax
import numpy as np

import carom
from carom.contact import catalogue
from plain_impact import HEIGHT, blow, scipy_run, thrown
from plain_laws import FRICTION, MASS, RADIUS, normal_of
from timing import machine, table

UNTIL = 0.2  # without gravity: the velocity after the impact lasts, and there is one impact only
PROBES = (0.5, 1.0, 1.5, 2.0)  # speeds at which errors and SciPy's times are measured; lanes lie between
PROMISE = 100.0

DISK = carom.Mechanism([carom.Disk(radius=RADIUS, mass=MASS)], base=carom.Free())
FLOOR = carom.Plane(height=0.0)


# -- carom -----------------------------------------------------------------------------------------------------------


def world_of(kind: str, law: Any) -> carom.World:
    if kind == "impact":
        contact = carom.Contact(DISK.tip, FLOOR, law, carom.Coulomb(0.3, 0.4), radius=RADIUS, name="floor")
        return carom.World(DISK, contacts=contact, gravity=0.0)
    normal, friction = (law, carom.SmoothCoulomb(0.3, 0.02)) if kind == "normal" else (carom.Hertz(1e7), law)
    floor = carom.Contact(DISK.tip, FLOOR, normal, friction, radius=RADIUS, name="floor")
    return carom.World(DISK, contacts=floor, gravity=0.0)


class Ours(NamedTuple):
    compile: float
    per_lane: float  # by the clock
    core: float  # processor time per lane
    velocity: np.ndarray  # at the probes
    steps: float
    solver: str


def ours(kind: str, law: Any, lanes: int, solver: str) -> Ours:
    def make(_: Any) -> carom.World:
        return world_of(kind, law)

    most = 1 if kind == "impact" else None  # SciPy's run ends with the blow as well

    # The probes are the first lanes, so that one compilation serves errors and times.
    speeds = np.concatenate([PROBES, np.linspace(PROBES[0], PROBES[-1], lanes - len(PROBES))])
    x, y, spin = thrown(speeds)
    start = make(None).state(rates=spin[:, None], base=(0.0, HEIGHT), base_velocity=np.stack([x, y], axis=1))
    settings = carom.Settings(solver, max_events=most, ledger=False)

    def run(until: float = UNTIL) -> Any:
        ends = carom.batch(make, speeds, start, until=until, settings=settings)
        return jax.block_until_ready(ends)

    begin = time.perf_counter()
    run(1e-9)  # compiles, and does next to nothing
    first = time.perf_counter() - begin
    best, core, ends = shortest(run, 0.5)
    velocity = np.asarray(ends.v[: len(PROBES)])
    return Ours(first, best / lanes, core / lanes, velocity, float(np.mean(ends.steps)), solver)


def shortest(call: Callable[[], Any], seconds: float = 0.1) -> tuple[float, float, Any]:
    """The shortest of five calls or more, by the clock and in processor time; and what it returns.

    Batches are given longer: sixteen threads are disturbed more often than one.
    """
    times: list[tuple[float, float]] = []
    while len(times) < 5 or sum(t for t, _ in times) < seconds:
        begin = time.perf_counter(), time.process_time()
        end = call()
        times.append((time.perf_counter() - begin[0], time.process_time() - begin[1]))
    return min(t for t, _ in times), min(t for _, t in times), end


# -- SciPy -------------------------------------------------------------------------------------------------------------


METHODS = ("LSODA", "DOP853", "RK45")
TOLERANCES = tuple(10.0**-k for k in range(4, 12))


class Theirs(NamedTuple):
    seconds: float
    core: float
    name: str
    error: float


def timed(run: Callable[[float, str, float], Any], method: str, rtol: float) -> tuple[float, float, np.ndarray]:
    """Mean time of a run over the probes, by the clock and in processor time."""
    each = [shortest(lambda speed=speed: run(speed, method, rtol)) for speed in PROBES]  # type: ignore[misc]
    seconds, core, ends = zip(*each, strict=True)
    return float(np.mean(seconds)), float(np.mean(core)), np.array(ends)


def theirs(run: Callable[[float, str, float], Any], exact: np.ndarray) -> list[Theirs]:
    """Every method at every tolerance."""
    found = []
    for method in METHODS:
        for rtol in TOLERANCES:
            try:
                seconds, core, ends = timed(run, method, rtol)
            except (OverflowError, ValueError, IndexError):  # a trial step far outside, at a loose tolerance
                continue
            found.append(Theirs(seconds, core, f"{method} {rtol:.0e}", float(np.max(np.abs(ends - exact)))))
    return found


def fastest(found: list[Theirs], error: float) -> Theirs:
    """Of those that are as exact."""
    equal = [one for one in found if one.error <= max(error, 1e-12)]
    return min(equal) if equal else Theirs(*[float("nan")] * 2, "none as exact", float("nan"))


def runner(kind: str, law: Any) -> Callable[[float, str, float], Any] | None:
    """SciPy's run of a law as a function of speed, method and tolerance; None where its formula is not here."""
    if kind == "impact":
        return lambda speed, method, rtol: blow(law, speed, method, rtol)
    partners = (law, carom.SmoothCoulomb(0.3, 0.02)) if kind == "normal" else (carom.Hertz(1e7), law)
    meet, friction = normal_of(partners[0]), FRICTION.get(partners[1].card.name)
    if meet is None or friction is None:
        return None
    rub = friction(partners[1])
    return lambda speed, method, rtol: scipy_run(meet, rub, speed, method, rtol)


# -- the run -----------------------------------------------------------------------------------------------------------

HEAD = [
    "kind",
    "law",
    "solver",
    "compile s",
    "steps",
    "us/lane",
    "error m/s",
    "SciPy ms",
    "method",
    "ratio",
    "per core",
    ">= 100",
]


def compared(kind: str, name: str, law: Any, args: argparse.Namespace) -> tuple[list[tuple[str, ...]], dict | None]:
    """Rows of the table for one law, and what is reported of it; nothing is where SciPy has no formula."""
    run = runner(kind, law)
    mine = [ours(kind, law, args.lanes, solver) for solver in args.solvers]
    if run is None:
        rows = [(kind, name, m.solver, f"{m.compile:.1f}", f"{1e6 * m.per_lane:.1f}", *["-"] * 7) for m in mine]
        return rows, None
    exact = np.array([run(speed, "DOP853", 1e-13) for speed in PROBES])
    found = theirs(run, exact)
    errors = [float(np.max(np.abs(m.velocity - exact))) for m in mine]
    pairs = [(m, error, fastest(found, error)) for m, error in zip(mine, errors, strict=True)]
    chosen, error, best = max(pairs, key=lambda p: p[2].seconds / p[0].per_lane)
    ratio = best.seconds / chosen.per_lane
    row = (
        kind,
        name,
        chosen.solver,
        f"{chosen.compile:.1f}",
        f"{chosen.steps:.0f}",
        f"{1e6 * chosen.per_lane:.1f}",
        f"{error:.0e}",
        f"{1e3 * best.seconds:.1f}",
        best.name,
        f"{ratio:.0f}",
        f"{best.core / chosen.core:.0f}",
        "yes" if ratio >= PROMISE else "no",
    )
    return [row], {"carom": chosen._replace(velocity=None)._asdict(), "scipy": best._asdict(), "error": error}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lanes", type=int, default=10_000)
    parser.add_argument("--only", nargs="*", help="names of laws")
    parser.add_argument("--solvers", nargs="*", default=["tsit5", "dopri8", "rodas5p"])
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    print(machine(["jax", "jaxlib", "scipy", "numpy"]), flush=True)
    rows, report = [], {}
    for kind, entries in catalogue.kinds().items():
        for entry in entries:
            name = entry.card.name
            if args.only and name not in args.only:
                continue
            new, about = compared(kind, name, entry.example(), args)
            rows += new
            if about is not None:
                report[name] = about
                print("  ".join(rows[-1]), f"load {os.getloadavg()[0]:.1f}", flush=True)
    print(f"\n{args.lanes} lanes; SciPy: one run, at the same error of the velocity after the impact")
    print(table(HEAD, rows))
    if args.json:
        args.json.write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
