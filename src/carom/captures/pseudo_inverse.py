"""The space-capture thesis's impact formula, for comparison only: it does not keep momentum."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from .. import errors
from .._arguments import SiteLike
from ..dynamics import mass_matrix, site_jacobian
from ..hybrid.compiling import kept
from ..mechanism import Mechanism, Site
from ..mechanism.state import State, refuse_state
from ..quantities import Vector
from .capture_blow import refuse_apart, sites_of
from .record import Capture


def capture_by_pseudo_inverse(mechanism: Mechanism, hand: SiteLike, grip: SiteLike, start: State) -> Capture:
    """Equations (4.9) to (4.11) of the space-capture thesis; use `carom.capture` for the right answer.

        G p'+ = M p'- + J^T (J_O^+)^T M_O psi'-,   G = M + J^T (J_O^+)^T M_O J_O^+ J,   psi'+ = J_O^+ J p'+

    p: the arm, psi = (x, y, angle): the object, J_O^+ the Moore-Penrose inverse of the object's 2 x 3 Jacobian. That
    inverse adds metres to radians, so the answer depends on the unit of length and on the point of the object whose
    coordinates are used; f = -(J_O^+)^T M_O (psi'+ - psi'-) drops one of the object's three equations, so momentum is
    lost, and a common velocity of everything changes the answer. Right only where the blow does not turn the object.
    """
    arm, target = sites_of(mechanism, hand, grip)
    start = refuse_state(start, mechanism)
    q, v = start.q, start.v
    refuse_apart(mechanism, arm, target, q)
    after, impulse = _blow(mechanism, arm.name, target.name, _object_coordinates(mechanism, target), q, v)
    return Capture(
        mechanism=mechanism,
        hand=arm.name,
        grip=target.name,
        kind="pseudo-inverse",
        base="free-floating",
        restitution=jnp.zeros(()),
        q=q,
        before=v,
        after=after,
        impulse=impulse,
        moment=jnp.zeros(()),
        base_impulse=jnp.zeros(3),
        stages=(),
    )


@kept
def _blow(
    mechanism: Mechanism, hand: str, grip: str, of_object: tuple[int, ...], q: Vector, v: Vector
) -> tuple[Any, Any]:
    """Velocities after the blow, and what the hand gives the object."""
    o = np.asarray(of_object)
    p = np.asarray([i for i in range(mechanism.dof) if i not in of_object])
    matrix = mass_matrix(mechanism, q)
    J = site_jacobian(mechanism, q, mechanism.site(hand))[:, p]
    plus = jnp.linalg.pinv(site_jacobian(mechanism, q, mechanism.site(grip))[:, o])
    M, M_O = matrix[np.ix_(p, p)], matrix[np.ix_(o, o)]
    across = J.T @ plus.T @ M_O
    moved = jnp.linalg.solve(M + across @ plus @ J, M @ v[p] + across @ v[o])
    after = v.at[p].set(moved).at[o].set(plus @ J @ moved)
    return after, -plus.T @ M_O @ (after[o] - v[o])


def _object_coordinates(mechanism: Mechanism, grip: Site) -> tuple[int, ...]:
    """(x, y, angle) of an object that is one free rigid body."""
    top = mechanism.topology
    tree = top.trees[grip.link]
    at = top.base_index(tree)
    if at is None or top.trees.count(tree) != 1 or top.modes[grip.link]:
        raise errors.CaromError(
            f"the object '{top.tree_names[tree]}' is not one free rigid body; the pseudo-inverse formula is written "
            "for its three coordinates; use carom.capture"
        )
    return at, at + 1, top.angle_index(grip.link)
