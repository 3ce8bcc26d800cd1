"""Linear systems with three diagonals, solved by elimination: work and memory grow with the number of unknowns."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from ...quantities import Given, Library, Matrix, Real, Vector


def solve(lib: Library, lower: Vector, middle: Vector, upper: Vector, right: Matrix) -> Any:
    """x of lower_i x_{i-1} + middle_i x_i + upper_i x_{i+1} = right_i; `right` holds one column per system.

    Thomas's elimination, without pivots: the matrix must be dominated by its diagonal, as that of a spline is. All
    diagonals have n entries; the first of `lower` and the last of `upper` are not looked at. `lib` is numpy, or
    jax.numpy while one of the numbers is traced.
    """
    return _scanned(lower, middle, upper, right) if lib is jnp else _looped(lower, middle, upper, right)


def solve_periodic(lib: Library, lower: Vector, middle: Vector, upper: Vector, right: Matrix) -> Any:
    """The same round a closed ring: the first unknown is the neighbour of the last (Sherman and Morrison).

    The matrix is one with three diagonals plus u w^T, u = (-m, 0, .., 0, c) and w = (1, 0, .., 0, -a/m): `a` and `c`
    are the corners, m = middle_0. So x = y - z (w.y) / (1 + w.z), with y and z the solutions for `right` and for u.
    """
    n, m, a, c = len(middle), middle[0], lower[0], upper[-1]
    ends = np.arange(n) == 0, np.arange(n) == n - 1
    diagonal = middle + lib.where(ends[0], m, 0.0) + lib.where(ends[1], a * c / m, 0.0)
    u = lib.where(ends[0], -m, 0.0) + lib.where(ends[1], c, 0.0)
    both = solve(lib, lower, diagonal, upper, lib.concatenate([right, u[:, None]], axis=1))
    y, z = both[:, :-1], both[:, -1]
    seen = (y[0] - a / m * y[-1]) / (1.0 + z[0] - a / m * z[-1])
    return y - z[:, None] * seen[None, :]


def _looped(lower: Vector, middle: Vector, upper: Vector, right: Matrix) -> Any:
    """On plain numbers: lists are several times quicker than entries of arrays."""
    above, rows = [0.0] * len(middle), np.array(right, dtype=float)
    low, mid, up = lower.tolist(), middle.tolist(), upper.tolist()
    before, last = 0.0, np.zeros(rows.shape[1])
    for i in range(len(mid)):
        pivot = mid[i] - (low[i] * before if i else 0.0)
        above[i] = before = up[i] / pivot
        rows[i] = last = (rows[i] - (low[i] * last if i else 0.0)) / pivot
    for i in reversed(range(len(mid) - 1)):
        rows[i] -= above[i] * rows[i + 1]
    return rows


def _scanned(lower: Real, middle: Real, upper: Real, right: Given) -> Any:
    """On traced numbers: two scans, which are differentiated in both modes."""

    def forward(carry: PyTree, row: PyTree) -> Any:
        before, last = carry
        low, mid, up, r = row
        pivot = mid - low * before
        new = up / pivot, (r - low * last) / pivot
        return new, new

    def backward(after: Vector, row: PyTree) -> Any:
        above, r = row
        x = r - above * after
        return x, x

    lower, middle, upper, right = (jnp.asarray(x, dtype=float) for x in (lower, middle, upper, right))
    none = jnp.zeros_like(right[0])
    rows = lower.at[0].set(0.0), middle, upper.at[-1].set(0.0), right
    _, (above, reduced) = jax.lax.scan(forward, (jnp.zeros_like(middle[0]), none), rows)
    return jax.lax.scan(backward, none, (above, reduced), reverse=True)[1]
