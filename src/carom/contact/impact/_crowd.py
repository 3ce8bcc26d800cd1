"""Many rigid contacts at one instant, as arrays: gaps, rows and velocities of all, and slots for those that act.

All contacts are looked at; only those that are closed, or at their surface, have rows. These stand in slots, a fixed
number of them, first those of contacts with friction: rows, matrices and decisions have the size of what can be closed
at once, not that of all pairs that might meet.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from ...dynamics.kinematics import LinkMotion
from ...hybrid.condition import ROUNDING, ULP
from ...hybrid.scene import Load, Scene, merge
from ...quantities import Vector
from .._rows import UNMOVED
from ..friction._stick_slip import OPEN
from ..pairs import Touching
from ._crowd_rows import Wrenches, rows_at
from ._kinds import Kind, for_each, for_each_pair, rubs_of
from ._lane_scene import LaneScene, ways_of
from .rigid_contact import RigidContact

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
        found = for_each(kinds, lambda c, *args: function(c.friction, *args), *given)
        return jnp.zeros(self.size).at[self.rubs].set(found)

    def looked(self, function: Any, scene: Scene, speeds: Vector | None = None) -> Any:
        """Numbers of every contact: `function(contact, scene)`, for coordinates that move at most so fast.

        The function should be one of a module: what it is asked for again need not be traced again.
        """
        bounds = jnp.abs(merge(scene.v)) if speeds is None else speeds
        ways = ways_of(scene.mechanism, merge(scene.q), merge(scene.v), bounds)
        return for_each_pair(self.kinds, function, scene.mechanism, ways, scene.t, scene.length, scene.span)

    def carried(self, scene: Scene) -> tuple[Any, Any]:
        """Prescribed velocities of the surfaces, along normal and tangent."""
        return self.looked(_carried, scene)

    def each(self, function: Any, *given: Any) -> Any:
        """Numbers of every contact: `function(contact, ...)`."""
        return for_each(self.kinds, function, *given)


def _carried(contact: RigidContact, scene: LaneScene) -> tuple[Any, Any]:
    return contact.pair.carried(scene, contact.pair.touching(scene))


class Slots(NamedTuple):
    """Contacts that act: their numbers, and which of the slots are in use."""

    place: Int[Array, " slots"]
    on: Bool[Array, " slots"]


def friction_slots(crowd: Crowd) -> np.ndarray:
    """Which slots are for contacts with friction."""
    return np.arange(sum(crowd.slots)) < crowd.slots[0]


def to_contacts(crowd: Crowd, slots: Slots, values: Any, otherwise: Any = 0.0) -> Any:
    """Numbers of the slots in use, given to their contacts."""
    out = jnp.full(crowd.size, otherwise, dtype=jnp.asarray(values).dtype)
    index = slots.place[: len(values)]
    return out.at[index].set(jnp.where(slots.on[: len(values)], values, out[0]))


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
    index, on, over = [], [], jnp.asarray(False)
    for which, room in zip((crowd.rubs, crowd.plain), crowd.slots, strict=True):
        mine, beside, at = flags[which], rest[which], jnp.asarray(which)
        if len(which) > room:  # those that act first, in their order
            order = jnp.argsort(jnp.where(mine, 0, jnp.where(beside, 1, 2)), stable=True)[:room]
            over = over | (jnp.sum(mine) > room)
            at, mine, beside = at[order], mine[order], beside[order]
        index.append(at)
        on.append(mine | beside)
    return Slots(jnp.concatenate(index), jnp.concatenate(on)), over


class Seen(NamedTuple):
    """All contacts at one instant: kinematics, rounding of gaps, wrenches of unit forces, and how velocities drift."""

    touch: Touching
    place: Float[Array, " contacts"]  # what rounding does to the gap
    normal: Wrenches
    tangential: Wrenches
    normal_drift: Float[Array, " contacts"]
    tangential_drift: Float[Array, " contacts"]
    past: Float[Array, " contacts"]  # roundings past the end of an edge
    links: LinkMotion


def seen(crowd: Crowd, scene: Scene) -> Seen:
    """Everything but the rows."""
    if "seen" in scene.kept:
        return scene.kept["seen"]
    mechanism, v = scene.mechanism, merge(scene.v)
    length = scene.length

    def whole(t: Any, q: Vector) -> Any:
        ways = ways_of(mechanism, q, v, jnp.abs(v))
        return for_each_pair(crowd.kinds, _looked_at, mechanism, ways, t, length), ways.links

    t, q = jnp.asarray(scene.t, dtype=float), merge(scene.q)
    ((touch, place, past, *wrenches), links), ((moved, *_), _) = jax.jvp(whole, (t, q), (jnp.ones_like(t), v))
    normal, across = wrenches
    return Seen(touch, place, normal, across, -moved.rate, moved.sliding, past, links)


def _looked_at(contact: RigidContact, scene: LaneScene) -> tuple[Any, ...]:
    touch, past = contact.pair.touching_edge(scene)
    place = contact.pair.rounding(scene, touch)
    wrenches = (_wrench(contact, scene, touch, *unit) for unit in ((1.0, 0.0), (0.0, 1.0)))
    return touch, place, past, *wrenches


def keep_seen(crowd: Crowd, scene: Scene) -> Seen:
    """Look at all contacts now, for all that will ask, also within a branch."""
    return scene.kept.setdefault("seen", seen(crowd, scene))


def _wrench(contact: RigidContact, scene: LaneScene, touch: Touching, normal: float, drag: float) -> Wrenches:
    """What a unit force does to the two bodies."""
    scene.pushed = []
    contact.pair.push(scene, Load(scene.mechanism), touch, normal, drag)
    each = [tuple(jnp.asarray(x, dtype=float) for x in wrench) for _, wrench in scene.pushed]
    return (*each, *[(jnp.asarray(0.0),) * 5] * (2 - len(each)))


class Lines(NamedTuple):
    """Rows of the contacts in slots, normal and tangential, with what belongs to them, slot by slot."""

    slots: Slots
    normal: Float[Array, "slots dof"]
    tangential: Float[Array, "slots dof"]
    place: Float[Array, " slots"]  # what rounding does to the gap
    speed: Float[Array, " slots"]  # of separation
    sliding: Float[Array, " slots"]
    normal_drift: Float[Array, " slots"]
    tangential_drift: Float[Array, " slots"]
    moved: Bool[Array, " slots"]  # can any motion of the robot change the gap? Not under a stretched leg
    passes: Bool[Array, " slots"]  # nothing moves the gap, and the surface does not come


def lines_of(crowd: Crowd, scene: Scene, slots: Slots) -> Lines:
    """Rows of the contacts in these slots."""
    s, at = seen(crowd, scene), slots.place
    normal, tangential = (rows_at(crowd.kinds, scene.mechanism, s.links, x, at) for x in (s.normal, s.tangential))
    least = unmoved(scene, tangential)
    moved = jnp.any(jnp.abs(normal) > least, axis=1)
    speed, sliding = -s.touch.rate[at], s.touch.sliding[at]
    passes = ~moved & (jnp.abs(speed) <= least @ jnp.abs(merge(scene.v)))
    drifts = s.normal_drift[at], s.tangential_drift[at]
    return Lines(slots, normal, tangential, s.place[at], speed, sliding, *drifts, moved, passes)


def unmoved(scene: Scene, tangential: Float[Array, "n dof"]) -> Float[Array, "n dof"]:
    """Entries of normal rows that are zero, measured by the motion across, so that no unit matters."""
    top = scene.mechanism.topology
    turns = np.zeros(top.dof, dtype=bool)
    turns[top.angles] = True
    return UNMOVED * jnp.abs(tangential) + ROUNDING * jnp.where(turns, scene.length, 1.0)[None, :]


class CrowdNoise(NamedTuple):
    """What rounding does to the numbers of every slot, measured by the sizes of their terms."""

    place: Float[Array, " slots"]  # of the gap [m]
    speed: Float[Array, " slots"]  # of separation [m/s]
    sliding: Float[Array, " slots"]
    rise: Float[Array, " slots"]  # of the rate of separation [m/s^2]
    hurry: Float[Array, " slots"]  # of the rate of sliding


def crowd_noise(scene: Scene, r: Lines, free: Vector) -> CrowdNoise:
    """`free` are the accelerations without reactions."""
    v, top = jnp.abs(merge(scene.v)), scene.mechanism.topology
    a = jnp.abs(merge(free) if isinstance(free, tuple) else free)
    turning = jnp.sum(v[top.angles])
    turned = turning * turning + jnp.sum(a[top.angles])
    late, place = 32.0 * ULP * jnp.abs(scene.t), r.place

    def both(row: Any, drift: Any, speed: Any) -> tuple[Any, Any]:
        sizes = jnp.abs(row)
        rise = sizes @ a + jnp.abs(drift)
        noise = ROUNDING * (sizes @ v + jnp.abs(speed)) + late * rise + turning * place
        return noise, ROUNDING * rise + turned * place

    speed, rise = both(r.normal, r.normal_drift, r.speed)
    sliding, hurry = both(r.tangential, r.tangential_drift, r.sliding)
    return CrowdNoise(place, speed, sliding, rise, hurry)
