"""What forces at many contacts do to the coordinates: rows from wrenches, for the contacts that act."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ...dynamics.kinematics import LinkMotion
from ...mechanism import Mechanism
from ._kinds import Kind, body_links

Wrenches = tuple[tuple[Any, ...], ...]  # (x, y, fx, fy, torque) on both bodies, a number of every contact each


def rows_at(
    kinds: Sequence[Kind], mechanism: Mechanism, links: LinkMotion, wrenches: Wrenches, index: Int[Array, " n"]
) -> Float[Array, "n dof"]:
    """Generalized forces of the wrenches of these contacts."""
    both = body_links(kinds)
    bodies, sides = jnp.asarray(both)[index], 1 + any(len(kind.bodies[0]) > 1 for kind in kinds)
    mine = jax.tree.map(lambda x: x[index], wrenches[:sides])
    rows = [_row(mechanism, links, bodies[:, side], mine[side]) for side in range(sides)]
    return rows[0] + rows[1] if sides > 1 else rows[0]


def _row(mechanism: Mechanism, links: LinkMotion, body: Int[Array, " n"], wrench: tuple[Any, ...]) -> Any:
    """One body of each: its base, the links that carry it, and its own."""
    top = mechanism.topology
    x, y, fx, fy, torque = wrench
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
    for link, path in enumerate(top.paths):
        out[link, [s for _, s in path]] = 1.0
    return out
