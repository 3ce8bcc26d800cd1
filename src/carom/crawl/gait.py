"""An inchworm's gait: a wave passes through a chain of equal links in steps, and the body has moved on.

    flat        step 1, 2: the front holds, the rear is drawn in     step 3, 4: the rear holds, the front goes out

                          o--o                                             o--o
    o--o--o--o--o       /     \\                                          /     \\
    ~~~~~~~~~~~~~     ~o~~~~~~~o#                                       #o~~~~~~o~         #: holds   ~o: slides

Each end has a foot, light and small: it holds the ground, and carries the torque of the first joint, or slides on it.
A step is a manipulator on a fixed base, the foot that holds, whose last joint has no motor and whose tip slides. Angles
of a step are absolute and count from the foot that holds: its x axis points from there to the other end, so steps that
hold at the front are mirror images.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .. import errors, native
from ..contact import ContactEfforts
from ..control.trajectory import Motion
from ..dynamics import momentum, site_position
from ..hybrid.compiling import kept
from ..quantities import Flag, Index, Real, Times, Vector
from .gait_step import Step, seen_from_the_other_end
from .plan import SlidingPlan

MET = 1e-9  # [rad] how well the last posture of a cycle must equal the first


class GaitState(NamedTuple):
    """A crawler at one instant, in the frame of the ground: x along it, forwards positive."""

    step: Any  # number of the step, from 0
    torques: Any  # [N m] of the joints, counted from the foot that holds; the last one is zero
    normal: Any  # [N] reaction on the foot that slides
    friction: Any  # [N] friction on it, forwards positive
    tip_velocity: Any  # [m/s] of the foot that slides, forwards positive
    held: Any  # [N] force (along the ground, normal to it) on the foot that holds
    joints: Any  # [m] (links + 1, 2): both feet and the joints between them, from the rear to the front


class Gait(eqx.Module):
    """Steps that repeat. A cycle must end in the posture in which it began."""

    steps: tuple[Step, ...]

    def __check_init__(self) -> None:
        shapes = {
            str(jax.tree.structure(s.plan)) + str([np.shape(x) for x in jax.tree.leaves(s.plan)]) for s in self.steps
        }
        if len(shapes) != 1:
            raise errors.CaromError(
                "the steps of a gait move by different kinds of trajectories; all must be of one kind, with the same "
                "number of knots; give short pieces to the simpler ones"
            )
        first, last = self.steps[0], self.steps[-1]
        end = last.last if first.holds == last.holds else seen_from_the_other_end(last.last)
        known = errors.known((first.first, end))
        if known is not None and np.max(np.abs(known[0] - known[1])) > MET:
            raise errors.CaromError(
                f"the gait ends in the posture {np.round(known[1], 6).tolist()} but began in "
                f"{np.round(known[0], 6).tolist()} (counted from the foot of the first step); a cycle repeats, so both "
                "must be equal; change the last step"
            )

    @property
    def period(self) -> Any:
        """[s]"""
        return sum(step.duration for step in self.steps)

    @property
    def distance(self) -> Any:
        """How far [m] the body comes in a cycle: as far as its front does, which is as far as its rear."""
        return sum(step.advance for step in self.steps if step.holds == "rear")

    @property
    def ledger(self) -> tuple[Any, Any, Any]:
        """When every step begins [s], counted from its cycle, and where both feet are then [m]."""
        begin, rear, front = jnp.asarray(0.0), jnp.asarray(0.0), self._span
        rows = []
        for step in self.steps:
            rows.append((begin, rear, front))
            begin = begin + step.duration
            rear = rear + (step.advance if step.holds == "front" else 0.0)
            front = front + (step.advance if step.holds == "rear" else 0.0)
        begins, rears, fronts = (jnp.stack(column) for column in zip(*rows, strict=True))
        return begins, rears, fronts

    def placed(self, k: int) -> tuple[float, bool, tuple[float, float]]:
        """When step k begins [s]; is it seen as in a mirror? and where [m] its holding foot stands."""
        begins, rears, fronts = (np.asarray(x) for x in self.ledger)
        front = self.steps[k].holds == "front"
        return float(begins[k]), front, (float(fronts[k] if front else rears[k]), 0.0)

    def at(self, t: Real) -> GaitState:
        """The crawler at any t >= 0 [s], in any cycle; its rear begins at x = 0."""
        t = jnp.asarray(t, dtype=float)
        begins, rears, fronts = self.ledger
        cycle = jnp.floor(t / self.period)
        local = t - cycle * self.period
        k = jnp.sum(local >= begins[1:]) if len(self.steps) > 1 else jnp.asarray(0)
        at_rear = np.asarray([step.holds == "rear" for step in self.steps])
        anchor = cycle * self.distance + jnp.where(at_rear, rears, fronts)[k]
        # One plan with the numbers of the present step: they differ in nothing else.
        plan = jax.tree.map(lambda *x: jnp.stack(x)[k], *(step.plan for step in self.steps))
        return _state(k, plan, jnp.asarray(at_rear)[k], local - begins[k], anchor)

    def over(self, times: Times) -> GaitState:
        """The same at many instants, as arrays over them; compiled."""
        return _over(self, jnp.asarray(times, dtype=float))

    @property
    def _span(self) -> Any:
        """Distance [m] of the feet at the start of a cycle."""
        first = self.steps[0]
        return site_position(first.mechanism, first.first, first.mechanism.tip)[0]


@kept
def _over(gait: Gait, times: Vector) -> GaitState:
    found: GaitState = native.rows(gait.at)(times)
    return found


def _state(k: Index, plan: SlidingPlan, at_rear: Flag, t: Real, anchor: Real) -> GaitState:
    """A step in the frame of the ground, its holding foot at x = anchor."""
    motion, found = plan.at(jnp.clip(t, 0.0, plan.duration))
    m, side = plan.problem.mechanism, jnp.where(at_rear, 1.0, -1.0)
    places = jnp.stack([jnp.zeros(2), *(site_position(m, motion.q, f"{name}.tip") for name in m.topology.names)])
    turned = jnp.stack([side, 1.0 + 0.0 * side])
    joints = jnp.where(at_rear, places, places[::-1]) * turned[None, :] + anchor * jnp.asarray([[1.0, 0.0]])
    return GaitState(
        k,
        found.torques,
        found.normal[0],
        side * found.friction[0],
        side * found.sliding[0],
        turned * _holding(plan, motion, found),
        joints,
    )


def _holding(plan: SlidingPlan, motion: Motion, found: ContactEfforts) -> Any:
    """Force [N] of the ground on the foot that holds: what weight, inertia and the other foot leave to it."""
    m = plan.problem.mechanism

    def linear(q: Vector, v: Vector) -> Any:
        return momentum(m, q, v).linear

    rate = jax.jvp(linear, (motion.q, motion.v), (motion.v, motion.a))[1]
    push = jnp.stack([found.friction[0], found.normal[0]])  # t = (1, 0) and n = (0, 1) along the ground
    return rate - jnp.sum(m.numbers.mass) * plan.problem.gravity - push
