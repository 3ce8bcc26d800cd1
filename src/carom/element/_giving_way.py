"""Which joints at rest give way: the complementarity problem of their accelerations.

Given the rates rise + W x of all rows of the world, find for every joint at rest its effort x and a sense such that

    sense 0    |x| <= F_s, and it does not accelerate
    sense s    x = -s F, and s times its acceleration is not negative

while everything that others hold goes on holding. The method begins with what is known, changes decisions whose
conditions are broken, and solves again: a few times all of them, so that mirror images stay mirror images, then one at
a time, the first in order, which is Murty's method and ends for F_s = F with the solution if W is positive definite.
It need not be: a foot that slides pushes along its friction too, and a joint that is held against it may accelerate the
other way, so that it gives way neither as it is pulled nor not at all. Then all decisions are tried, one by one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ..hybrid._coupled import Coupled
from ..quantities import Vector

ALIKE = 6  # rounds that change all broken decisions
ROUNDS = 16  # and as many for each joint, at most
LISTED = 3**8  # decisions that are tried one by one, at most


class Candidates(NamedTuple):
    """Joints with friction, in the order of their rows; arrays over them."""

    system: Coupled
    most: Any  # F_s
    giving: Any  # F
    still: Any  # flags: at rest; the others move on
    moved: Any  # flags: can their effort move them? Not where a closed loop turns round
    senses: Any  # at first
    inexact: Any  # rounding of forces and rates, as a part of the sizes of their terms


def given_way(c: Candidates) -> Any:
    """Their senses."""
    n, rows = len(c.senses), len(c.system.rise)
    mine = slice(c.system.mine.start, c.system.mine.stop)
    number = jnp.arange(n)

    def broken(senses: Vector) -> tuple[Any, Any]:
        """Whose condition does not hold, and which sense it has instead."""
        sticks = c.still & c.moved & (senses == 0.0)
        given = c.system.with_mine(jnp.zeros(rows), -senses * c.giving)
        active = c.system.with_mine(c.system.active, sticks)
        forces = given + c.system.reactions(active, -c.system.rates(given)[0])
        rates, sizes = c.system.rates(forces)
        effort, weight = forces[mine], jnp.diagonal(c.system.matrix)[mine]
        size = sizes[mine] / jnp.where(weight > 0.0, weight, 1.0)
        too_much = jnp.abs(effort) > c.most + c.inexact * (jnp.abs(effort) + c.most + size)
        turned = senses * rates[mine] < -c.inexact * sizes[mine]
        # What its effort does not move cannot be held: it goes where the others take it.
        taken = jnp.where(rates[mine] < 0.0, -1.0, 1.0)
        flags = jnp.where(c.moved, jnp.where(sticks, too_much, turned), turned | (senses == 0.0))
        return c.still & flags, jnp.where(c.moved, jnp.where(sticks, -jnp.sign(effort), 0.0), taken)

    most = ROUNDS * (n + 1)
    # The place of each joint that rests in the number of a decision.
    place = 3.0 ** (jnp.cumsum(jnp.where(c.still, 1.0, 0.0)) - 1.0)
    driven = jnp.where(c.system.rise[mine] < 0.0, -1.0, 1.0)  # tried first, so that mirror images stay mirror images
    all_of_them = jnp.minimum(jnp.prod(jnp.where(c.still, 3.0, 1.0)), LISTED)

    def body(s: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        senses, rounds, _ = s
        flags, other = broken(senses)
        first = flags & (number == jnp.argmax(flags))
        better = jnp.where(jnp.where(rounds < ALIKE, flags, first), other, senses)
        digit = jnp.mod(jnp.floor((rounds + 1 - most) / place), 3.0)
        listed = jnp.where(c.still, jnp.where(digit == 2.0, -1.0, digit) * driven, senses)
        tried = jnp.where(rounds + 1 < most, better, listed)
        return jnp.where(jnp.any(flags), tried, senses), rounds + 1, jnp.any(flags)

    start = (c.senses, jnp.asarray(0), jnp.asarray(True))
    return jax.lax.while_loop(lambda s: s[2] & (s[1] <= most + all_of_them), body, start)[0]
