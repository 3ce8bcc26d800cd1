"""Many pairs of bodies in two steps: bounds of all gaps, and a close look at what is near.

Of 40 disks 780 pairs might meet, and a few dozen are near. Two bodies are apart by no less than the discs about them
are; corners of the same two shapes share that bound. What is not near counts by its bound: it is not met, whatever its
gap is, and a step that could bring it near is looked at again (hybrid/_seen.py), then closely. Nothing is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Integer

from ...hybrid._ranks import ranks_of
from ...hybrid.condition import ULP
from ...hybrid.reporting import Touching
from ...mechanism import Mechanism
from ...quantities import Real
from ._kinds import Kind, Shared, all_bodies, for_each_pair, side_by_side
from ._lane_scene import Bodies, LaneScene, Ways
from .rigid_contact import RigidContact

PIECE = 64  # contacts that are looked at together
SKIN = 1e-3  # of the world's length: what is nearer is near
SURELY = 0.5  # of that: what is nearer was near, whatever rounding made of its bound


NOTHING = Touching(0.0, 0.0, 0.0, 0.0, 0.0, (0.0, 0.0))


class Bounds(NamedTuple):
    """Of every contact: the gap is not smaller, what rounding does to it, how fast it changes at most, and its bend."""

    apart: Float[Array, " contacts"]
    place: Float[Array, " contacts"]
    pace: Float[Array, " contacts"]
    bend: Float[Array, " contacts"]

    def within(self, t: Real, length: Real, share: float = 1.0) -> Bool[Array, " contacts"]:
        """Is it near, by more than rounding of places and of time?"""
        return self.apart <= share * SKIN * length + 8.0 * self.place + 16.0 * ULP * jnp.abs(t) * self.pace


def bounds_of(kinds: Sequence[Kind], mechanism: Mechanism, ways: Ways, shared: Shared) -> Bounds:
    """One for every couple of shapes; what is not looked at in two steps has none, and is always near."""
    bodies = all_bodies(kinds, mechanism, ways)
    parts = [_bounds_of(kind, mechanism, bodies, shared) for kind in kinds]
    back = np.argsort([i for kind in kinds for i in kind.members]).astype(np.uint32)
    return Bounds(*jnp.concatenate(parts, axis=1)[:, back])


def _bounds_of(kind: Kind, mechanism: Mechanism, bodies: Bodies, shared: Shared) -> Array:
    if not kind.sifted:
        return jnp.tile(jnp.asarray([[-jnp.inf], [0.0], [0.0], [jnp.inf]]), (1, len(kind.members)))
    _, first, couple = np.unique(kind.couples, return_index=True, return_inverse=True)
    found = side_by_side(kind, _bounded, mechanism, bodies, shared, first.astype(np.uint32))
    return jnp.stack(found)[:, couple.astype(np.uint32)]


def _bounded(c: RigidContact, scene: LaneScene) -> tuple[Any, ...]:
    pair, apart = c.pair, c.pair.apart(scene)
    place = pair.rounding(scene, NOTHING)  # sizes of bodies do not depend on where they touch
    return apart, place, pair.pace(scene, scene.speeds), pair.bend(scene, 0.0)


class Lanes(NamedTuple):
    """Numbers of those that were looked at, and where every contact stands among them."""

    numbers: Any
    lane: Integer[Array, " contacts"] | None  # None: in their order, and so is all of them

    def at(self, which: Array) -> Any:
        """Numbers of the contacts with these numbers."""
        columns, form = jax.tree.flatten(self.numbers)
        return jax.tree.unflatten(form, list(jnp.stack(columns)[:, which if self.lane is None else self.lane[which]]))

    def spread(self, values: Array, known: Bool[Array, " contacts"] | None, otherwise: Real) -> Array:
        """Numbers of the lanes, given to their contacts; `otherwise` to those that were not looked at."""
        if self.lane is None:
            return values
        return values[self.lane] if known is None else jnp.where(known, values[self.lane], otherwise)


def look_closely(
    kinds: Sequence[Kind],
    function: Callable[[RigidContact, LaneScene], Any],
    mechanism: Mechanism,
    ways: Ways,
    shared: Shared,
    near: Bool[Array, " contacts"] | None,
) -> Lanes:
    """`function(contact, scene)` of all contacts that are near, and of others as it comes; None: of all."""
    if near is None:
        return Lanes(for_each_pair(kinds, function, mechanism, ways, shared), None)
    bodies = all_bodies(kinds, mechanism, ways)
    parts, lanes, done = list[Any](), list[Any](), 0
    for kind in kinds:
        here = near[np.asarray(kind.members, dtype=np.uint32)] if kind.sifted else None
        numbers, lane = _of_kind(kind, function, mechanism, bodies, shared, here)
        parts.append(numbers)
        lanes.append(done + lane)
        done += len(jax.tree.leaves(numbers)[0])
    back = np.argsort([i for kind in kinds for i in kind.members]).astype(np.uint32)
    whole = jax.tree.map(lambda *columns: jnp.concatenate(columns), *parts)
    return Lanes(whole, jnp.concatenate(lanes)[back].astype(jnp.uint32))


def _of_kind(
    kind: Kind,
    function: Callable[[RigidContact, LaneScene], Any],
    mechanism: Mechanism,
    bodies: Bodies,
    shared: Shared,
    near: Bool[Array, " members"] | None,
) -> tuple[Any, Array]:
    """Numbers of those that are near, in pieces of which only those in use are computed, and the place of each."""

    def look(at: Array | None) -> Any:
        return side_by_side(kind, function, mechanism, bodies, shared, at)

    if near is None:
        return look(None), jnp.arange(len(kind.members))
    ranks, pieces = ranks_of(near), -(-len(near) // PIECE)
    places = ranks.first(pieces * PIECE).reshape(pieces, PIECE)
    like = jax.eval_shape(look, places[0])

    def nothing(_: Array) -> Any:
        return jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), like)

    def piece(_: None, given: tuple[Array, Array]) -> tuple[None, Any]:
        at, first = given
        return None, jax.lax.cond(first < ranks.count, look, nothing, at)

    _, found = jax.lax.scan(piece, None, (places, jnp.arange(pieces) * PIECE))
    return jax.tree.map(lambda x: x.reshape(pieces * PIECE, *x.shape[2:]), found), jnp.maximum(ranks.rank, 0)
