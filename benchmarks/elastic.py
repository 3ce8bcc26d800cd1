"""Elastic links: the elastic chain's four mode sets beside SciPy, and the cost of modes and links.

    .venv/bin/python benchmarks/elastic.py [--json FILE] [--quick]

The chain of examples/elastic_chain.py falls for 1.5 s at rtol 1e-8. SciPy's `solve_ivp` is restarted at every touch and
release, with two right-hand sides: carom's own, compiled by jax.jit and called from SciPy, and the same equations in
plain NumPy (plain_chain.py). Times are processor times of the whole process; compile time stands apart. Then the time
per attempted step against the number of modes and of links.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import carom  # before JAX compiles anything: it sets a compiler flag

sys.path.insert(0, str(Path(__file__).parent.parent))

import jax
import jax.numpy as jnp
import numpy as np
from examples.elastic_chain import MODE_SETS, START, link, make_world

from carom.hybrid._flow import derivative
from carom.hybrid._run import compiler_options
from carom.hybrid._run import start as carry_of
from carom.hybrid.scene import Continuous, merge, split
from carom.hybrid.world import scene_of
from plain_chain import LOSS, RESTITUTION, RTOL, STIFFNESS, UNTIL, PlainChain, scipy_run
from timing import Contender, machine, race

ATOL = 1e-11
SIZES = [*((n, 1) for n in range(2, 9)), *((3, n) for n in range(2, 7))]  # links, modes of each


def initial(world) -> tuple[np.ndarray, np.ndarray]:
    m = world.mechanism
    q = m.coordinates(START["angles"], base=START["base"], relative=True, degrees=True)
    return np.asarray(q), np.zeros(m.dof)


def compiled_rates(world):
    """carom's right-hand side: (t, y, closed, approach) -> y', compiled."""
    like = carry_of(world, *(jnp.asarray(x) for x in initial(world)), 1e-3, False)

    def rates(t, y, closed, approach):
        q, v = jnp.split(y, 2)
        state = Continuous(split(world.mechanism, q), split(world.mechanism, v), like.y.extra, ())
        scene = scene_of(world, t, state, like.phases)
        phases, memory = [], []
        for i, contact in enumerate(world.automata):
            # SciPy's side cuts the forces off where they would pull: that is the phase called slack.
            k = contact.touching(scene)
            firm = contact.normal.firmness((approach[i], LOSS), k.indentation, k.rate) > 0.0
            phases.append(jnp.where(closed[i], jnp.where(firm, 1, 2), 0))
            memory.append((approach[i], LOSS, contact.friction.piece_at(k.sliding)))
        out = derivative(world, t, state, tuple(phases), tuple(memory))
        return jnp.concatenate([merge(out.q), merge(out.v)])

    made = jax.jit(rates, compiler_options=compiler_options())
    return lambda t, y, closed, approach: np.asarray(made(0.0, y, closed, approach))  # nothing here depends on time


# -- the runs --------------------------------------------------------------------------------------------------------


def processor_time(call, repeats: int) -> float:
    """Mean of several calls [s]: on a machine that others use too, the clock would count them in."""
    begin = time.process_time()
    for _ in range(repeats):
        call()
    return (time.process_time() - begin) / repeats


def ends_only(world, q, v, until: float, solver: str):
    """Compiled `final_state`, seconds of compiling (processor time)."""
    run = jax.jit(
        lambda w, q, v: carom.final_state(
            w, carom.State(q, v), until, settings=carom.Settings(solver, RTOL, ATOL, ledger=False)
        ),
        compiler_options=compiler_options(),
    )
    begin = time.process_time()
    made = run.lower(world, q, v).compile()
    return made, time.process_time() - begin


def four_sets(quick: bool, report: dict) -> None:
    made, rows = {}, []
    print(f"the four mode sets, {UNTIL} s at rtol {RTOL:g}; seconds and ratios in processor time")
    for name, sets in MODE_SETS.items():
        world = make_world(sets)
        plain = PlainChain(world)
        by_hand = plain.rates
        by_jax = compiled_rates(world)
        check(world, by_hand, by_jax)
        for solver in ("dopri8", "tsit5"):
            if solver not in made:  # numbers are traced: the other sets use what the first one compiled
                made[solver] = ends_only(world, *map(jnp.asarray, initial(world)), UNTIL, solver)
        new = ours(name, world, made)
        # Every contender but carom's on one set; on the others those that were best there.
        slow = not quick and name == next(iter(MODE_SETS))
        for method in ("DOP853", "RK45", "LSODA") if slow else ("DOP853",):
            for label, rates in (("jit", by_jax), ("NumPy", by_hand)):
                if label == "jit" or method == "DOP853":
                    begin = time.process_time()
                    _, found, calls = scipy_run(rates, plain.forward, initial(world), method)
                    spent = time.process_time() - begin
                    new.append((name, f"SciPy {method}, {label}", spent, f"{found} touches, {calls} evaluations"))
        for row in new:
            print(
                f"  {row[0]:9} {row[1]:24} {1e3 * row[2]:9.1f} ms {row[2] / new[0][2]:7.1f} times   {row[3]}",
                flush=True,
            )
        rows += new
    print("  compiled in", ", ".join(f"{s} {t:.1f} s" for s, (_, t) in made.items()), "for all four")
    y, closed, approach = np.concatenate(initial(world)), np.zeros(4, dtype=bool), np.ones(4)
    each = race({
        "jit": Contender(lambda: by_jax(0.0, y, closed, approach)),
        "NumPy": Contender(lambda: by_hand(0.0, y, closed, approach)),
    })  # fmt: skip
    print("  one evaluation from Python:", ", ".join(f"{k} {1e6 * t:.0f} us" for k, t in each.items()))
    report |= {"rows": rows, "evaluation": each, "compile": {s: t for s, (_, t) in made.items()}}


def ours(name: str, world, made: dict) -> list[tuple]:
    """carom's rows: ends only by both solvers, and a recorded run with its ledger."""
    q, v = (jnp.asarray(x) for x in initial(world))
    out = []
    for solver, (run, _) in made.items():
        spent = processor_time(lambda: jax.block_until_ready(run(world, q, v)), 20)  # noqa: B023
        out.append((name, f"carom {solver}, ends only", spent, f"{int(run(world, q, v).steps)} steps"))
    recorded = []
    settings = carom.Settings("dopri8", RTOL, ATOL)
    call = lambda: recorded.append(  # noqa: E731
        carom.simulate(world, world.state(**START), until=UNTIL, settings=settings)
    )
    call()
    spent = processor_time(call, 3)
    touches = sum(e.exit == "touch" for e in recorded[-1].events)
    return [*out, (name, "carom dopri8, recorded", spent, f"{touches} touches")]


def check(world, by_hand, by_jax) -> None:
    """Both right-hand sides are the same equations: at a random state, two joints in contact."""
    rng = np.random.default_rng(0)
    q, v = initial(world)
    q = q + np.concatenate([[0.0, -0.9 - 1e-3], 0.1 * rng.normal(size=3), 1e-2 * rng.normal(size=len(q) - 5)])
    v = rng.normal(size=len(q))
    closed, approach = np.array([True, False, True, True]), np.array([1.0, 2.0, 3.0, 0.5])
    one, two = (f(0.0, np.concatenate([q, v]), closed, approach) for f in (by_hand, by_jax))
    apart = float(np.max(np.abs(one - two)) / np.max(np.abs(two)))
    if not apart < 1e-9:
        raise SystemExit(f"the two right-hand sides differ by {apart:.1e}")


# -- cost of modes and links -----------------------------------------------------------------------------------------


def chain(links: int, modes: int) -> tuple[carom.World, jnp.ndarray, jnp.ndarray]:
    """A free chain of simple-simple beams, a compliant contact at its first and last point, above the floor."""
    bodies = [link("ss", "link", modes, 1.0) for _ in range(links)]
    placed = [carom.Link(b, sites={"O1": (0.0, 0.0)} if k == 0 else {}) for k, b in enumerate(bodies)]
    m = carom.Mechanism(placed, base=carom.Free())
    law, floor = carom.HuGuo(stiffness=STIFFNESS, restitution=RESTITUTION), carom.Plane(height=0.0)
    ends = [carom.Contact(s, floor, law, name=str(i)) for i, s in enumerate((m.site("O1"), m.tip))]
    q = m.coordinates(np.linspace(0.5, -0.5, links), base=(0.0, 0.05))
    return carom.World(m, contacts=ends), q, jnp.zeros(m.dof)


def scaling(quick: bool, report: dict) -> None:
    out = []
    for links, modes in SIZES[:2] if quick else SIZES:
        world, q, v = chain(links, modes)
        run, compiled = ends_only(world, q, v, 0.2, "tsit5")
        end = jax.block_until_ready(run(world, q, v))
        attempts = int(end.steps) + int(end.rejected)
        spent = processor_time(lambda: jax.block_until_ready(run(world, q, v)), 20)  # noqa: B023
        out.append((links, modes, world.mechanism.dof, attempts, 1e6 * spent / attempts, compiled))
        print(
            "  {} links, {} modes, {} dof: {} steps, {:.2f} us per step, compiled in {:.1f} s".format(*out[-1]),
            flush=True,
        )
    report["scaling"] = out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--quick", action="store_true", help="one SciPy method, two sizes")
    args = parser.parse_args()
    jax.config.update("jax_enable_compilation_cache", False)  # compile times are of compiling
    report: dict = {"machine": machine(["jax", "jaxlib", "scipy", "numpy"])}
    print(report["machine"], jax.default_backend())
    four_sets(args.quick, report)
    print("time per attempted step, tsit5, one run on one core")
    scaling(args.quick, report)
    print("load at the end:", machine([])["load"])
    if args.json:
        args.json.write_text(json.dumps(report, indent=1, default=str))


if __name__ == "__main__":
    main()
