"""Lagrange's equations with the energies differentiated automatically: d/dt dT/dv - dT/dq = Q - dV/dq.

Only positions are written down; everything else follows by differentiation, which makes this the judge of the others.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..mechanism import Mechanism
from ..quantities import Vector
from . import _rotors as rotors
from .formalism import AbstractFormalism
from .kinematics import link_motion


def centres(mechanism: Mechanism, q: Vector) -> tuple[Array, Array]:
    """World positions x and y [m] of all centres of mass."""
    place = link_motion(mechanism, q, jnp.zeros_like(q))
    cx, cy = mechanism.numbers.com[:, 0], mechanism.numbers.com[:, 1]
    return place.x + place.cos * cx - place.sin * cy, place.y + place.sin * cx + place.cos * cy


def _nodes(mechanism: Mechanism, q: Vector) -> list[tuple[Array, Array, Array, Array]]:
    """Per link: masses, positions x and y, and angles of all its points of mass; an elastic link has many."""
    n, top = mechanism.numbers, mechanism.topology
    link = link_motion(mechanism, q, jnp.zeros_like(q))
    out = []
    for k, flex in enumerate(n.flex):
        angle = q[top.angle_index(k)]
        place, mass, turned = n.com[k][None], n.mass[k][None], angle[None]
        if flex is not None:
            p = flex.nodes
            d = q[np.asarray(top.mode_index(k), dtype=int)]
            back = jnp.einsum("gij,i,j->g", p.short, d, d) / 2.0
            place = p.place + jnp.einsum("gjd,j->gd", p.shape, d) - jnp.stack([back, jnp.zeros_like(back)], axis=1)
            mass, turned = p.mass, angle[None] + p.slope @ d
        x = link.x[k] + link.cos[k] * place[:, 0] - link.sin[k] * place[:, 1]
        y = link.y[k] + link.sin[k] * place[:, 0] + link.cos[k] * place[:, 1]
        out.append((mass, x, y, turned))
    return out


def _bent_kinetic(mechanism: Mechanism, q: Vector, v: Vector) -> Array:
    """The same point by point, with the rotary inertia of the sections."""
    n = mechanism.numbers
    moved = jax.jvp(lambda q: [node[1:] for node in _nodes(mechanism, q)], (q,), (v,))[1]
    total = jnp.asarray(0.0)
    for k, (mass, *_) in enumerate(_nodes(mechanism, q)):
        vx, vy, rate = moved[k]
        flex = n.flex[k]
        rotary = n.inertia[k][None] if flex is None else flex.nodes.rotary
        total = total + 0.5 * (mass @ (vx * vx + vy * vy) + rotary @ (rate * rate))
    return total


def kinetic(mechanism: Mechanism, q: Vector, v: Vector) -> Array:
    """T = 1/2 sum (m |r_c'|^2 + I theta'^2), with r_c' the derivative of the position along the motion."""
    if mechanism.topology.elastic:
        return _bent_kinetic(mechanism, q, v)
    vx, vy = jax.jvp(lambda q: centres(mechanism, q), (q,), (v,))[1]
    rate = mechanism.angles(v)
    n = mechanism.numbers
    spun = n.rotor * rotors.rates(mechanism, v) ** 2 if any(mechanism.topology.rotors) else 0.0
    return 0.5 * jnp.sum(n.mass * (vx * vx + vy * vy) + n.inertia * rate * rate + spun)


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
        def work(q: Vector) -> Array:
            if mechanism.topology.elastic:
                each = [m @ (gravity[0] * x + gravity[1] * y) for m, x, y, _ in _nodes(mechanism, q)]
                return jnp.sum(jnp.stack(each))
            x, y = centres(mechanism, q)
            return jnp.sum(mechanism.numbers.mass * (gravity[0] * x + gravity[1] * y))

        return jax.grad(work)(q)
