"""Elastic links: the elastic chain's four mode sets beside SciPy, and the cost of modes and links.

    .venv/bin/python benchmarks/elastic.py [--json FILE] [--quick]

The chain of examples/elastic_chain.py falls for 1.5 s at rtol 1e-8. SciPy's `solve_ivp` is restarted at every touch and
release, with two right-hand sides: carom's own, compiled by jax.jit and called from SciPy, and the same equations in
plain NumPy. Times are processor times of the whole process; compile time stands apart. Then the time per attempted step
against the number of modes and of links.
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
from scipy.integrate import solve_ivp

from carom.hybrid.flow import derivative
from carom.hybrid.run import compiler_options
from carom.hybrid.run import start as carry_of
from carom.hybrid.scene import State, merge, split
from timing import Contender, machine, race

UNTIL, RTOL, ATOL = 1.5, 1e-8, 1e-11
GRAVITY, STIFFNESS, RESTITUTION, MU, SLOW, FAST = 9.81, 1.4e8, 0.8, 0.1, 1e-4, 1e-3  # of examples/elastic_chain.py
LOSS = 1.5 * (1.0 - RESTITUTION) / RESTITUTION
SIZES = [*((n, 1) for n in range(2, 9)), *((3, n) for n in range(2, 7))]  # links, modes of each
AT_FLOOR = 1e-12  # [m] contacts nearer than this touch together


def initial(world) -> tuple[np.ndarray, np.ndarray]:
    m = world.mechanism
    q = m.coordinates(START["angles"], base=START["base"], relative=True, degrees=True)
    return np.asarray(q), np.zeros(m.dof)


# -- two right-hand sides for SciPy ------------------------------------------------------------------------------------


def compiled_rates(world):
    """carom's right-hand side: (t, y, closed, approach) -> y', compiled."""
    like = carry_of(world, *(jnp.asarray(x) for x in initial(world)), 1e-3, False)

    def rates(t, y, closed, approach):
        q, v = jnp.split(y, 2)
        state = State(split(world.mechanism, q), split(world.mechanism, v), like.y.extra, ())
        phases = tuple(jnp.where(closed[i], 1, 0) for i in range(len(like.phases)))
        memory = tuple((approach[i], LOSS) for i in range(len(like.phases)))
        out = derivative(world, t, state, phases, memory)
        return jnp.concatenate([merge(out.q), merge(out.v)])

    made = jax.jit(rates, compiler_options=compiler_options())
    return lambda t, y, closed, approach: np.asarray(made(0.0, y, closed, approach))  # nothing here depends on time


def numpy_rates(world):
    """The same equations in NumPy, from the modal integrals: link by link, z = (velocity of the joint, rate, modes)."""
    m, n, top = world.mechanism, world.mechanism.numbers, world.mechanism.topology
    links, dof = range(top.links), m.dof
    modes = [np.asarray(top.mode_index(k), dtype=int) for k in links]
    angle = [top.angle_index(k) for k in links]
    flex = [jax.tree.map(np.asarray, n.flex[k]) for k in links]
    mass, com, tip = np.asarray(n.mass), np.asarray(n.com), np.asarray(n.tip)
    about = [float(n.inertia[k]) + mass[k] * com[k] @ com[k] for k in links]
    reach = [np.asarray(n.site_reach[m.site(f"{top.names[k]}.tip").index].shape) for k in links]
    g = np.array([0.0, -GRAVITY])

    def forward(q, v):
        """Joints O1, O2, ...: place, Jacobian, Jacobian's rate times v; and every link's rotation."""
        J = np.zeros((2, dof))
        J[0, 0] = J[1, 1] = 1.0
        joints, turns = [(q[:2], J, np.zeros(2))], []
        for k in links:
            c, s = np.cos(q[angle[k]]), np.sin(q[angle[k]])
            R, w = np.array([[c, -s], [s, c]]), v[angle[k]]
            place, J, drift = joints[-1]
            arm, shapes = R @ (tip[k] + reach[k].T @ q[modes[k]]), R @ reach[k].T
            bend = shapes @ v[modes[k]]
            J = J.copy()
            J[:, angle[k]] += (-arm[1], arm[0])
            J[:, modes[k]] += shapes
            joints.append((place + arm, J, drift - w * w * arm + 2.0 * w * np.array([-bend[1], bend[0]])))
            turns.append(R)
        return joints, turns

    def rates(t, y, closed, approach):
        q, v = y[:dof], y[dof:]
        joints, turns = forward(q, v)
        M, right = np.zeros((dof, dof)), np.zeros(dof)
        for k in links:
            f, R, w = flex[k], turns[k], v[angle[k]]
            d, dd = q[modes[k]], v[modes[k]]
            _, Jp, drift = joints[k]
            moment, moving = R @ (mass[k] * com[k] + f.first.T @ d), R @ (f.first.T @ dd)
            bent = f.overlap @ d
            local = np.zeros((3 + len(d), 3 + len(d)))
            local[0, 0] = local[1, 1] = mass[k]
            local[2, :2] = local[:2, 2] = (-moment[1], moment[0])
            local[2, 2] = about[k] + 2.0 * f.along @ d + d @ bent
            local[:2, 3:] = R @ f.first.T
            local[3:, :2] = local[:2, 3:].T
            local[2, 3:] = local[3:, 2] = f.turning + d @ f.twist
            local[3:, 3:] = f.inertia
            J = np.zeros((3 + len(d), dof))
            J[:2] = Jp
            J[2, angle[k]] = 1.0
            J[3 + np.arange(len(d)), modes[k]] = 1.0
            push = np.empty(3 + len(d))
            push[:2] = mass[k] * g + w * w * moment - 2.0 * w * np.array([-moving[1], moving[0]])
            push[2] = moment[0] * g[1] - moment[1] * g[0] - 2.0 * w * (f.along @ dd + dd @ bent)
            push[3:] = (
                f.first @ (R.T @ g) + w * w * (f.along + bent) + 2.0 * w * (f.twist @ dd)
                - f.stiffness @ d - f.damping @ dd
            )  # fmt: skip
            push -= local[:, :2] @ drift
            M += J.T @ local @ J
            right += J.T @ push
        for i, (place, J, _) in enumerate(joints):
            if closed[i] and place[1] < 0.0:
                u = J @ v
                normal = max(STIFFNESS * (-place[1]) ** 1.5 * (1.0 - LOSS * u[1] / approach[i]), 0.0)
                share = min(max((abs(u[0]) - SLOW) / (FAST - SLOW), 0.0), 1.0)
                right += J.T @ np.array([-MU * normal * share * np.sign(u[0]), normal])
        return np.concatenate([v, np.linalg.solve(M, right)])

    return rates, forward


def scipy_run(rates, forward, world, method: str, rtol: float = RTOL, until: float = UNTIL):
    """Restarted at every touch and release; returns state, number of touches, of evaluations."""
    q, v = initial(world)
    dof, t, y = len(q), 0.0, np.concatenate([q, v])
    count = 4
    closed, approach, touches, calls = np.zeros(count, dtype=bool), np.ones(count), 0, 0
    kept: dict = {"t": None}

    def heights(t, y):
        """Of all joints; events of one instant share it."""
        if kept["t"] != t or not np.array_equal(kept["y"], y):
            joints, _ = forward(y[:dof], y[dof:])
            kept.update(t=t, y=y.copy(), h=np.array([place[1] for place, _, _ in joints]), joints=joints)
        return kept["h"]

    def event(i):
        def value(t, y):
            return heights(t, y)[i] if closed[i] else -heights(t, y)[i]

        value.terminal, value.direction = True, 1.0
        return value

    events = [event(i) for i in range(count)]
    while t < until:
        flow = lambda t, y: rates(t, y, closed, approach)  # noqa: E731
        done = solve_ivp(flow, (t, until), y, method=method, rtol=rtol, atol=1e-3 * rtol, events=events)
        t, y, calls = done.t[-1], done.y[:, -1], calls + done.nfev
        if done.status != 1:
            break
        h = heights(t, y)
        fired = [len(times) > 0 for times in done.t_events]
        for i in range(count):
            speed = kept["joints"][i][1][1] @ y[dof:]
            if closed[i] and fired[i]:
                closed[i] = False
            elif not closed[i] and (fired[i] or h[i] < AT_FLOOR) and speed < 0.0:
                closed[i], approach[i], touches = True, -speed, touches + 1
    return y, touches, calls


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
        by_hand, forward = numpy_rates(world)
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
                    _, found, calls = scipy_run(rates, forward, world, method)
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
