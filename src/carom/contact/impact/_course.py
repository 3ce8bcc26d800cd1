"""The course of a blow on several contacts with friction, which is Routh's path for each that is alone.

Impulses P grow along straight pieces. On each piece, the contacts that slide keep their sense. At its beginning, the
impulses that are left until the end of the phase are found from the conditions of _several.py, for the velocities of
that moment: contacts that slide have friction -mu P_n sgn(u_t), those that do not may stick or begin to slide. All of
them grow in proportion to what is left, dP = ds (what is left), until the first contact stops sliding. There it is
free to stick or to turn round, and what is left is found anew.

    compression    ends where u_n >= 0 and P_n are complementary
    restitution    (Poisson) adds o = e P_c at least; of what is left of o, every piece takes its share
    Newton         has one phase, which ends where u_n + e u_n- >= 0 and P_n are complementary

A contact that nothing else is linked to runs through the same pieces whatever share of them a step takes, since its
velocities depend on its own impulse alone: those of _path.py. As w is continuous in its entries, so is each piece, and
several contacts tend to their own paths as their coupling vanishes.

- Where friction drives a sliding contact in, w_nn - mu sgn(u_t) w_nt <= 0, no impulse ends its compression: its piece
  ends where it stops, as on Routh's path.
- Where conditions with the senses of that moment have no solution, or after 2 m + 1 pieces (m contacts with friction),
  what is left of a phase follows from Coulomb's law for the velocities at its end, for which there always is one.
- That law for whole phases is the choice "end velocity" (Moreau; Glocker and Pfeiffer).
- Neither phase adds energy (_gain.py): compression is held back to that by end velocities, P = P_m + lambda (P - P_m),
  as there u+ . P <= 0, so that it loses P . w P / 2; restitution to the end of compression, P = P_c + lambda (P - P_c).
  Newton's law is held back to the plastic blow if there is no friction: a contact that recedes when the blow comes, and
  is pushed back, would gain energy. With friction it is not: there it gains by its definition. Where Newton's rebounds
  exclude each other (a ball that fits between floor and ceiling), the blow is the plastic one.

The loop only takes decisions; the pieces are then computed once more as decided, with derivatives.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PyTree

from ...hybrid.condition import ROUNDING
from ...quantities import Flag, Flags, Vector
from ._gain import held_back
from ._path import SOLVED
from ._several import Decided, Problem, among, decide, pick, values, vector

LOOK, COMPRESS, RESTORE, OVER = range(4)  # LOOK: the solution by end velocities, which compression is held back to


class Blows(NamedTuple):
    """Data of a blow; rows are counted as in _several.py."""

    rows: Any  # w, number by number; of many contacts the matrix itself
    w: Any  # and as a matrix
    speed: Any  # before the blow
    noise: Any  # speeds that are but rounding of what they are computed from
    asked: Any  # e, one per contact
    mu: Any
    limit: Any
    part: Any  # (contacts,): takes part, in a group of several
    linked: Any
    rubs: tuple[int, ...]
    newton: bool
    ends: bool  # friction by end velocities

    @property
    def owner(self) -> tuple[int, ...]:
        return (*range(len(self.asked)), *self.rubs)

    @property
    def pieces(self) -> int:
        """Pieces of a phase at most, before end velocities decide."""
        return 2 * len(self.rubs) + 1


class Moving(NamedTuple):
    """Values along the course: velocities, impulses, o that is left, impulses of the two solutions to fall back on."""

    speed: Any
    impulse: Any
    left: Any
    look: Any
    turn: Any


class Step(NamedTuple):
    """Decisions of one piece, one of each per contact or per contact with friction."""

    pushes: Any
    sense: Any
    jams: Any
    part: Any
    moves: Any
    first: Any  # the contact whose stop ends the piece, one at most in a group
    stops: Any  # all that stop there
    ends: Any  # the phase is over
    phase: Any


class Plan(NamedTuple):
    """What the loop knows besides the values."""

    phase: Any  # (contacts,), alike in a group
    sense: Any  # of contacts that slide; 0: free
    rush: Any  # the rest of this phase by end velocities
    count: Any  # pieces of this phase so far
    lost: Any


def impulses_along(blows: Blows) -> tuple[list[Any], Any]:
    """Impulses of all rows, and whether they were found."""
    data = jax.tree.map(jax.lax.stop_gradient, (blows.rows, blows.w, blows.speed, blows.asked, blows.mu, blows.limit))
    rows, w, speed, asked, mu, limit = data
    still = blows._replace(rows=rows, w=w, speed=speed, asked=asked, mu=mu, limit=limit)
    steps, lost = _decided(still)

    def again(now: Moving, step: Step) -> tuple[Moving, None]:
        def move() -> Moving:
            x, after = _left(blows, now, step)
            return _moved(blows, now, step, x, after)

        return jax.lax.cond(jnp.any(step.part), move, lambda: now), None

    end, _ = jax.lax.scan(again, _start(blows), steps)
    if blows.newton and not blows.rubs:  # rebounds that exclude each other, as in a gap that fits: there are none
        plastic = jnp.any(blows.linked & lost[None, :], axis=1)
        end, lost = end._replace(impulse=jnp.where(plastic, end.look, end.impulse)), lost & False
    # Where rows nearly depend on each other the pieces may lose their digits: then nothing was found.
    begin = blows.speed if blows.newton and not blows.rubs else _start(blows).speed  # held back, it asks for less
    enters = (begin + blows.w @ end.impulse)[: len(blows.asked)]
    lost = lost | (blows.part & (enters * ROUNDING < -10.0 * SOLVED * _tiny(blows)[: len(blows.asked)]))
    return list(end.impulse), ~jnp.any(lost)


def _start(blows: Blows) -> Moving:
    n = len(blows.asked)
    now = blows.speed.at[:n].multiply(1.0 + blows.asked) if blows.newton else blows.speed
    none = jnp.zeros_like(now)
    return Moving(now, none, none[:n], none, none)


def _decided(blows: Blows) -> tuple[Step, Any]:
    """Decisions of all pieces, one after the other."""
    n, m = len(blows.asked), len(blows.rubs)
    now = _start(blows)
    begins = LOOK if (m == 0 if blows.newton else m > 0 and not blows.ends) else COMPRESS
    phase = jnp.where(blows.part, begins, OVER)
    off = jnp.zeros(n, dtype=bool)
    plan = Plan(phase, _sense(blows, now, jnp.zeros(m, dtype=bool)), off | blows.ends, jnp.zeros(n, dtype=int), off)
    most = 1 + 2 * (blows.pieces + 2)
    rubs = jnp.zeros(m)
    blank = Step(off, rubs, rubs, off, off, rubs > 0.0, rubs > 0.0, off, phase)
    steps = jax.tree.map(lambda x: jnp.zeros((most, *x.shape), x.dtype), blank)

    def body(s: PyTree) -> Any:
        now, plan, steps, j = s
        step, x, after, unsolved = _chosen(blows, now, plan)
        moved = _moved(blows, now, step, x, after)
        steps = jax.tree.map(lambda all_of_them, one: all_of_them.at[j].set(one), steps, step)
        return moved, _planned(blows, moved, plan, step, unsolved), steps, j + 1

    going = lambda s: jnp.any(s[1].phase != OVER) & (s[3] < most)  # noqa: E731
    _, plan, steps, _ = jax.lax.while_loop(going, body, (now, plan, steps, jnp.asarray(0)))
    return steps, plan.lost | (plan.phase != OVER)


def _present(blows: Blows, now: Moving, phase: Array) -> Any:
    """Velocities for which what is left is found; a look at Newton's blow is one at a plastic blow."""
    return jnp.where(pick(phase == LOOK, blows.owner), blows.speed, now.speed) if blows.newton else now.speed


def _problem(blows: Blows, now: Moving, phase: Array, part: Flags, fixed: Vector, jams: Vector) -> Problem:
    left = jnp.where(part, now.left, 0.0)
    same = (blows.rubs, blows.linked, blows.speed, jams, blows.noise)
    return Problem(blows.rows, _present(blows, now, phase), blows.mu, blows.limit, left, part, fixed, *same)


def _left(blows: Blows, now: Moving, step: Step) -> tuple[Any, Any]:
    """Impulses that are left, as decided, and the velocities after them."""
    problem = _problem(blows, now, step.phase, step.part, step.sense, step.jams)
    normal, rubbed, _ = values(problem, Decided(step.pushes, step.sense))
    return _whole(blows, now, problem, jnp.concatenate([normal, rubbed]))


def _whole(blows: Blows, now: Moving, problem: Problem, x: Vector) -> tuple[Any, Any]:
    x = jnp.where(pick(problem.part, blows.owner), x.at[: len(blows.asked)].add(problem.offset), 0.0)
    return x, now.speed + blows.w @ x


def _chosen(blows: Blows, now: Moving, plan: Plan) -> tuple[Step, Any, Any, Any]:
    """Decisions of the next piece, its impulses if it went on to the end, velocities there, contacts without answer."""
    n, rubs = len(blows.asked), blows.rubs
    part = plan.phase != OVER
    on = pick(part, rubs)
    fixed = jnp.where(pick(plan.rush | (plan.phase == LOOK), rubs), 0.0, plan.sense)
    own, across = _own_weights(blows)
    slope = own - fixed * blows.mu * across
    closes = on & pick(now.speed < -_tiny(blows), rubs)
    jams = jnp.where((fixed != 0.0) & closes & (slope <= ROUNDING * own), fixed, 0.0)
    problem = _problem(blows, now, plan.phase, part, fixed, jams)
    decided, unsolved, x = decide(problem)
    x, after = _whole(blows, now, problem, x)
    # Where, as a share of the piece, each sliding contact stops.
    slides = (fixed != 0.0) & on & (pick(x > 0.0, rubs) | (jams != 0.0))
    end = _sliding_after(blows, jams, decided.pushes, after)
    crosses = slides & ~pick(unsolved, rubs) & ((fixed * end < 0.0) | (jams != 0.0))
    where = jnp.where(crosses, _share(now.speed[n:], end), 2.0)
    near = among(blows.linked, rubs, rubs)
    nearest = jnp.min(jnp.where(near, where[None, :], 2.0), axis=1, initial=2.0)
    stops = crosses & (where <= nearest * (1.0 + ROUNDING))
    first = stops & (where == nearest)
    first = first & ~jnp.any(jnp.tril(near, -1) & first[None, :], axis=1)
    moves = part & ~unsolved
    stopped = jnp.any(among(blows.linked, tuple(range(n)), rubs) & stops[None, :], axis=1)
    step = Step(decided.pushes, decided.sense, jams, part, moves, first, stops, moves & ~stopped, plan.phase)
    return step, x, after, unsolved & part


def _own_weights(blows: Blows) -> tuple[Any, Any]:
    """w_nn and w_nt of every contact with friction."""
    n, rubs, w = len(blows.asked), blows.rubs, blows.rows
    if isinstance(w, list):
        return vector([w[i][i] for i in rubs]), vector([w[i][n + k] for k, i in enumerate(rubs)])
    at = np.asarray(rubs, dtype=int)
    return jnp.diagonal(w)[at], w[at, n + np.arange(len(at))]


def _sliding_after(blows: Blows, jams: Vector, pushes: Flags, after: Vector) -> Any:
    """Tangential velocities at the end of a piece; exactly zero where a contact pushes until it stops."""
    return jnp.where((jams != 0.0) & pick(pushes, blows.rubs), 0.0, after[len(blows.asked) :])


def _share(begin: Vector, end: Vector) -> Any:
    """Where on a straight line from `begin` to `end` zero lies."""
    apart = begin - end
    return jnp.where(apart == 0.0, 0.0, begin / jnp.where(apart == 0.0, 1.0, apart))


def _moved(blows: Blows, now: Moving, step: Step, x: Vector, after: Vector) -> Moving:
    """Values at the end of a piece, and of a phase that ends there."""
    n, owner = len(blows.asked), blows.owner
    linked = among(blows.linked, tuple(range(n)), blows.rubs) & step.first[None, :]
    end = _sliding_after(blows, step.jams, step.pushes, after)
    ratio = jnp.where(step.first, _share(now.speed[n:], end), 0.0)
    share = jnp.where(jnp.any(linked, axis=1), jnp.sum(jnp.where(linked, ratio[None, :], 0.0), axis=1), 1.0)
    share = jnp.where(step.moves & (step.phase != LOOK), share, 0.0)
    impulse = now.impulse + pick(share, owner) * x
    speed = now.speed + pick(share, owner) * (after - now.speed)
    speed = jnp.where(jnp.concatenate([jnp.zeros(n, dtype=bool), step.stops]), 0.0, speed)
    looked, turned, over = (step.ends & (step.phase == phase) for phase in (LOOK, COMPRESS, RESTORE))
    now = Moving(speed, impulse, (1.0 - share) * now.left, jnp.where(pick(looked, owner), x, now.look), now.turn)
    return now if blows.newton and blows.rubs else _bounded(blows, now, turned, over)


def _bounded(blows: Blows, now: Moving, turned: Flags, over: Flags) -> Moving:
    """Phases that end here, held back to what adds no energy; the end of compression says what restitution adds."""
    n, owner, w = len(blows.asked), blows.owner, blows.w
    before = blows.speed
    ends, compressed = pick(turned | over, owner), pick(turned, owner)
    looked = blows.newton or (blows.rubs and not blows.ends)
    safe = jnp.where(compressed, now.look if looked else now.impulse, now.turn)
    group = jnp.where(among(blows.linked, owner, owner), 1.0, 0.0)
    bound = jnp.where(ends, held_back(safe, now.impulse, before, w, group), now.impulse)
    speed = jnp.where(ends & (bound != now.impulse), before + w @ bound, now.speed)
    left = jnp.where(turned, blows.asked * bound[:n], now.left)
    return Moving(speed, bound, left, now.look, jnp.where(compressed, bound, now.turn))


def _planned(blows: Blows, now: Moving, plan: Plan, step: Step, unsolved: Flag) -> Plan:
    """What comes next: the next phase, another piece, or the rest of this one by end velocities."""
    rubs = blows.rubs
    helpless = unsolved & (plan.rush | (plan.phase == LOOK))
    after = jnp.where((plan.phase == COMPRESS) & blows.newton, OVER, plan.phase + 1)
    phase = jnp.where(helpless, OVER, jnp.where(step.ends, after, plan.phase))
    count = jnp.where(step.ends, 0, plan.count + 1)
    rush = jnp.where(step.ends, blows.ends, plan.rush | unsolved | (count >= blows.pieces))
    held = pick(step.moves & (step.phase != LOOK), rubs) & (step.sense == 0.0)
    sense = _sense(blows, now, step.stops | held)
    return Plan(phase, sense, rush, count, plan.lost | helpless)


def _sense(blows: Blows, now: Moving, free: Flags) -> Any:
    """Senses of sliding; 0 for contacts that are free, or whose velocity is but rounding."""
    n = len(blows.asked)
    still = jnp.abs(now.speed[n:]) <= jnp.maximum(_tiny(blows), blows.noise)[n:]
    return jnp.where(free | still, 0.0, jnp.sign(now.speed[n:]))


def _tiny(blows: Blows) -> Any:
    """Velocities that are but rounding, of every row, seen from all velocities of its group before the blow."""
    inverse = jnp.diagonal(blows.w)
    unit = jnp.sqrt(jnp.where(inverse > 0.0, inverse, 1.0))  # velocities over it are roots of energies
    group = among(blows.linked, blows.owner, blows.owner) & pick(blows.part, blows.owner)[None, :]
    return ROUNDING * unit * jnp.sum(jnp.where(group, jnp.abs(blows.speed) / unit, 0.0), axis=1)
