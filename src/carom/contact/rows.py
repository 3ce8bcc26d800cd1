"""What forces at a pair do to the coordinates, and how its relative velocities change without acceleration."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ..hybrid.condition import ROUNDING, any_of
from ..hybrid.scene import Load, Scene
from ..quantities import Real
from .pairs import AbstractPair, Touching

SINGULAR = 1e-8  # of what a point moves at all: less changes a place by its square, which is lost in rounding


class Rows(NamedTuple):
    """Kinematics of a pair, with its normal and its tangential row.

    A row is the generalized force of a unit force, and so the gradient of the relative velocity that belongs to it:
    separation [m/s] for the normal one, sliding [m/s] for the tangential one.
    """

    touch: Touching
    normal: list[Any]
    tangential: list[Any]
    normal_drift: Any  # rate of the separating velocity at zero acceleration [m/s^2]
    tangential_drift: Any  # of the sliding velocity

    @property
    def separation(self) -> Any:
        return -self.touch.rate

    def normal_moves(self, scene: Scene) -> Any:
        """Can any motion of the robot change the gap? Not under a leg that is stretched."""
        return _moves(scene, self.normal, self.tangential)

    def tangential_moves(self, scene: Scene) -> Any:
        """Can any motion of the robot make it slide?"""
        return _moves(scene, self.tangential, self.normal)

    def passes(self, scene: Scene) -> Any:
        """Nothing moves the gap, and the surface does not come: what it closes with is none."""
        least = _least(scene, self.tangential)
        own = sum(e * jnp.abs(v) for e, v in zip(least, scene.v, strict=True))
        return ~self.normal_moves(scene) & (jnp.abs(self.separation) <= own)


def _moves(scene: Scene, row: list[Any], across: list[Any]) -> Any:
    """Does a coordinate move the point along `row`?"""
    return any_of([jnp.abs(x) > e for x, e in zip(row, _least(scene, across), strict=True)])


def _least(scene: Scene, across: list[Any]) -> list[Any]:
    """Entries of a row that are none: the point's own motion across is the measure, so that no unit matters."""
    small = [ROUNDING * (scene.length if j in angles_of(scene) else 1.0) for j in range(len(across))]
    return [SINGULAR * jnp.abs(x) + e for x, e in zip(across, small, strict=True)]


def angles_of(scene: Scene) -> range:
    """Coordinates that are angles of links."""
    top = scene.mechanism.topology
    return range(top.base_dof, top.base_dof + top.links)


def rows_of(pair: AbstractPair, scene: Scene) -> Rows:
    def kinematics(t: Real, q: Any) -> Touching:
        touch = pair.touching(Scene(scene.mechanism, t, q, scene.v))
        return jax.tree.map(lambda x: jnp.asarray(x, dtype=float), touch)

    t = jnp.asarray(scene.t, dtype=float)
    touch, moved = jax.jvp(kinematics, (t, scene.q), (jnp.ones_like(t), scene.v))
    unit = [Load(scene.mechanism), Load(scene.mechanism)]
    pair.push(scene, unit[0], touch, 1.0, 0.0)
    pair.push(scene, unit[1], touch, 0.0, 1.0)
    return Rows(touch, unit[0].entries, unit[1].entries, -moved.rate, moved.sliding)
