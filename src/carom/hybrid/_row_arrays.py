"""Reactions of many rows: what `_reaction.py` does scalar by scalar, on arrays, so that code does not grow with rows.

Rows that are not active are those of the identity, as there. The sums are the same, in another order of rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl
from jaxtyping import Array, Bool, Float

from ._ranks import flagged_first
from ._reaction import EPSILON, SINGULAR, UNLIKE, Row

FEW = 16  # rows for which smaller matrices are kept at hand
Solve = Callable[[Array], Array]  # M^-1 times a vector, or times every column of a matrix


class RowArrays(NamedTuple):
    """Relative velocities that are held; the fields of `Row`, for all rows at once."""

    active: Bool[Array, " rows"]
    across: Float[Array, "rows dof"]
    along: Float[Array, "rows dof"]
    drift: Float[Array, " rows"]
    speed: Float[Array, " rows"]
    place: Float[Array, " rows"]


class ManyReactions(NamedTuple):
    """Reactions of all rows, accelerations with them, W, and the sizes of the terms of each row's rate, as forces."""

    forces: Float[Array, " rows"]
    acceleration: Float[Array, " dof"]
    weights: Float[Array, "rows rows"]
    sizes: Float[Array, " rows"]


def stacked(rows: list[Row]) -> RowArrays:
    """Rows that come one by one."""
    columns = zip(*rows, strict=True)
    active, across, along, *rest = columns
    gradients = (jnp.stack([_vector(x) for x in column]) for column in (across, along))
    return RowArrays(jnp.stack([jnp.asarray(x) for x in active]), *gradients, *(_vector(x) for x in rest))


def _vector(numbers: Any) -> Array:
    return jnp.stack([jnp.asarray(x, dtype=float) for x in numbers])


def joined(each: list[RowArrays]) -> RowArrays:
    """Rows of several automata, one after the other."""
    return each[0] if len(each) == 1 else RowArrays(*(jnp.concatenate(column) for column in zip(*each, strict=True)))


def react_all(rows: RowArrays, free: Float[Array, " dof"], solve: Solve) -> ManyReactions:
    """Solve for the reactions; `free` are the accelerations without them."""
    n, few = len(rows.active), _few(rows)
    if few is None:
        return _reactions_of(rows, free, solve)
    fits, first = few

    def small() -> ManyReactions:
        found, none = _reactions_of(_taken(rows, first), free, solve), jnp.zeros(n)
        weights = jnp.eye(n).at[first[:, None], first[None, :]].set(found.weights)
        forces, sizes = (none.at[first].set(x) for x in (found.forces, found.sizes))
        return ManyReactions(forces, found.acceleration, weights, sizes)

    return jax.lax.cond(fits, small, lambda: _reactions_of(rows, free, solve))


def _few(rows: RowArrays) -> tuple[Any, Any] | None:
    """Whether few rows are active, and the first of them; None where there are but few in all.

    Matrices have the size of all rows that there can be, of which most are not active most of the time.
    """
    if len(rows.active) <= 2 * FEW:
        return None
    return jnp.sum(rows.active) <= FEW, flagged_first(rows.active, ~rows.active, FEW)[0]


def _taken(rows: RowArrays, index: Array) -> RowArrays:
    return RowArrays(*(column[index] for column in rows))


def _reactions_of(rows: RowArrays, free: Float[Array, " dof"], solve: Solve) -> ManyReactions:
    through = solve(rows.along.T)  # (dof, rows)
    weights = masked_array(rows.across @ through, rows.active)
    right = jnp.where(rows.active, -(rows.across @ free + rows.drift), 0.0)
    forces = least_of_norm(weights, right, dead_rows(rows))
    terms = jnp.abs(free) + jnp.abs(through) @ jnp.abs(forces)
    diagonal = jnp.abs(jnp.diagonal(weights))
    sizes = (jnp.abs(rows.across) @ terms + jnp.abs(rows.drift)) / jnp.where(diagonal == 0.0, 1.0, diagonal)
    return ManyReactions(forces, free + through @ forces, weights, sizes)


def restore_all(
    rows: RowArrays, q: Float[Array, " dof"], v: Float[Array, " dof"], solve: Solve
) -> tuple[Float[Array, " dof"], Float[Array, " dof"]]:
    """Coordinates and velocities with what the integration's error moved taken back, along the least way."""
    few = _few(rows)
    if few is None:
        return _restored(rows, q, v, solve)
    fits, first = few
    small = lambda: _restored(_taken(rows, first), q, v, solve)  # noqa: E731
    return jax.lax.cond(fits, small, lambda: _restored(rows, q, v, solve))


def _restored(rows: RowArrays, q: Array, v: Array, solve: Solve) -> tuple[Array, Array]:
    through = solve(rows.across.T)
    weights = masked_array(rows.across @ through, rows.active)
    errors = jnp.stack([rows.place, rows.speed], axis=1)
    steps = least_of_norm(weights, jnp.where(rows.active[:, None], -errors, 0.0), dead_rows(rows))
    moved = through @ steps
    return q + moved[:, 0], v + moved[:, 1]


def dead_rows(rows: RowArrays) -> Bool[Array, " rows"]:
    """Rows that nothing moves."""
    sizes = jnp.sum(jnp.abs(rows.across), axis=1)
    return sizes <= SINGULAR * jnp.max(sizes, initial=0.0)


def masked_array(w: Float[Array, "n n"], on: Bool[Array, " n"]) -> Float[Array, "n n"]:
    """Rows and columns that take no part are those of the identity."""
    return jnp.where(on[:, None] & on[None, :], w, jnp.eye(len(on)))


def least_of_norm(matrix: Float[Array, "n n"], right: Array, stuck: Any = None) -> Array:
    """The solution of least norm, for matrices with a non-negative symmetric part; `stuck` rows are singular.

    Its derivative is that of the solution, not that of the elimination.
    """
    diagonal = jnp.abs(jnp.diagonal(matrix))
    mean = jnp.mean(diagonal)
    dead = diagonal == 0.0 if stuck is None else stuck
    bump = EPSILON * jnp.where(dead, mean, jnp.minimum(mean, UNLIKE * diagonal))
    still, bump = jax.lax.stop_gradient((matrix, bump))
    factors = jsl.lu_factor(still + jnp.diag(bump))

    def refined(b: Array, trans: int) -> Array:
        x = jsl.lu_solve(factors, b, trans=trans)
        whole = still if trans == 0 else still.T
        for _ in range(3):
            x = x + jsl.lu_solve(factors, b - whole @ x, trans=trans)
        return x

    return jax.lax.custom_linear_solve(
        lambda x: matrix @ x, right, lambda _, b: refined(b, 0), lambda _, b: refined(b, 1)
    )
