"""A frictionless blow in matrices: any constraints a(q) >= 0 with rows A = da/dq, any mass matrix, also a singular one.

Impulse and momentum: M v+ = M v- + A^T P. Contacts push or leave: P >= 0, A v+ + e A v- >= 0, their product zero.
Impulses P are those on the robot, compressive positive; the lecture notes count them negative.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from ... import errors, native
from ...dynamics.kkt import RANK_TOLERANCE, solve_kkt
from ...quantities import Flags, Given, Matrix, Real, Rows, Vector
from ._several import ROUNDS, TOLERANCE

FEW = 30  # rows and columns of matrices that are short code, number by number


class Blocks(NamedTuple):
    """Blocks of the inverse of [[M, A^T], [A, 0]]: [[mass, rows^T], [rows, contact]]; M_dag, A_dag, Lambda_dag.

    Without restitution, v+ = v- - rows^T A v-, and the impulse on the robot is contact A v-.
    """

    mass: Float[Array, "dof dof"]
    rows: Float[Array, "rows dof"]
    contact: Float[Array, "rows rows"]


class MatrixBlow(NamedTuple):
    """Velocity after a blow, impulses on the robot [N s], change of kinetic energy [J], and which contacts pushed."""

    velocity: Float[Array, " dof"]
    impulses: Float[Array, " rows"]
    energy_change: Float[Array, ""]
    pushing: Array


def impact_blocks(mass: Rows, rows: Rows) -> Blocks:
    """M_dag, A_dag and Lambda_dag, by the pseudo-inverse: M may be singular and rows may repeat each other."""
    m, held = _checked(mass, rows)
    dof, count = m.shape[0], held.shape[0]
    whole = jnp.block([[m, held.T], [held, jnp.zeros((count, count))]])
    inverse = jnp.linalg.pinv(whole, rtol=RANK_TOLERANCE, hermitian=True)
    return Blocks(inverse[:dof, :dof], inverse[dof:, :dof], inverse[dof:, dof:])


def blow(mass: Rows, rows: Rows, velocity: Given, restitution: Real = 0.0) -> MatrixBlow:
    """Velocity and impulses after a blow on the closed contacts with gradients `rows`, by Newton's law.

    - `mass` M (n, n), `rows` A (m, n), `velocity` v- (n,), `restitution` one number or one per row, in [0, 1]

    A contact that does not approach takes part: it may be needed to keep the robot from being pushed through. Where
    rows depend on each other the impulses of least norm are returned; velocity and A^T P are unique.
    """
    m, held = _checked(mass, rows)
    errors.vector("blow", "velocity", velocity, m.shape[0])
    coming = jnp.asarray(velocity, dtype=float)
    count = held.shape[0]
    known = errors.known(restitution)
    if known is not None and (known.shape not in ((), (count,)) or not ((known >= 0.0) & (known <= 1.0)).all()):
        raise errors.CaromError(
            f"restitution of blow is {restitution!r}; it must be one number in [0, 1], or one for each of {count} rows"
        )
    return _struck(m, held, coming, jnp.asarray(restitution, dtype=float))


def _few(mass: Matrix, rows: Matrix, *rest: Vector) -> bool:
    return sum(mass.shape + rows.shape) <= FEW


@native.quick(_few)
def _struck(mass: Matrix, rows: Matrix, coming: Vector, restitution: Vector) -> MatrixBlow:
    before = rows @ coming
    target = -(1.0 + restitution) * before  # change of velocity that the law asks for
    pushing = _pushing(*jax.lax.stop_gradient((mass, rows, target)))
    change, impulses = _held(mass, rows, target, pushing)
    after = coming + change
    energy = 0.5 * (after @ mass @ after - coming @ mass @ coming)
    return MatrixBlow(after, impulses, energy, pushing)


def _held(mass: Matrix, rows: Matrix, target: Vector, pushing: Flags) -> tuple[Any, Any]:
    """Change of velocity, and impulses, when these contacts push."""
    on = jnp.where(pushing, 1.0, 0.0)
    solved = solve_kkt(mass, rows * on[:, None], jnp.zeros(mass.shape[0]), target * on)
    return solved.acceleration, solved.multipliers * on


def _pushing(mass: Matrix, rows: Matrix, target: Vector) -> Any:
    """Which contacts push: the first decision that breaks a condition is changed, one at a time (see _several.py)."""
    count = rows.shape[0]
    scale = jnp.sum(jnp.abs(target)) + jnp.finfo(float).tiny
    # Impulses are compared as the velocities that they would cause on the robot's whole mass.
    light = jnp.max(jnp.sum(rows**2, axis=1)) / jnp.max(jnp.diag(mass))

    def broken(on: Flags) -> Any:
        change, impulses = _held(mass, rows, target, on)
        pulls, enters = impulses * light < -TOLERANCE * scale, rows @ change - target < -TOLERANCE * scale
        return jnp.where(on, pulls, enters)

    def body(s: PyTree) -> Any:
        on, rounds, _ = s
        flags = broken(on)
        first = jnp.arange(count) == jnp.argmax(flags)
        return jnp.where(first & jnp.any(flags), ~on, on), rounds + 1, ~jnp.any(flags)

    start = (target > 0.0, jnp.asarray(0), jnp.asarray(False))
    return jax.lax.while_loop(lambda s: ~s[2] & (s[1] < ROUNDS * count), body, start)[0]


def _checked(mass: Rows, rows: Rows) -> tuple[Matrix, Matrix]:
    m, held = jnp.asarray(mass, dtype=float), jnp.asarray(rows, dtype=float)
    if m.ndim != 2 or m.shape[0] != m.shape[1]:
        raise errors.CaromError(f"mass of a blow has shape {m.shape}; it must be a square matrix")
    if held.ndim != 2 or held.shape[1] != m.shape[0]:
        raise errors.CaromError(
            f"rows of a blow have shape {held.shape}; there must be one row of {m.shape[0]} numbers per contact"
        )
    return m, held
