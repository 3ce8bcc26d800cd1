"""Lemke's method: contacts with friction as one linear complementarity problem, which in the plane is exact.

    w = q + M z,   w >= 0,   z >= 0,   w . z = 0

Coulomb's cone in the plane has two sides, so that for every contact that may stick (Stewart and Trinkle 1996; Anitescu
and Potra 1997)

    x       with  u_n                      normal impulse and velocity
    p+, p-  with  c + u_t,  c - u_t        friction to either side; c is the sliding speed
    c       with  mu (x + o) - p+ - p-     what friction is not used up

M is copositive, so the method ends with a solution wherever there is one (Cottle, Pang and Stone 1992, ch. 4). Contacts
whose sense of sliding is known have x alone, and push along n - s mu t; with them there may be none, and the method
ends on a ray. Ties are broken by the order of the rows of the inverse basis (lexicographic), so that it does not cycle.
What it finds is a list of decisions; whether they hold is checked by those who called it (_several.py).

Source: Lemke 1965, Management Science 11, 681-689.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

PIVOTS = 12  # times the number of unknowns
ZERO = 1e-11  # of a tableau whose rows have entries of size 1
TIE = 1e-10  # of the smallest ratio


class Basis(NamedTuple):
    """The tableau: w, z, z0 and q in columns; and which variable is basic in each row, by the number of its column."""

    table: Float[Array, "n columns"]
    basic: Int[Array, " n"]
    enters: Int[Array, ""]
    pivots: Int[Array, ""]
    going: Bool[Array, ""]


def lemke(m: Float[Array, "n n"], q: Float[Array, " n"]) -> tuple[Float[Array, " n"], Bool[Array, ""]]:
    """z, and whether it is a solution."""
    n = len(q)
    table = jnp.concatenate([jnp.eye(n), -m, -jnp.ones((n, 1)), q[:, None]], axis=1)
    fine = jnp.all(q >= 0.0)
    first = Basis(table, jnp.arange(n), jnp.asarray(2 * n), jnp.asarray(0), ~fine)
    # The covering variable enters where it must be largest, and then its partner.
    begun = _pivoted(first, jnp.argmin(q))

    def body(s: Basis) -> Basis:
        row, found = _leaving(s)
        after = _pivoted(s, row)
        return jax.tree.map(lambda new, old: jnp.where(found, new, old), after, s)._replace(going=found & after.going)

    start = jax.tree.map(lambda new, old: jnp.where(fine, old, new), begun, first)._replace(going=~fine)
    end = jax.lax.while_loop(lambda s: s.going & (s.pivots < PIVOTS * n), body, start)
    z = jnp.zeros(2 * n + 1).at[end.basic].set(end.table[:, -1])
    return z[n : 2 * n], ~jnp.any(end.basic == 2 * n)


def _leaving(s: Basis) -> tuple[Array, Array]:
    """The row whose variable first falls to zero as the one that enters grows; is there one?"""
    n = len(s.basic)
    column = s.table[:, s.enters]
    able = column > ZERO
    below = jnp.where(able, column, 1.0)
    ratio = jnp.where(able, s.table[:, -1] / below, jnp.inf)
    least = jnp.min(ratio)
    ties = able & (ratio <= least + TIE * jnp.maximum(jnp.abs(least), 1.0))
    # If the covering variable can leave, it does: that is the end.
    covers = ties & (s.basic == 2 * n)

    def narrow(state: Any) -> Any:
        ties, j = state
        key = jnp.where(ties, s.table[:, j] / below, jnp.inf)
        return ties & (key <= jnp.min(key)), j + 1

    several = lambda state: (jnp.sum(state[0]) > 1) & (state[1] < n)  # noqa: E731
    chosen, _ = jax.lax.while_loop(several, narrow, (ties, jnp.asarray(0)))
    return jnp.argmax(jnp.where(jnp.any(covers), covers, chosen)), jnp.any(able)


def _pivoted(s: Basis, row: Array) -> Basis:
    """The variable that enters becomes basic in this row; next enters the partner of the one that left."""
    n = len(s.basic)
    line = s.table[row] / s.table[row, s.enters]
    others = jnp.where(jnp.arange(n) == row, 0.0, s.table[:, s.enters])
    table = (s.table - others[:, None] * line[None, :]).at[row].set(line)
    left = s.basic[row]
    partner = jnp.where(left < n, left + n, left - n)
    return Basis(table, s.basic.at[row].set(s.enters), partner, s.pivots + 1, left != 2 * n)


class Cone(NamedTuple):
    """A problem with friction, in units in which the diagonal of w is 1: see `Problem` in _several.py."""

    w: Float[Array, "rows rows"]
    b: Float[Array, " rows"]
    mu: Float[Array, " rubs"]
    offset: Float[Array, " contacts"]
    part: Bool[Array, " contacts"]
    fixed: Float[Array, " rubs"]
    rubs: tuple[int, ...]


def solved(c: Cone) -> tuple[Array, Array, Array]:
    """Which contacts push, their senses of sliding (0: they stick), and whether the method ended."""
    n, m, at = len(c.part), len(c.rubs), np.asarray(c.rubs, dtype=int)
    slip = -c.fixed * c.mu
    given = jnp.concatenate([c.offset, slip * c.offset[at]])
    b = c.b + c.w @ given
    normal = c.w[:, :n].at[:, at].add(slip[None, :] * c.w[:, n:])
    across = c.w[:, n:]
    size = n + 3 * m
    matrix = jnp.zeros((size, size)).at[:n, :n].set(normal[:n])
    matrix = matrix.at[:n, n : n + m].set(across[:n]).at[:n, n + m : n + 2 * m].set(-across[:n])
    for sign, first in ((1.0, n), (-1.0, n + m)):
        rows = slice(first, first + m)
        matrix = matrix.at[rows, :n].set(sign * normal[n:])
        matrix = matrix.at[rows, n : n + m].set(sign * across[n:]).at[rows, n + m : n + 2 * m].set(-sign * across[n:])
        matrix = matrix.at[rows, n + 2 * m :].set(jnp.eye(m))
    last = slice(n + 2 * m, size)
    matrix = matrix.at[last, at].set(jnp.diag(c.mu)) if m else matrix
    matrix = matrix.at[last, n : n + 2 * m].set(jnp.concatenate([-jnp.eye(m), -jnp.eye(m)], axis=1))
    right = jnp.concatenate([b[:n], b[n:], -b[n:], c.mu * c.offset[at]])
    # Who takes no part, and the friction of those whose sliding is known, is out: w = 1, z = 0.
    free = c.part[at] & (c.fixed == 0.0)
    on = jnp.concatenate([c.part, free, free, free])
    matrix = jnp.where(on[:, None] & on[None, :], matrix, jnp.eye(size))
    z, found = lemke(matrix, jnp.where(on, right, 1.0))
    holds = z[n + 2 * m :] <= 0.0
    sense = jnp.where(z[n + m : n + 2 * m] > z[n : n + m], 1.0, -1.0)
    return z[:n] > 0.0, jnp.where(free, jnp.where(holds, 0.0, sense), c.fixed), found
