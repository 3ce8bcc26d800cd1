"""Many rigid contacts as arrays, sorted into kinds; and slots for those that act.

All contacts are looked at; only those that are closed, or at their surface, have rows. These stand in slots, a fixed
number of them, first those of contacts with friction: rows, matrices and decisions have the size of what can be closed
at once, not that of all pairs that might meet.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Integer

from ...hybrid._ranks import flagged_first
from ...hybrid.scene import Scene, merge
from ...quantities import Vector
from ..friction._stick_slip import OPEN
from ._crowd_near import Bounds, Lanes, bounds_of, look_closely
from ._kinds import Kind, Shared, for_each, for_each_pair, rubs_of
from ._lane_scene import LaneScene, Ways, ways_of
from .rigid_contact import RigidContact

Flags = Bool[Array, " contacts"]
WITH_FRICTION, WITHOUT = 40, 130  # contacts that can be closed at once


class Crowd(eqx.Module):
    """All rigid contacts of a world, by kind."""

    kinds: tuple[Kind, ...]

    @property
    def size(self) -> int:
        return sum(len(kind.members) for kind in self.kinds)

    @property
    def rubs(self) -> np.ndarray:
        """Numbers of the contacts with friction."""
        return np.asarray(rubs_of(self.kinds), dtype=int)

    @property
    def rub_flags(self) -> np.ndarray:
        """Which contacts have friction."""
        out = np.zeros(self.size, dtype=bool)
        out[self.rubs] = True
        return out

    @property
    def plain(self) -> np.ndarray:
        return np.setdiff1d(np.arange(self.size), self.rubs)

    @property
    def slots(self) -> tuple[int, int]:
        """How many there are with friction, and without."""
        return min(len(self.rubs), WITH_FRICTION), min(len(self.plain), WITHOUT)

    @property
    def rows(self) -> int:
        """Rows of all slots: normal ones, then tangential ones."""
        return 2 * self.slots[0] + self.slots[1]

    @property
    def moves(self) -> bool:
        return any(kind.first.pair.moves for kind in self.kinds)

    @property
    def turns(self) -> np.ndarray:
        """Which contacts are joints' stops: their gap is an angle."""
        out = np.zeros(self.size, dtype=bool)
        for kind in self.kinds:
            out[list(kind.members)] = kind.first.pair.length_unit == "rad"
        return out

    @property
    def ends(self) -> bool:
        """Are there edges whose ends a sharp corner can pass?"""
        return any(kind.edged for kind in self.kinds)

    def knowing(self, modes: Any) -> Crowd:
        """The same, told which contacts are closed: these are on the line of their edge, past its end too."""
        if not self.ends:
            return self
        closed = jnp.where(modes != OPEN, 1.0, 0.0)
        return Crowd(tuple(kind.knowing(closed) for kind in self.kinds))

    @property
    def yields(self) -> np.ndarray:
        """Which contacts leave the place to another where a corner meets a corner."""
        out = np.zeros(self.size, dtype=bool)
        for kind in self.kinds:
            out[list(kind.members)] = kind.first.pair.yields
        return out

    def rubbing(self, function: Any, *given: Any) -> Float[Array, " contacts"]:
        """A number of every contact with friction, `function(friction, ...)`; zero of the others."""
        kinds = [kind for kind in self.kinds if kind.first.friction is not None]
        if not kinds:
            return jnp.zeros(self.size)
        return self.spread(for_each(kinds, lambda c, *args: function(c.friction, *args), *given))

    def rubbing_all(self, function: Any, *given: Any) -> tuple[Any, ...]:
        """Several numbers of every contact with friction; zeros of the others."""
        kinds = [kind for kind in self.kinds if kind.first.friction is not None]
        found = for_each(kinds, lambda c, *args: function(c.friction, *args), *given)
        return tuple(self.spread(x) for x in found)

    def spread(self, of_rubs: Any, otherwise: Any = 0.0) -> Any:
        """Numbers of the contacts with friction, with zeros for the others."""
        if len(self.rubs) == self.size:
            return of_rubs
        at = np.full(self.size, len(self.rubs), dtype=np.uint32)
        at[self.rubs] = np.arange(len(self.rubs))
        return jnp.concatenate([of_rubs, jnp.full(1, otherwise, dtype=of_rubs.dtype)])[at]

    def looked(self, function: Any, scene: Scene, speeds: Vector | None = None) -> Any:
        """Numbers of every contact: `function(contact, scene)`, for coordinates that move at most so fast.

        The function should be one of a module: what it is asked for again need not be traced again.
        """
        return for_each_pair(self.kinds, function, scene.mechanism, *_shared(scene, speeds))

    @property
    def sifted(self) -> bool:
        """Are there so many pairs that they are looked at in two steps?"""
        return bool(np.any(self.siftable))

    @property
    def siftable(self) -> np.ndarray:
        """Of which contacts there are bounds; all others are always looked at."""
        out = np.zeros(self.size, dtype=bool)
        for kind in self.kinds:
            out[list(kind.members)] = kind.sifted
        return out

    def bounds(self, scene: Scene, speeds: Vector | None = None) -> Bounds:
        """How far all contacts are apart at least, without a close look."""
        return bounds_of(self.kinds, scene.mechanism, *_shared(scene, speeds))

    def looked_closely(self, function: Any, scene: Scene, near: Flags | None, speeds: Vector | None = None) -> Lanes:
        """`function(contact, scene)` of those that are near."""
        return look_closely(self.kinds, function, scene.mechanism, *_shared(scene, speeds), near)

    def carried(self, scene: Scene) -> tuple[Any, Any]:
        """Prescribed velocities of the surfaces, along normal and tangent."""
        return self.looked(_carried, scene)

    def each(self, function: Any, *given: Any) -> Any:
        """Numbers of every contact: `function(contact, ...)`."""
        return for_each(self.kinds, function, *given)


def _shared(scene: Scene, speeds: Vector | None) -> tuple[Ways, Shared]:
    """What all contacts see, for coordinates that move at most so fast."""
    bounds = jnp.abs(merge(scene.v)) if speeds is None else speeds
    ways = ways_of(scene.mechanism, merge(scene.q), merge(scene.v), bounds)
    return ways, Shared(scene.t, scene.length, scene.span)


def _carried(contact: RigidContact, scene: LaneScene) -> tuple[Any, Any]:
    return contact.pair.carried(scene, contact.pair.touching(scene))


class Slots(NamedTuple):
    """Contacts that act: which is in a slot, and is it in use; and the slot of every contact, if it has one."""

    place: Integer[Array, " slots"]
    on: Bool[Array, " slots"]
    slot: Integer[Array, " contacts"]
    has: Bool[Array, " contacts"]


def friction_slots(crowd: Crowd) -> np.ndarray:
    """Which slots are for contacts with friction."""
    return np.arange(sum(crowd.slots)) < crowd.slots[0]


def to_contacts(crowd: Crowd, slots: Slots, values: Any, otherwise: Any = 0.0) -> Any:
    """Numbers of the slots in use, given to their contacts; there may be fewer: those of contacts with friction."""
    values = jnp.asarray(values)
    if not len(values):
        return jnp.full(crowd.size, otherwise, dtype=values.dtype)
    has = slots.has if len(values) == len(slots.place) else slots.has & crowd.rub_flags
    return jnp.where(has, values[jnp.minimum(slots.slot, len(values) - 1)], jnp.asarray(otherwise, values.dtype))


def rubbing_at(crowd: Crowd, slots: Slots, function: Any, *given: Any) -> Float[Array, " rubs"]:
    """`function(friction, ...)` of the contacts in the slots with friction; `given` run over these slots."""
    m = crowd.slots[0]
    everywhere = (to_contacts(crowd, slots, x[:m]) for x in given)
    return crowd.rubbing(function, *everywhere)[slots.place[:m]]


def chosen(
    crowd: Crowd, flags: Bool[Array, " contacts"], also: Bool[Array, " contacts"] | None = None
) -> tuple[Slots, Bool[Array, ""]]:
    """Slots for all that are flagged; are there too few? Others follow in what is left."""
    rest = flags if also is None else also
    index, on, slot, has, over, done = [], [], [], [], jnp.asarray(False), 0
    for which, room in zip((crowd.rubs, crowd.plain), crowd.slots, strict=True):
        mine, beside, at = flags[which], rest[which], jnp.asarray(which, dtype=jnp.uint32)
        rank = jnp.arange(len(which))
        if len(which) > room:  # those that act first, in their order
            place, rank, used = flagged_first(mine, beside & ~mine, room)
            over = over | (jnp.sum(mine) > room)
            at, active = at[place], jnp.arange(room) < used
        else:
            active = mine | beside
        index.append(at)
        on.append(active)
        slot.append(done + rank)
        has.append((mine | beside) & (rank < room))
        done += room
    back = np.argsort(np.concatenate([crowd.rubs, crowd.plain])).astype(np.uint32)
    of_all = [jnp.concatenate(x)[back].astype(kind) for x, kind in ((slot, jnp.uint32), (has, bool))]
    return Slots(jnp.concatenate(index), jnp.concatenate(on), *of_all), over
