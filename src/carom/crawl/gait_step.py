"""One step of a gait: a plan on a fixed base, the foot that holds, from one posture to another."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp

from .. import errors, native
from .._arguments import GainsLike
from ..control.feedforward import FeedForward
from ..control.trajectory import Fitted
from ..dynamics import site_position
from ..hybrid.compiling import kept
from ..hybrid.world import World
from ..mechanism import Mechanism
from ..quantities import Given
from .plan import SlidingPlan

HOLDS = ("front", "rear")


class Step(eqx.Module):
    """One step: a plan on a fixed base, from one posture to another."""

    plan: SlidingPlan
    first: Any  # link angles [rad] at the start
    last: Any  # and at the end
    holds: str = eqx.field(static=True)
    mirrored: bool = eqx.field(static=True)  # does its x axis point backwards where the front holds?
    smooth: bool = eqx.field(static=True)  # are its torques smooth between knots, so that series of them converge?

    def __init__(self, plan: SlidingPlan, holds: str, mirrored: bool = True, smooth: bool = True) -> None:
        errors.name_in("foot that holds", holds, HOLDS)
        self.plan, self.holds, self.mirrored, self.smooth = plan, holds, mirrored, smooth
        self.first, self.last = _ends(plan)

    @property
    def mechanism(self) -> Mechanism:
        return self.plan.problem.mechanism

    @property
    def duration(self) -> Any:
        return self.plan.duration

    @property
    def advance(self) -> Any:
        """How far [m] the sliding foot comes forward."""
        reach = [site_position(self.mechanism, q, self.mechanism.tip)[0] for q in (self.first, self.last)]
        return (reach[1] - reach[0]) * self.forward

    @property
    def forward(self) -> float:
        """Sign of the step's own x axis along the ground."""
        return -1.0 if self.mirrored and self.holds == "front" else 1.0

    @property
    def tip(self) -> Any:
        """Place [m] of the sliding foot at the end, in the step's own frame."""
        return site_position(self.mechanism, self.last, self.mechanism.tip)

    def world(self, kp: GainsLike = None, kd: GainsLike = None, limit: GainsLike = None) -> World:
        """The step as a world to simulate from `first` at rest.

        With gains, one per joint (0 for the last, which has no motor), the planned torques are corrected towards the
        planned angles of the joints: some postures are unstable, and rounding alone would grow by e^20 in a second.
        """
        problem = self.plan.problem
        reference = None if kp is None and kd is None else self._joint_angles()
        torques = self.plan.table() if self.smooth else self.plan
        control = FeedForward(problem.mechanism, torques, reference, kp, kd, relative=True, limit=limit)
        contacts = list(problem.contacts)
        return World(problem.mechanism, contacts=contacts, control=control, gravity=problem.gravity)

    def _joint_angles(self) -> Fitted:
        motion, m = self.plan.motion, self.mechanism
        return Fitted(lambda i, t: m.to_relative(motion.piece(i, t).q), motion.knots)


@kept
def _ends(plan: SlidingPlan) -> tuple[Any, Any]:
    """Postures before and after a plan."""
    pieces, times = jnp.asarray([-1, plan.motion.pieces]), jnp.stack([plan.knots[0], plan.knots[-1]])
    q = native.rows(plan.motion.piece)(pieces, times).q
    return q[0], q[1]


def seen_from_the_other_end(angles: Given) -> Any:
    """Link angles counted from the other foot: the order is reversed, and so is each sign, being mirrored as well."""
    return -jnp.flip(jnp.asarray(angles))
