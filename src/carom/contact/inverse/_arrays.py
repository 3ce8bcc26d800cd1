"""Rows of contacts as arrays, and equations with few unknowns."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ...hybrid.scene import Scene, split
from ...mechanism import Mechanism
from ...quantities import Matrix, Real, Reals, Vector
from .._rows import Rows, rows_of


def rows_at(mechanism: Mechanism, pairs: list[Any], q: Vector, v: Vector, t: Real) -> list[Rows]:
    scene = Scene(mechanism, t, split(mechanism, q), split(mechanism, v))
    return [rows_of(pair, scene) for pair in pairs]


def stack(values: Reals) -> Any:
    return jnp.stack([jnp.asarray(x, dtype=float) for x in values])


def small_solve(matrix: Matrix, right: Vector) -> Any:
    """A library call inside a compiled loop costs more than the rest of it: one unknown needs none."""
    return right / matrix[0] if matrix.shape == (1, 1) else jnp.linalg.solve(matrix, right)
