"""The arm paper's whole study: fifteen strikes, sections, the orbit behind them, and its three controllers.

    .venv/bin/python examples/arm_study.py

Akhan, Zhao, Tarnita and Marghitu, Machines 2023, 11, 773. Numbers of the whole motion come out near the paper's but not
equal, at any tolerance; the differences are printed.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))  # also when run as a script

import numpy as np

import carom
from examples.arm_repeated_impact import make_world

# Angles [degrees] and tip velocities [m/s] over the whole motion, as the paper reports them
WHOLE = [
    ("smallest q1", "deg", -43.6),
    ("largest q1", "deg", 39.3),
    ("smallest q2", "deg", -17.6),
    ("largest q2", "deg", 18.2),
    ("largest tip vx, at first", "m/s", 10.81),
    ("smallest tip vx, later", "m/s", -4.01),
    ("largest tip vx, later", "m/s", 6.07),
    ("smallest tip vy", "m/s", -15.43),
    ("largest tip vy", "m/s", 13.71),
]
GAINS = {"kp": [600.0, 300.0], "kd": [100.0, 100.0]}


def whole_motion(result) -> list[float]:
    """The same numbers from a run; angles after the third strike, when the motion has become regular."""
    q, v = result.q, result.v
    vx = -np.sin(q[:, 0]) * v[:, 0] - np.sin(q[:, 1]) * v[:, 1]
    vy = np.cos(q[:, 0]) * v[:, 0] + np.cos(q[:, 1]) * v[:, 1]
    regular = result.t > result.impacts[3].t_start
    angles = np.rad2deg(q[regular])
    return [
        angles[:, 0].min(),
        angles[:, 0].max(),
        angles[:, 1].min(),
        angles[:, 1].max(),
        vx[~regular].max(),
        vx[regular].min(),
        vx[regular].max(),
        vy.min(),
        vy.max(),
    ]


def distinct(points: np.ndarray, apart: float = 1e-3) -> np.ndarray:
    """Points that differ by more than `apart`."""
    found: list[np.ndarray] = []
    for point in points:
        if all(np.max(np.abs(point - other)) > apart for other in found):
            found.append(point)
    return np.array(found)


def controllers(until: float = 3.0) -> dict[str, tuple[carom.study.Response, carom.study.Response]]:
    """Rise time, overshoot and final error of both links, driven down without a floor."""
    arm = carom.Arm([carom.Rod(length=1.0, mass=1.0)] * 2)
    targets = np.deg2rad([-80.0, -70.0])
    kinds = {
        "PD": {},
        "PID": {"ki": [1000.0, 120.0]},
        "Q": {"compensate_weight": True},
    }
    out = {}
    for name, options in kinds.items():
        control = carom.PostureControl(arm, targets, **GAINS, **options)
        world = carom.World(arm, control=control, gravity=9.81)
        result = carom.simulate(world, world.state(angles=[60, 45], degrees=True), until=until)
        out[name] = tuple(carom.study.response(result, f"link{k + 1}", targets[k]) for k in range(2))
    return out


def main() -> None:
    world = make_world()
    result = carom.simulate(world, world.state(angles=[60, 45], degrees=True), until=6.0)
    print(f"{len(result.impacts)} strikes in {result.t[-1]:g} s\n")
    print(f"{'the whole motion':32} {'paper':>8} {'carom':>9} {'difference':>11}")
    for (name, unit, paper), value in zip(WHOLE, whole_motion(result), strict=True):
        print(f"{name + ' [' + unit + ']':32} {paper:8.2f} {value:9.3f} {value - paper:+11.3f}")

    print("\nPoincare sections (q1, q2) [deg]; the paper has four points each")
    for k in range(2):
        section = carom.poincare(result, lambda t, q, v, k=k: v[k])
        for since, apart in ((0.1, 1.0), (4.0, 0.01)):
            points = distinct(np.rad2deg(section.q[section.t > since]), apart)
            listed = ", ".join(f"({a:.2f}, {b:.2f})" for a, b in points)
            print(f"  q{k + 1}' = 0, t > {since:g} s, more than {apart:g} apart: {len(points)} points: {listed}")

    orbit = carom.ReturnMap(result, "tip", "touch").orbit()
    print(f"\n{orbit}")
    strikes = [e for e in result.events if e.exit == "touch"]
    away = [float(np.linalg.norm(np.r_[e.q_after, e.v_after] - np.r_[orbit.q, orbit.v])) for e in strikes[:8]]
    factors = [b / a for a, b in itertools.pairwise(away)]
    print("  successive strikes come nearer by", ", ".join(f"{x:.4f}" for x in factors))

    print("\ncontrollers, driven from (60, 45) to (-80, -70) degrees without a floor")
    for name, each in controllers().items():
        for k, r in enumerate(each):
            print(f"  {name:4} link {k + 1}: {r}")


if __name__ == "__main__":
    main()
