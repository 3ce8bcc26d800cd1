"""What forces at a pair do to the coordinates, and how its relative velocities change without acceleration."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ..hybrid.scene import Load, Scene
from .pairs import AbstractPair, Touching


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


def rows_of(pair: AbstractPair, scene: Scene) -> Rows:
    def kinematics(t: Any, q: Any) -> Touching:
        touch = pair.touching(Scene(scene.mechanism, t, q, scene.v))
        return jax.tree.map(lambda x: jnp.asarray(x, dtype=float), touch)

    t = jnp.asarray(scene.t, dtype=float)
    touch, moved = jax.jvp(kinematics, (t, scene.q), (jnp.ones_like(t), scene.v))
    unit = [Load(scene.mechanism), Load(scene.mechanism)]
    pair.push(scene, unit[0], touch, 1.0, 0.0)
    pair.push(scene, unit[1], touch, 0.0, 1.0)
    return Rows(touch, unit[0].entries, unit[1].entries, -moved.rate, moved.sliding)
