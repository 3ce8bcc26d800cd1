"""The restitution that a compliant law achieves, by simulation."""

from __future__ import annotations

from .. import errors
from .._simulation import simulate
from ..contact import AbstractNormalLaw, Contact, Plane
from ..contact.restitution import LONGEST, refuse_strike
from ..hybrid.settings import Settings
from ..hybrid.world import World
from ..mechanism import Disk, Free, Mechanism
from ..quantities import Real


def simulated_restitution(
    law: AbstractNormalLaw,
    speed: Real = 1.0,
    mass: Real = 1.0,
    *,
    until: float = LONGEST,
    settings: Settings | None = None,
) -> float:
    """That of `achieved_restitution` by `carom.simulate`: a free body strikes a plane after a millisecond, weightless.

    `until` [s] must be longer than the blow; the flight after it costs nothing. Unless `settings` say otherwise,
    `dopri8` integrates at rtol 1e-12, and speeds to 1e-16 of the first one.
    """
    refuse_strike("simulated_restitution", law, speed, mass)
    body = Mechanism([Disk(radius=1.0, mass=mass)], base=Free())
    floor = Contact(body.tip, Plane(height=0.0), law, name="floor")
    if settings is None:
        settings = Settings("dopri8", rtol=1e-12, atol=1e-16 * float(speed), ledger=False)
    start = body.state(base=(0.0, 1e-3 * speed), base_velocity=(0.0, -1.0 * speed))
    world = World(body, contacts=floor, gravity=0.0)
    result = simulate(world, start, until=until, settings=settings, progress=False)
    if result.events[-1].exit != "release":
        raise errors.CaromError(
            f"until of simulated_restitution is {until:g} s, and the blow has not ended by then; it must be longer "
            "than the contact; give a larger one"
        )
    return float(result.v[-1][1]) / float(speed)
