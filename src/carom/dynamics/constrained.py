"""Motion under bilateral constraints: accelerations with the constraint forces, and states that meet them."""

from __future__ import annotations

from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .. import errors, native
from .._arguments import ConstraintsLike
from ..mechanism import Mechanism
from ..quantities import Flag, Forces, Given, Gravity, Index, Real, Vector
from .constraints import AbstractConstraint, constraint_error, constraint_rows
from .energy import kinetic_energy
from .formalism import AbstractFormalism
from .forward_inverse import (
    STANDARD_GRAVITY,
    efforts_of,
    formalism_of,
    generalized_force,
    gravity_vector,
    vector_of,
)
from .kinematics import small
from .kkt import Constrained, solve_kkt

Out = TypeVar("Out")

FAR_OFF = 1e-3  # [m or rad] a state this far from a constraint is not one that drifted a little


@native.quick(small)
@eqx.filter_jit
def _constrained(
    chosen: AbstractFormalism,
    mechanism: Mechanism,
    constraints: tuple[AbstractConstraint, ...],
    q: Vector,
    v: Vector,
    efforts: tuple[Any, Any, Any],
    gravity: Vector,
    stabilise: Real,
) -> tuple[Constrained, Array]:
    force = generalized_force(mechanism, q, v, *efforts) + chosen.gravity(mechanism, q, gravity)
    rows, gamma = constraint_rows(mechanism, constraints, q, v)
    # Baumgarte: errors of position and velocity decay with the given rate instead of drifting.
    error = constraint_error(mechanism, constraints, q)
    gamma = gamma - 2.0 * stabilise * (rows @ v) - stabilise**2 * error
    solved = solve_kkt(chosen.mass_matrix(mechanism, q), rows, force - chosen.bias(mechanism, q, v), gamma)
    return solved, jnp.max(jnp.abs(error))


def constrained_dynamics(
    mechanism: Mechanism,
    constraints: ConstraintsLike,
    q: Given,
    v: Given,
    *,
    torques: Given | None = None,
    forces: Forces | None = None,
    base_force: Given | None = None,
    gravity: Gravity = STANDARD_GRAVITY,
    formalism: str = "explicit",
    stabilise: Real = 0.0,
    throw: bool = True,
) -> Constrained:
    """Accelerations and constraint forces of a mechanism held by bilateral constraints.

    Massless links and redundant constraints are welcome. Constraints that contradict each other raise an error, or set
    `conflict` with `throw=False`. `stabilise` [1/s] pulls drifting errors back (Baumgarte); 0 leaves them alone.
    """
    q, v = vector_of(mechanism, "q", q), vector_of(mechanism, "v", v)
    held = _checked(constraints)
    efforts = efforts_of(torques, forces, base_force)
    out, off = _constrained(
        formalism_of(formalism), mechanism, held, q, v, efforts, gravity_vector(gravity), jnp.asarray(stabilise, float)
    )
    if throw:
        listed = ", ".join(c.describe() for c in constraints)
        message = f"the constraints {listed} contradict each other at this state; no acceleration meets all; remove one"
        out = _raise_if(out, out.conflict, message)
        message = f"the constraints {listed} are not met at this q: they contradict each other, or it needs assemble()"
        out = _raise_if(out, (off > FAR_OFF) & (jnp.asarray(stabilise) == 0.0), message)
    return out


def _checked(constraints: ConstraintsLike) -> tuple[AbstractConstraint, ...]:
    if isinstance(constraints, AbstractConstraint):
        raise errors.CaromError(
            f"constraints is a {type(constraints).__name__}; it must be a list of constraints, such as [carom.Pin(...)]"
        )
    if len(constraints) == 0:
        raise errors.CaromError("constraints is empty; give at least one, or use carom.dynamics.forward_dynamics")
    for i, item in enumerate(constraints):
        if not isinstance(item, AbstractConstraint):
            raise errors.CaromError(
                f"constraints[{i}] is a {type(item).__name__}; it must be a carom.Pin, OnCurve, ..."
            )
    return tuple(constraints)


def _raise_if(out: Out, wrong: Flag, message: str) -> Out:
    """Raise `message` where `wrong` holds: a plain sentence outside jit, equinox's runtime error inside."""
    if isinstance(wrong, jax.core.Tracer):
        return eqx.error_if(out, wrong, message)
    if bool(np.any(np.asarray(wrong))):
        raise errors.CaromError(message)
    return out


def assemble(
    mechanism: Mechanism,
    constraints: ConstraintsLike,
    q: Vector,
    v: Vector | None = None,
    steps: int = 50,
) -> tuple[Float[Array, " dof"], Float[Array, " dof"]]:
    """The nearest state that satisfies the constraints: close a loop from a rough guess of q (and v).

    Newton's method with least-norm steps on the positions; the velocity is projected with the mass matrix as metric,
    as a plastic impact would do it.
    """
    constraints = _checked(constraints)
    q = vector_of(mechanism, "q", q)
    v = jnp.zeros_like(q) if v is None else vector_of(mechanism, "v", v)
    found, moving = _assemble(mechanism, tuple(constraints), q, v, steps)
    gap = constraint_error(mechanism, constraints, found)
    listed = ", ".join(c.describe() for c in constraints)
    size = jnp.max(jnp.abs(gap))
    message = f"the constraints {listed} cannot all be met near this q; start nearer, or check the link lengths"
    return _raise_if((found, moving), ~(size < 1e-9), message)


@native.quick(small)
@eqx.filter_jit
def _assemble(
    mechanism: Mechanism, constraints: tuple[AbstractConstraint, ...], q: Vector, v: Vector, steps: int
) -> tuple[Array, Array]:
    def improve(_: Index, q: Vector) -> Any:
        rows = jax.jacfwd(lambda q: constraint_error(mechanism, constraints, q))(q)
        return q - jnp.linalg.pinv(rows, rtol=1e-9) @ constraint_error(mechanism, constraints, q)

    q = jax.lax.fori_loop(0, steps, improve, q)
    matrix = jax.hessian(lambda v: kinetic_energy(mechanism, q, v))(jnp.zeros_like(q))
    rows, _ = constraint_rows(mechanism, constraints, q, v)
    return q, solve_kkt(matrix, rows, matrix @ v, jnp.zeros(rows.shape[0])).acceleration
