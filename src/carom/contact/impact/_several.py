"""Several contacts at one instant: which push, which stick, which slide.

Given w = G M^-1 G^T for the rows G of all contacts (normal, then tangential where there is friction) and velocities b,
find impulses (or, one derivative higher, forces) x and p, and velocities after them u = b + w (x + o, p), such that

    x_i >= 0,  u_n >= 0,  x_i u_n = 0                          contacts push, never pull
    |p_i| <= mu_s (x_i + o_i) where u_t = 0,  p_i = -mu (x_i + o_i) sgn(u_t) elsewhere

o is an impulse that acts in any case (Poisson's restitution); it is zero otherwise. The method changes decisions whose
conditions are broken and solves again for the contacts as decided: a few times all of one kind, so that a blow that is
its own mirror image stays so, then one at a time. Without friction the latter is Murty's principal pivoting, which ends
with the solution for every positive definite w; dropping all pulling contacts at once and no more, the popular
short-cut, does not. With friction it may go round in circles (7 % of random problems with three contacts); then the
order in which conditions are looked at changes from round to round, and at last all decisions are tried. A solution
need not exist: that is said. Nor need it be the only one: the method begins with contacts that stick, so that what can
hold holds, and rows that depend on each other share alike. Contacts that are not `linked` decide without each other.

Conditions are compared in one unit, the square root of energy: u/sqrt(w_rr) and P sqrt(w_rr), which are of one kind for
metres and radians, grams and kilograms.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from ...hybrid._reaction import least, masked
from ...quantities import Flags, Matrix, Real, Reals, Vector
from ._path import SOLVED
from ._several_arrays import PATIENCE, array_values, by_lemke, rounds_of

TOLERANCE = 1e-11  # of the data: a condition broken by less is kept
ROUNDS = 64  # decisions changed at most, per contact; blow.py's as well
ALIKE = 6  # rounds that change all broken decisions of one kind, so that mirror images stay mirror images
WRITTEN_OUT = 12  # rows at most that are picked one by one
ORDERLY = 8  # of them in Murty's order, which may go round in circles with friction; the others in changing orders


class Problem(NamedTuple):
    """Rows are counted through: first all normal ones, then the tangential ones of the contacts with friction."""

    w: Any  # numbers one by one, a list of lists: elimination is written out on them; or an array, of many contacts
    b: Any
    mu: Any  # one per contact with friction
    limit: Any
    offset: Any  # o, one per contact
    part: Any  # which contacts take part
    fixed: Any  # +-1: this contact with friction slides, and that way; 0: it may stick
    rubs: tuple[int, ...]  # contact to which each tangential row belongs
    linked: Any = None  # (contacts, contacts): which share a solution; None: all
    data: Any = None  # velocities b that tolerances are measured by; None: the same as b
    jams: Any = None  # per contact with friction +-1: pushes, sliding that way, until u_t = 0 (instead of u_n = 0)
    noise: Any = None  # velocities b that are but rounding
    lifted: Any = None  # contacts that were seen to leave: they begin by not pushing, and so stay where both hold

    @property
    def contacts(self) -> int:
        return len(self.part)

    @property
    def owner(self) -> tuple[int, ...]:
        """Contact of every row."""
        return (*range(self.contacts), *self.rubs)

    @property
    def free(self) -> Any:
        """Contacts with friction that may stick."""
        return pick(self.part, self.rubs) & (self.fixed == 0.0)

    @property
    def diagonal(self) -> Any:
        return vector([row[r] for r, row in enumerate(self.w)]) if self.written_out else jnp.diagonal(self.w)

    @property
    def written_out(self) -> bool:
        """Is it solved scalar by scalar? Large ones are on arrays (_several_arrays.py)."""
        return isinstance(self.w, list)


class Decided(NamedTuple):
    """Decisions: does the contact push, and its sense of sliding (0: it sticks)."""

    pushes: Any
    sense: Any


class Solution(NamedTuple):
    """Normal and tangential impulses (without o), velocities after them, decisions, and whether all conditions hold."""

    normal: Any
    tangential: Any
    after: Any
    decided: Decided
    found: Any
    kept: Any = None  # velocities that the conditions do not tell from none; None: all are told


def vector(numbers: Reals) -> Any:
    """One array of numbers or flags, none included."""
    return jnp.stack([jnp.asarray(x) for x in numbers]) if len(numbers) else jnp.zeros(0)


def pick(values: Vector, indices: tuple[int, ...]) -> Any:
    """Entries of a small array, without a gather where they are all of it."""
    if indices == tuple(range(len(values))):
        return values
    if len(values) > WRITTEN_OUT or len(indices) > WRITTEN_OUT:
        first = indices == tuple(range(len(indices)))
        return values[: len(indices)] if first else values[np.asarray(indices, dtype=int)]
    return jnp.stack([values[i] for i in indices]) if indices else values[:0]


def among(linked: Matrix, rows: tuple[int, ...], columns: tuple[int, ...]) -> Any:
    """Which rows (or contacts) are linked to which, by the contacts that they belong to."""
    return pick(pick(linked, rows).T, columns).T


def solve(problem: Problem) -> Solution:
    """Find the decisions, then solve once more for values whose derivatives are those of the decided system."""
    p, n = problem, problem.contacts
    b, mu, limit, offset, fixed = (vector(x) * 1.0 for x in (p.b, p.mu, p.limit, p.offset, p.fixed))
    linked = jnp.ones((n, n), dtype=bool) if p.linked is None else p.linked
    noise = None if p.noise is None else vector(p.noise)
    full = Problem(p.w, b, mu, limit, offset, vector(p.part), fixed, p.rubs, linked, b, p.jams, noise, p.lifted)
    decided, lost, _ = decide(full)
    normal, tangential, after = values(full, decided)
    return Solution(normal, tangential, after, decided, ~jnp.any(lost), _kept(full))


def _kept(p: Problem) -> Any:
    """Velocities, row by row, by which a condition may be broken and is kept: less is not told from none."""
    root, _, whole = _units(p)
    return jax.lax.stop_gradient(TOLERANCE * whole * root)


def decide(problem: Problem) -> tuple[Decided, Any, Any]:
    """Decisions, the contacts for which there are none that fulfil all conditions, and impulses of the others."""
    p = jax.tree.map(jax.lax.stop_gradient, problem._replace(rubs=()))._replace(rubs=problem.rubs)
    n = p.contacts
    # What neither closes nor leaves begins by pushing, whatever rounding makes of its velocity: what can hold, holds.
    none = 0.0 if p.noise is None else p.noise[:n]
    begins = p.part & ((p.b[:n] < 0.0) | (p.b[:n] < none))
    first = Decided(begins if p.lifted is None else begins & ~p.lifted, p.fixed)
    if not p.written_out:
        return _decide_many(p, first)
    most = ROUNDS * n
    # How many combinations of decisions there are.
    all_of_them = jnp.prod(jnp.where(p.part, 2, 1)) * jnp.prod(jnp.where(p.free, 3, 1))

    def going(s: PyTree) -> Any:
        return jnp.any(s[2]) & (s[1] < most + all_of_them)

    def body(s: PyTree) -> Any:
        d, rounds, _, _ = s
        x, rubbed, after = values(p, d)
        flags = _broken(p, x, rubbed, after, d)
        lost = jnp.any(among(p.linked, tuple(range(n)), p.owner) & flags[None, :], axis=1)
        better, listed = _changed(p, d, flags, rubbed, rounds), _listed(p, rounds + 1 - most)
        circles = pick(lost & (rounds + 1 >= most), p.owner)
        pushes = jnp.where(circles[:n], listed.pushes, better.pushes)
        d = Decided(pushes, jnp.where(circles[n:], listed.sense, better.sense))
        return d, rounds + 1, lost, jnp.concatenate([x, rubbed])

    start = (first, jnp.asarray(0), jnp.ones(n, dtype=bool), jnp.zeros(len(p.owner)))
    decided, _, lost, impulses = jax.lax.while_loop(going, body, start)
    return decided, lost, impulses


def _decide_many(p: Problem, first: Decided) -> tuple[Decided, Any, Any]:
    """The same where there are too many decisions to try all."""
    n, most = p.contacts, rounds_of(p)

    def going(s: Any) -> Any:
        return jnp.any(s[2]) & (s[1] < most)

    def body(s: Any) -> Any:
        d, rounds, _, _ = s
        x, rubbed, after = values(p, d)
        flags = _broken(p, x, rubbed, after, d)
        lost = jnp.any(among(p.linked, tuple(range(n)), p.owner) & flags[None, :], axis=1)
        better = _changed(p, d, flags, rubbed, rounds)
        ask = (rounds + 1 == PATIENCE) & jnp.any(lost)
        pushes, sense = jax.lax.cond(ask, lambda: by_lemke(p), lambda: (better.pushes, better.sense))
        each = pick(lost, p.owner)
        d = Decided(jnp.where(each[:n], pushes, better.pushes), jnp.where(each[n:], sense, better.sense))
        return d, rounds + 1, lost, jnp.concatenate([x, rubbed])

    start = (first, jnp.asarray(0), jnp.ones(n, dtype=bool), jnp.zeros(len(p.owner)))
    decided, _, lost, impulses = jax.lax.while_loop(going, body, start)
    return decided, lost, impulses


def _listed(p: Problem, number: Vector) -> Decided:
    """Decisions by their number: a contact pushes or not; with friction it also sticks, or slides right or left.

    What holds comes first, then sliding the way it is driven, so that mirror images stay mirror images.
    """
    pushes, sense = [], [jnp.asarray(0.0)] * len(p.rubs)
    for i in range(p.contacts):
        pushes.append(p.part[i] & (number % 2 == 0))
        number = jnp.where(p.part[i], number // 2, number)
        if i in p.rubs:
            k = p.rubs.index(i)
            way = jnp.where(p.b[p.contacts + k] < 0.0, -1.0, 1.0)
            sense[k] = jnp.where(p.free[k], jnp.where(number % 3 == 2, -way, (number % 3) * way), p.fixed[k])
            number = jnp.where(p.free[k], number // 3, number)
    return Decided(vector(pushes), vector(sense))


def values(p: Problem, d: Decided) -> tuple[Any, Any, Any]:
    """Impulses and velocities for given decisions."""
    if not p.written_out:
        return array_values(p, d)
    n, size = p.contacts, len(p.owner)
    slip = list(-d.sense * p.mu)  # p_i = slip (x_i + o_i)
    # Impulses that act in any case, and what they do.
    given = [*p.offset, *(c * p.offset[i] for c, i in zip(slip, p.rubs, strict=True))]
    b = [p.b[r] + sum(p.w[r][k] * given[k] for k in range(size)) for r in range(size)]
    # A contact that slides pushes along n + slip t.
    columns = [list(row) for row in p.w]
    for r in range(size):
        for k, i in enumerate(p.rubs):
            columns[r][i] = columns[r][i] + slip[k] * p.w[r][n + k]
    if p.jams is not None:
        for k, i in enumerate(p.rubs):
            s = p.jams[k]
            b[i] = jnp.where(s == 0.0, b[i], -s * b[n + k])
            columns[i] = [jnp.where(s == 0.0, a, -s * c) for a, c in zip(columns[i], columns[n + k], strict=True)]
    sticks = pick(p.part, p.rubs) & (d.sense == 0.0)
    active = [*d.pushes, *sticks]
    # In units of the inverse inertia, so that the ones that stand for inactive rows are no larger than the others.
    unit = 1.0 / jnp.mean(p.diagonal)
    scaled = [[c * unit for c in row] for row in columns]
    x = least(masked(scaled, active), [jnp.where(on, -v * unit, 0.0) for on, v in zip(active, b, strict=True)])
    after = vector([b[r] + sum(columns[r][k] * x[k] for k in range(size)) for r in range(size)])
    whole = vector(x)
    rubbed = jnp.where(sticks, whole[n:], vector(slip) * pick(whole[:n] + p.offset, p.rubs))
    return whole[:n], rubbed, after


def _units(p: Problem) -> tuple[Any, Any, Any]:
    """Per row: what makes impulses comparable, what makes velocities so, and the size of the data of its group."""
    root = jnp.sqrt(jnp.maximum(p.diagonal, 0.0))
    moved = jnp.where(root > 0.0, 1.0 / jnp.where(root > 0.0, root, 1.0), 0.0)
    size = jnp.abs(p.data) * moved + jnp.concatenate([jnp.abs(p.offset) * root[: p.contacts], jnp.zeros(len(p.rubs))])
    size = jnp.where(pick(p.part, p.owner), size, 0.0)
    return root, moved, jnp.sum(jnp.where(among(p.linked, p.owner, p.owner), size[None, :], 0.0), axis=1)


def _broken(p: Problem, x: Vector, rubbed: Vector, after: Vector, d: Decided) -> Any:
    """Which conditions do not hold: pushing or not of every contact, then sticking or sliding."""
    n = p.contacts
    root, moved, whole = _units(p)
    tiny = TOLERANCE * whole
    unmet = jnp.abs(after) * moved > SOLVED * whole
    pulls, enters = x * root[:n] < -tiny[:n], after[:n] * moved[:n] < -tiny[:n]
    normal = p.part & jnp.where(d.pushes, pulls | unmet[:n], enters)
    push = pick(x + p.offset, p.rubs)
    too_much = ((jnp.abs(rubbed) - p.limit * push) * root[n:] > tiny[n:]) | unmet[n:]
    turned = (d.sense * after[n:] * moved[n:] < -tiny[n:]) & (push * pick(root, p.rubs) > tiny[n:])
    return jnp.concatenate([normal, p.free & jnp.where(d.sense == 0.0, too_much, turned)])


def _changed(p: Problem, d: Decided, flags: Flags, rubbed: Vector, rounds: Real) -> Decided:
    """Broken decisions changed, of every group of linked contacts: all of a kind at first, then one, in an order."""
    n = p.contacts
    number = jnp.arange(len(p.owner), dtype=float)
    # Scattered numbers, others in every round, for orders without a pattern to go round in.
    scattered = jnp.mod(jnp.sin(12.9898 * (rounds + 1.0) + 78.233 * (number + 1.0)) * 43758.5453, 1.0)
    kind = jnp.where(number < n, 0.0, 1.0)
    order = jnp.where(rounds < ALIKE, kind, jnp.where(rounds < ORDERLY * n, number, scattered))
    order = jnp.where(flags, order, jnp.inf)
    before = jnp.min(jnp.where(among(p.linked, p.owner, p.owner), order[None, :], jnp.inf), axis=1)
    first = flags & (order == before)
    other = jnp.where(d.sense == 0.0, -jnp.sign(rubbed), 0.0)
    return Decided(d.pushes ^ first[:n], jnp.where(first[n:], other, d.sense))
