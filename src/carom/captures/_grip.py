"""What a capture makes equal: rows A with A v the velocity of the arm's site relative to the object's."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .. import errors
from .._arguments import SiteLike
from ..dynamics import site_jacobian
from ..mechanism import Mechanism, Site
from ..quantities import Vector


def grip_rows(mechanism: Mechanism, q: Vector, hand: SiteLike, grip: SiteLike) -> Float[Array, "3 dof"]:
    """Rows of the relative velocity of two sites (x, y) and of their relative rotation."""
    points = site_jacobian(mechanism, q, hand) - site_jacobian(mechanism, q, grip)
    turning = turning_row(mechanism, hand) - turning_row(mechanism, grip)
    return jnp.concatenate([points, turning[None, :]])


def turning_row(mechanism: Mechanism, site: SiteLike) -> Float[Array, " dof"]:
    """d (angle of what is fixed to a site) / dq: the link's angle, and the slope of the section where it bends."""
    at, top = mechanism.site(site), mechanism.topology
    index = top.turn_index(at.link)
    row = jnp.zeros(top.dof) if index is None else jnp.zeros(top.dof).at[index].set(1.0)
    reach = mechanism.numbers.site_reach[at.index]
    return row if reach is None else row.at[np.asarray(top.mode_index(at.link), dtype=int)].set(reach.slope)


def base_coordinates(mechanism: Mechanism, hand: Site, base: str) -> tuple[int, ...]:
    """Coordinates of the arm's base (x, y, angle) whose rates its actuators keep through the blow."""
    if base == "free-floating":
        return ()
    top = mechanism.topology
    tree = top.trees[hand.link]
    at = top.base_index(tree)
    if at is None:
        raise errors.CaromError(
            f"base of capture is '{base}', but '{top.tree_names[tree]}' hangs on a fixed pivot, which holds itself; "
            "use 'free-floating', or build the arm on carom.Free()"
        )
    root = root_of(mechanism, tree)
    turn = top.angle_index(root)
    return (turn,) if base == "attitude-held" else (at, at + 1, turn)


def root_of(mechanism: Mechanism, tree: int) -> int:
    """The link that is the body of a tree's base: the first that hangs on it."""
    top = mechanism.topology
    return next(k for k in range(top.links) if top.trees[k] == tree and top.parents[k] < 0)
