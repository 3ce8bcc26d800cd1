"""Lagrange's equations with the energies differentiated automatically: d/dt dT/dv - dT/dq = Q - dV/dq.

Only positions are written down; everything else follows by differentiation, which makes this the judge of the others.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..mechanism import Mechanism
from .formalism import AbstractFormalism
from .kinematics import link_motion


def centres(mechanism: Mechanism, q: Any) -> tuple[Array, Array]:
    """World positions x and y [m] of all centres of mass."""
    place = link_motion(mechanism, q, jnp.zeros_like(q))
    cx, cy = mechanism.numbers.com[:, 0], mechanism.numbers.com[:, 1]
    return place.x + place.cos * cx - place.sin * cy, place.y + place.sin * cx + place.cos * cy


def kinetic(mechanism: Mechanism, q: Any, v: Any) -> Array:
    """T = 1/2 sum (m |r_c'|^2 + I theta'^2), with r_c' the derivative of the position along the motion."""
    vx, vy = jax.jvp(lambda q: centres(mechanism, q), (q,), (v,))[1]
    rate = v[mechanism.topology.base_dof :]
    n = mechanism.numbers
    return 0.5 * jnp.sum(n.mass * (vx * vx + vy * vy) + n.inertia * rate * rate)


class Lagrange(AbstractFormalism):
    """Energies differentiated automatically. Source: the arm paper; the thesis's 'classic' approach."""

    @property
    def name(self) -> str:
        return "lagrange"

    def mass_matrix(self, mechanism: Mechanism, q: Float[Array, " dof"]) -> Float[Array, "dof dof"]:
        return jax.hessian(lambda v: kinetic(mechanism, q, v))(jnp.zeros_like(q))

    def bias(self, mechanism: Mechanism, q: Float[Array, " dof"], v: Float[Array, " dof"]) -> Float[Array, " dof"]:
        momentum = lambda q: jax.grad(kinetic, argnums=2)(mechanism, q, v)  # noqa: E731
        along = jax.jvp(momentum, (q,), (v,))[1]
        return along - jax.grad(kinetic, argnums=1)(mechanism, q, v)

    def gravity(
        self, mechanism: Mechanism, q: Float[Array, " dof"], gravity: Float[Array, "2"]
    ) -> Float[Array, " dof"]:
        def work(q: Any) -> Array:
            x, y = centres(mechanism, q)
            return jnp.sum(mechanism.numbers.mass * (gravity[0] * x + gravity[1] * y))

        return jax.grad(work)(q)
