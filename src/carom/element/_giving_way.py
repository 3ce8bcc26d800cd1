"""Which joints at rest give way: the complementarity problem of their accelerations.

Given the rates rise + W x of all rows of the world, find for every joint at rest its effort x and a sense such that

    sense 0    |x| <= F_s, and it does not accelerate
    sense s    x = -s F, and s times its acceleration is not negative

while everything that others hold goes on holding. The method begins with what is known, changes decisions whose
conditions are broken, and solves again: a few times all of them, so that mirror images stay mirror images, then one at
a time, the first in order, which is Murty's method and ends for F_s = F with the solution if W is positive definite.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ..hybrid._coupled import Coupled
from ..hybrid.condition import ROUNDING
from ..quantities import Vector

ALIKE = 6  # rounds that change all broken decisions
ROUNDS = 16  # and as many for each joint, at most


class Candidates(NamedTuple):
    """Joints with friction, in the order of their rows; arrays over them."""

    system: Coupled
    most: Any  # F_s
    giving: Any  # F
    still: Any  # flags: at rest; the others move on
    moved: Any  # flags: can their effort move them? Not where a closed loop turns round
    senses: Any  # at first


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
        too_much = jnp.abs(effort) > c.most + ROUNDING * (jnp.abs(effort) + c.most + size)
        turned = senses * rates[mine] < -ROUNDING * sizes[mine]
        # What its effort does not move cannot be held: it goes where the others take it.
        taken = jnp.where(rates[mine] < 0.0, -1.0, 1.0)
        flags = jnp.where(c.moved, jnp.where(sticks, too_much, turned), turned | (senses == 0.0))
        return c.still & flags, jnp.where(c.moved, jnp.where(sticks, -jnp.sign(effort), 0.0), taken)

    def body(s: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        senses, rounds, _ = s
        flags, other = broken(senses)
        first = flags & (number == jnp.argmax(flags))
        changed = jnp.where(rounds < ALIKE, flags, first)
        return jnp.where(changed, other, senses), rounds + 1, jnp.any(flags)

    start = (c.senses, jnp.asarray(0), jnp.asarray(True))
    return jax.lax.while_loop(lambda s: s[2] & (s[1] < ROUNDS * (n + 1)), body, start)[0]
