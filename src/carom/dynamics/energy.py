"""Energies by link, momentum of the whole."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from ..mechanism import Mechanism
from ..quantities import Given, Gravity, Point, Real, Vector
from . import _elastic_energy as elastic_energy
from . import _rotors as rotors
from .forward_inverse import STANDARD_GRAVITY, gravity_vector
from .kinematics import LinkMotion, link_motion, of_state


class Momentum(NamedTuple):
    """Linear momentum [kg m/s] and angular momentum [kg m^2/s] about a stated point."""

    linear: Float[Array, "2"]
    angular: Float[Array, ""]


def _centre_motion(mechanism: Mechanism, q: Vector, v: Vector) -> tuple[LinkMotion, Array, Array, Array, Array]:
    """Motion of the links, and position and velocity of their centres of mass."""
    link = link_motion(mechanism, q, v)
    cx, cy = mechanism.numbers.com[:, 0], mechanism.numbers.com[:, 1]
    rx, ry = link.cos * cx - link.sin * cy, link.sin * cx + link.cos * cy
    return link, link.x + rx, link.y + ry, link.vx - link.rate * ry, link.vy + link.rate * rx


@of_state
def kinetic_energy_by_link(
    mechanism: Mechanism, q: Float[Array, " dof"], v: Float[Array, " dof"]
) -> Float[Array, " links"]:
    """Kinetic energy [J] of every link, with the rotor of its joint."""
    if mechanism.topology.elastic:
        return _stacked(elastic_energy.kinetic_by_link(mechanism, q, v))
    link, _, _, vx, vy = _centre_motion(mechanism, q, v)
    n = mechanism.numbers
    spun = n.rotor * rotors.rates(mechanism, v) ** 2 if any(mechanism.topology.rotors) else 0.0
    return 0.5 * (n.mass * (vx * vx + vy * vy) + n.inertia * link.rate**2 + spun)


@of_state
def potential_energy_by_link(
    mechanism: Mechanism, q: Float[Array, " dof"], gravity: Gravity = STANDARD_GRAVITY
) -> Float[Array, " links"]:
    """Potential energy [J] of every link: weight (zero at the world's origin), the spring of its joint, bending."""
    n, g = mechanism.numbers, gravity_vector(gravity)
    stretch = mechanism.joints(q) - n.rest
    if mechanism.topology.elastic:
        each = elastic_energy.first_moments(mechanism, q, jnp.zeros_like(q))
        weight = _stacked([-(g[0] * first[0] + g[1] * first[1]) for _, first, _, _ in each])
        return weight + 0.5 * n.stiffness * stretch**2 + elastic_energy_by_link(mechanism, q)
    _, x, y, _, _ = _centre_motion(mechanism, q, jnp.zeros_like(q))
    return -n.mass * (g[0] * x + g[1] * y) + 0.5 * n.stiffness * stretch**2


@of_state
def elastic_energy_by_link(mechanism: Mechanism, q: Float[Array, " dof"]) -> Float[Array, " links"]:
    """Energy [J] of the bending of every link; zero for rigid ones."""
    return _stacked(elastic_energy.elastic_by_link(mechanism, q))


def _stacked(values: list[Any]) -> Array:
    return jnp.stack([jnp.asarray(x, dtype=float) for x in values])


@of_state
def kinetic_energy(mechanism: Mechanism, q: Float[Array, " dof"], v: Float[Array, " dof"]) -> Float[Array, ""]:
    """Kinetic energy [J] of the whole."""
    return jnp.sum(kinetic_energy_by_link(mechanism, q, v))


@of_state
def potential_energy(
    mechanism: Mechanism, q: Float[Array, " dof"], gravity: Real | Given = STANDARD_GRAVITY
) -> Float[Array, ""]:
    """Potential energy [J] of the whole: weight and joint springs."""
    return jnp.sum(potential_energy_by_link(mechanism, q, gravity))


@of_state
def momentum(
    mechanism: Mechanism, q: Float[Array, " dof"], v: Float[Array, " dof"], about: Point = (0.0, 0.0)
) -> Momentum:
    """Linear momentum, and angular momentum about the world point `about`."""
    if mechanism.topology.elastic:
        each = elastic_energy.first_moments(mechanism, q, v)
        px, py = (sum(p[axis] for _, _, p, _ in each) for axis in (0, 1))
        spin = sum(a for _, _, _, a in each) - (about[0] * py - about[1] * px)
        return Momentum(_stacked([px, py]), jnp.asarray(spin))
    link, x, y, vx, vy = _centre_motion(mechanism, q, v)
    n = mechanism.numbers
    spin = n.inertia * link.rate + n.mass * ((x - about[0]) * vy - (y - about[1]) * vx)
    if any(mechanism.topology.rotors):
        spin = spin + n.rotor * rotors.rates(mechanism, v)
    return Momentum(jnp.stack([jnp.sum(n.mass * vx), jnp.sum(n.mass * vy)]), jnp.sum(spin))


@of_state
def centre_of_mass(mechanism: Mechanism, q: Float[Array, " dof"]) -> Float[Array, "2"]:
    """Centre of mass [m] of the whole."""
    if mechanism.topology.elastic:
        each = elastic_energy.first_moments(mechanism, q, jnp.zeros_like(q))
        first = _stacked([sum(f[axis] for _, f, _, _ in each) for axis in (0, 1)])
        return first / sum(m for m, _, _, _ in each)
    _, x, y, _, _ = _centre_motion(mechanism, q, jnp.zeros_like(q))
    mass = mechanism.numbers.mass
    return jnp.stack([jnp.sum(mass * x), jnp.sum(mass * y)]) / jnp.sum(mass)
