"""A chain of equal links with a foot at each end, which makes its steps and gaits from postures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from .. import errors
from ..contact import ContactInverse, Coulomb, Plane, RigidContact
from ..control.trajectory import AbstractTrajectory, ParabolicBlends
from ..mechanism import Arm, Rod
from ..quantities import Given, Real, Times
from .closed import ClosedMotion
from .gait import Gait
from .gait_step import HOLDS, Step, seen_from_the_other_end
from .plan import SlidingPlan


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
        length: Real,
        mass: Real,
        links: int = 4,
        friction: Real = 0.4,
        gravity: Real | Given = 9.81,
        slope: Real = 0.0,
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

    def step(self, holds: str, first: Given, target: Given, duration: Real, blend: Real | None = None) -> Step:
        """From a posture (all link angles) to one whose led angles (all but the last) are given; parabolic blends."""
        errors.vector("step", "first", first, self.links)
        led = ParabolicBlends(jnp.asarray(first, dtype=float)[:-1], target, duration, blend)
        return self.along(holds, led, first[-1])

    def along(self, holds: str, led: AbstractTrajectory, guess: Real) -> Step:
        """A step whose led angles follow any trajectory."""
        problem = self.problem(holds)
        return Step(SlidingPlan(problem, ClosedMotion(problem, led, [guess])), holds)

    def gait(
        self,
        start: Given,
        steps: Sequence[tuple[str, Any]],
        duration: Times,
        blend: Real | None = None,
        degrees: bool = False,
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
        given: Any = duration
        times = [given] * len(steps) if np.ndim(given) == 0 else list(given)
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
