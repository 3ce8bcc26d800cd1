"""Equations of motion as pure functions of (mechanism, q, v): any of jit, vmap, jvp and grad may go through them."""

import equinox as eqx
from jaxtyping import Array, Float

from .. import native
from ..mechanism import Mechanism
from ..quantities import Given, Gravity, Vector
from ._vibration import vibration_energy as vibration_energy
from .constrained import assemble as assemble
from .constrained import constrained_dynamics as constrained_dynamics
from .constraints import AbstractConstraint as AbstractConstraint
from .constraints import Locked as Locked
from .constraints import OnCurve as OnCurve
from .constraints import Pin as Pin
from .constraints import constraint_error as constraint_error
from .energy import Momentum as Momentum
from .energy import centre_of_mass as centre_of_mass
from .energy import elastic_energy_by_link as elastic_energy_by_link
from .energy import kinetic_energy as kinetic_energy
from .energy import kinetic_energy_by_link as kinetic_energy_by_link
from .energy import momentum as momentum
from .energy import potential_energy as potential_energy
from .energy import potential_energy_by_link as potential_energy_by_link
from .formalism import AbstractFormalism as AbstractFormalism
from .forward_inverse import FORMALISMS as FORMALISMS
from .forward_inverse import STANDARD_GRAVITY as STANDARD_GRAVITY
from .forward_inverse import formalism_of as formalism_of
from .forward_inverse import forward_dynamics as forward_dynamics
from .forward_inverse import generalized_force as generalized_force
from .forward_inverse import gravity_vector as gravity_vector
from .forward_inverse import inverse_dynamics as inverse_dynamics
from .forward_inverse import vector_of as vector_of
from .kinematics import site_bias as site_bias
from .kinematics import site_jacobian as site_jacobian
from .kinematics import site_position as site_position
from .kinematics import site_velocity as site_velocity
from .kinematics import small as small
from .kkt import Constrained as Constrained
from .kkt import solve_kkt as solve_kkt


def mass_matrix(mechanism: Mechanism, q: Vector, formalism: str = "explicit") -> Float[Array, "dof dof"]:
    """Mass matrix M(q) in absolute coordinates."""
    return _mass_matrix(formalism_of(formalism), mechanism, vector_of(mechanism, "q", q))


def bias(mechanism: Mechanism, q: Vector, v: Vector, formalism: str = "explicit") -> Float[Array, " dof"]:
    """Inertial forces at zero acceleration, so that M v' + bias = all generalized forces."""
    return _bias(formalism_of(formalism), mechanism, vector_of(mechanism, "q", q), vector_of(mechanism, "v", v))


def gravity_force(
    mechanism: Mechanism, q: Given, gravity: Gravity = STANDARD_GRAVITY, formalism: str = "explicit"
) -> Float[Array, " dof"]:
    """Generalized force of weight."""
    return _gravity(formalism_of(formalism), mechanism, vector_of(mechanism, "q", q), gravity_vector(gravity))


@native.quick(small)
@eqx.filter_jit
def _mass_matrix(chosen: AbstractFormalism, mechanism: Mechanism, q: Vector) -> Array:
    return chosen.mass_matrix(mechanism, q)


@native.quick(small)
@eqx.filter_jit
def _bias(chosen: AbstractFormalism, mechanism: Mechanism, q: Vector, v: Vector) -> Array:
    return chosen.bias(mechanism, q, v)


@native.quick(small)
@eqx.filter_jit
def _gravity(chosen: AbstractFormalism, mechanism: Mechanism, q: Vector, gravity: Vector) -> Array:
    return chosen.gravity(mechanism, q, gravity)
