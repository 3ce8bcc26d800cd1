"""A two-link arm strikes a surface fifteen times: the experiment of Akhan, Zhao, Tarnita and Marghitu (2023).

Two uniform links hammer on a steel floor under a PD controller with generalized active forces. Every impact goes
through an elastic, an elasto-plastic and a restitution phase and leaves a dent; control and weight are neglected
meanwhile, as the paper does.

        o---.  link 1               y = +1   up until here, then down
            |
             \\  link 2              y = -1   the floor
              *  tip
"""

import numpy as np

import carom
from carom.control import AtHeight, OnStrike

# What the paper reports of the first impact (Machines 2023, 11, 773), and how to read it off an impact.
PAPER = [
    ("duration", "s", 1.44e-4, lambda i: i.duration),
    ("largest indentation", "m", 3.53e-4, lambda i: i.max_indentation),
    ("residual indentation", "m", 2.84e-4, lambda i: i.residual_indentation),
    ("largest normal force", "N", 2.77e4, lambda i: i.max_normal_force),
    ("tangential velocity before", "m/s", -3.66, lambda i: i.tangential_velocity_before),
    ("tangential velocity after", "m/s", -2.43, lambda i: i.tangential_velocity_after),
    ("normal velocity before", "m/s", -5.54, lambda i: i.normal_velocity_before),
    ("normal velocity after", "m/s", 2.23, lambda i: i.normal_velocity_after),
    ("restitution", "-", 0.40, lambda i: i.restitution),
    ("kinetic energy before, link 1", "J", 2.46, lambda i: i.kinetic_energy_by_link_before[0]),
    ("kinetic energy before, link 2", "J", 13.95, lambda i: i.kinetic_energy_by_link_before[1]),
    ("kinetic energy after, link 1", "J", 4.43, lambda i: i.kinetic_energy_by_link_after[0]),
    ("kinetic energy after, link 2", "J", 6.56, lambda i: i.kinetic_energy_by_link_after[1]),
]


def make_world(mu: float = 0.2) -> carom.World:
    """The paper's arm, floor, material and controller."""
    rod = carom.Rod(length=1.0, mass=1.0)
    arm = carom.Arm([rod, rod])
    steel = carom.Material(youngs_modulus=210e9, poisson_ratio=0.29, yield_strength=1.12e9)
    strike = carom.Contact(
        arm.tip,
        carom.Plane(height=-1.0),
        normal=carom.JacksonGreen(steel, steel, radius=0.005),
        friction=carom.SmoothCoulomb(mu=mu, speed=0.02),
        name="tip",
    )
    hammer = carom.PostureControl(
        arm,
        targets=np.deg2rad([[-80, -70], [80, 70]]),  # down until the tip strikes, up until it is at y = +1
        kp=[600, 300],
        kd=[100, 100],
        schedule=[OnStrike("tip"), AtHeight(arm.tip, 1.0)],
        compensate_weight=True,
    )
    return carom.World(arm, contacts=strike, control=hammer, gravity=9.81, pause_in_impact=True)


def main() -> None:
    world = make_world()
    print(world.mechanism, "\n")
    result = carom.simulate(world, world.state(angles=[60, 45], degrees=True), until=6.0)
    print(result, "\n")

    print(
        f"{'impact':>6} {'t [s]':>10} {'lasts [ms]':>10} {'v before':>9} {'after':>6} [m/s] {'e':>6} "
        f"{'peak [kN]':>9} {'dent [um]':>9} {'lost [J]':>8}"
    )
    for number, i in enumerate(result.impacts, start=1):
        print(
            f"{number:6d} {i.t_start:10.6f} {1e3 * i.duration:10.4f} {i.normal_velocity_before:9.3f} "
            f"{i.normal_velocity_after:6.3f} {'':5} {i.restitution:6.3f} {1e-3 * i.max_normal_force:9.2f} "
            f"{1e6 * i.residual_indentation:9.1f} {i.energy_lost:8.3f}"
        )

    print(f"\n{'first impact':32} {'paper':>10} {'carom':>12} {'difference':>10}")
    for name, unit, paper, read in PAPER:
        value = read(result.impacts[0])
        print(f"{name + ' [' + unit + ']':32} {paper:10.4g} {value:12.6g} {100 * (value / paper - 1):+9.2f} %")

    print(f"\n{result.energy}")


if __name__ == "__main__":
    main()
