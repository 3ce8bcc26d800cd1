"""What forces at many contacts do to the coordinates: rows from wrenches, for the contacts that act."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Integer

from ...dynamics._dense_tree import plan
from ...dynamics.kinematics import LinkMotion
from ...mechanism import Mechanism
from ._kinds import Kind, body_links

Wrenches = tuple[tuple[Any, ...], ...]  # (x, y, fx, fy, torque) on both bodies, a number of every contact each


def rows_at(
    kinds: Sequence[Kind], mechanism: Mechanism, links: LinkMotion, wrenches: Wrenches, place: Integer[Array, " n"]
) -> Float[Array, "n dof"]:
    """Generalized forces of the wrenches of the contacts with these numbers."""
    bodies, sides = jnp.asarray(body_links(kinds), dtype=jnp.uint32)[place], _sides(kinds)
    origins = jnp.stack([links.x, links.y])
    rows = [_row(mechanism, origins, bodies[:, side], wrenches[side]) for side in range(sides)]
    return rows[0] + rows[1] if sides > 1 else rows[0]


def _sides(kinds: Sequence[Kind]) -> int:
    """Does a contact push one body, or two?"""
    return 1 + any(len(kind.bodies[0]) > 1 for kind in kinds)


def _row(
    mechanism: Mechanism, origins: Float[Array, "2 links"], body: Integer[Array, " n"], wrench: tuple[Any, ...]
) -> Any:
    """One body of each: its base, the links that carry it, and its own."""
    top, p = mechanism.topology, plan(mechanism.topology)
    x, y, fx, fy, torque = wrench
    ox, oy = origins[:, body]
    own = (x - ox) * fy - (y - oy) * fx + torque
    angles = jnp.where(body[:, None] == np.arange(top.links)[None, :], own[:, None], 0.0)
    if np.any(p.inner):  # a link on the way moves the body as it moves the joint of the next one
        ex, ey = origins - origins[:, p.up]
        turned = jnp.asarray(p.path * p.inner)[body] * (ex[None, :] * fy[:, None] - ey[None, :] * fx[:, None])
        angles = angles + turned @ p.children.T
    if not top.base_dof:
        return angles
    on = jnp.asarray(p.on.T)[body]
    base_rows = jnp.stack([on * fx[:, None], on * fy[:, None]], axis=2).reshape(len(body), top.base_dof)
    return jnp.concatenate([base_rows, angles], axis=1)
