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
other share alike. Contacts that are not `linked` decide without each other.

Conditions are compared in one unit, the square root of energy: u/sqrt(w_rr) and P sqrt(w_rr), which are of one kind for
metres and radians, grams and kilograms.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ...hybrid.reaction import least, masked

TOLERANCE = 1e-11  # of the data: a condition broken by less is kept
SOLVED = 1e-9  # of the data: what may be left of a velocity that is to vanish, where rows nearly depend on each other
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
    linked: Any = None  # (contacts, contacts): which share a solution; None: all
    data: Any = None  # velocities b that tolerances are measured by; None: the same as b
    jams: Any = None  # per contact with friction +-1: pushes, sliding that way, until u_t = 0 (instead of u_n = 0)

    @property
    def contacts(self) -> int:
        return len(self.part)

    @property
    def together(self) -> Any:
        n = self.contacts
        return jnp.ones((n, n), dtype=bool) if self.linked is None else self.linked


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
    decided, lost = decide(fixed)
    normal, tangential, after = values(problem, decided)
    return Solution(normal, tangential, after, decided, ~jnp.any(lost))


def decide(p: Problem) -> tuple[Decided, Any]:
    """Decisions, and the contacts for which there are none that fulfil all conditions."""
    n = p.contacts
    first = Decided(tuple(on & (b < 0.0) for on, b in zip(p.part, p.b, strict=False)), tuple(p.fixed))
    most, all_of_them = ROUNDS * n, _combinations(p)

    def going(s: Any) -> Any:
        return jnp.any(s[2]) & (s[1] < most + all_of_them)

    def body(s: Any) -> Any:
        d, rounds, _ = s
        x, rubbed, after = values(p, d)
        flags = _broken(p, x, rubbed, after, d)
        lost = _shared(p, flags)
        better, listed = _changed(p, d, flags, rubbed), _listed(p, rounds + 1 - most)
        circles = [lost[i] & (rounds + 1 >= most) for i in (*range(n), *p.rubs)]
        pushes = (jnp.where(c, a, b) for c, a, b in zip(circles, listed.pushes, better.pushes, strict=False))
        sense = (jnp.where(c, a, b) for c, a, b in zip(circles[n:], listed.sense, better.sense, strict=True))
        return Decided(tuple(pushes), tuple(sense)), rounds + 1, lost

    start = (first, jnp.asarray(0), jnp.ones(n, dtype=bool))
    decided, _, lost = jax.lax.while_loop(going, body, start)
    return decided, lost


def _free(p: Problem, k: int) -> Any:
    """May this contact with friction stick?"""
    return p.part[p.rubs[k]] & (p.fixed[k] == 0.0)


def _combinations(p: Problem) -> Any:
    """How many combinations of decisions there are."""
    count = jnp.asarray(1)
    for i, on in enumerate(p.part):
        count = count * jnp.where(on, 2, 1)
        if i in p.rubs:
            count = count * jnp.where(_free(p, p.rubs.index(i)), 3, 1)
    return count


def _listed(p: Problem, number: Any) -> Decided:
    """Decisions by their number: a contact pushes or not; with friction it also sticks, or slides right or left."""
    pushes, sense = [], [jnp.asarray(0.0)] * len(p.rubs)
    for i, on in enumerate(p.part):
        pushes.append(on & (number % 2 == 1))
        number = jnp.where(on, number // 2, number)
        if i in p.rubs:
            k = p.rubs.index(i)
            free = _free(p, k)
            sense[k] = jnp.where(free, number % 3 - 1.0, p.fixed[k])
            number = jnp.where(free, number // 3, number)
    return Decided(tuple(pushes), tuple(sense))


def values(p: Problem, d: Decided) -> tuple[list[Any], list[Any], list[Any]]:
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
    if p.jams is not None:
        for k, (s, i) in enumerate(zip(p.jams, p.rubs, strict=True)):
            b[i] = jnp.where(s == 0.0, b[i], -s * b[n + k])
            columns[i] = [jnp.where(s == 0.0, a, -s * c) for a, c in zip(columns[i], columns[n + k], strict=True)]
    sticks = [p.part[i] & (s == 0.0) for s, i in zip(d.sense, p.rubs, strict=True)]
    active = [*d.pushes, *sticks]
    # In units of the inverse inertia, which makes the ones that stand for inactive rows no larger than the others.
    unit = sum(jnp.abs(p.w[r][r]) for r in range(size)) / size
    scaled = [[c / unit for c in row] for row in columns]
    x = least(masked(scaled, active), [jnp.where(on, -v / unit, 0.0) for on, v in zip(active, b, strict=True)])
    after = [b[r] + sum(columns[r][k] * x[k] for k in range(size)) for r in range(size)]
    rubbed = [
        jnp.where(s, x[n + k], c * (x[i] + p.offset[i]))
        for k, (s, c, i) in enumerate(zip(sticks, slip, p.rubs, strict=True))
    ]
    return x[:n], rubbed, after


def _broken(p: Problem, x: list[Any], rubbed: list[Any], after: list[Any], d: Decided) -> list[Any]:
    """Which conditions do not hold: pushing or not of every contact, then sticking or sliding."""
    n = p.contacts
    pushed = [jnp.sqrt(jnp.maximum(row[r], 0.0)) for r, row in enumerate(p.w)]  # makes impulses comparable
    moved = [jnp.where(root > 0.0, 1.0 / jnp.where(root > 0.0, root, 1.0), 0.0) for root in pushed]  # and velocities
    data = p.b if p.data is None else p.data
    sizes = [jnp.abs(data[i]) * moved[i] + jnp.abs(p.offset[i]) * pushed[i] for i in range(n)]
    for k, i in enumerate(p.rubs):
        sizes[i] = sizes[i] + jnp.abs(data[n + k]) * moved[n + k]
    sizes = [jnp.where(on, size, 0.0) for on, size in zip(p.part, sizes, strict=True)]
    tiny = [TOLERANCE * jnp.sum(jnp.where(p.together[i], jnp.stack(sizes), 0.0)) for i in range(n)]
    unmet = [jnp.abs(after[r]) * moved[r] * TOLERANCE > SOLVED * tiny[i] for r, i in enumerate((*range(n), *p.rubs))]
    pulls = [(x[i] * pushed[i] < -tiny[i]) | unmet[i] for i in range(n)]
    enters = [after[i] * moved[i] < -tiny[i] for i in range(n)]
    flags = [p.part[i] & jnp.where(d.pushes[i], pulls[i], enters[i]) for i in range(n)]
    for k, i in enumerate(p.rubs):
        push = x[i] + p.offset[i]
        too_much = ((jnp.abs(rubbed[k]) - p.limit[k] * push) * pushed[n + k] > tiny[i]) | unmet[n + k]
        turned = (d.sense[k] * after[n + k] * moved[n + k] < -tiny[i]) & (push * pushed[i] > tiny[i])
        flags.append(_free(p, k) & jnp.where(d.sense[k] == 0.0, too_much, turned))
    return flags


def _shared(p: Problem, flags: list[Any]) -> Any:
    """Contacts that have a broken condition, or are linked to one that has."""
    n = p.contacts
    own = flags[:n]
    for k, i in enumerate(p.rubs):
        own[i] = own[i] | flags[n + k]
    return jnp.any(p.together & jnp.stack(own)[None, :], axis=1)


def _changed(p: Problem, d: Decided, flags: list[Any], rubbed: list[Any]) -> Decided:
    """The first broken decision changed, of every group of linked contacts."""
    n = p.contacts
    owner = jnp.asarray((*range(n), *p.rubs))
    together = p.together[owner][:, owner]
    earlier = jnp.tril(together, -1) & jnp.stack(flags)[None, :]
    first = jnp.stack(flags) & ~jnp.any(earlier, axis=1)
    pushes = tuple(jnp.where(first[i], ~on, on) for i, on in enumerate(d.pushes))
    sense = []
    for k, old in enumerate(d.sense):
        other = jnp.where(old == 0.0, -jnp.sign(rubbed[k]), 0.0)
        sense.append(jnp.where(first[n + k], other, old))
    return Decided(pushes, tuple(sense))
