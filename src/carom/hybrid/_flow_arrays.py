"""The flow of large worlds: what `_flow.py` does scalar by scalar, on arrays."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl
import numpy as np

from ..dynamics import explicit
from ..quantities import Vector
from ._row_arrays import ManyReactions, RowArrays, Solve, joined, react_all, restore_all, stacked
from .scene import Continuous, Load, Own, Scene, merge
from .world import World


def solver_of_mass(matrix: Any) -> Solve:
    """M^-1 times a vector, or times every column of a matrix; its derivative is that of the solution."""
    factors = jsl.lu_factor(jax.lax.stop_gradient(matrix))

    def solve(right: Any) -> Any:
        right = merge(tuple(right)) if isinstance(right, list) else right  # a row that came scalar by scalar
        return jax.lax.custom_linear_solve(
            lambda x: matrix @ x,
            right,
            lambda _, b: jsl.lu_solve(factors, b),
            lambda _, b: jsl.lu_solve(factors, b),
            symmetric=True,
        )

    return solve


def array_accelerations(world: World, y: Continuous, load: Load, gravity: tuple[Any, Any]) -> tuple[Any, Solve]:
    """Accelerations without reactions, and the inverse mass matrix as a function of arrays."""
    down = jnp.stack([jnp.asarray(g, dtype=float) for g in gravity])
    matrix, bias, weight = explicit.arrays(world.mechanism, merge(y.q), merge(y.v), down)
    solve = solver_of_mass(matrix)
    return like(y, solve(load.vector() + weight - bias)), solve


def like(y: Continuous, values: Vector) -> Any:
    """Numbers of all coordinates as the engine carries them."""
    return tuple(values[i] for i in range(len(y.q))) if isinstance(y.q, tuple) else values


def array_rows(world: World, scene: Scene, each: list[Own]) -> RowArrays:
    """Rows of all automata that hold something."""
    found = []
    for automaton, own in zip(world.automata, each, strict=True):
        if automaton.holding.count:
            rows = automaton.holding.rows(scene, own)
            found.append(rows if isinstance(rows, RowArrays) else stacked(rows))
    return joined(found)


def array_reactions(world: World, scene: Scene, each: list[Own], free: Any, solve: Any) -> ManyReactions:
    return react_all(array_rows(world, scene, each), merge(free) if isinstance(free, tuple) else free, solve)


def array_restored(world: World, scene: Scene, y: Continuous, each: list[Own]) -> Continuous:
    """The state with what is held put back to where it is held."""
    matrix, _, _ = explicit.arrays(world.mechanism, merge(y.q), merge(y.v), jnp.zeros(2))
    solve = solver_of_mass(matrix)
    q, v = restore_all(array_rows(world, scene, each), merge(y.q), merge(y.v), solve)
    return y._replace(q=like(y, q), v=like(y, v))


def array_joints(scene: Scene, load: Load) -> Any:
    """Springs and dampers of the joints of rigid links; returns the dampers' power."""
    n, top = scene.mechanism.numbers, scene.top
    parents = np.asarray(top.parents)
    inner, up = parents >= 0, np.maximum(parents, 0)
    angle, turning = merge(scene.q)[top.angles], merge(scene.v)[top.angles]
    relative, rate = (x - jnp.where(inner, x[up], 0.0) for x in (angle, turning))
    drag = -n.damping * rate
    torque = drag - n.stiffness * (relative - n.rest)
    back = np.zeros((top.links, top.links))
    back[parents[inner], np.flatnonzero(inner)] = 1.0
    load.add_array(jnp.zeros(top.dof).at[top.angles].set(torque - back @ torque))
    return jnp.sum(drag * rate)
