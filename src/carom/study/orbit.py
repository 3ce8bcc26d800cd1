"""Periodic motion: the map from one event to the next of its kind, its fixed points, and their stability.

The state at an event is everything that the future depends on: coordinates, velocities, the automata's own states and
memories. The map P runs from just after one event (a strike, a switch of the controller) to just after the next one of
that kind (return_map.py). Newton's method on x - P(x), with exact derivatives through everything in between, finds its
fixed points (_fixed_point.py); the eigenvalues of dP/dx are their multipliers. One of them is zero, because the event
itself fixes one combination of the state, and further ones for memories.
"""

from __future__ import annotations

from collections.abc import Mapping

import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from .. import errors
from .._arguments import DriftsLike, StartLike
from .._simulation import simulate
from ..hybrid.settings import Settings
from ..hybrid.world import World
from ..mechanism import State
from ..quantities import Function
from ._fixed_point import Orbit as Orbit
from ._map_events import event_of
from .batches import batch
from .poincare_section import Section
from .recording import Returns
from .return_map import ReturnMap as ReturnMap

LONGER = 10.0  # times the run from the guess: a return that takes longer is none


def find_orbit(
    world: World,
    event: tuple[str, str],
    start: State,
    *,
    until: float,
    drifts: DriftsLike = (),
    exchange: Mapping[str, str] | None = None,
    times: int = 1,
    settings: Settings | None = None,
) -> Orbit:
    """Run from a rough guess until `until` [s], then find the periodic motion through the event by Newton's method.

    - `event`: (automaton, exit), such as ('hand', 'touch')
    - `drifts`: coordinates of what moves on, ["base.x"]: they may shift by a constant in every period; `orbit.drift`
      says by how much. Where the shift is known, it is part of the question: {"angle": 2 * pi}, of an extra state
    - `exchange`: names that change after a return. {"left": "right", "left foot": "right foot"} makes one step of a
      walker a period: legs, feet, and the phases of its controller under each other's names. Only what is alike can be
      exchanged; the world is tried before anything is solved
    - `times`: so many returns are one period
    - `settings` are those of the run from the guess and of the return map; without them the run has the defaults of
      every run, the map those of `ReturnMap`

    A ball that loses nothing comes back after 2 v / g, whatever its speed v; so it is neutral, not stable:

    >>> import carom
    >>> ball = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
    >>> floor = carom.Contact(ball.tip, carom.Plane(height=0.0), carom.Newton(1.0), radius=0.1, name="floor")
    >>> world = carom.World(ball, contacts=floor, gravity=9.81)
    >>> orbit = carom.find_orbit(world, ("rigid contacts", "strike floor"), world.state(base=(0.0, 1.1)), until=2.0)
    >>> print(round(9.81 * orbit.period / (2 * orbit.v[1]), 9), round(abs(orbit.multipliers[0]), 6), orbit.stable)
    1.0 1.0 False
    """
    named = event_of(event)
    result = simulate(world, start, until=until, settings=settings)
    found = ReturnMap(
        result, *named, until=LONGER * until, settings=settings, drifts=drifts, exchange=exchange, times=times
    )
    return found.orbit()


def bifurcation(
    make: Function,
    values: PyTree,
    event: tuple[str, str] | Function,
    start: StartLike,
    *,
    until: float,
    keep: int = 8,
    discard: int | None = None,
    direction: int = 0,
    settings: Settings | None = None,
) -> list[Section]:
    """Returns to an event, for every value of a parameter: what a bifurcation diagram shows. All values are one batch.

    The last `keep` before `until` [s]; or, with `discard`, as many after the first `discard`, whenever they come, with
    which each run ends. `event` is (automaton, exit), or a function of (t, q, v) whose passage through zero counts,
    upwards (`direction` 1), downwards (-1) or both (0). `make(value)` makes the world; only its numbers may depend on
    the value, so that it is compiled once.

    >>> import carom
    >>> ball = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
    >>> def world(restitution):
    ...     law = carom.Newton(restitution)
    ...     floor = carom.Contact(ball.tip, carom.Plane(height=0.0), law, radius=0.1, name="floor")
    ...     return carom.World(ball, contacts=floor, gravity=9.81)
    >>> start, strike = world(1.0).state(base=(0.0, 1.1)), ("rigid contacts", "strike floor")
    >>> for section in carom.bifurcation(world, [0.5, 1.0], strike, start, until=1.4, keep=2, discard=0):
    ...     print(section.v[:, 1].round(6))  # half as fast after every strike, and ever the same
    [2.214723 1.107362]
    [4.429447 4.429447]
    """
    if keep < 1:
        raise errors.CaromError(f"keep of bifurcation is {keep}; it must be at least 1")
    section = event if callable(event) else (event[0], event[1])
    asked = Returns(section, direction, discard, keep)
    found = batch(make, jnp.asarray(values, dtype=float), start, until=until, settings=settings, returns=asked).returns
    there = np.isfinite(found["t"])
    return [
        Section(*(found[name][lane][rows] for name in ("t", "q", "v", "jumped"))) for lane, rows in enumerate(there)
    ]
