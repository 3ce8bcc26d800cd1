"""The linear system of a Rosenbrock stage: written out on scalars where it is small, in arrays where it is large.

The system is (I - g J) k = r. In a state (q, v, extra, work) q' = v eliminates q, and the works of the ledger feed back
into nothing, so that the system to factor is for z = (v, extra) alone:

    k_q = r_q + g k_v
    (I - g J_zz - g^2 J_zq) k_z = r_z + g J_zq r_q        (J_zq meets the columns of v)
    work: its sum over the stages is taken in closed form, with one product J_w k
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import PyTree

from ..dynamics._linear import lu_factor
from ..quantities import Real, Vector
from .scene import Continuous

WRITTEN_OUT = 12  # unknowns up to which elimination is written out on scalars

Rhs = Callable[[Any, Continuous], Continuous]
Solve = Callable[[Continuous], Continuous]
Power = Callable[[Continuous], Any]


def linearized(rhs: Rhs, t: Real, y: Continuous, g: Real) -> tuple[Solve, Power, Continuous]:
    """The solver of (I - g J) k = r, the product J_w k, and df/dt, all at (t, y)."""
    drift = jax.jvp(lambda t: rhs(t, y), (t,), (jnp.ones_like(t),))[1]
    scalars = isinstance(y.q, tuple)
    if scalars and len(jax.tree.leaves((y.v, y.extra))) <= WRITTEN_OUT:
        return *_written_out(rhs, t, y, g), drift
    return *_in_arrays(rhs, t, y, g), drift


# -- small systems: everything on scalars -----------------------------------------------------------------------------


def _written_out(rhs: Rhs, t: Real, y: Continuous, g: Real) -> tuple[Solve, Power]:
    dof, (leaves, tree) = len(y.q), jax.tree.flatten((y.v, y.extra))
    size = len(leaves)

    def column(state: Callable[[Any], Continuous], x: Real) -> tuple[list[Any], Any]:
        """One column of J: rows of z, rows of the works. Only x carries a tangent, so most of it is zero at once."""
        slope = jax.jvp(lambda x: rhs(t, state(x)), (x,), (jnp.ones_like(x),))[1]
        return jax.tree.leaves((slope.v, slope.extra)), slope.work

    def with_q(j: int) -> Callable[[Any], Continuous]:
        return lambda x: y._replace(q=(*y.q[:j], x, *y.q[j + 1 :]))

    def with_z(j: int) -> Callable[[Any], Continuous]:
        def state(x: Real) -> Continuous:
            v, extra = jax.tree.unflatten(tree, [*leaves[:j], x, *leaves[j + 1 :]])
            return y._replace(v=v, extra=extra)

        return state

    of_q = [column(with_q(j), y.q[j]) for j in range(dof)]
    of_z = [column(with_z(j), leaves[j]) for j in range(size)]
    matrix = [[(1.0 if i == j else 0.0) - g * of_z[j][0][i] for j in range(size)] for i in range(size)]
    for i in range(size):
        for j in range(dof):
            matrix[i][j] = matrix[i][j] - g * g * of_q[j][0][i]
    solve_z = lu_factor(matrix, exchange=True)

    def solve(right: Continuous) -> Continuous:
        z = jax.tree.leaves((right.v, right.extra))
        z = [z[i] + g * sum(of_q[j][0][i] * right.q[j] for j in range(dof)) for i in range(size)]
        v, extra = jax.tree.unflatten(tree, solve_z(z))
        return Continuous(tuple(r + g * k for r, k in zip(right.q, v, strict=True)), v, extra, ())

    def power_along(k: Continuous) -> Any:
        steps = [*k.q, *jax.tree.leaves((k.v, k.extra))]
        works = [work for _, work in (*of_q, *of_z)]
        return jax.tree.map(lambda *slopes: sum(s * x for s, x in zip(slopes, steps, strict=True)), *works)

    return solve, power_along


# -- large systems: arrays and the library's factorisation -----------------------------------------------------------


def _in_arrays(rhs: Rhs, t: Real, y: Continuous, g: Real) -> tuple[Solve, Power]:
    q, q_back = ravel_pytree(y.q)
    z, z_back = ravel_pytree((y.v, y.extra))
    dof, size = q.size, z.size

    def rows(q: Vector, z: Vector) -> tuple[Any, Any]:
        v, extra = z_back(z)
        rate = rhs(t, Continuous(q_back(q), v, extra, y.work))
        return ravel_pytree((rate.v, rate.extra))[0], rate.work

    (z_q, z_z), (w_q, w_z) = _split(jax.jacfwd(rows, argnums=(0, 1))(q, z))
    matrix = jnp.eye(size) - g * z_z - g * g * jnp.pad(z_q, ((0, 0), (0, size - dof)))
    factors = jax.scipy.linalg.lu_factor(matrix)

    def solve(right: Continuous) -> Continuous:
        r_q, r_z = ravel_pytree(right.q)[0], ravel_pytree((right.v, right.extra))[0]
        k_z = jax.scipy.linalg.lu_solve(factors, r_z + g * (z_q @ r_q))
        v, extra = z_back(k_z)
        return Continuous(q_back(r_q + g * k_z[:dof]), v, extra, ())

    def power_along(k: Continuous) -> Any:
        k_q, k_z = ravel_pytree(k.q)[0], ravel_pytree((k.v, k.extra))[0]
        return jax.tree.map(lambda by_q, by_z: by_q @ k_q + by_z @ k_z, w_q, w_z)

    return solve, power_along


def _split(jacobian: PyTree) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """(rows of z by q and by z), (rows of the works by q and by z)."""
    of_z, of_work = jacobian
    by_q = tuple(pair[0] for pair in of_work)
    by_z = tuple(pair[1] for pair in of_work)
    return (of_z[0], of_z[1]), (by_q, by_z)
