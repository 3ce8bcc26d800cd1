"""The KKT system of equations of motion with constraints, solved whether or not it is singular.

    [[M, A^T], [A, 0]] [v'; -lambda] = [Q + weight - bias; gamma],      A = d error / dq,   gamma = -(A)' v

lambda is the force along each row, acting on the mechanism: A^T lambda stands beside Q. The system is solved by the
pseudo-inverse of the scaled matrix, which needs neither an invertible M nor independent rows: v' is unique wherever the
whole determines it, redundant rows share their force with the least sum of squares, and rows that contradict each
other leave a residual, which is reported.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

RANK_TOLERANCE = 1e-11  # singular values of the scaled system below this fraction of the largest count as zero


class Constrained(eqx.Module):
    """What the KKT system answers."""

    acceleration: Float[Array, " dof"]
    multipliers: Float[Array, " rows"]  # force along each row, on the mechanism [N or N m]
    rank: Int[Array, ""]  # of the whole system; rows + dof less the redundant rows
    residual: Float[Array, ""]  # |A v' - gamma| relative to its terms; large where rows contradict each other
    conflict: Bool[Array, ""]


def solve_kkt(
    matrix: Float[Array, "dof dof"],
    rows: Float[Array, "rows dof"],
    force: Float[Array, " dof"],
    gamma: Float[Array, " rows"],
) -> Constrained:
    """Solve M a - A^T lambda = force, A a = gamma, for singular M and dependent rows alike."""
    dof, count = matrix.shape[0], rows.shape[0]
    # Scale to comparable entries. A coordinate is as heavy as its inertia, or, where a light link has little, as the
    # rows that hold it; all rows get one number, so that least squares stays fair.
    fixed_rows, diagonal = jax.lax.stop_gradient((rows, jnp.diag(matrix)))
    held = jnp.sum(fixed_rows**2, axis=0)
    heaviest = jnp.where(jnp.max(diagonal) > 0.0, jnp.max(diagonal), 1.0)
    scale = 1.0 / jnp.sqrt(diagonal + heaviest * (held / (jnp.max(held) + jnp.finfo(float).tiny) + 1e-12))
    scaled = fixed_rows * scale[None, :]
    row_scale = 1.0 / (jnp.sqrt(jnp.max(jnp.sum(scaled**2, axis=1))) + jnp.finfo(float).tiny)
    a = rows * scale[None, :] * row_scale
    system = jnp.block([[matrix * jnp.outer(scale, scale), a.T], [a, jnp.zeros((count, count))]])
    right = jnp.concatenate([force * scale, gamma * row_scale])
    # One step of refinement brings the pseudo-inverse's answer to rounding.
    inverse = jnp.linalg.pinv(system, rtol=RANK_TOLERANCE, hermitian=True)
    answer = inverse @ right
    answer = answer + inverse @ (right - system @ answer)
    values = jnp.abs(jnp.linalg.eigvalsh(jax.lax.stop_gradient(system)))
    acceleration, multipliers = answer[:dof] * scale, -answer[dof:] * row_scale
    # What stands still is measured by the accelerations that its forces would cause without constraints.
    terms = jnp.abs(rows) @ (jnp.abs(acceleration) + jnp.abs(force) * scale**2) + jnp.abs(gamma)
    gap = jnp.max(jnp.abs(rows @ acceleration - gamma)) / (jnp.max(terms) + jnp.finfo(float).tiny)
    gap = jax.lax.stop_gradient(gap)
    return Constrained(
        acceleration=acceleration,
        multipliers=multipliers,
        rank=jnp.sum(values > RANK_TOLERANCE * jnp.max(values)),
        residual=gap,
        conflict=gap > 1e-6,
    )
