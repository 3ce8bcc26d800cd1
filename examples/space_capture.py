"""A free-floating arm captures a disk: the space-capture thesis's two simulations.

             (1, 8) O    object: disk, 15 kg, r = 1 m; simulation 1 moves by (-1, 0) m/s, simulation 2 by (0, -1)
             (1, 7) x    contact point, on the disk's rim at gamma = 0.5 rad
                    |    link 2: 3 m, 10 kg
                    o
                    |    link 1: 2 m, 10 kg
             (1, 2) B    base: disk, 100 kg, r = 1 m; joint 1 at its centre; everything but the object at rest

    .venv/bin/python examples/space_capture.py

prints the velocities, momenta and energies after three captures and by the thesis's formula, then the free motion and
the controlled motion after the capture. The thesis prints no velocities, only figures: the column of its formula is
what its equations (4.9) to (4.11) give for its tables.
"""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

import carom
from carom.captures import comparison, efforts_at, peak_efforts

GAMMA = 0.5
HAND, GRIP = "arm.link2.tip", "target.grip"
APPROACH = {1: (-1.0, 0.0), 2: (0.0, -1.0)}  # [m/s] of the object
# The exact answers for simulation 1: rates of (x, y, theta_0, q1, q2), relative angles, and of the object, times 391
POINT_ARM, POINT_OBJECT = (-1.0, 0.0, 0.0, -63.0 / 2.0, 269.0 / 2.0), (-343.0, 0.0, 96.0)


@dataclasses.dataclass(frozen=True)
class Meeting:
    """Arm and object as they touch."""

    mechanism: carom.Mechanism
    state: carom.State


def make_arm(links=None) -> carom.Mechanism:
    rods = links or [carom.Rod(length=2.0, mass=10.0), carom.Rod(length=3.0, mass=10.0)]
    placed = [carom.Link(rod, name=f"link{k + 1}") for k, rod in enumerate(rods)]
    return carom.Mechanism([carom.Link(carom.Disk(radius=1.0, mass=100.0), name="base0"), *placed], base=carom.Free())


def make_target(mass: float = 15.0, radius: float = 1.0) -> carom.Mechanism:
    rim = (radius * np.cos(GAMMA), radius * np.sin(GAMMA))
    disk = carom.Link(carom.Disk(radius=radius, mass=mass), name="object", sites={"grip": rim})
    return carom.Mechanism([disk], base=carom.Free())


def meeting(simulation: int, links=None) -> Meeting:
    both = carom.side_by_side(arm=make_arm(links), target=make_target())
    up = np.pi / 2
    angles = [up, up, up, up + np.pi - GAMMA]
    bases = {"base": [(1.0, 2.0), (1.0, 8.0)], "base_velocity": [(0.0, 0.0), APPROACH[simulation]]}
    return Meeting(both, both.state(angles, **bases))


def captures(simulation: int, **options) -> dict[str, carom.Capture]:
    m = meeting(simulation)
    given = (m.mechanism, HAND, GRIP, m.state)
    found = {kind: carom.capture(*given, kind=kind, **options) for kind in ("point", "weld", "point-then-weld")}
    return found | {"thesis formula": carom.capture_by_pseudo_inverse(*given)}


def free_motion(found: carom.Capture, until: float = 10.0):
    after = carom.after_capture(found)
    world = carom.World(after.mechanism, gravity=0.0)
    settings = carom.Settings("dopri8", rtol=1e-13, atol=1e-14)
    return carom.simulate(world, after.state, until=until, settings=settings)


def controlled(found: carom.Capture, damping_ratio: float, until: float = 10.0):
    """The thesis's control: back to the pose of the capture, Kp = 1, Kd = 2 xi."""
    after = carom.after_capture(found)
    control = carom.HoldPose(after.mechanism, after.q, kp=1.0, damping_ratio=damping_ratio)
    world = carom.World(after.mechanism, control=control, gravity=0.0)
    settings = carom.Settings("dopri8", rtol=1e-12, atol=1e-13)
    return carom.simulate(world, after.state, until=until, settings=settings), control


def closed_form(rates: np.ndarray, damping_ratio: float, t: np.ndarray) -> np.ndarray:
    """e'' + 2 xi e' + e = 0 from e = 0 with these rates; a row per time."""
    if damping_ratio == 1.0:
        return np.outer(t * np.exp(-t), rates)
    fast = np.sqrt(1.0 - damping_ratio**2)
    return np.outer(np.exp(-damping_ratio * t) * np.sin(fast * t) / fast, rates)


def control_error(result, damping_ratio: float) -> float:
    """Largest distance [m or rad] of a controlled coordinate from the closed form."""
    m, t = result.world.mechanism, np.linspace(0.0, float(result.t[-1]), 2001)
    p = np.asarray(jax.vmap(m.to_relative)(result.at(t).q))
    rates = np.asarray(m.to_relative(jnp.asarray(result.v[0])))
    return float(np.max(np.abs(p - p[0] - closed_form(rates, damping_ratio, t))))


def base_axes_peaks(result, control) -> np.ndarray:
    """Largest F_x, F_y in the base's axes, as the thesis counts them."""
    t = np.linspace(0.0, float(result.t[-1]), 2001)
    turned = np.asarray(result.at(t).q)[:, result.world.mechanism.topology.angle_index(0)]
    f = efforts_at(result, control, t)[:, :2]
    along = np.cos(turned) * f[:, 0] + np.sin(turned) * f[:, 1]
    across = -np.sin(turned) * f[:, 0] + np.cos(turned) * f[:, 1]
    return np.max(np.abs(np.stack([along, across])), axis=1)


def momentum_share(found: carom.Capture) -> float:
    """Momentum that is missing, per cent of the object's before."""
    return 100.0 * float(np.max(np.abs(found.momentum_change[:2]))) / 15.0


def main() -> None:
    for simulation in APPROACH:
        found = captures(simulation)
        print(f"Simulation {simulation}: object at {APPROACH[simulation]} m/s\n")
        print(comparison(found))
        print(f"\n  the thesis's formula loses {momentum_share(found['thesis formula']):.1f} % of the momentum")
        if simulation == 1:
            arm = np.asarray(found["point"].mechanism.to_relative(found["point"].after))[[0, 1, 4, 5, 6]]
            object_ = np.asarray(found["point"].after)[[2, 3, 7]]
            off = max(np.max(np.abs(391 * arm - POINT_ARM)), np.max(np.abs(391 * object_ - POINT_OBJECT)))
            print(f"  exact point capture, (-1, 0, 0, -63/2, 269/2, -343, 0, 96)/391: off by {off / 391:.1e}")
        lost = [float(stage.energy_lost) for stage in found["point-then-weld"].stages]
        print(f"  point, then weld: {lost[0]:.6f} J are lost as the points meet, {lost[1]:.6f} J as rotation locks\n")
        for kind in ("point", "weld"):
            run = free_motion(found[kind])
            m = run.momentum
            print(
                f"  10 s of free motion after '{kind}': momentum drifts by {m.linear_drift:.1e} kg m/s and "
                f"{m.angular_drift:.1e} kg m^2/s, base attitude by {np.ptp(run.q[:, 2]):.1e} rad"
            )
        for xi in (1.0, 0.5):
            run, control = controlled(found["weld"], xi)
            forces = base_axes_peaks(run, control)
            peaks = ", ".join(f"{k} {v:.3f}" for k, v in peak_efforts(run, control).items() if v > 1e-9)
            print(
                f"  control, xi = {xi:g}: off the closed form by {control_error(run, xi):.1e}; largest efforts: F_x "
                f"{forces[0]:.3f} N, F_y {forces[1]:.3f} N in base axes; {peaks}"
            )
        print()


if __name__ == "__main__":
    main()
