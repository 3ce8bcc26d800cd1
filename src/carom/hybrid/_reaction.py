"""Reactions: forces that are not given by a formula but keep something from moving.

An automaton that holds a contact closed, or lets it stick, offers rows. A row is a relative velocity u = g . v + ...
that is to keep its value, and the direction f in which a unit of its reaction pushes the coordinates. All rows of all
automata are solved together:

    W x = -(g_i . a + d_i),    W_ij = g_i . M^-1 f_j,    a the accelerations without reactions,  d_i the rest of du_i/dt

A sliding contact with friction has f = n - sigma mu t and g = n, so W need not be symmetric. Rows may depend on each
other (two legs of a stool too many): the least-norm reactions are then taken, by solving (W + eps D) x = ... and three
refinements, which leave an error of eps^4.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp

from ..dynamics._linear import lu_factor
from ..quantities import Coordinates, Real, Reals

EPSILON = 1e-8  # of the diagonal entries
SINGULAR = 1e-8  # of the largest row: one that is smaller cannot be moved by what it holds
UNLIKE = 100.0  # times a diagonal entry: a mean beyond this is not its own


class Row(NamedTuple):
    """One relative velocity that is held."""

    active: Any
    across: list[Any]  # its gradient with respect to v
    along: list[Any]  # generalized force of a unit reaction
    drift: Any  # its rate of change while accelerations are zero
    speed: Any  # what it is now: the integration's error
    place: Any  # how far what it holds has moved already; zero where it holds no place


class Reactions(NamedTuple):
    """Reactions of all rows, in their order, and the accelerations with them."""

    forces: list[Any]
    acceleration: Any
    weights: list[list[Any]]  # W, with rows that are not active taken out
    sizes: list[Any]  # of the terms of each row's rate, reactions among them, as forces


def dot(a: Reals, b: Reals) -> Any:
    return sum(x * y for x, y in zip(a, b, strict=True))


def react(rows: list[Row], free: Reals, solve: Callable[[list[Any]], list[Any]]) -> Reactions:
    """Solve for the reactions; `free` are the accelerations without them, `solve` applies the inverse mass matrix."""
    through = [solve(row.along) for row in rows]
    weights = masked([[dot(row.across, t) for t in through] for row in rows], [row.active for row in rows])
    right = [jnp.where(row.active, -(dot(row.across, free) + row.drift), 0.0) for row in rows]
    forces = least(weights, right, singular(rows))
    moved = tuple(a + sum(x * t[j] for x, t in zip(forces, through, strict=True)) for j, a in enumerate(free))
    pushed = [sum(jnp.abs(x * t[j]) for x, t in zip(forces, through, strict=True)) for j in range(len(moved))]
    terms = [jnp.abs(a) + p for a, p in zip(free, pushed, strict=True)]  # of the accelerations
    sizes = [
        (sum(jnp.abs(x) * a for x, a in zip(row.across, terms, strict=True)) + jnp.abs(row.drift)) / _unless_zero(w[i])
        for i, (row, w) in enumerate(zip(rows, weights, strict=True))
    ]
    return Reactions(forces, moved, weights, sizes)


def restore(
    rows: list[Row], q: Coordinates, v: Coordinates, solve: Callable[[list[Any]], list[Any]]
) -> tuple[Any, Any]:
    """Coordinates and velocities with what the integration's error moved taken back, along the least way."""
    through = [solve(row.across) for row in rows]
    weights = masked([[dot(row.across, t) for t in through] for row in rows], [row.active for row in rows])
    out = []
    for values, errors in ((q, [row.place for row in rows]), (v, [row.speed for row in rows])):
        right = [jnp.where(row.active, -error, 0.0) for row, error in zip(rows, errors, strict=True)]
        steps = least(weights, right, singular(rows))
        moved = [x + sum(s * t[j] for s, t in zip(steps, through, strict=True)) for j, x in enumerate(values)]
        out.append(tuple(jnp.asarray(x, dtype=float) for x in moved))
    return out[0], out[1]


def _unless_zero(x: Real) -> Any:
    """|x|, or 1 where it is zero: nothing moves that row, and its reaction moves nothing."""
    return jnp.where(x == 0.0, 1.0, jnp.abs(x))


def masked(w: list[list[Any]], on: list[Any]) -> list[list[Any]]:
    """Rows and columns that take no part are those of the identity."""
    n = len(on)
    return [[jnp.where(on[i] & on[j], w[i][j], 1.0 if i == j else 0.0) for j in range(n)] for i in range(n)]


def singular(rows: list[Row]) -> list[Any]:
    """Rows that nothing moves, such as that of a foot under a stretched leg, which cannot slide."""
    sizes = [sum(jnp.abs(x) for x in row.across) for row in rows]
    largest = functools.reduce(jnp.maximum, sizes, jnp.asarray(0.0))
    return [size <= SINGULAR * largest for size in sizes]


def least(matrix: list[list[Any]], right: list[Any], stuck: list[Any] | None = None) -> list[Any]:
    """The solution of least norm, for matrices with a non-negative symmetric part; `stuck` rows are singular."""
    return least_solver(matrix, stuck)(right)


def least_solver(matrix: list[list[Any]], stuck: list[Any] | None = None) -> Callable[[list[Any]], list[Any]]:
    """The same for any right-hand side."""
    n = len(matrix)
    if n == 0:
        return lambda right: []
    if n == 1:
        dead = matrix[0][0] == 0.0
        return lambda right: [jnp.where(dead, 0.0, right[0] / jnp.where(dead, 1.0, matrix[0][0]))]
    # The same addition to every diagonal entry, so that dependent rows share alike; but not one that a small entry, of
    # a body that is far heavier than the others, would drown in. A row that nothing moves needs it all the more.
    mean = sum(jnp.abs(matrix[i][i]) for i in range(n)) / n
    own = [jnp.minimum(mean, UNLIKE * jnp.abs(matrix[i][i])) for i in range(n)]
    dead_rows = [matrix[i][i] == 0.0 if stuck is None else stuck[i] for i in range(n)]
    bump = [EPSILON * jnp.where(dead_rows[i], mean, own[i]) for i in range(n)]
    solve = lu_factor([[matrix[i][j] + (bump[i] if i == j else 0.0) for j in range(n)] for i in range(n)])

    def refined(right: list[Any]) -> list[Any]:
        x = solve(right)
        for _ in range(3):
            rest = [right[i] - dot(matrix[i], x) for i in range(n)]
            x = [a + b for a, b in zip(x, solve(rest), strict=True)]
        return x

    return refined
