"""The course of a blow on several contacts with friction, which is Routh's path for each that is alone.

Impulses P grow along straight pieces. On each piece, the contacts that slide keep their sense. At its beginning, the
impulses that are left until the end of the phase are found from the conditions of several.py, for the velocities of
that moment: contacts that slide have friction -mu P_n sgn(u_t), those that do not may stick or begin to slide. All of
them grow in proportion to what is left, dP = ds (what is left), until the first contact stops sliding. There it is
free to stick or to turn round, and what is left is found anew.

    compression    ends where u_n >= 0 and P_n are complementary
    restitution    (Poisson) adds o = e P_c at least; of what is left of o, every piece takes its share
    Newton         has one phase, which ends where u_n + e u_n- >= 0 and P_n are complementary

A contact that nothing else is linked to runs through the same pieces whatever share of them a step takes, since its
velocities depend on its own impulse alone: those of path.py. As w is continuous in its entries, so is each piece, and
several contacts tend to their own paths as their coupling vanishes.

- Where friction drives a sliding contact in, w_nn - mu sgn(u_t) w_nt <= 0, no impulse ends its compression: its piece
  ends where it stops, as on Routh's path.
- Where conditions with the senses of that moment have no solution, or after 2 m + 1 pieces (m contacts with friction),
  what is left of a phase follows from Coulomb's law for the velocities at its end, for which there always is one.
- That law for whole phases is the choice "end velocity" (Moreau; Glocker and Pfeiffer).
- Neither phase adds energy (gain.py): compression is held back to that by end velocities, P = P_m + lambda (P - P_m),
  as there u+ . P <= 0, so that it loses P . w P / 2; restitution to the end of compression, P = P_c + lambda (P - P_c).
  Newton's law is not held back.

The loop only takes decisions; the pieces are then computed once more as decided, with derivatives.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from .gain import held_back
from .path import ROUNDING
from .several import Decided, Problem, decide, values

LOOK, COMPRESS, RESTORE, OVER = range(4)  # LOOK: the solution by end velocities, which compression is held back to


class Blows(NamedTuple):
    """Data of a blow; rows are counted as in several.py."""

    w: list[list[Any]]
    speed: list[Any]  # before the blow
    asked: list[Any]  # e, one per contact
    mu: list[Any]
    limit: list[Any]
    part: Any  # (contacts,): takes part, in a group of several
    linked: Any
    rubs: tuple[int, ...]
    newton: bool
    ends: bool  # friction by end velocities

    @property
    def owner(self) -> Any:
        return jnp.asarray((*range(len(self.asked)), *self.rubs))

    @property
    def matrix(self) -> Any:
        return jnp.stack([jnp.stack([jnp.asarray(x, dtype=float) for x in row]) for row in self.w])

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
    steps, lost = _decided(jax.tree.map(jax.lax.stop_gradient, blows._replace(rubs=(), newton=None, ends=None)), blows)

    def again(now: Moving, step: Step) -> tuple[Moving, None]:
        def move() -> Moving:
            x, after = _left(blows, now, step)
            return _moved(blows, now, step, x, after)

        return jax.lax.cond(jnp.any(step.part), move, lambda: now), None

    end, _ = jax.lax.scan(again, _start(blows), steps)
    return list(end.impulse), ~jnp.any(lost)


def _start(blows: Blows) -> Moving:
    n = len(blows.asked)
    aim = [u + blows.newton * e * u for u, e in zip(blows.speed, blows.asked, strict=False)]
    now = _vector([*aim, *blows.speed[n:]])
    none = jnp.zeros_like(now)
    return Moving(now, none, none[:n], none, none)


def _decided(data: Any, like: Blows) -> tuple[Step, Any]:
    """Decisions of all pieces, one after the other."""
    blows: Blows = data._replace(rubs=like.rubs, newton=like.newton, ends=like.ends)
    n, m = len(blows.asked), len(blows.rubs)
    now = _start(blows)
    begins = COMPRESS if blows.newton or blows.ends or m == 0 else LOOK
    phase = jnp.where(blows.part, begins, OVER)
    off = jnp.zeros(n, dtype=bool)
    plan = Plan(phase, _sense(blows, now, jnp.zeros(m, dtype=bool)), off | blows.ends, jnp.zeros(n, dtype=int), off)
    most = 1 + 2 * (blows.pieces + 2)
    rubs = jnp.zeros(m)
    blank = Step(off, rubs, rubs, off, off, rubs > 0.0, rubs > 0.0, off, phase)
    steps = jax.tree.map(lambda x: jnp.zeros((most, *x.shape), x.dtype), blank)

    def body(s: Any) -> Any:
        now, plan, steps, j = s
        step, x, after, unsolved = _chosen(blows, now, plan)
        moved = _moved(blows, now, step, x, after)
        steps = jax.tree.map(lambda all_of_them, one: all_of_them.at[j].set(one), steps, step)
        return moved, _planned(blows, moved, plan, step, unsolved), steps, j + 1

    going = lambda s: jnp.any(s[1].phase != OVER) & (s[3] < most)  # noqa: E731
    _, plan, steps, _ = jax.lax.while_loop(going, body, (now, plan, steps, jnp.asarray(0)))
    return steps, plan.lost


def _problem(blows: Blows, now: Moving, part: Any, fixed: Any, jams: Any) -> Problem:
    return Problem(
        blows.w,
        list(now.speed),
        blows.mu,
        blows.limit,
        list(jnp.where(part, now.left, 0.0)),
        list(part),
        list(fixed),
        blows.rubs,
        blows.linked,
        blows.speed,
        list(jams),
    )


def _left(blows: Blows, now: Moving, step: Step) -> tuple[Any, Any]:
    """Impulses that are left, as decided, and the velocities after them."""
    problem = _problem(blows, now, step.part, step.sense, step.jams)
    return _whole(blows, now, problem, Decided(tuple(step.pushes), tuple(step.sense)))


def _whole(blows: Blows, now: Moving, problem: Problem, decided: Decided) -> tuple[Any, Any]:
    normal, rubbed, _ = values(problem, decided)
    pushed = [x + o for x, o in zip(normal, problem.offset, strict=True)]
    on = jnp.stack([jnp.asarray(p) for p in problem.part])[blows.owner]
    x = jnp.where(on, jnp.stack([*pushed, *rubbed]), 0.0)
    return x, now.speed + blows.matrix @ x


def _chosen(blows: Blows, now: Moving, plan: Plan) -> tuple[Step, Any, Any, Any]:
    """Decisions of the next piece, its impulses if it went on to the end, velocities there, contacts without answer."""
    n, rubs = len(blows.asked), jnp.asarray(blows.rubs, dtype=int)
    part = plan.phase != OVER
    fixed = jnp.where((plan.rush | (plan.phase == LOOK))[rubs], 0.0, plan.sense)
    w = blows.matrix
    own, across = jnp.diagonal(w)[rubs], w[rubs, n + jnp.arange(len(blows.rubs))]
    slope = own - fixed * _vector(blows.mu) * across
    closes = part[rubs] & (now.speed[rubs] < -_tiny(blows)[rubs])
    jams = jnp.where((fixed != 0.0) & closes & (slope <= ROUNDING * own), fixed, 0.0)
    problem = _problem(blows, now, part, fixed, jams)
    decided, unsolved = decide(problem)
    x, after = _whole(blows, now, problem, decided)
    # Where, as a share of the piece, each sliding contact stops.
    slides = (fixed != 0.0) & part[rubs] & (x[rubs] > 0.0)
    begin, end = now.speed[n:], after[n:]
    crosses = slides & ((fixed * end < 0.0) | (jams != 0.0))
    where = jnp.where(crosses, _share(begin, jnp.where(jams != 0.0, 0.0, end)), 2.0)
    linked = blows.linked[:, rubs]
    nearest = jnp.min(jnp.where(linked, where[None, :], 2.0), axis=1, initial=2.0)[rubs]
    stops = crosses & (where <= nearest * (1.0 + ROUNDING))
    earlier = jnp.tril(blows.linked[rubs][:, rubs], -1) & stops[None, :]
    first = stops & (where == nearest)
    first = first & ~jnp.any(earlier & first[None, :], axis=1)
    moves = part & ~unsolved
    stopped = jnp.any(linked & stops[None, :], axis=1)
    sense = jnp.stack(decided.sense) if blows.rubs else fixed
    pushes = jnp.stack(decided.pushes)
    step = Step(pushes, sense, jams, part, moves, first, stops, moves & ~stopped, plan.phase)
    return step, x, after, unsolved & part


def _share(begin: Any, end: Any) -> Any:
    """Where on a straight line from `begin` to `end` zero lies."""
    apart = begin - end
    return jnp.where(apart == 0.0, 0.0, begin / jnp.where(apart == 0.0, 1.0, apart))


def _moved(blows: Blows, now: Moving, step: Step, x: Any, after: Any) -> Moving:
    """Values at the end of a piece, and of a phase that ends there."""
    n, rubs, owner = len(blows.asked), jnp.asarray(blows.rubs, dtype=int), blows.owner
    linked = blows.linked[:, rubs] & step.first[None, :]
    end = jnp.where(step.jams != 0.0, 0.0, after[n:])
    ratio = jnp.where(step.first, _share(now.speed[n:], end), 0.0)
    share = jnp.where(jnp.any(linked, axis=1), jnp.sum(jnp.where(linked, ratio[None, :], 0.0), axis=1), 1.0)
    share = jnp.where(step.moves & (step.phase != LOOK), share, 0.0)
    impulse = now.impulse + share[owner] * x
    speed = now.speed + share[owner] * (after - now.speed)
    speed = jnp.where(jnp.concatenate([jnp.zeros(n, dtype=bool), step.stops]), 0.0, speed)
    looked, turned, over = (step.ends & (step.phase == phase) for phase in (LOOK, COMPRESS, RESTORE))
    now = Moving(speed, impulse, (1.0 - share) * now.left, jnp.where(looked[owner], x, now.look), now.turn)
    return now if blows.newton else _bounded(blows, now, turned, over)


def _bounded(blows: Blows, now: Moving, turned: Any, over: Any) -> Moving:
    """Phases that end here, held back to what adds no energy; the end of compression says what restitution adds."""
    n, owner, w = len(blows.asked), blows.owner, blows.matrix
    before = _vector(blows.speed)
    ends, compressed = (turned | over)[owner], turned[owner]
    safe = jnp.where(compressed, now.look if blows.rubs and not blows.ends else now.impulse, now.turn)
    group = jnp.where(blows.linked[owner][:, owner], 1.0, 0.0)
    bound = jnp.where(ends, held_back(safe, now.impulse, before, w, group), now.impulse)
    speed = jnp.where(ends & (bound != now.impulse), before + w @ bound, now.speed)
    left = jnp.where(turned, _vector(blows.asked) * bound[:n], now.left)
    return Moving(speed, bound, left, now.look, jnp.where(compressed, bound, now.turn))


def _planned(blows: Blows, now: Moving, plan: Plan, step: Step, unsolved: Any) -> Plan:
    """What comes next: the next phase, another piece, or the rest of this one by end velocities."""
    rubs = jnp.asarray(blows.rubs, dtype=int)
    helpless = unsolved & (plan.rush | (plan.phase == LOOK))
    after = jnp.where((plan.phase == COMPRESS) & blows.newton, OVER, plan.phase + 1)
    phase = jnp.where(helpless, OVER, jnp.where(step.ends, after, plan.phase))
    count = jnp.where(step.ends, 0, plan.count + 1)
    rush = jnp.where(step.ends, blows.ends, plan.rush | unsolved | (count >= blows.pieces))
    held = step.moves[rubs] & (step.sense == 0.0) & (step.phase[rubs] != LOOK)
    sense = _sense(blows, now, step.stops | held)
    return Plan(phase, sense, rush, count, plan.lost | helpless)


def _sense(blows: Blows, now: Moving, free: Any) -> Any:
    """Senses of sliding; 0 for contacts that are free, or whose velocity is but rounding."""
    n = len(blows.asked)
    still = jnp.abs(now.speed[n:]) <= _tiny(blows)[n:]
    return jnp.where(free | still, 0.0, jnp.sign(now.speed[n:]))


def _tiny(blows: Blows) -> Any:
    """Velocities that are but rounding, of every row, seen from all velocities of its group before the blow."""
    inverse = jnp.diagonal(blows.matrix)
    unit = jnp.sqrt(jnp.where(inverse > 0.0, inverse, 1.0))  # velocities over it are roots of energies
    group = jnp.where(blows.linked[blows.owner][:, blows.owner], 1.0, 0.0)
    return ROUNDING * unit * (group @ jnp.where(blows.part[blows.owner], jnp.abs(_vector(blows.speed)) / unit, 0.0))


def _vector(numbers: list[Any]) -> Any:
    return jnp.stack([jnp.asarray(x, dtype=float) for x in numbers]) if numbers else jnp.zeros(0)
