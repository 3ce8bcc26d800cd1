"""Many rigid contacts at one instant, as arrays: gaps, rows and velocities of all, and slots for those that act.

All contacts are looked at; only those that are closed, or take part in a blow, have rows in the systems that are
solved. These stand in slots, a fixed number of them, first those of contacts with friction: code and matrices have the
size of what can be closed at once, not that of all pairs that might meet.
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
from ...mechanism import Mechanism
from ...quantities import Vector
from .._rows import UNMOVED
from ..pairs import Touching
from ._kinds import Kind, body_links, for_each, for_each_pair, rubs_of
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

    def rubbing(self, function: Any, *given: Any) -> Float[Array, " contacts"]:
        """A number of every contact with friction, `function(friction, ...)`; zero of the others."""
        kinds = [kind for kind in self.kinds if kind.first.friction is not None]
        if not kinds:
            return jnp.zeros(self.size)
        found = for_each(kinds, lambda c, *args: function(c.friction, *args), *given)
        return jnp.zeros(self.size).at[self.rubs].set(found)

    def looked(self, function: Any, scene: Scene, speeds: Vector | None = None) -> Any:
        """Numbers of every contact: `function(contact, scene)`, for coordinates that move at most so fast."""
        bounds = jnp.abs(merge(scene.v)) if speeds is None else speeds
        ways = ways_of(scene.mechanism, merge(scene.q), merge(scene.v), bounds)
        return for_each_pair(self.kinds, function, scene.mechanism, ways, scene.t, scene.length, scene.span)

    def carried(self, scene: Scene) -> tuple[Any, Any]:
        """Prescribed velocities of the surfaces, along normal and tangent."""
        return self.looked(lambda c, s: c.pair.carried(s, c.pair.touching(s)), scene)

    def each(self, function: Any, *given: Any) -> Any:
        """Numbers of every contact: `function(contact, ...)`."""
        return for_each(self.kinds, function, *given)


class Slots(NamedTuple):
    """Contacts that act: their numbers, and which of the slots are in use."""

    place: Int[Array, " slots"]
    on: Bool[Array, " slots"]


def chosen(crowd: Crowd, flags: Bool[Array, " contacts"]) -> tuple[Slots, Bool[Array, ""]]:
    """Slots for all that are flagged; are there too few?"""
    index, on, over = [], [], jnp.asarray(False)
    for which, room in zip((crowd.rubs, crowd.plain), crowd.slots, strict=True):
        mine, at = flags[which], jnp.asarray(which)
        if len(which) > room:  # those that act first, in their order
            order = jnp.argsort(~mine, stable=True)[:room]
            over = over | (jnp.sum(mine) > room)
            at, mine = at[order], mine[order]
        index.append(at)
        on.append(mine)
    return Slots(jnp.concatenate(index), jnp.concatenate(on)), over


class Seen(NamedTuple):
    """All contacts at one instant: kinematics, rounding of gaps, wrenches of unit forces, and how velocities drift."""

    touch: Touching
    place: Float[Array, " contacts"]  # what rounding does to the gap
    normal: Float[Array, "contacts 2 5"]  # (x, y, fx, fy, torque) on both bodies
    tangential: Float[Array, "contacts 2 5"]
    normal_drift: Float[Array, " contacts"]
    tangential_drift: Float[Array, " contacts"]
    links: LinkMotion


def seen(crowd: Crowd, scene: Scene) -> Seen:
    """Everything but the rows."""
    if "lines" in scene.kept:
        return scene.kept["lines"].seen
    mechanism, v = scene.mechanism, merge(scene.v)
    length = scene.length

    def whole(t: Any, q: Vector) -> Any:
        ways = ways_of(mechanism, q, v, jnp.abs(v))
        return for_each_pair(crowd.kinds, _looked_at, mechanism, ways, t, length), ways.links

    t, q = jnp.asarray(scene.t, dtype=float), merge(scene.q)
    ((touch, place, normal, across), links), ((moved, *_), _) = jax.jvp(whole, (t, q), (jnp.ones_like(t), v))
    return Seen(touch, place, normal, across, -moved.rate, moved.sliding, links)


def _looked_at(contact: RigidContact, scene: LaneScene) -> tuple[Any, ...]:
    touch = contact.pair.touching(scene)
    place = contact.pair.rounding(scene, touch)
    return touch, place, _wrench(contact, scene, touch, 1.0, 0.0), _wrench(contact, scene, touch, 0.0, 1.0)


def keep_lines(crowd: Crowd, scene: Scene) -> None:
    """Compute the rows of all contacts now, for all that will ask for them, also within a branch."""
    scene.kept["lines"] = lines_of(crowd, scene)


def _wrench(contact: RigidContact, scene: LaneScene, touch: Touching, normal: float, drag: float) -> Any:
    """What a unit force does to the two bodies."""
    scene.pushed = []
    contact.pair.push(scene, Load(scene.mechanism), touch, normal, drag)
    each = [jnp.stack([jnp.asarray(x, dtype=float) for x in wrench]) for _, wrench in scene.pushed]
    return jnp.stack([*each, *[jnp.zeros(5)] * (2 - len(each))])


def rows_at(
    crowd: Crowd, mechanism: Mechanism, links: LinkMotion, wrench: Float[Array, "n 2 5"], index: Int[Array, " n"]
) -> Float[Array, "n dof"]:
    """Generalized forces of wrenches that belong to these contacts."""
    both = body_links(crowd.kinds)
    bodies, sides = jnp.asarray(both)[index], 1 + any(len(kind.bodies[0]) > 1 for kind in crowd.kinds)
    rows = [_row(mechanism, links, bodies[:, side], wrench[:, side]) for side in range(sides)]
    return jnp.sum(jnp.stack(rows), axis=0)


def _row(mechanism: Mechanism, links: LinkMotion, body: Int[Array, " n"], wrench: Float[Array, "n 5"]) -> Array:
    """One body of each: its base, the links that carry it, and its own."""
    top = mechanism.topology
    x, y, fx, fy, torque = (wrench[:, k] for k in range(5))
    own = (x - links.x[body]) * fy - (y - links.y[body]) * fx + torque
    angles = jnp.eye(top.links)[body] * own[:, None]
    if any(top.paths):
        parents = np.asarray(top.parents)
        up = np.maximum(parents, 0)
        ex, ey = links.x - links.x[up], links.y - links.y[up]
        carried = jnp.asarray(_carriers(mechanism))[body]
        turned = carried * (ex[None, :] * fy[:, None] - ey[None, :] * fx[:, None])
        to_parent = np.zeros((top.links, top.links))
        to_parent[parents >= 0, parents[parents >= 0]] = 1.0
        angles = angles + turned @ to_parent
    if not top.base_dof:
        return angles
    trees = np.zeros((top.links, top.base_dof // 2))
    for link, tree in enumerate(top.trees):
        base = top.base_index(tree)
        if base is not None:
            trees[link, base // 2] = 1.0
    on = jnp.asarray(trees)[body]
    base_rows = jnp.stack([on * fx[:, None], on * fy[:, None]], axis=2).reshape(len(body), top.base_dof)
    return jnp.concatenate([base_rows, angles], axis=1)


def _carriers(mechanism: Mechanism) -> np.ndarray:
    """(links, links): 1 where a link hangs, over however many others, on the joint of another."""
    top = mechanism.topology
    out = np.zeros((top.links, top.links))
    for link in range(top.links):
        for _, s in top.paths[link]:
            out[link, s] = 1.0
    return out


class Lines(NamedTuple):
    """Rows of all contacts, normal and tangential, with what belongs to them."""

    seen: Seen
    normal: Float[Array, "contacts dof"]
    tangential: Float[Array, "contacts dof"]
    speed: Float[Array, " contacts"]  # of separation
    sliding: Float[Array, " contacts"]
    moved: Bool[Array, " contacts"]  # can any motion of the robot change the gap? Not under a stretched leg
    passes: Bool[Array, " contacts"]  # nothing moves the gap, and the surface does not come


def lines_of(crowd: Crowd, scene: Scene) -> Lines:
    """Rows of all contacts."""
    if "lines" in scene.kept:
        return scene.kept["lines"]
    s, every = seen(crowd, scene), jnp.arange(crowd.size)
    normal = rows_at(crowd, scene.mechanism, s.links, s.normal, every)
    tangential = rows_at(crowd, scene.mechanism, s.links, s.tangential, every)
    least = unmoved(scene, tangential)
    moved = jnp.any(jnp.abs(normal) > least, axis=1)
    speed = -s.touch.rate
    passes = ~moved & (jnp.abs(speed) <= least @ jnp.abs(merge(scene.v)))
    return Lines(s, normal, tangential, speed, s.touch.sliding, moved, passes)


def unmoved(scene: Scene, tangential: Float[Array, "n dof"]) -> Float[Array, "n dof"]:
    """Entries of normal rows that are zero, measured by the motion across, so that no unit matters."""
    top = scene.mechanism.topology
    turns = np.zeros(top.dof, dtype=bool)
    turns[top.angles] = True
    return UNMOVED * jnp.abs(tangential) + ROUNDING * jnp.where(turns, scene.length, 1.0)[None, :]


class CrowdNoise(NamedTuple):
    """What rounding does to the numbers of every contact, measured by the sizes of their terms."""

    place: Float[Array, " contacts"]  # of the gap [m]
    speed: Float[Array, " contacts"]  # of separation [m/s]
    sliding: Float[Array, " contacts"]
    rise: Float[Array, " contacts"]  # of the rate of separation [m/s^2]
    hurry: Float[Array, " contacts"]  # of the rate of sliding


def crowd_noise(scene: Scene, r: Lines, free: Vector) -> CrowdNoise:
    """`free` are the accelerations without reactions."""
    v, top = jnp.abs(merge(scene.v)), scene.mechanism.topology
    a = jnp.abs(merge(free) if isinstance(free, tuple) else free)
    turning = jnp.sum(v[top.angles])
    turned = turning * turning + jnp.sum(a[top.angles])
    late, place = 32.0 * ULP * jnp.abs(scene.t), r.seen.place

    def both(row: Any, drift: Any, speed: Any) -> tuple[Any, Any]:
        sizes = jnp.abs(row)
        rise = sizes @ a + jnp.abs(drift)
        noise = ROUNDING * (sizes @ v + jnp.abs(speed)) + late * rise + turning * place
        return noise, ROUNDING * rise + turned * place

    speed, rise = both(r.normal, r.seen.normal_drift, r.speed)
    sliding, hurry = both(r.tangential, r.seen.tangential_drift, r.sliding)
    return CrowdNoise(place, speed, sliding, rise, hurry)
