"""Energy of the vibration of elastic links: what is left of it when the nearest rigid motion is taken away."""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, Float

from ..mechanism import Mechanism
from ._linear import solve
from .energy import elastic_energy_by_link
from .forward_inverse import formalism_of
from .kinematics import of_state


@of_state
def vibration_energy(mechanism: Mechanism, q: Float[Array, " dof"], v: Float[Array, " dof"]) -> Float[Array, ""]:
    """Energy [J] of the vibration of all elastic links: of bending, and of the motion beside the nearest rigid one.

    With the mass matrix in blocks of rigid (r) and modal (e) coordinates, V(q) + 1/2 v_e^T (M_ee - M_er M_rr^-1 M_re)
    v_e. Nearest in the metric of the mass matrix, so that the kinetic energies of both motions add up: the rigid one
    has the momenta that belong to the rigid coordinates. It is zero for rigid links.

    >>> import carom, numpy as np
    >>> arm = carom.Arm([carom.Rod(length=1.0, mass=1.0)])
    >>> float(carom.dynamics.vibration_energy(arm, np.zeros(1), np.ones(1)))
    0.0
    """
    if not mechanism.topology.elastic:
        return jnp.asarray(0.0)
    rigid, rates = mechanism.dof - sum(mechanism.topology.modes), jnp.asarray(v)
    M = formalism_of("explicit").mass_matrix(mechanism, q)
    beside = rates[rigid:]
    push = M[:rigid, rigid:] @ beside
    moving = beside @ M[rigid:, rigid:] @ beside - push @ solve(M[:rigid, :rigid], push)
    return jnp.sum(elastic_energy_by_link(mechanism, q)) + 0.5 * moving
