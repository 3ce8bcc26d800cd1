"""Worlds of one's own that start.py runs for the first time: `python benchmarks/first_worlds.py NAME`."""

from __future__ import annotations

import sys

import carom


def hopper() -> tuple[carom.World, carom.State, float]:
    """Thigh, shank and foot in the air; toe and heel of the foot have friction, springs hold the joints."""
    rod = carom.Rod(length=0.3, mass=1.0)
    leg = [
        carom.Link(rod, name="thigh"),
        carom.Link(rod, name="shank", joint=carom.Joint(stiffness=60.0, damping=0.6, rest=-1.2)),
        carom.Link(
            carom.Rod(length=0.2, mass=0.4),
            name="foot",
            joint=carom.Joint(stiffness=40.0, damping=0.4, rest=1.7),
            sites={"heel": (0.0, 0.0)},
        ),
    ]
    robot = carom.Mechanism(leg, base=carom.Free())
    floor, rubs = carom.Plane(height=0.0), carom.Coulomb(0.6)
    contacts = [
        carom.Contact(robot.site(site), floor, carom.Newton(restitution=0.0), rubs, name=site)
        for site in ("foot.tip", "heel")
    ]
    world = carom.World(robot, contacts)
    return world, world.state(angles=[-1.2, -2.4, -0.1], base=(0.0, 0.8)), 1.0


def four_feet() -> tuple[carom.World, carom.State, float]:
    """A table on four rigid feet with friction, thrown onto a floor."""
    at = {f"foot{k}": (x, -0.2) for k, x in enumerate((-0.5, -0.2, 0.2, 0.5))}
    table = carom.Link(carom.Body(mass=2.0, inertia=0.2), name="table", sites=at)
    robot = carom.Mechanism([table], base=carom.Free())
    floor, rubs = carom.Plane(height=0.0), carom.Coulomb(0.4)
    contacts = [carom.Contact(robot.site(foot), floor, carom.Newton(restitution=0.3), rubs, name=foot) for foot in at]
    world = carom.World(robot, contacts)
    return world, world.state(angles=[0.2], base=(0.0, 0.6), base_velocity=(0.5, 0.0)), 1.0


if __name__ == "__main__":
    world, start, until = {"hopper": hopper, "four-feet": four_feet}[sys.argv[1]]()
    print(carom.simulate(world, start, until=until))
