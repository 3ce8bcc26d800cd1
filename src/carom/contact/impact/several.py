"""Several contacts at one instant: which push, which stick, which slide.

Given w = G M^-1 G^T for the rows G of all contacts (normal, then tangential where there is friction) and velocities b,
find impulses (or, one derivative higher, forces) x and p, and velocities after them u = b + w (x + o, p), such that

    x_i >= 0,  u_n >= 0,  x_i u_n = 0                          contacts push, never pull
    |p_i| <= mu_s (x_i + o_i) where u_t = 0,  p_i = -mu (x_i + o_i) sgn(u_t) elsewhere

o is an impulse that acts in any case (Poisson's restitution); it is zero otherwise. The method changes one decision at
a time, that of the first condition which is broken, and solves again for the contacts as decided. Without friction this
is Murty's principal pivoting, which ends with the solution for every positive definite w; dropping all pulling contacts
at once, the popular short-cut, does not. With friction the method may go round in circles (7 % of random problems with
three contacts); then all decisions are tried, one after the other. A solution need not exist: that is said. Nor need it
be the only one: the method begins with contacts that stick, so that what can hold holds, and rows that depend on each
other share alike.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ...hybrid.reaction import least, masked

TOLERANCE = 1e-11  # of the data: a condition broken by less is kept
ROUNDS = 64  # decisions changed at most, per contact


class Problem(NamedTuple):
    """Rows are counted through: first all normal ones, then the tangential ones of the contacts with friction."""

    w: list[list[Any]]
    b: list[Any]
    mu: list[Any]  # one per contact with friction
    limit: list[Any]
    offset: list[Any]  # o, one per contact
    part: list[Any]  # which contacts take part
    fixed: list[Any]  # +-1: this contact with friction slides, and that way; 0: it may stick
    rubs: tuple[int, ...]  # contact to which each tangential row belongs

    @property
    def contacts(self) -> int:
        return len(self.part)


class Decided(NamedTuple):
    """Decisions: does the contact push, and its sense of sliding (0: it sticks)."""

    pushes: tuple[Any, ...]
    sense: tuple[Any, ...]


class Solution(NamedTuple):
    """Normal and tangential impulses (without o), velocities after them, decisions, and whether all conditions hold."""

    normal: list[Any]
    tangential: list[Any]
    after: list[Any]
    decided: Decided
    found: Any


def solve(problem: Problem) -> Solution:
    """Find the decisions, then solve once more for values whose derivatives are those of the decided system."""
    fixed = jax.tree.map(jax.lax.stop_gradient, problem._replace(rubs=()))._replace(rubs=problem.rubs)
    decided, found = _decide(fixed)
    normal, tangential, after = _values(problem, decided)
    return Solution(normal, tangential, after, decided, found)


def _decide(p: Problem) -> tuple[Decided, Any]:
    n = p.contacts
    first = Decided(tuple(on & (b < 0.0) for on, b in zip(p.part, p.b, strict=False)), tuple(p.fixed))
    most = ROUNDS * n

    def going(s: Any) -> Any:
        return ~s[2] & (s[1] < most + 2**n * 3 ** len(p.rubs))

    def body(s: Any) -> Any:
        d, rounds, _ = s
        x, rubbed, after = _values(p, d)
        flags = _broken(p, x, rubbed, after, d)
        better, listed = _changed(p, d, flags, rubbed), _listed(p, rounds + 1 - most)
        circles = _any(flags) & (rounds + 1 >= most)
        d = jax.tree.map(lambda a, b: jnp.where(circles, a, b), listed, better)
        return d, rounds + 1, ~_any(flags)

    start = (first, jnp.asarray(0), jnp.asarray(False))
    decided, _, found = jax.lax.while_loop(going, body, start)
    return decided, found


def _listed(p: Problem, number: Any) -> Decided:
    """Decisions by their number: a contact pushes or not; with friction it also sticks, or slides right or left."""
    pushes, sense = [], [jnp.asarray(0.0)] * len(p.rubs)
    for i, on in enumerate(p.part):
        pushes.append(on & (number % 2 == 1))
        number = number // 2
        if i in p.rubs:
            sense[p.rubs.index(i)] = number % 3 - 1.0
            number = number // 3
    return Decided(tuple(pushes), tuple(jnp.where(f == 0.0, s, f) for f, s in zip(p.fixed, sense, strict=True)))


def _values(p: Problem, d: Decided) -> tuple[list[Any], list[Any], list[Any]]:
    """Impulses and velocities for given decisions."""
    n, m = p.contacts, len(p.rubs)
    size = n + m
    slip = [-s * mu for s, mu in zip(d.sense, p.mu, strict=True)]  # p_i = slip (x_i + o_i)
    # Impulses that act in any case, and what they do.
    given = [*p.offset, *(c * p.offset[i] for c, i in zip(slip, p.rubs, strict=True))]
    b = [p.b[r] + sum(p.w[r][k] * given[k] for k in range(size)) for r in range(size)]
    # A contact that slides pushes along n + slip t.
    columns = [list(row) for row in p.w]
    for r in range(size):
        for k, i in enumerate(p.rubs):
            columns[r][i] = columns[r][i] + slip[k] * p.w[r][n + k]
    sticks = [p.part[i] & (s == 0.0) for s, i in zip(d.sense, p.rubs, strict=True)]
    active = [*d.pushes, *sticks]
    x = least(masked(columns, active), [jnp.where(on, -v, 0.0) for on, v in zip(active, b, strict=True)])
    after = [b[r] + sum(columns[r][k] * x[k] for k in range(size)) for r in range(size)]
    rubbed = [
        jnp.where(s, x[n + k], c * (x[i] + p.offset[i]))
        for k, (s, c, i) in enumerate(zip(sticks, slip, p.rubs, strict=True))
    ]
    return x[:n], rubbed, after


def _broken(p: Problem, x: list[Any], rubbed: list[Any], after: list[Any], d: Decided) -> list[Any]:
    """Which conditions do not hold: pushing or not of every contact, then sticking or sliding."""
    n = p.contacts
    scale = sum(jnp.abs(jnp.where(on, b, 0.0)) for on, b in zip(p.part, p.b, strict=False)) + 1e-300
    scale = scale + sum(jnp.abs(b) for b in p.b[n:]) + sum(jnp.abs(o * p.w[i][i]) for i, o in enumerate(p.offset))
    tiny = TOLERANCE * scale
    flags = [p.part[i] & jnp.where(d.pushes[i], x[i] * p.w[i][i] < -tiny, after[i] < -tiny) for i in range(n)]
    for k, i in enumerate(p.rubs):
        reach = (x[i] + p.offset[i]) * p.w[i][i]
        too_much = jnp.abs(rubbed[k]) * p.w[i][i] > p.limit[k] * reach + tiny
        turned = (d.sense[k] * after[n + k] < -tiny) & (reach > tiny)
        free = p.fixed[k] == 0.0
        flags.append(p.part[i] & free & jnp.where(d.sense[k] == 0.0, too_much, turned))
    return flags


def _changed(p: Problem, d: Decided, flags: list[Any], rubbed: list[Any]) -> Decided:
    """The first broken decision changed."""
    n = p.contacts
    before = jnp.asarray(False)
    pushes, sense = list(d.pushes), list(d.sense)
    for i in range(n):
        pushes[i] = jnp.where(flags[i] & ~before, ~pushes[i], pushes[i])
        before = before | flags[i]
    for k in range(len(p.rubs)):
        other = jnp.where(sense[k] == 0.0, -jnp.sign(rubbed[k]), 0.0)
        sense[k] = jnp.where(flags[n + k] & ~before, other, sense[k])
        before = before | flags[n + k]
    return Decided(tuple(pushes), tuple(sense))


def _any(flags: list[Any]) -> Any:
    total = jnp.asarray(False)
    for flag in flags:
        total = total | flag
    return total
