"""A ball that hits the floor, and a pendulum."""

import dataclasses
from typing import Any

import carom

G = 9.81
STIFFNESS = 1e7  # [N/m^1.5]
SPEED = 2.0  # [m/s]


def ball() -> carom.Mechanism:
    return carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())


def drop(law: Any, height: float = 0.01, speed: float = SPEED, gravity: float = 0.0, **more: Any) -> Any:
    """A ball that hits the floor with a given speed; without gravity the closed forms are exact."""
    body = ball()
    floor = carom.Contact(body.site("link1.tip"), carom.Plane(height=0.0), law, radius=0.1, name="floor")
    world = carom.World(body, contacts=floor, gravity=gravity)
    start = world.state(rates=more.pop("rates", None), base=(0.0, 0.1 + height), base_velocity=(0.0, -speed))
    fields = [field.name for field in dataclasses.fields(carom.Settings) if field.name in more]
    settings = carom.Settings(**{field: more.pop(field) for field in fields})
    return carom.simulate(world, start, settings=settings, **{"until": 0.02, **more})


def pendulum(**more: Any) -> carom.World:
    arm = carom.Arm([carom.Link(carom.Rod(1.0, 1.0), joint=carom.Joint(**more)) if more else carom.Rod(1.0, 1.0)])
    return carom.World(arm)
