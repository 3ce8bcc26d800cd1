"""What counts as none where many contacts meet: speeds that a blow cannot tell from zero, hops and slides too short.

_quiet.py on arrays; and what only groups of many contacts show.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from ...quantities import Flag, Matrix, Real, Vector
from ._crowd import Crowd, rubbing_at
from ._crowd_held import Flags, Numbers
from ._crowd_seen import CrowdNoise, Lines
from ._groups import linked_in
from ._quiet import HOP
from ._several import TOLERANCE


class Weighed(NamedTuple):
    """Rows of all slots, normal and tangential: their inverse inertias, and what unit impulses along them do.

    Also which contacts can take an impulse, and which are linked by what one does to the other.
    """

    w: Float[Array, "rows rows"]
    through: Float[Array, "dof rows"]
    on: Flags
    linked: Bool[Array, "contacts contacts"]


def weighed_rows(crowd: Crowd, w: Matrix, through: Matrix, part: Flags) -> Weighed:
    on = part & (jnp.diagonal(w)[: len(part)] > 0.0)  # what no impulse moves, takes none
    return Weighed(w, through, on, linked_in(w, on, tuple(range(crowd.slots[0]))))


def as_blows_see(crowd: Crowd, r: Lines, weighed: Weighed, noise: CrowdNoise, touched: Flag) -> CrowdNoise:
    """Where something strikes, speeds that a blow cannot tell from none are none: it is solved to a share of all.

    Beside a box that slides at 3 m/s a closing speed of 1e-13 m/s is no blow; and what one leaves of it is no rebound.
    """
    m, owner = crowd.slots[0], np.concatenate([np.arange(len(weighed.on)), np.arange(crowd.slots[0])])
    root = jnp.sqrt(jnp.maximum(jnp.diagonal(weighed.w), 0.0))
    sizes = jnp.concatenate([jnp.abs(r.speed), jnp.abs(r.sliding[:m])]) / jnp.where(root > 0.0, root, 1.0)
    sizes = jnp.where(weighed.on[owner], sizes, 0.0)
    whole = jnp.sum(jnp.where(weighed.linked[owner][:, owner], sizes[None, :], 0.0), axis=1)
    unseen = jnp.where(touched & weighed.on[owner], TOLERANCE * root * whole, 0.0)
    n = len(weighed.on)
    along = jnp.concatenate([unseen[n:], jnp.zeros(n - m)])
    speeds = jnp.maximum(noise.speed, unseen[:n]), jnp.maximum(noise.sliding, along)
    return noise._replace(speed=jax.lax.stop_gradient(speeds[0]), sliding=jax.lax.stop_gradient(speeds[1]))


def grazes_of(closed: Flags, r: Lines, motions: tuple[Vector, Vector], noise: CrowdNoise) -> Flags:
    """Open contacts that pass: they bend away again before they would be deeper than rounding."""
    away = [r.normal @ motion + r.normal_drift for motion in motions]
    rise = jnp.maximum(jnp.minimum(*away) - noise.rise, 0.0)  # rounding bends nothing away
    return ~closed & (r.speed < 0.0) & ((r.speed**2 <= 2.0 * rise * noise.place) | r.passes)


def pressed_at(r: Lines, motions: tuple[Vector, Vector], weighed: Weighed) -> Numbers:
    """How contacts are pressed [m/s^2], by the motion without reactions or by the one before, themselves or by others.

    Boxes of a stack fall alike, and a heel may be free to rise: what presses one contact of a group, presses through it
    on the others. Accelerations of different contacts compare by what a force does there.
    """
    toward = [-(r.normal @ motion + r.normal_drift) for motion in motions]
    own = jnp.maximum(jnp.maximum(*toward), 0.0)
    root = jnp.sqrt(jnp.maximum(jnp.diagonal(weighed.w)[: len(own)], 0.0))
    energy = jnp.where(weighed.on, own / jnp.where(root > 0.0, root, 1.0), 0.0)
    shared = root * jnp.max(jnp.where(weighed.linked, energy[None, :], 0.0), axis=1)
    return jax.lax.stop_gradient(jnp.maximum(own, jnp.where(weighed.on, shared, 0.0)))


def slow_rebounds(settle_speed: Real, pressed: Numbers, noise: CrowdNoise) -> Numbers:
    """Rebounds [m/s] that are none: slower than the user says, or a hop lower than rounding where it is pressed."""
    hop = jnp.sqrt(2.0 * pressed * HOP * noise.place + 1e-300)
    return jax.lax.stop_gradient(jnp.maximum(settle_speed, hop))


def short_slides(
    crowd: Crowd, r: Lines, weighed: Weighed, pressed: Numbers, noise: CrowdNoise, struck: Flag
) -> Numbers:
    """Sliding [m/s] that is none after a blow: friction ends it within a hop that is none, u^2 <= 2 a s.

    Else two feet that rock, each set sliding by the blow of the other, would go on so without end at 1e-9 m/s; and a
    stretched leg would jam.
    """
    n, m = len(pressed), crowd.slots[0]
    own, limit = jnp.diagonal(weighed.w), rubbing_at(crowd, r.slots, lambda friction: friction.limit)
    ends = limit * pressed[:m] * own[n:] / jnp.where(own[:m] > 0.0, own[:m], jnp.inf)
    short = jnp.sqrt(2.0 * ends * HOP * noise.place[:m] + 1e-300)
    along = jnp.concatenate([jnp.where(struck, short, 0.0), jnp.zeros(n - m)])
    return jax.lax.stop_gradient(jnp.maximum(noise.sliding, along))
