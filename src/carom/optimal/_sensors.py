"""What is measured of a world: signals by their texts, or a function of the state; and its derivative along x."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .. import errors
from .._arguments import SensorsLike
from ..control.function import Moving
from ..hybrid._carry import Carry
from ..hybrid._flow import scene_with_motion
from ..hybrid.scene import merge
from ..hybrid.world import World
from ..quantities import Function, Matrix
from ..signal import Signal
from .stepping import Stepping
from .stepping import _put as x_put

Read = tuple[Signal, ...] | Function


def sensors_of(stepping: Stepping, given: SensorsLike) -> tuple[Read, tuple[str, ...]]:
    """What reads the sensors, and their names."""
    world = stepping.world
    if callable(given):
        return given, _count(stepping, given)
    texts = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, list | tuple) else ()
    if not texts:
        raise errors.CaromError(
            f"sensors of KalmanFilter is {given!r}; it must be signals, such as ['ball.tip.y'], or a function of the "
            "state"
        )
    signals = tuple(Signal(text) for text in texts)
    for signal in signals:
        signal.check(world.mechanism, world.automata)
        if signal.is_condition:
            raise errors.CaromError(
                f"sensor '{signal.text}' of KalmanFilter is a condition, which has no derivative; measure a number"
            )
    errors.names("sensors of KalmanFilter", list(texts), "name each once")
    return signals, texts


def _count(stepping: Stepping, function: Function) -> tuple[str, ...]:
    """Names for what a function returns: sensor 1, sensor 2, ..."""
    world = stepping.world
    try:
        still = np.zeros(world.mechanism.dof)
        found = function(Moving(world.mechanism, still, still, None))
    except errors.CaromError:
        raise
    except Exception as why:
        raise errors.CaromError(
            f"the function given as sensors of KalmanFilter fails with {type(why).__name__}: {why}; it takes the state "
            "(q, v, angle(link), rate(link), joint(link), joint_rate(link)) and returns numbers, by jax.numpy"
        ) from None
    size = len(found) if np.ndim(found) == 1 else 0
    if not size:
        raise errors.CaromError(
            f"the function given as sensors of KalmanFilter returns {found!r}; it must return a list of numbers"
        )
    return tuple(f"sensor {k + 1}" for k in range(size))


def read(read: Read, memories: bool, world: World, carries: Carry, x: Matrix) -> tuple[Any, Any]:
    """Readings (lanes, sensors) at these states, and their derivatives (lanes, sensors, size)."""

    def one(each: tuple[Carry, Any]) -> tuple[Any, Any]:
        carry, x = each

        def values(x: Any) -> Any:
            return _values(read, world, x_put(carry, x, memories))

        slopes = jax.lax.map(lambda d: jax.jvp(values, (x,), (d,))[1], jnp.eye(x.shape[0]))
        return values(x), slopes.T

    return jax.lax.map(one, (carries, x))


def _values(read: Read, world: World, carry: Carry) -> Any:
    y = carry.y
    if not isinstance(read, tuple):
        found = read(Moving(world.mechanism, merge(y.q), merge(y.v), None))
        return jnp.stack([jnp.asarray(x, dtype=float) for x in found])
    scene = scene_with_motion(world, carry.t, y, carry.phases, carry.memory)
    return jnp.stack([jnp.asarray(signal.value(scene), dtype=float) for signal in read])
