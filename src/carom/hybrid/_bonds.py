"""Bilateral constraints of a world: pins, closed loops, points on curves, locked angles. They hold always.

With rows A (d error / dq), M a = f + A^T lambda and A a + A' v = 0 give, for any force f,

    a = M^-1 f - M^-1 A^T W^+ (A M^-1 f + A' v),       W = A M^-1 A^T

So everything else sees a mechanism with another inverse mass matrix, P = M^-1 - M^-1 A^T W^+ A M^-1, and never asks for
constraints: contacts that are held, blows and friction through P are those of the closed loop, exactly. Redundant rows
share their force with the least sum of squares (_reaction.py). A constraint does no work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp

from ..dynamics import _linear as linear
from ..dynamics import explicit
from ..dynamics.constraints import AbstractConstraint
from ..mechanism import State
from ..quantities import Reals
from ._reaction import Row, dot, least_solver, restore, singular
from .scene import Continuous, Scene
from .world import World

MET = 1e-6  # of the sizes of its terms: a start that misses a constraint by more is refused, by less brought there
STEPS = 3  # of Newton's method, from such a start

Solve = Callable[[list[Any]], list[Any]]


class Bound(NamedTuple):
    """A mechanism that is held by constraints."""

    free: Any  # accelerations
    solve: Solve  # P
    forces: list[Any]  # lambda, one per row


def bond_rows(world: World, scene: Scene) -> list[Row]:
    """Rows of all constraints."""
    on = jnp.asarray(True)
    found = [row for constraint in world.constraints for row in constraint.rows(scene)]
    return [Row(on, row.across, row.across, row.drift, dot(row.across, scene.v), row.error) for row in found]


def bound(rows: list[Row], free: list[Any], solve: Solve) -> Bound:
    """Accelerations and inverse mass matrix with the constraints; `free` and `solve` are those without."""
    through = [solve(row.across) for row in rows]
    weights = [[dot(row.across, t) for t in through] for row in rows]
    share = least_solver(weights, singular(rows))

    def less(z: Reals, forces: list[Any]) -> list[Any]:
        return [a + sum(x * t[j] for x, t in zip(forces, through, strict=True)) for j, a in enumerate(z)]

    def projected(right: list[Any]) -> list[Any]:
        z = solve(right)
        return less(z, share([-dot(row.across, z) for row in rows]))

    forces = share([-(dot(row.across, free) + row.drift) for row in rows])
    return Bound(less(free, forces), projected, forces)


def met(world: World, scene: Scene) -> Any:
    """Does a state meet the constraints, but for what can be mended?"""
    good = jnp.asarray(True)
    for row in bond_rows(world, scene):
        place, speed = _sizes(world, scene, row)
        good = good & (jnp.abs(row.place) <= MET * place) & (jnp.abs(row.speed) <= MET * speed)
    return good


def _sizes(world: World, scene: Scene, row: Row) -> tuple[Any, Any]:
    """What errors of a row are compared with: what a move by the world's length and a radian change; its speed."""
    top = world.mechanism.topology
    turns = [top.angle_index(k) for k in top.hinged]
    units = [1.0 if i in turns else world.length for i in range(top.dof)]
    place = sum(jnp.abs(x) * unit for x, unit in zip(row.across, units, strict=True))
    return place, sum(jnp.abs(x * v) for x, v in zip(row.across, scene.v, strict=True))


def brought_there(world: World, y: Continuous) -> Continuous:
    """A state that nearly meets the constraints, with what is missing taken away along the least way."""
    for _ in range(STEPS):
        lower, _, _ = explicit.terms(world.mechanism, y.q, y.v, (0.0, 0.0))
        scene = Scene(world.mechanism, jnp.asarray(0.0), y.q, y.v)
        q, v = restore(bond_rows(world, scene), y.q, y.v, linear.ldl_factor(lower))
        y = y._replace(q=q, v=v)
    return y


def unmet(world: World, state: State) -> tuple[AbstractConstraint, float, float] | None:
    """The first constraint that a start does not meet, by how much, and how fast it is left; None if all are met."""
    at = 0
    q, v = (tuple(jnp.asarray(x, dtype=float)) for x in (state.q, state.v))
    scene = Scene(world.mechanism, jnp.asarray(0.0), q, v)
    rows = bond_rows(world, scene)
    for constraint in world.constraints:
        mine = rows[at : at + len(constraint.rows(scene))]
        at += len(mine)
        sizes = [_sizes(world, scene, row) for row in mine]
        if any(
            not (abs(row.place) <= MET * place and abs(row.speed) <= MET * speed)
            for row, (place, speed) in zip(mine, sizes, strict=True)
        ):
            off, fast = (
                float(sum(x * x for x in xs) ** 0.5) for xs in ([r.place for r in mine], [r.speed for r in mine])
            )
            return constraint, off, fast
    return None
