"""Torques and reactions of a motion: few equations for the reactions, then every torque from what it carries."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ...dynamics.formalism import AbstractFormalism
from ...dynamics.forward_inverse import efforts, formalism_of, generalized_force
from ...quantities import Matrix, Real, Vector
from .._rows import Rows
from ._arrays import rows_at, small_solve, stack
from .problem import InverseProblem


class ContactEfforts(NamedTuple):
    """What a motion in contact needs, and how well it keeps its contacts; arrays over the contacts where not said."""

    torques: Any  # [N m], one per link: of the parent on the link; zero for passive joints
    normal: Any  # [N], positive when it pushes
    friction: Any  # [N], on the mechanism, along the tangent (n_y, -n_x)
    sliding: Any  # [m/s]
    leverage: Any  # one number: 1 at best, 0 where the equations are singular
    weakest: Any  # which of the equations without torque (`ContactInverse.idle`) the reactions serve worst
    gap: Any  # [m]; zero in a motion that keeps its contacts, like the next two
    gap_rate: Any  # [m/s]
    gap_acceleration: Any  # [m/s^2]
    creep: Any  # [m/s] sliding of contacts that are said to stick, else 0
    creep_acceleration: Any  # [m/s^2]


def efforts_of(
    problem: InverseProblem,
    q: Vector,
    v: Vector,
    a: Vector,
    senses: Vector | None,
    t: Real,
    chosen: AbstractFormalism | None,
) -> ContactEfforts:
    """Torques and reactions of a motion, without any check; `senses` None: as the motion slides."""
    m = problem.mechanism
    chosen = formalism_of(None, m.topology.links) if chosen is None else chosen
    each = rows_at(m, [c.pair for c in problem.contacts], q, v, t)
    sliding = stack([r.touch.sliding for r in each])
    slips = jnp.sign(sliding) if senses is None else senses
    need = chosen.inverse(m, q, v, a, problem.gravity) - generalized_force(m, q, v)
    levers, drag = _levers(problem, each, slips, sliding)
    needed = efforts(m, need) - drag
    idle = np.asarray(problem.idle, dtype=int)
    forces = small_solve(levers[idle], needed[idle])
    top = m.topology
    torques = (needed - levers @ forces)[top.angles]
    motors = np.asarray([top.angle_index(k) not in problem.idle for k in range(top.links)])
    return ContactEfforts(
        jnp.where(motors, torques, 0.0),
        forces[: len(each)],
        _friction(problem, slips, sliding, forces),
        sliding,
        *_leverage(problem, each, slips, sliding, levers[idle]),
        *_misses(problem, each, a),
    )


def _coefficients(problem: InverseProblem, slips: Vector, sliding: Vector) -> tuple[list[Any], list[Any]]:
    """Friction along t over normal force of every contact, and its part that does not depend on it [N]."""
    ratio, viscous = [], []
    for i, contact in enumerate(problem.contacts):
        slides = contact.friction is not None and i not in problem.sticking
        law = contact.friction
        ratio.append(-slips[i] * law.coefficient(jnp.abs(sliding[i])) if slides and law is not None else 0.0)
        viscous.append(-law.drag * sliding[i] if slides and law is not None else 0.0)
    return ratio, viscous


def _levers(problem: InverseProblem, each: list[Rows], slips: Vector, sliding: Vector) -> tuple[Any, Any]:
    """Moments of a unit of every unknown about the joints (its force on free bases), and those of viscous drag."""
    ratio, viscous = _coefficients(problem, slips, sliding)
    columns, drag = [], jnp.zeros(problem.mechanism.dof)
    for row, part, fixed in zip(each, ratio, viscous, strict=True):
        columns.append(stack(row.normal) + part * stack(row.tangential))
        drag = drag + fixed * stack(row.tangential)
    columns += [stack(each[i].tangential) for i in problem.sticking]
    levers = jnp.stack([efforts(problem.mechanism, column) for column in columns], axis=1)
    return levers, efforts(problem.mechanism, drag)


def _friction(problem: InverseProblem, slips: Vector, sliding: Vector, forces: Vector) -> Any:
    ratio, viscous = _coefficients(problem, slips, sliding)
    out = [r * forces[i] + fixed for i, (r, fixed) in enumerate(zip(ratio, viscous, strict=True))]
    for k, i in enumerate(problem.sticking):
        out[i] = forces[len(problem.contacts) + k]
    return stack(out)


def _leverage(
    problem: InverseProblem, each: list[Rows], slips: Vector, sliding: Vector, small: Matrix
) -> tuple[Any, Any]:
    """Smallest singular value of the equations without torques, and the equation that it concerns most.

    A row is divided by the longest lever arm, a column by the length of n - sigma mu t: sines of angles remain.
    """
    idle, nb, m = np.asarray(problem.idle, dtype=int), problem.mechanism.topology.base_dof, problem.mechanism
    arms = [jnp.hypot(efforts(m, stack(r.normal)), efforts(m, stack(r.tangential)))[idle] for r in each]
    arm = jnp.max(jnp.stack(arms), axis=0)
    arm = jnp.where(idle < nb, 1.0, jnp.where(arm > 0.0, arm, 1.0))
    length = [jnp.sqrt(1.0 + ratio**2) for ratio in _coefficients(problem, slips, sliding)[0]]
    length += [jnp.ones(())] * len(problem.sticking)
    scaled = jax.lax.stop_gradient(small / arm[:, None] / stack(length)[None, :])
    if len(idle) == 1:
        return jnp.abs(scaled[0, 0]), jnp.asarray(0)
    left, values, _ = jnp.linalg.svd(scaled)
    return values[-1], jnp.argmax(jnp.abs(left[:, -1]))


def _misses(problem: InverseProblem, each: list[Rows], a: Vector) -> tuple[Any, ...]:
    """By how much the motion leaves its surfaces, and slides where it should stick."""
    stuck = np.asarray([i in problem.sticking for i in range(len(each))])
    rise = stack([jnp.dot(stack(r.normal), a) + r.normal_drift for r in each])
    creep = stack([jnp.dot(stack(r.tangential), a) + r.tangential_drift for r in each])
    sliding = stack([r.touch.sliding for r in each])
    return (
        stack([-r.touch.indentation for r in each]),
        stack([r.separation for r in each]),
        rise,
        jnp.where(stuck, sliding, 0.0),
        jnp.where(stuck, creep, 0.0),
    )
