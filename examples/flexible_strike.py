"""A flexible arm strikes: the arm paper's two links, the second one a beam that bends.

        o---.  link 1: rigid, 1 m, 1 kg                   y = +1   up until here, then down
            |
             \\  link 2: beam clamped in joint 2, 1 m, 1 kg
              )
              *  tip                                       y = -1   the floor

    .venv/bin/python examples/flexible_strike.py

prints what flexibility changes in the first strike, for a compliant law (Hunt and Crossley's) and an impulsive one
(Newton's): a light tip rebounds at once while the rest of the arm goes on, and so one strike is several blows. Beams
of rising stiffness approach the rigid twin. A blow of a millisecond excites modes up to a kilohertz, and more modes
make the tip lighter: compare numbers of modes before trusting a peak force.
"""

from __future__ import annotations

import dataclasses

import jax.numpy as jnp
import numpy as np

import carom
from carom.control import AtHeight

START = (60.0, 45.0)  # [deg], at rest
FLOOR = -1.0  # [m]
STIFFNESS, RESTITUTION = 1e8, 0.8  # of the floor: [N/m^1.5] and at low speed
NEAR = 1e-3  # [m] above the floor the controller turns from down to up
APART = 0.02  # [s] blows nearer than this belong to one strike


def section(stiffer: float = 1.0) -> carom.beam.Section:
    """A steel tube of 1 kg/m, 27 mm across, 1.5 mm thick; or of a stiffer material."""
    return carom.beam.Section(area=1.28e-4, second_moment=1.2e-8, mass_per_length=1.0, youngs_modulus=2.1e11 * stiffer)


def make_arm(modes: int = 3, stiffer: float = 1.0) -> carom.Mechanism:
    """The arm; without modes both links are rigid."""
    rod = carom.Rod(length=1.0, mass=1.0)
    if modes == 0:
        return carom.Arm([rod, rod])
    beam = carom.Beam(1.0, section(stiffer), ("clamped", "free"), modes, theory="euler-bernoulli", damping_ratio=0.005)
    return carom.Arm([rod, beam])


def make_world(arm: carom.Mechanism, law: str = "compliant") -> carom.World:
    """The arm paper's controller; the floor by a compliant or by an impulsive law.

    As in the paper, control and weight are neglected while a blow lasts; between the blows of a strike they act.
    """
    floor = carom.Plane(height=FLOOR)
    if law == "compliant":
        normal = carom.HuntCrossley(stiffness=STIFFNESS, restitution=RESTITUTION)
        contact = carom.Contact(arm.tip, floor, normal=normal, name="tip")
    else:
        contact = carom.Contact(arm.tip, floor, normal=RESTITUTION, name="tip")
    hammer = carom.PostureControl(
        arm,
        targets=np.deg2rad([[-80, -70], [80, 70]]),
        kp=[600, 300],
        kd=[100, 100],
        schedule=[AtHeight(arm.tip, FLOOR + NEAR, rising=False), AtHeight(arm.tip, 1.0)],
        compensate_weight=True,
    )
    return carom.World(arm, contacts=contact, control=hammer, pause_in_impact=law == "compliant")


def run(world: carom.World, until: float = 0.27, rtol: float = 1e-8):
    return carom.simulate(
        world,
        world.state(angles=START, degrees=True),
        until=until,
        settings=carom.Settings(rtol=rtol, atol=1e-2 * rtol),
    )


@dataclasses.dataclass(frozen=True)
class Strike:
    """The blows from the first touch until the tip stays away."""

    blows: int
    peak: float  # [N] largest normal force
    duration: float  # [s] first touch to last release
    impulse: float  # [N s]
    floor: float  # [J] that the floor took
    control: float  # [J] that the actuators took between the blows
    energy: tuple[float, float]  # [J] of the motion, at the first touch and at the last release
    vibration: tuple[float, float]  # [J] of that in the beam
    ledger: float  # [%] largest error


def strike(result) -> Strike:
    """What the first strike did."""
    blows = result.impacts[:1]
    for i in result.impacts[1:]:
        if i.t_start - blows[-1].t_end < APART:
            blows.append(i)
    struck = [e for e in result.events if e.automaton == result.world.automata[0].name and e.t <= blows[-1].t_end]
    m, first, last = result.world.mechanism, struck[0], struck[-1]
    ends = [(jnp.asarray(first.q), jnp.asarray(first.v)), (jnp.asarray(last.q_after), jnp.asarray(last.v_after))]
    begin, end = np.searchsorted(result.marks.t, [first.t, last.t])
    works = zip(result.energy.works, result.marks.before.work, result.marks.after.work, strict=True)
    taken = {name: float(before[begin] - after[end]) for name, before, after in works}
    return Strike(
        blows=len(blows),
        peak=max(i.max_normal_force for i in blows),
        duration=blows[-1].t_end - blows[0].t_start,
        impulse=sum(i.normal_impulse for i in blows),
        floor=taken[result.world.channels[0].name],
        control=taken["control: actuators"],
        energy=tuple(float(carom.dynamics.kinetic_energy(m, q, v)) for q, v in ends),
        vibration=tuple(float(carom.dynamics.vibration_energy(m, q, v)) for q, v in ends),
        ledger=result.energy.max_error_percent,
    )


CASES = {  # law: name: modes, stiffer by
    "compliant": {
        "rigid twin": (0, 1.0),
        "E x 1000": (3, 1000.0),
        "E x 100": (3, 100.0),
        "E x 10": (3, 10.0),
        "steel tube": (3, 1.0),
        "2 modes": (2, 1.0),
        "4 modes": (4, 1.0),
    },
    "impulsive": {"rigid twin": (0, 1.0), "E x 10": (3, 10.0), "steel tube": (3, 1.0)},
}


def main() -> None:
    for law, cases in CASES.items():
        print(
            f"{law:12} {'blows':>5} {'peak':>7} {'lasts':>8} {'impulse':>8} {'floor took':>10} {'control took':>12} "
            f"{'kinetic energy':>18} {'vibration':>16} {'ledger':>8} {'steps':>6}\n"
            f"{'':18} {'[N]':>7} {'[ms]':>8} {'[N s]':>8} {'[J]':>10} {'[J]':>12} {'[J]':>18} {'[J]':>16} {'[%]':>8}"
        )
        for name, (modes, stiffer) in cases.items():
            result = run(make_world(make_arm(modes, stiffer), law))
            s = strike(result)
            print(
                f"{name:12} {s.blows:5} {s.peak:7.0f} {1e3 * s.duration:8.4f} {s.impulse:8.4f} {s.floor:10.4f} "
                f"{s.control:12.4f} {s.energy[0]:7.3f} -> {s.energy[1]:7.3f} {s.vibration[0]:6.3f} -> "
                f"{s.vibration[1]:6.3f} {s.ledger:8.1e} {result.statistics.steps:6}"
            )
        print()


if __name__ == "__main__":
    main()
