"""In which posture should a free-flying arm take hold of a tumbling object, so that its base turns least afterwards?

    .venv/bin/python examples/optimal_capture.py

The object is known from an earlier capture alone: examples/identify_target.py finds its velocity, spin, mass and
inertia from noisy records of the motion after it. With these estimates, not with the truth, the absolute angles of the
arm's two links at the next capture are varied (`carom.optimize`); blow and motion after it are one function of them,
with exact slopes. After the blow the motors of the joints hold the pose, and the base turns with all the rest. What
becomes small is the mean square of its rate over ten seconds. In the end both postures catch the true object in
`carom.simulate`.
"""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import jax.numpy as jnp
import numpy as np

import carom
from examples.identify_target import UNKNOWN, captured, identify, random_case

UNTIL = 10.0  # [s] of free flight after the capture
SPIN = "mean(arm.base0.rate * arm.base0.rate)"
REACH = 1.0  # [rad] by which each link may turn from where it was
LINKS = ("link1", "link2")
FINE = carom.Settings(rtol=1e-9, atol=1e-11)


@dataclasses.dataclass(frozen=True)
class Posture:
    """Mean-square spin of the base [rad^2/s^2] after a capture with these angles [rad] of the links."""

    angles: tuple[float, float]
    estimated: float  # with the object as it was identified
    true: float


@dataclasses.dataclass(frozen=True)
class Study:
    """What was identified, and both postures."""

    truth: dict[str, float]
    estimate: dict[str, float]
    first: Posture
    best: Posture
    optimum: carom.Optimum


def after(target: Any, sight: Any, angles: Any) -> tuple[carom.World, carom.State]:
    """Arm and object after the capture: motors of the joints hold the pose, and nothing holds the base."""
    pose = sight | {"angles": jnp.stack([jnp.asarray(sight["angles"])[0], *angles])}
    held = carom.after_capture(captured(target, pose))
    hold = carom.HoldPose(held.mechanism, held.q, kp=1.0, damping_ratio=1.0, base="free-floating")
    return carom.World(held.mechanism, control=hold, gravity=0.0), held.state


def spin_of(target: Any, sight: Any, angles: Any) -> float:
    """Mean square of the base's rate by a run of its own."""
    world, start = after(target, sight, [jnp.asarray(float(a)) for a in angles])
    run = carom.simulate(world, start, until=UNTIL, settings=FINE)
    times = np.linspace(0.0, UNTIL, 4001)
    return float(np.trapezoid(run.signal("arm.base0.rate", times) ** 2, times) / UNTIL)


def study(seed: int = 7) -> Study:
    """Identify, optimise with what was identified, and catch the true object."""
    rng = np.random.default_rng(seed)
    truth, sight = random_case(rng)
    found = identify(truth, sight, rng)
    estimate = {name: float(found.parameters[name]) for name in UNKNOWN}
    begin = dict(zip(LINKS, (float(a) for a in sight["angles"][1:]), strict=True))

    def make(p: Any) -> tuple[carom.World, carom.State]:
        return after(estimate, sight, [p[name] for name in LINKS])

    bounds = {name: (angle - REACH, angle + REACH) for name, angle in begin.items()}
    optimum = carom.optimize(make, begin, SPIN, until=UNTIL, bounds=bounds, settings=FINE)
    first, best = tuple(begin.values()), tuple(optimum.parameters[name] for name in LINKS)
    return Study(
        truth,
        estimate,
        Posture(first, optimum.first_cost, spin_of(truth, sight, first)),
        Posture(best, optimum.cost, spin_of(truth, sight, best)),
        optimum,
    )


def main() -> None:
    done = study()
    print(f"{'':12} {'true':>12} {'identified':>12}")
    for name in UNKNOWN:
        print(f"{name:12} {done.truth[name]:12.6g} {done.estimate[name]:12.6g}")
    print(f"\n{done.optimum}\n")
    print(f"{'posture':12} {'link 1 [rad]':>12} {'link 2 [rad]':>12} {'rms spin of the base [rad/s]':>30}")
    for name, posture in (("as it was", done.first), ("optimised", done.best)):
        spins = f"{np.sqrt(posture.estimated):.6f} expected, {np.sqrt(posture.true):.6f} with the true object"
        print(f"{name:12} {posture.angles[0]:12.4f} {posture.angles[1]:12.4f} {spins}")


if __name__ == "__main__":
    main()
