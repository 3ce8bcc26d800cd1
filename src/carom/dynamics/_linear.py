"""Small systems, solved by elimination written out on scalars.

A batched LAPACK or cuSOLVER call inside a compiled loop costs more than a whole integration step, and a loop over
array elements defeats vectorisation over the batch. Up to `UNROLL` unknowns the elimination is therefore unrolled;
beyond it the library's Cholesky is the better choice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import jax.scipy.linalg as jsl
from jaxtyping import Array, Float

from ..mechanism._walk import UNROLL
from ..quantities import Flag


def ldl_factor(matrix: list[list[Any]], skip_below: float | None = None) -> Callable[[list[Any]], list[Any]]:
    """Factor a symmetric positive semidefinite M, given by its lower triangle, as L D L^T; returns b -> x.

    With `skip_below`, a pivot smaller than that fraction of its diagonal entry marks a row that depends on the earlier
    ones: its unknown is set to zero, which solves the system wherever it has a solution.
    """
    n = len(matrix)
    lower: list[list[Any]] = [[None] * n for _ in range(n)]
    scaled: list[list[Any]] = [[None] * n for _ in range(n)]  # L_ij D_j
    inverse_pivot: list[Any] = []
    for j in range(n):
        pivot = matrix[j][j] - sum(lower[j][k] * scaled[j][k] for k in range(j))
        if skip_below is None:
            inverse_pivot.append(1.0 / pivot)
        else:
            good = pivot > skip_below * jnp.abs(matrix[j][j])
            inverse_pivot.append(jnp.where(good, 1.0 / jnp.where(good, pivot, 1.0), 0.0))
        for i in range(j + 1, n):
            scaled[i][j] = matrix[i][j] - sum(lower[i][k] * scaled[j][k] for k in range(j))
            lower[i][j] = scaled[i][j] * inverse_pivot[j]

    def substitute(right: list[Any]) -> list[Any]:
        y: list[Any] = []
        for i in range(n):
            y.append(right[i] - sum(lower[i][k] * y[k] for k in range(i)))
        x: list[Any] = [None] * n
        for i in reversed(range(n)):
            x[i] = y[i] * inverse_pivot[i] - sum(lower[k][i] * x[k] for k in range(i + 1, n))
        return x

    return substitute


def ldl_solve(matrix: list[list[Any]], right: list[Any]) -> list[Any]:
    """Solve M x = b for a symmetric positive definite M given by its lower triangle."""
    return ldl_factor(matrix)(right)


def lu_factor(matrix: list[list[Any]], exchange: bool = False) -> Callable[[list[Any]], list[Any]]:
    """Factor a matrix that need not be symmetric as L U; returns b -> x.

    With `exchange`, partial pivoting: rows change places by selection, not by branching.
    """
    n = len(matrix)
    a = [list(row) for row in matrix]
    swaps: list[tuple[int, int, Any]] = []
    for k in range(n):
        for i in range(k + 1, n) if exchange else ():
            swap = jnp.abs(a[i][k]) > jnp.abs(a[k][k])
            a[k], a[i] = _exchanged(swap, a[k], a[i])
            swaps.append((k, i, swap))
        inverse = 1.0 / a[k][k]
        for i in range(k + 1, n):
            factor = a[i][k] = a[i][k] * inverse
            for j in range(k + 1, n):
                a[i][j] = a[i][j] - factor * a[k][j]

    def substitute(right: list[Any]) -> list[Any]:
        x = list(right)
        for k, i, swap in swaps:
            (x[k],), (x[i],) = _exchanged(swap, [x[k]], [x[i]])
        for i in range(n):
            x[i] = x[i] - sum(a[i][k] * x[k] for k in range(i))
        for i in reversed(range(n)):
            x[i] = (x[i] - sum(a[i][k] * x[k] for k in range(i + 1, n))) / a[i][i]
        return x

    return substitute


def _exchanged(swap: Flag, first: list[Any], second: list[Any]) -> tuple[list[Any], list[Any]]:
    pairs = list(zip(first, second, strict=True))
    return [jnp.where(swap, y, x) for x, y in pairs], [jnp.where(swap, x, y) for x, y in pairs]


def solve(matrix: Float[Array, "n n"], right: Float[Array, " n"]) -> Float[Array, " n"]:
    """Solve M x = b for a symmetric positive definite M of any size."""
    n = right.shape[0]
    if n > UNROLL:
        return jsl.cho_solve((jnp.linalg.cholesky(matrix), True), right)
    rows = [[matrix[i, j] for j in range(i + 1)] for i in range(n)]
    return jnp.stack(ldl_solve(rows, [right[i] for i in range(n)]))
