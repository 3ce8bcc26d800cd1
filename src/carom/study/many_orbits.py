"""Periodic motions from many guesses: all of them run in one batch, then Newton's method from each."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from .. import errors
from .._arguments import Count
from ..hybrid.scene import split
from ..hybrid.settings import Settings
from ..hybrid.world import World
from ..mechanism import State
from ._fixed_point import Orbit
from ._map_events import guard_of, refuse_clocks
from .batches import Batch, batch
from .recording import Returns
from .return_map import ReturnMap

ALIKE = 1e-6  # of the state's size: orbits that are nearer are one


def find_orbits(
    world: World,
    event: tuple[str, str],
    starts: State,
    *,
    returns: Count = 20,
    until: float = 1e3,
    settings: Settings | None = None,
) -> list[Orbit]:
    """Periodic motions through an event, from many guesses at once: `starts` with a row for each.

    All guesses run as one batch until they have met the event `returns` times; Newton's method goes on from there, as
    in `find_orbit`. Every orbit is told once, the stable ones first; guesses that do not meet the event so often before
    `until` [s], or lead to none, have none. Few returns find unstable orbits, too.

        rows = world.state(slides=places, slide_rates=speeds)            # one row for each guess
        carom.find_orbits(world, ("rigid contacts", "strike left"), rows)
    """
    guard_of(world, *event)  # a name that is none is refused before the work
    refuse_clocks(world)
    if not isinstance(starts, State) or starts.lanes is None:
        raise errors.CaromError(
            "starts of find_orbits must be a state with a row for each guess: world.state(...) of arrays; find_orbit "
            "takes a single one"
        )
    if returns < 1:
        raise errors.CaromError(f"returns of find_orbits is {returns}; it must be at least 1")
    lanes = starts.lanes
    worlds = jax.tree.map(lambda x: np.broadcast_to(np.asarray(x), (lanes, *np.shape(x))), world)
    asked = Returns(event, discard=returns - 1, keep=1)
    ends = batch(_as_it_is, worlds, starts, until=until, settings=settings, returns=asked, throw=False)
    met = np.flatnonzero(np.asarray(ends.returns["count"]) >= returns)
    maps: dict[tuple[int, ...], ReturnMap] = {}
    found: list[Orbit] = []
    for lane in met.tolist():
        phases, state = _at(world, ends, lane)
        key = tuple(int(x) for p in phases for x in np.ravel(p))
        if key not in maps:
            maps[key] = ReturnMap.through(world, event, phases, state, until, settings, float(np.asarray(ends.t)[lane]))
        try:
            orbit = maps[key].orbit(ravel_pytree(state)[0])
        except errors.CaromError:  # from this guess there is none
            continue
        if not any(_same(orbit, other) for other in found):
            found.append(orbit)
    return sorted(found, key=lambda orbit: float(np.abs(orbit.multipliers[0])))


def _as_it_is(world: World) -> World:
    return world


def _at(world: World, ends: Batch, lane: Count) -> tuple[tuple[Any, ...], Any]:
    """Phases and state with which a lane ended, as the engine carries them."""
    left = (ends.phases, ends.memory, ends.q, ends.v, ends.states)
    phases, memory, q, v, extra = jax.tree.map(lambda x: jnp.asarray(np.asarray(x)[lane]), left)
    return phases, (split(world.mechanism, q), split(world.mechanism, v), extra, memory)


def _same(one: Orbit, other: Orbit) -> bool:
    size = 1.0 + float(np.max(np.abs(np.concatenate([one.q, one.v]))))
    away = max(float(np.max(np.abs(one.q - other.q))), float(np.max(np.abs(one.v - other.v))))
    return away <= ALIKE * size and abs(one.period - other.period) <= ALIKE * one.period
