"""Small symmetric systems, solved by elimination written out on scalars.

A batched LAPACK or cuSOLVER call inside a compiled loop costs more than a whole integration step, and a loop over
array elements defeats vectorisation over the batch. Up to `UNROLL` unknowns the elimination is therefore unrolled;
beyond it the library's Cholesky is the better choice.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import jax.scipy.linalg as jsl
from jaxtyping import Array, Float

UNROLL = 8


def ldl_solve(matrix: list[list[Any]], right: list[Any]) -> list[Any]:
    """Solve M x = b for a symmetric positive definite M given by its lower triangle, as M = L D L^T."""
    n = len(right)
    lower: list[list[Any]] = [[None] * n for _ in range(n)]
    scaled: list[list[Any]] = [[None] * n for _ in range(n)]  # L_ij D_j
    inverse_pivot: list[Any] = []
    for j in range(n):
        inverse_pivot.append(1.0 / (matrix[j][j] - sum(lower[j][k] * scaled[j][k] for k in range(j))))
        for i in range(j + 1, n):
            scaled[i][j] = matrix[i][j] - sum(lower[i][k] * scaled[j][k] for k in range(j))
            lower[i][j] = scaled[i][j] * inverse_pivot[j]
    y: list[Any] = []
    for i in range(n):
        y.append(right[i] - sum(lower[i][k] * y[k] for k in range(i)))
    x: list[Any] = [None] * n
    for i in reversed(range(n)):
        x[i] = y[i] * inverse_pivot[i] - sum(lower[k][i] * x[k] for k in range(i + 1, n))
    return x


def solve(matrix: Float[Array, "n n"], right: Float[Array, " n"]) -> Float[Array, " n"]:
    """Solve M x = b for a symmetric positive definite M of any size."""
    n = right.shape[0]
    if n > UNROLL:
        return jsl.cho_solve((jnp.linalg.cholesky(matrix), True), right)
    rows = [[matrix[i, j] for j in range(i + 1)] for i in range(n)]
    return jnp.stack(ldl_solve(rows, [right[i] for i in range(n)]))
