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

from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .. import errors
from ..contact import ContactEfforts, ContactInverse, Coulomb, Plane, RigidContact
from ..control.feedforward import FeedForward
from ..control.trajectory import AbstractTrajectory, Fitted, Motion, ParabolicBlends
from ..dynamics import momentum, site_position
from ..hybrid.world import World
from ..mechanism import Arm, Mechanism, Rod
from .closed import ClosedMotion
from .plan import SlidingPlan

HOLDS = ("front", "rear")
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


class Step(eqx.Module):
    """One step: a plan on a fixed base, from one posture to another."""

    plan: SlidingPlan
    first: Any  # link angles [rad] at the start
    last: Any  # and at the end
    holds: str = eqx.field(static=True)

    def __init__(self, plan: SlidingPlan, holds: str) -> None:
        errors.name_in("foot that holds", holds, HOLDS)
        self.plan, self.holds = plan, holds
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
        return 1.0 if self.holds == "rear" else -1.0

    def world(self, kp: Any = None, kd: Any = None, limit: Any = None) -> World:
        """The step as a world to simulate from `first` at rest.

        With gains, one per joint (0 for the last, which has no motor), the planned torques are corrected towards the
        planned angles of the joints: some postures are unstable, and rounding alone would grow by e^20 in a second.
        """
        problem = self.plan.problem
        reference = None if kp is None and kd is None else self._joint_angles()
        control = FeedForward(problem.mechanism, self.plan.table(), reference, kp, kd, relative=True, limit=limit)
        contacts = list(problem.contacts)
        return World(problem.mechanism, contacts=contacts, control=control, gravity=problem.gravity)

    def _joint_angles(self) -> Fitted:
        motion, m = self.plan.motion, self.mechanism
        return Fitted(lambda i, t: m.to_relative(motion.piece(i, t).q), motion.knots)


@eqx.filter_jit
def _ends(plan: SlidingPlan) -> tuple[Any, Any]:
    """Postures before and after a plan."""
    pieces, times = jnp.asarray([-1, plan.motion.pieces]), jnp.stack([plan.knots[0], plan.knots[-1]])
    q = jax.vmap(plan.motion.piece)(pieces, times).q
    return q[0], q[1]


class Inchworm(eqx.Module):
    """A chain of equal uniform links on level or inclined ground.

    - `length` [m] and `mass` [kg] of a link, `links` of them (at least 2)
    - `friction`: coefficient of a foot that slides
    - `gravity` g [m/s^2]; `slope` [rad] of the ground, positive uphill
    """

    length: Any
    mass: Any
    friction: Any
    gravity: Any
    slope: Any
    links: int = eqx.field(static=True)

    def __init__(
        self,
        length: Any,
        mass: Any,
        links: int = 4,
        friction: Any = 0.4,
        gravity: Any = 9.81,
        slope: Any = 0.0,
    ) -> None:
        if not isinstance(links, int) or links < 2:
            raise errors.CaromError(
                f"links of Inchworm is {links!r}; it must be a whole number of at least 2: one that moves the body and "
                "one that follows"
            )
        errors.number("Inchworm", "length", length, above=0.0)
        errors.number("Inchworm", "mass", mass, above=0.0)
        errors.number("Inchworm", "friction", friction, least=0.0)
        errors.number("Inchworm", "gravity", gravity)
        errors.number("Inchworm", "slope", slope)
        self.length, self.mass, self.friction, self.gravity, self.slope = length, mass, friction, gravity, slope
        self.links = links

    def problem(self, holds: str) -> ContactInverse:
        """The manipulator of a step."""
        errors.name_in("foot that holds", holds, HOLDS)
        arm = Arm([Rod(length=self.length, mass=self.mass)] * self.links)
        tip = RigidContact(arm.tip, Plane(height=0.0), 0.0, Coulomb(self.friction), name="foot")
        side = 1.0 if holds == "rear" else -1.0
        slope = jnp.asarray(self.slope, dtype=float)
        weight = -jnp.asarray(self.gravity, dtype=float) * jnp.stack([side * jnp.sin(slope), jnp.cos(slope)])
        return ContactInverse(arm, tip, passive=[arm.topology.names[-1]], gravity=weight)

    def step(self, holds: str, first: Any, target: Any, duration: Any, blend: Any = None) -> Step:
        """From a posture (all link angles) to one whose led angles (all but the last) are given; parabolic blends."""
        errors.vector("step", "first", first, self.links)
        led = ParabolicBlends(jnp.asarray(first, dtype=float)[:-1], target, duration, blend)
        return self.along(holds, led, first[-1])

    def along(self, holds: str, led: AbstractTrajectory, guess: Any) -> Step:
        """A step whose led angles follow any trajectory."""
        problem = self.problem(holds)
        return Step(SlidingPlan(problem, ClosedMotion(problem, led, [guess])), holds)

    def gait(
        self, start: Any, steps: Sequence[tuple[str, Any]], duration: Any, blend: Any = None, degrees: bool = False
    ) -> Gait:
        """A cycle of steps.

        - `start`: led angles of the first posture, from the foot that holds in the first step
        - `steps`: (foot that holds, led angles at the end) for each; where the foot changes, the posture is counted
          from the other end
        - `duration` [s] of every step, or one number for each; `blend` [s]: a tenth of it if left out
        """
        scale = np.pi / 180.0 if degrees else 1.0
        if len(steps) == 0:
            raise errors.CaromError("steps of gait is empty; give at least one (foot that holds, angles at the end)")
        errors.vector("gait", "start", start, self.links - 1)
        times = [duration] * len(steps) if np.ndim(duration) == 0 else list(duration)
        if len(times) != len(steps):
            raise errors.CaromError(
                f"duration of gait holds {len(times)} numbers; it must be one number, or one for each of the "
                f"{len(steps)} steps"
            )
        problem = self.problem(steps[0][0])
        guess = jnp.concatenate([scale * jnp.asarray(start, dtype=float), jnp.zeros(1)])
        posture, before, done = problem.close(guess)[0], steps[0][0], []
        for i, (holds, target) in enumerate(steps):
            errors.vector(f"step {i + 1}", "angles", target, self.links - 1)
            first = posture if holds == before else seen_from_the_other_end(posture)
            done.append(self.step(holds, first, scale * jnp.asarray(target, dtype=float), times[i], blend))
            posture, before = done[-1].last, holds
        return Gait(tuple(done))


def seen_from_the_other_end(angles: Any) -> Any:
    """Link angles counted from the other foot: the order is reversed, and so is each sign, being mirrored as well."""
    return -jnp.flip(jnp.asarray(angles))


class Gait(eqx.Module):
    """Steps that repeat. A cycle must end in the posture in which it began."""

    steps: tuple[Step, ...]

    def __check_init__(self) -> None:
        shapes = {
            str(jax.tree.structure(s.plan)) + str([np.shape(x) for x in jax.tree.leaves(s.plan)]) for s in self.steps
        }
        if len(shapes) != 1:
            raise errors.CaromError(
                "the steps of a gait move by different kinds of trajectories; all must be of one kind, with as many "
                "knots; give short pieces to the simpler ones"
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

    def at(self, t: Any) -> GaitState:
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

    def over(self, times: Any) -> GaitState:
        """The same at many instants, as arrays over them; compiled."""
        return _over(self, jnp.asarray(times, dtype=float))

    @property
    def _span(self) -> Any:
        """Distance [m] of the feet at the start of a cycle."""
        first = self.steps[0]
        return site_position(first.mechanism, first.first, first.mechanism.tip)[0]


@eqx.filter_jit
def _over(gait: Gait, times: Any) -> GaitState:
    return jax.vmap(gait.at)(times)


def _state(k: Any, plan: SlidingPlan, at_rear: Any, t: Any, anchor: Any) -> GaitState:
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

    def linear(q: Any, v: Any) -> Any:
        return momentum(m, q, v).linear

    rate = jax.jvp(linear, (motion.q, motion.v), (motion.v, motion.a))[1]
    push = jnp.stack([found.friction[0], found.normal[0]])  # t = (1, 0) and n = (0, 1) along the ground
    return rate - jnp.sum(m.numbers.mass) * plan.problem.gravity - push
