"""Many rigid contacts at one instant: gaps and velocities of all, rows of those that have slots, and their rounding."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from ...dynamics.kinematics import LinkMotion
from ...hybrid.condition import ROUNDING, ULP
from ...hybrid.scene import Load, Scene, merge
from ...quantities import Real, Vector
from .._rows import UNMOVED, far_of
from .._sharp import NOWHERE
from ..pairs import Touching
from ._crowd import Crowd, Slots
from ._crowd_near import Bounds, Lanes, look_closely
from ._crowd_rows import Wrenches, rows_at
from ._kinds import Shared
from ._lane_scene import LaneScene, ways_of
from .rigid_contact import RigidContact

Flags = Bool[Array, " contacts"]


class Looks(NamedTuple):
    """Contacts at one instant: kinematics, rounding of gaps, wrenches of unit forces, and how velocities drift."""

    touch: Touching
    place: Float[Array, " looks"]  # what rounding does to the gap
    past: Float[Array, " looks"]  # roundings past the end of an edge
    normal: Wrenches
    tangential: Wrenches
    normal_drift: Float[Array, " looks"]
    tangential_drift: Float[Array, " looks"]


class Seen(NamedTuple):
    """All contacts at one instant: everything about those that are near, and of the others that they are not."""

    looks: Lanes  # whose numbers are `Looks`
    near: Flags | None  # None: all are looked at
    bounds: Bounds | None
    links: LinkMotion

    def of_all(self, values: Array, otherwise: Real = 0.0) -> Array:
        return self.looks.spread(values, self.near, otherwise)

    @property
    def depth(self) -> Array:
        """How far inside [m], or, of what is not near, at most."""
        deepest = 0.0 if self.bounds is None else -self.bounds.apart
        return self.of_all(self.looks.numbers.touch.indentation, deepest)

    @property
    def place(self) -> Array:
        return self.of_all(self.looks.numbers.place, 0.0 if self.bounds is None else self.bounds.place)

    @property
    def past(self) -> Array:
        return self.of_all(self.looks.numbers.past, NOWHERE)

    @property
    def touch(self) -> Touching:
        """Of what is near; zeros of the others."""
        return jax.tree.map(self.of_all, self.looks.numbers.touch)


def seen(crowd: Crowd, scene: Scene) -> Seen:
    """Everything but the rows, of all contacts."""
    kept = scene.kept.get("seen")
    return kept if kept is not None and kept.near is None else _seen(crowd, scene, None)


def _seen(crowd: Crowd, scene: Scene, near: Flags | None, bounds: Bounds | None = None) -> Seen:
    mechanism, v = scene.mechanism, merge(scene.v)
    length, near = scene.length, near if crowd.sifted else None

    def whole(t: Any, q: Vector) -> Any:
        ways = ways_of(mechanism, q, v, jnp.abs(v))
        found = look_closely(crowd.kinds, _looked_at, mechanism, ways, Shared(t, length), near)
        return found.numbers, (found.lane, ways.links)

    t, q = jnp.asarray(scene.t, dtype=float), merge(scene.q)
    (touch, place, past, *wrenches), moved, (lane, links) = jax.jvp(whole, (t, q), (jnp.ones_like(t), v), has_aux=True)
    normal, across = wrenches
    looks = Looks(touch, place, past, normal, across, -moved[0].rate, moved[0].sliding)
    return Seen(Lanes(looks, lane), near, bounds, links)


def _looked_at(contact: RigidContact, scene: LaneScene) -> tuple[Any, ...]:
    touch, past = contact.pair.touching_edge(scene)
    place = contact.pair.rounding(scene, touch)
    wrenches = (_wrench(contact, scene, touch, *unit) for unit in ((1.0, 0.0), (0.0, 1.0)))
    return touch, place, past, *wrenches


def keep_seen(crowd: Crowd, scene: Scene, closed: Flags) -> Seen:
    """Look at all contacts that are closed or near, now, for all that will ask, also within a branch."""
    if "seen" not in scene.kept:
        bounds = crowd.bounds(scene) if crowd.sifted else None
        near = None if bounds is None else closed | bounds.within(scene.t, scene.length)
        scene.kept["seen"] = _seen(crowd, scene, near, bounds)
    return scene.kept["seen"]


def keep_closed(crowd: Crowd, scene: Scene, closed: Flags) -> None:
    """Look at the contacts that are closed alone, unless more is known."""
    scene.kept.setdefault("closed", scene.kept.get("seen") or _seen(crowd, scene, closed))


def seen_at(crowd: Crowd, scene: Scene, slots: Slots) -> tuple[Looks, LinkMotion]:
    """What is known of the contacts in these slots, slot by slot."""
    s = scene.kept.get("seen") or scene.kept.get("closed") or _seen(crowd, scene, slots.has)
    return s.looks.at(slots.place), s.links


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
    s, links = seen_at(crowd, scene, slots)
    normal, tangential = (
        rows_at(crowd.kinds, scene.mechanism, links, x, slots.place) for x in (s.normal, s.tangential)
    )
    least = unmoved(scene, tangential)
    moved = jnp.any(jnp.abs(normal) > least, axis=1)
    speed, sliding = -s.touch.rate, s.touch.sliding
    passes = ~moved & (jnp.abs(speed) <= least @ jnp.abs(merge(scene.v)))
    drifts = s.normal_drift, s.tangential_drift
    return Lines(slots, normal, tangential, s.place, speed, sliding, *drifts, moved, passes)


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
    late, lever = 32.0 * ULP * jnp.abs(scene.t), r.place + far_of(scene)

    def both(row: Any, drift: Any, speed: Any) -> tuple[Any, Any]:
        sizes = jnp.abs(row)
        rise = sizes @ a + jnp.abs(drift)
        noise = ROUNDING * (sizes @ v + jnp.abs(speed)) + late * rise + turning * lever
        return noise, ROUNDING * rise + turned * lever

    speed, rise = both(r.normal, r.normal_drift, r.speed)
    sliding, hurry = both(r.tangential, r.tangential_drift, r.sliding)
    return CrowdNoise(r.place, speed, sliding, rise, hurry)


def without(values: Vector, noise: Vector) -> Vector:
    """Values, zero where they are but rounding; their derivatives stay.

    Contacts of a stack depend on each other: what rounding makes of their zeros would contradict itself, and a small
    blow is solved to less than that.
    """
    return values - jax.lax.stop_gradient(jnp.where(jnp.abs(values) <= noise, values, 0.0))
