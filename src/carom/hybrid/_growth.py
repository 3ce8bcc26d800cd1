"""Does something run away? Speeds that grow exponentially, and go on growing while a run takes long, do.

Motors and weight make squared speeds grow like a power of time, at most the sixth; what was switched on late does not
go on growing. A controller that diverges, or a force with the wrong sign, makes them grow exponentially.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ..quantities import Flag, Index, Real
from .scene import Continuous
from .world import World

REMEMBERED = 4  # squared speeds, at instants that grow by a quarter: the oldest is that of half of the time
QUARTER = 1.25
LONG = 300_000  # attempts before a run can be said to take long
BEYOND = 1e4  # times the squared speed of the start, or of weight
EXPONENTIAL = 100.0  # times that at half of the time
ONGOING = 1.5  # times that at two thirds of it


class History(NamedTuple):
    """Squared speeds [m^2/s^2] of what is fastest: what weight and the start account for, and those of the past."""

    least: Any
    instant: Any  # [s] of the first of `past`
    past: tuple[Any, ...]


def first_history(world: World, y: Continuous, h: Real) -> History:
    gravity, length, v = jax.lax.stop_gradient((world.gravity, world.length, y.v))
    least = jnp.maximum(top_speed(world, y._replace(v=v)) ** 2, jnp.linalg.norm(gravity) * length)
    return History(least, h, (least,) * REMEMBERED)


def remembered(world: World, history: History, t: Real, y: Continuous, accept: Flag) -> History:
    """The history at an accepted step's end."""
    t, y = jax.lax.stop_gradient((t, y))  # it only decides
    turn = accept & (t >= QUARTER * history.instant)
    moved = (top_speed(world, y) ** 2, *history.past[:-1])
    past = tuple(jnp.where(turn, new, old) for new, old in zip(moved, history.past, strict=True))
    return History(history.least, jnp.where(turn, t, history.instant), past)


def diverges(history: History, speed: Real, steps: Index) -> Any:
    """Is it ever faster, without end?"""
    squared = speed**2
    grown = (squared > BEYOND * history.least) & (squared > EXPONENTIAL * history.past[-1])
    return (steps >= LONG) & grown & (squared > ONGOING * history.past[1])


def is_calm(history: History, t: Real, speed: Real, steps: Index) -> Any:
    """Is there nothing to remember now, and too soon, or too slow, to be said to diverge?"""
    return (t < QUARTER * history.instant) & ((steps < LONG) | (speed**2 <= BEYOND * history.least))


def top_speed(world: World, y: Continuous) -> Any:
    """Speed [m/s] of the fastest base, or end of a link. What diverges is faster than light before numbers overflow."""
    top, length = world.mechanism.topology, jax.lax.stop_gradient(world.length)
    speeds = [jnp.abs(y.v[i]) for i in range(top.base_dof)]
    if isinstance(y.v, tuple):
        speeds += [jnp.abs(y.v[top.angle_index(k)]) * (1.0 if top.slides[k] else length) for k in range(top.links)]
    else:
        speeds.append(jnp.max(jnp.abs(y.v[top.angles])) * length)
    return functools.reduce(jnp.maximum, speeds)
