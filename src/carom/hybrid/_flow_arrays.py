"""The flow of large worlds: what `_flow.py` does scalar by scalar, on arrays."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl
import numpy as np

from ..dynamics import _dense_tree as dense_tree
from ..dynamics import explicit
from ..mechanism import Mechanism
from ..quantities import Vector
from ._row_arrays import ManyReactions, RowArrays, Solve, joined, react_all, restore_all, stacked
from .scene import Continuous, Load, Own, Scene, merge
from .world import World


def _factored(matrix: Any) -> Solve:
    """M^-1 times a vector, or times every column of a matrix; its derivative is that of the solution."""
    factors = jsl.lu_factor(jax.lax.stop_gradient(matrix))

    def solve(right: Any) -> Any:
        return jax.lax.custom_linear_solve(
            lambda x: matrix @ x,
            right,
            lambda _, b: jsl.lu_solve(factors, b),
            lambda _, b: jsl.lu_solve(factors, b),
            symmetric=True,
        )

    return solve


def unloaded(mechanism: Mechanism, q: Vector, v: Vector, gravity: Vector) -> tuple[Any, Solve]:
    """Weight less bias, and the inverse mass matrix as a function of vectors and matrices."""
    top = mechanism.topology
    trees = None if top.elastic or top.jointed else dense_tree.forest(top)
    if trees is None:
        matrix, bias, weight = explicit.arrays(mechanism, q, v, gravity)
        solve = _factored(matrix)
    else:
        parts = dense_tree.parts_of(mechanism, q, v, gravity)
        bias, weight = parts.bias, parts.weight
        solve = dense_tree.solver_by_trees(top, trees, parts)
    # A row may come scalar by scalar.
    return weight - bias, lambda right: solve(merge(tuple(right)) if isinstance(right, list) else right)


def array_accelerations(world: World, y: Continuous, load: Load, gravity: tuple[Any, Any]) -> tuple[Any, Solve]:
    """Accelerations without reactions, and the inverse mass matrix as a function of arrays."""
    down = jnp.stack([jnp.asarray(g, dtype=float) for g in gravity])
    own, solve = unloaded(world.mechanism, merge(y.q), merge(y.v), down)
    return like(y, solve(load.vector() + own)), solve


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
    _, solve = unloaded(world.mechanism, merge(y.q), merge(y.v), jnp.zeros(2))
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
