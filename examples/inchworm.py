"""An inchworm of four links crawls: the n-R manipulator paper's case study, and the gait that it is a part of.

            o---o                    l = 0.14 m, mu = 0.4, g = 9.81 m/s^2 as in the paper; m = 1 kg (forces and torques
           /     \\                   scale with it); angles and durations are carom's, the paper's are lost
      #---o       o~    ground       #: the foot that holds,  ~: the foot that slides, joint before it without motor

    .venv/bin/python examples/inchworm.py

prints, for every step of the gait, the torques, the reaction and the tip's velocity, how closely a forward simulation
under these torques follows the motion, and what the paper says where it gives a number.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

import carom
from carom.crawl import Inchworm

LENGTH, MASS, MU, G = 0.14, 1.0, 0.4, 9.81
STATE_1, STATE_2 = [25.0, 15.0, -10.0], [65.0, 10.0, -25.0]  # led angles [deg], from the foot that holds
DURATIONS = [1.0, 1.0, 2.0, 1.0]  # the third step starts near the cone of friction: quicker, and the rear would lift


def last_angle(led: list[float]) -> float:
    """The angle [deg] of the link that closes the loop over level ground."""
    return float(np.rad2deg(np.arcsin(-np.sum(np.sin(np.deg2rad(led))))))


def make_gait(mass: float = MASS, slope: float = 0.0):
    """Flat, state 1, state 2, and back to flat with the other foot holding; state 1 is passed again on the way."""
    worm = Inchworm(LENGTH, mass, links=4, friction=MU, gravity=G, slope=slope)
    passed = [-last_angle(STATE_1), -STATE_1[2], -STATE_1[1]]  # counted from the other foot
    steps = [("front", STATE_1), ("front", STATE_2), ("rear", passed), ("rear", [0.0, 0.0, 0.0])]
    return worm.gait([0.0, 0.0, 0.0], steps, DURATIONS, degrees=True)


def sampled(step, count: int = 201):
    """Times, motion and efforts over a step."""
    times = jnp.linspace(0.0, float(step.duration), count)
    return times, step.plan.over(times)


def follow(step, corrected: bool = False):
    """Forward simulation under the planned torques; its largest distance from the motion [rad] and [rad/s].

    `corrected`: with gains about the motion. The third step needs them: its hump is as unstable as a stick on a finger.
    """
    gains = {"kp": [400.0, 200.0, 100.0, 0.0], "kd": [12.0, 6.0, 3.0, 0.0]} if corrected else {}
    until = float(step.duration)
    world = step.world(**gains)
    result = carom.simulate(
        world, world.state(angles=step.first), until=until, settings=carom.Settings(rtol=1e-10, atol=1e-12)
    )
    times, (motion, _) = sampled(step)
    found = result.at(np.asarray(times))
    return result, float(np.max(np.abs(found.q - motion.q))), float(np.max(np.abs(found.v - motion.v)))


def breaks(step) -> list[float]:
    """Jumps of the largest torque [N m] at the knots between which the acceleration is constant."""
    plan = step.plan
    inner = [(i, plan.knots[i + 1]) for i in range(plan.motion.pieces - 1)]
    return [float(jnp.max(jnp.abs(plan.torques(i + 1, t) - plan.torques(i, t)))) for i, t in inner]


def main() -> None:
    gait = make_gait()
    print(
        "step  holds   T [s]  advance [mm]  tau_1 [N m]      tau_2 [N m]      tau_3 [N m]      reaction [N]    ", end=""
    )
    print("tip [m/s]  follows to [rad]  ledger [%]")
    for k, step in enumerate(gait.steps):
        _, (_, found) = sampled(step)
        result, error, _ = follow(step, corrected=k == 2)
        spans = [f"{np.min(x):6.2f} .. {np.max(x):5.2f}" for x in (*np.asarray(found.torques.T[:3]), found.normal)]
        fastest = float(np.max(np.abs(found.sliding)))
        print(
            f"{k + 1:4}  {step.holds:6} {float(step.duration):6.1f} {1e3 * float(step.advance):13.2f}   "
            f"{'  '.join(spans)} {fastest:10.3f} {error:17.1e} {result.energy.max_error_percent:11.1e}"
        )
    second = gait.steps[1]
    _, (motion, found) = sampled(second)
    state = gait.over(jnp.linspace(0.0, float(gait.period), 401)[:-1])
    grip = np.asarray(state.held)
    print(f"\n{'quantity':58} {'paper':>22} {'carom':>22}")
    rows = [
        ("link length [m], friction, g [m/s^2]", "0.14, 0.4, 9.81", f"{LENGTH}, {MU}, {G}"),
        ("blends [T]", "0.1", f"{float(second.plan.knots[1] / second.duration):.1f}"),
        ("step 2: rates at both ends", "0", f"{float(jnp.max(jnp.abs(motion.v[jnp.asarray([0, -1])]))):.0e}"),
        ("step 2: torque of the last joint [N m]", "0", f"{float(jnp.max(jnp.abs(found.torques[:, 3]))):.0f}"),
        (
            "step 2: torque curves break at [T], by [N m]",
            "blends' ends",
            "0.1, 0.9: " + ", ".join(f"{b:.2f}" for b in breaks(second)),
        ),
        ("step 2: tau_1 at the start, middle, end [N m]", "(figure lost)", _three(found.torques[:, 0])),
        ("step 2: reaction at the start, middle, end [N]", "(figure lost)", _three(found.normal[:, 0])),
        ("step 2: tip velocity, largest [m/s]", "(figure lost)", f"{float(jnp.max(jnp.abs(found.sliding))):.4f}"),
        ("distance per cycle [mm], of a body of [mm]", "-", f"{1e3 * float(gait.distance):.2f}, {4e3 * LENGTH:.0f}"),
        (
            "period [s], mean speed [mm/s]",
            "-",
            f"{float(gait.period):.0f}, {1e3 * float(gait.distance / gait.period):.1f}",
        ),
        (
            "foot that holds: least normal force [N], largest |T / N|",
            "so much friction",
            f"{np.min(grip[:, 1]):.2f}, {np.max(np.abs(grip[:, 0] / grip[:, 1])):.1f}",
        ),
    ]
    for name, paper, own in rows:
        print(f"{name:58} {paper:>22} {own:>22}")


def _three(values) -> str:
    return ", ".join(f"{float(values[k]):.3f}" for k in (0, len(values) // 2, -1))


if __name__ == "__main__":
    main()
