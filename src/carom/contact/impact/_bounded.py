"""What else holds up to a limit, in the decision about contacts at rest: joints with dry friction.

The complementarity problem of the contacts (_several.py) knows friction that is limited by a normal force. A joint is
put to it as one more contact that no motion of the robot presses or lifts: its normal force is a constant, the limit
F_s, with the coefficients 1 at rest and F / F_s once it has given way.

Where contacts strike or stop, velocities say which joints move: what moved before a blow may rest after it, or move the
other way, and where a foot stops the joints behind it may stop too. All are asked then. Elsewhere those that stick are
asked, and a joint that was called moving exerts what it exerts.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ...hybrid._coupled import BoundedRow, farther
from ...hybrid._reaction import Row, dot
from ...hybrid.scene import Scene
from ...quantities import Flag, Real, Reals
from .._rows import noise_of_row
from ._several import Problem, Solution, solve
from ._system import System


def with_bounded(problem: Problem, scene: Scene, r: System, bounded: list[BoundedRow], anew: Flag) -> Problem:
    """The problem of the contacts, with what else holds; its rows are theirs, one for each, then those of friction.

    `anew`: are all of it asked, whatever moved so far?
    """
    n, motion, count = problem.contacts, scene.motion(scene.v), len(bounded)
    rows = [*r.row, *(b.row.across for b in bounded)]
    along = [*r.row, *(b.row.along for b in bounded)]
    through = [motion.solve(f) for f in along]
    w = [[dot(row, t) for t in through] for row in rows]
    rise = [*problem.b, *(dot(b.row.across, motion.free) + b.row.drift for b in bounded)]
    first, asked = len(r.row), [anew | b.row.active for b in bounded]
    # Without what it exerts as it moved so far.
    less = [jnp.where(on, b.effort, 0.0) for b, on in zip(bounded, asked, strict=True)]
    rise = [a - sum(row[first + j] * x for j, x in enumerate(less)) for a, row in zip(rise, w, strict=True)]
    # What moves has given way already.
    own = [w[first + j][first + j] for j in range(count)]
    moves = [_moves(b, x, scene, motion.free) for b, x in zip(bounded, own, strict=True)]
    fixed = [jnp.where(m & on, jnp.sign(b.row.speed), 0.0) for b, m, on in zip(bounded, moves, asked, strict=True)]
    giving = [b.giving / jnp.where(b.most > 0.0, b.most, 1.0) for b in bounded]
    zero, one = jnp.asarray(0.0), jnp.asarray(1.0)
    assert problem.noise is not None
    return problem._replace(
        w=_between(w, n, own),
        b=[*rise[:n], *[zero] * count, *rise[n:]],
        mu=[*problem.mu, *giving],
        limit=[*problem.limit, *[one] * count],
        offset=[*problem.offset, *(jnp.where(on, b.most, 0.0) for b, on in zip(bounded, asked, strict=True))],
        part=[*problem.part, *asked],
        fixed=[*problem.fixed, *fixed],
        rubs=(*problem.rubs, *range(n, n + count)),
        noise=[*problem.noise[:n], *[-one] * count, *problem.noise[n:], *[zero] * count],
    )


def _moves(b: BoundedRow, weight: Real, scene: Scene, free: Reals) -> Any:
    """Is its speed more than rounding, and does that take it anywhere?"""
    none, _ = noise_of_row(scene, free, b.row.across, b.row.drift, b.row.speed, 0.0)
    return (jnp.abs(b.row.speed) > none) & farther(b.row.speed, weight, b.giving, b.place)


def at_rest(bounded: list[BoundedRow], scene: Scene, which: Flag) -> list[Row]:
    """Rows whose speeds in this scene count as none, where `which` says so."""
    if not bounded:
        return []
    motion = scene.motion(scene.v)
    weights = [dot(b.row.across, motion.solve(b.row.along)) for b in bounded]
    moves = [_moves(b, x, scene, motion.free) for b, x in zip(bounded, weights, strict=True)]
    return [b.row._replace(active=which & ~m) for b, m in zip(bounded, moves, strict=True)]


def _between(w: list[list[Any]], n: int, own: list[Any]) -> list[list[Any]]:
    """Rows and columns of normal forces that are constants, behind those of the n contacts."""
    zero, count = jnp.asarray(0.0), len(own)
    wide = [[*row[:n], *[zero] * count, *row[n:]] for row in w]
    apart = [[x if i == n + j else zero for i in range(len(w) + count)] for j, x in enumerate(own)]
    return [*wide[:n], *apart, *wide[n:]]


def solved(
    problem: Problem, scene: Scene, r: System, bounded: list[BoundedRow], anew: Flag
) -> tuple[Solution, list[Any]]:
    """How the contacts go on, and the sizes of the terms by which reactions move their rows."""
    n, m = problem.contacts, len(problem.rubs)
    whole = with_bounded(problem, scene, r, bounded, anew) if bounded else problem
    found = solve(whole)
    forces, given = (*found.normal, *found.tangential), (*whole.offset, *[0.0] * len(whole.rubs))
    pushed = [sum(jnp.abs(x * (y + o)) for x, y, o in zip(row, forces, given, strict=True)) for row in whole.w]
    if not bounded:
        return found, pushed
    first = n + len(bounded)
    mine = [*range(n), *range(first, first + m)]
    decided = found.decided._replace(pushes=found.decided.pushes[:n], sense=found.decided.sense[:m])
    after = jnp.stack([found.after[i] for i in mine])
    kept = jnp.stack([found.kept[i] for i in mine])
    both = Solution(found.normal[:n], found.tangential[:m], after, decided, found.found, kept)
    return both, [pushed[i] for i in mine]
