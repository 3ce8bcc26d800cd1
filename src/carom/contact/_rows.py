"""What forces at a pair do to the coordinates, and how its relative velocities change without acceleration."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from .. import native
from ..hybrid.condition import ROUNDING, ULP, any_of
from ..hybrid.scene import Load, Scene
from ..mechanism import Mechanism
from ..quantities import Coordinates, Real, Reals
from .pairs import AbstractPair, Touching

UNMOVED = 1e-8  # of what a point moves at all: less changes a place by its square, which is lost in rounding


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
        return any_of([jnp.abs(x) > e for x, e in zip(self.normal, self._least(scene), strict=True)])

    def passes(self, scene: Scene) -> Any:
        """Nothing moves the gap, and the surface does not come: what it closes with is none."""
        own = sum(e * jnp.abs(v) for e, v in zip(self._least(scene), scene.v, strict=True))
        return ~self.normal_moves(scene) & (jnp.abs(self.separation) <= own)

    def _least(self, scene: Scene) -> list[Any]:
        """Entries of the normal row that are zero, measured by the motion across, so that no unit matters."""
        small = [ROUNDING * (scene.length if j in angles_of(scene) else 1.0) for j in range(len(self.tangential))]
        return [UNMOVED * jnp.abs(x) + e for x, e in zip(self.tangential, small, strict=True)]


def angles_of(scene: Scene) -> list[int]:
    """Coordinates that are angles of links."""
    top = scene.mechanism.topology
    return [top.angle_index(k) for k in top.hinged]


def noise_of_row(scene: Scene, free: Reals, row: list[Any], drift: Real, speed: Real, place: Real) -> tuple[Any, Any]:
    """What rounding does to a row's velocity [m/s] and to its rate [m/s^2], measured by the sizes of their terms.

    `free` are the accelerations without reactions, `place` what rounding does to the place of the contact.
    """
    rise = _sizes(row, free) + jnp.abs(drift)
    # Levers are differences of places, and rounded as these are: far away, what turns has less exact speeds.
    turning = sum(jnp.abs(scene.v[i]) for i in angles_of(scene))
    turned = turning * turning + sum(jnp.abs(free[i]) for i in angles_of(scene))
    place = place + far_of(scene)
    # A speed is also off by what it changes within the last bits of time.
    late = 32.0 * ULP * jnp.abs(scene.t)
    noise = ROUNDING * (_sizes(row, scene.v) + jnp.abs(speed)) + late * rise + turning * place
    return noise, ROUNDING * rise + turned * place


def far_of(scene: Scene) -> Any:
    """What rounding does to a lever arm [m]: along the surface, too, where it does nothing to the gap."""
    bases = [jnp.abs(scene.q[i]) for i in range(scene.top.base_dof)]
    places = [jnp.max(jnp.abs(scene.mechanism.numbers.pivot)), *bases]
    most = functools.reduce(jnp.maximum, places) if isinstance(scene.q, tuple) else jnp.max(jnp.stack(places))
    return jax.lax.stop_gradient(4.0 * ULP * most)


def _sizes(row: list[Any], values: Reals) -> Any:
    return sum(jnp.abs(x * v) for x, v in zip(row, values, strict=True))


def rows_of(pair: AbstractPair, scene: Scene) -> Rows:
    return Rows(*_rows_of(pair, scene.mechanism, jnp.asarray(scene.t, dtype=float), scene.q, scene.v))


@native.once
def _rows_of(pair: AbstractPair, mechanism: Mechanism, t: Real, q: Coordinates, v: Coordinates) -> tuple[Any, ...]:
    def kinematics(t: Real, q: Coordinates) -> Touching:
        touch = pair.touching(Scene(mechanism, t, q, v))
        return jax.tree.map(lambda x: jnp.asarray(x, dtype=float), touch)

    touch, moved = jax.jvp(kinematics, (t, q), (jnp.ones_like(t), v))
    scene, unit = Scene(mechanism, t, q, v), [Load(mechanism), Load(mechanism)]
    pair.push(scene, unit[0], touch, 1.0, 0.0)
    pair.push(scene, unit[1], touch, 0.0, 1.0)
    return touch, unit[0].numbers(), unit[1].numbers(), -moved.rate, moved.sliding
