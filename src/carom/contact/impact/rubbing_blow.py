"""A blow with friction on one contact, in matrices: any mass matrix, any law of restitution that carom has.

The same path as in a simulation (_path.py): w = (n, d)^T M^-1 (n, d) is what unit impulses do to the velocities of the
contact point, and v+ = v- + M^-1 (P_n n + P_t d).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from ... import errors
from ...quantities import Given, Real, Rows
from ..friction import AbstractDry
from ._path import Weights, path
from .impact_law import AbstractImpactLaw


class RubbingBlow(NamedTuple):
    """Velocity after a blow, normal and tangential impulse on the body [N s], change of kinetic energy [J]."""

    velocity: Float[Array, " dof"]
    normal: Float[Array, ""]
    tangential: Float[Array, ""]
    energy_change: Float[Array, ""]


def rubbing_blow(
    mass: Rows, normal: Given, tangent: Given, velocity: Given, law: AbstractImpactLaw, friction: AbstractDry | Real
) -> RubbingBlow:
    """Velocity and impulses after a blow with friction; `vmap` makes a batch of many.

    - `mass` M (n, n); `normal`, `tangent` (n,): rows of the contact point's Jacobian, into the free side and along it
    - `velocity` v- (n,); `law`: `carom.Newton`, `Poisson`, `Stronge`, `Plastic`; `friction`: `carom.Coulomb` or mu

    A contact that does not approach is left alone.

        carom.contact.rubbing_blow(M, n, d, v, carom.Poisson(0.6), 0.2).velocity
    """
    m = jnp.asarray(mass, dtype=float)
    if m.ndim != 2 or m.shape[0] != m.shape[1]:
        raise errors.CaromError(f"mass of a blow has shape {m.shape}; it must be a square matrix")
    for field, given in (("normal", normal), ("tangent", tangent), ("velocity", velocity)):
        errors.vector("rubbing_blow", field, given, m.shape[0])
    rows = jnp.stack([jnp.asarray(normal, dtype=float), jnp.asarray(tangent, dtype=float)])
    v = jnp.asarray(velocity, dtype=float)
    through = jnp.linalg.solve(m, rows.T).T
    w = rows @ through.T
    approach, sliding = rows @ v
    coming = approach < 0.0
    mu, limit = _coefficients(friction, jnp.abs(sliding))
    way = path(Weights(w[0, 0], w[0, 1], w[1, 1]), jnp.where(coming, approach, -1.0), sliding, mu, limit)
    along = jnp.where(coming, law.end(way, law.asked_at(-approach)), 0.0)
    across = jnp.where(coming, way.friction(along), 0.0)
    after = v + along * through[0] + across * through[1]
    return RubbingBlow(after, along, across, 0.5 * (after @ m @ after - v @ m @ v))


def _coefficients(friction: AbstractDry | Real, speed: Real) -> tuple[Any, Any]:
    if isinstance(friction, AbstractDry):
        return friction.coefficient(speed), friction.limit
    errors.number("rubbing_blow", "friction", friction, least=0.0)
    return friction, friction
