"""What an exit waits for: a condition on the present state, with the direction in which it is met.

A number alone does not say whether something has happened: right after a rebound the gap is zero, a rounding above or
below. So every level is paired with a direction, and every comparison with the rounding of what it compares:

    rising   value >= 0 and it grows; a contact is met only by what comes nearer, and parts only from what recedes
    turning  value >= 0 and it grows, or clearly beyond zero whichever way it goes; for velocities that come to zero
    level    value >= 0, whichever way it goes; for numbers that a jump clearly changes (a force beyond its limit)
    edge     value >= 0 after it was clearly negative since the last jump of its automaton; for sections and counters
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any, NamedTuple

import jax.numpy as jnp

from ..quantities import Flag, Real

SHALLOW = 1e-9  # of the world's length: deeper inside, an open contact is an error, and a closed one has drifted
NEVER = -1.0  # value of an exit that the present phase does not have
ULP = float(jnp.finfo(jnp.float64).eps)
BEAT = 2.0  # [rad] of the fastest swing of a surface in one step, a quarter of it between two instants
TURNS = 2.0  # radii of curvature that may be swept in one step, likewise
ROUNDING = 64.0 * ULP  # of a number, relative to the sum of the sizes of its terms


class Condition(NamedTuple):
    """True where (value >= 0 and rate > slow) or (value > deep and rate > floor); the rate is that along the motion.

    Exits of one kind may be a family: one condition whose numbers are arrays, with an entry for each of them.

    - `rounding`: by how much the value may be off, in its own unit
    - `edge`: true only after the value was clearly negative, or at zero and falling, since its automaton's last jump;
      `deep` is then 2 rounding, and what it moves within the last bits of time
    """

    value: Any
    slow: Any
    deep: Any
    floor: Any
    rounding: Any
    edge: bool


def rising(
    value: Real, slow: Real = 0.0, deep: Real | None = None, rounding: Real = 0.0, floor: Real = 0.0
) -> Condition:
    """Met from below: at zero while it grows faster than `slow`, or beyond `deep` while it does faster than `floor`."""
    return Condition(value, slow, jnp.inf if deep is None else deep, floor, rounding, False)


def turning(value: Real, deep: Real, rounding: Real = 0.0) -> Condition:
    """Met from below at zero while it grows, or beyond `deep` whichever way it goes."""
    return Condition(value, 0.0, deep, -jnp.inf, rounding, False)


def level(value: Real, rounding: Real = 0.0) -> Condition:
    """Met where it is non-negative."""
    return Condition(value, -jnp.inf, jnp.inf, 0.0, rounding, False)


def edge(value: Real, size: Real = 1.0) -> Condition:
    """Met when it has risen from negative to non-negative; `size` is that of its terms, in its own unit."""
    return Condition(value, 0.0, jnp.inf, -jnp.inf, ROUNDING * size, True)


def condition_of(given: Condition | Real) -> Condition:
    """What a guard returned: a condition, or a number, which is an edge."""
    return given if isinstance(given, Condition) else edge(given)


def unless(absent: Flag, given: Condition) -> Condition:
    """The condition, or never where `absent`."""
    return given._replace(value=jnp.where(absent, NEVER, given.value))


def any_of(flags: Iterable[Flag]) -> Any:
    """Is one of these flags, or families of flags, up?"""
    each = (jnp.any(flag) if jnp.ndim(flag) else flag for flag in flags)
    return functools.reduce(lambda a, b: a | b, each, jnp.asarray(False))


def least_of(values: Any) -> Any:
    """The smallest number of a family, or the number."""
    return jnp.min(values) if jnp.ndim(values) else values


def most_of(values: Any) -> Any:
    """The largest number of a family, or the number."""
    return jnp.max(values) if jnp.ndim(values) else values


class Watch(NamedTuple):
    """An exit as seen inside a step: its value, and how fast it can change at most.

    - `value`: that of the condition, from time and coordinates alone
    - `sweep`: bound of its rate [unit/s], if every coordinate moves as fast as it does anywhere in the step
    - `swing`, `beat`: it may also swing by at most this much, at this angular frequency [rad/s] at most
    - `bend`: over which way, in its own unit, it can turn round
    - `sure`: no point of what it waits for is nearer than this says, where `value` may be the distance to another one
      (both negative); None where `value` is that
    - `room`: of an open contact: how far rounding may put it inside; None for other exits
    - `depth`: of a rigid contact, open or closed: how far it is inside now
    - `slight`: what also counts as not inside: 1e-9 rad of an angle, which no length is a measure of
    - `vague`: flags of exits that may be known by a bound alone at this instant, in guards too, unless they are wanted
    - `along`: of a closed contact on a surface: how fast it may move along it, as `sweep`; 0 of an open one
    """

    value: Any
    sweep: Any
    swing: Any = 0.0
    beat: Any = 0.0
    bend: Any = jnp.inf
    room: Any = None
    depth: Any = None
    sure: Any = None
    along: Any = 0.0
    slight: Real = 0.0
    vague: Any = None
