"""An inchworm on any surface, with links of any lengths: steps from foothold to foothold, seen in the world.

              o---o
             /     \\            #: the foot that holds, where it stands
       _    /  __   o~   _      ~: the foot that slides along the surface; the joint before it has no motor
      / \\__#__/  \\_____/ \\_

A step is a manipulator whose base is the foothold and whose tip slides on the surface. The next step begins where this
one ended; where the foot that holds changes, the chain is counted from its other end, and hangs where its tip slid to.
Ground that is not level does not repeat, so a walk need not end in the posture in which it began.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .. import errors
from .._arguments import SurfaceLike
from ..contact import ContactInverse, Coulomb, RigidContact
from ..contact.surfaces import AbstractSurface
from ..control.trajectory import ParabolicBlends
from ..dynamics import site_position
from ..hybrid._in_words import spelled
from ..hybrid.compiling import kept
from ..mechanism import Fixed, Mechanism, Rod
from ..quantities import Gravity, Point, Real, Reals, Times, Vector
from .closed import ClosedMotion
from .gait_step import HOLDS, Step
from .plan import SlidingPlan

TRIED = 1441  # angles of the first posture's last link, a quarter of a degree apart
SETTLE = 50  # steps towards the surface from where the first foot is said to stand


class Walk(eqx.Module):
    """Steps one after the other, in the frame of the world."""

    steps: tuple[Step, ...]

    @property
    def period(self) -> Any:
        """[s] of all steps."""
        return sum(step.duration for step in self.steps)

    @property
    def distance(self) -> Any:
        """How far [m] the middle between both feet comes along x."""
        return 0.5 * sum(step.advance for step in self.steps)

    @property
    def feet(self) -> np.ndarray:
        """Places [m] of the rear and the front foot before the first step and after every one, (steps + 1, 2, 2)."""
        rows = []
        for step in self.steps:
            base = np.asarray(step.mechanism.numbers.pivot[0])
            tips = [np.asarray(site_position(step.mechanism, q, step.mechanism.tip)) for q in (step.first, step.last)]
            rows.append([np.stack([base, tip] if step.holds == "rear" else [tip, base]) for tip in tips])
        return np.stack([rows[0][0], *(row[1] for row in rows)])

    def placed(self, k: int) -> tuple[float, bool, tuple[float, float]]:
        """When step k begins [s]; it is seen in the world, not as in a mirror, and nothing is shifted."""
        return float(sum(float(step.duration) for step in self.steps[:k])), False, (0.0, 0.0)


class TerrainInchworm(eqx.Module):
    """A chain of uniform links with a foot at each end, on any surface at rest.

    - `surface`: a `Graph`, a `Spline`, a `Plane`, or any other; its free side is where the chain is
    - `lengths` [m] and `masses` [kg] of the links, from the rear to the front, at least 2
    - `friction`: coefficient of a foot that slides
    - `gravity`: g [m/s^2] downwards, or a vector
    - `foot` (x, y) [m]: where the foot that holds first stands; the nearest place of the surface is taken

    >>> import carom, jax.numpy as jnp
    >>> hills = carom.Graph(lambda x: 0.02 * jnp.sin(8.0 * x))
    >>> worm = carom.crawl.TerrainInchworm(hills, [0.12, 0.16, 0.14], [0.8, 1.2, 1.0])
    >>> walk = worm.gait([25.0, -5.0], [("front", [10.0, -5.0])], 2.0, degrees=True)
    >>> walk.feet.shape
    (2, 2, 2)
    """

    surface: AbstractSurface
    lengths: tuple[Any, ...]
    masses: tuple[Any, ...]
    friction: Any
    gravity: Any
    foot: tuple[Any, Any]

    def __init__(
        self,
        surface: SurfaceLike,
        lengths: Reals,
        masses: Reals,
        friction: Real = 0.4,
        gravity: Gravity = 9.81,
        foot: Point = (0.0, 0.0),
    ) -> None:
        if not isinstance(surface, AbstractSurface):
            raise errors.CaromError(
                f"surface of TerrainInchworm is a {type(surface).__name__}; it must be a surface, such as "
                "carom.Graph(lambda x: 0.1 * jnp.sin(x))"
            )
        if surface.moves:
            raise errors.CaromError(f"surface of TerrainInchworm ({spelled(surface)}) moves; feet hold on one at rest")
        count = len(lengths)
        if count < 2:
            raise errors.CaromError(
                f"lengths of TerrainInchworm holds {count}; a chain has at least 2 links: one that moves the body and "
                "one that follows"
            )
        errors.vector("TerrainInchworm", "masses", masses, count)
        for field, values in (("lengths", lengths), ("masses", masses)):
            for k, value in enumerate(values):
                errors.number("TerrainInchworm", f"{field}[{k}]", value, above=0.0)
        errors.number("TerrainInchworm", "friction", friction, least=0.0)
        self.surface, self.lengths, self.masses = surface, tuple(lengths), tuple(masses)
        errors.vector("TerrainInchworm", "foot", foot, 2)
        self.friction, self.gravity, self.foot = friction, gravity, (foot[0], foot[1])

    @property
    def links(self) -> int:
        return len(self.lengths)

    def problem(self, holds: str, at: tuple[Any, Any]) -> ContactInverse:
        """The manipulator of a step whose foot holds at a place (x, y) [m]."""
        errors.name_in("foot that holds", holds, HOLDS)
        rods = [Rod(length=a, mass=m) for a, m in zip(self.lengths, self.masses, strict=True)]
        arm = Mechanism(rods if holds == "rear" else rods[::-1], base=Fixed(*at))
        tip = RigidContact(arm.tip, self.surface, 0.0, Coulomb(self.friction), name="foot")
        return ContactInverse(arm, tip, passive=[arm.topology.names[-1]], gravity=self.gravity)

    def gait(
        self,
        start: Reals,
        steps: Sequence[tuple[str, Any]],
        duration: Times,
        blend: Real | None = None,
        degrees: bool = False,
    ) -> Walk:
        """Steps from a first posture on.

        - `start`: led angles (of all links but the last) from the foot that holds in the first step: from the
          horizontal, the x axis pointing from the rear to the front, or back if the front holds; upwards is positive.
          The last link reaches the surface as far from the foothold as it can
        - `steps`: (foot that holds, led angles at the end) for each
        - `duration` [s] of every step, or one number for each; `blend` [s]: a tenth of it if left out
        """
        scale = np.pi / 180.0 if degrees else 1.0
        if len(steps) == 0:
            raise errors.CaromError("steps of gait is empty; give at least one (foot that holds, angles at the end)")
        errors.vector("gait", "start", start, self.links - 1)
        times = _each(duration, len(steps))
        before = steps[0][0]
        errors.name_in("foot that holds", before, HOLDS)
        at = _settled_on(self.surface, self.foot)
        posture = self._first(before, at, _turned(before, scale * jnp.asarray(start, dtype=float)))
        done: list[Step] = []
        for i, (holds, target) in enumerate(steps):
            errors.vector(f"step {i + 1}", "angles", target, self.links - 1)
            if holds != before:
                at, posture = tuple(done[-1].tip), jnp.flip(posture) + np.pi
            led = _near(_turned(holds, scale * jnp.asarray(target, dtype=float)), posture[:-1])
            moved = ParabolicBlends(posture[:-1], led, times[i], blend)
            problem = self.problem(holds, at)
            plan = SlidingPlan(problem, ClosedMotion(problem, moved, [posture[-1]]))
            flat = self.surface.relief == "flat"  # a spline's curvature has kinks, and so have torques along it
            done.append(Step(plan, holds, mirrored=False, smooth=flat))
            posture, before = done[-1].last, holds
        return Walk(tuple(done))

    def _first(self, holds: str, at: tuple[Any, Any], led: Vector) -> Any:
        """The first posture: of all places where the last link can reach the surface, the farthest."""
        problem = self.problem(holds, at)
        m, (x, y) = problem.mechanism, at
        turns = jnp.linspace(-np.pi, np.pi, TRIED)

        def tried(turn: Real) -> tuple[Any, Any]:
            place = site_position(m, jnp.append(led, turn), m.tip)
            return self.surface.gap(place[0], place[1], 0.0), jnp.hypot(place[0] - x, place[1] - y)

        gaps, reach = (np.asarray(values) for values in jax.vmap(tried)(turns))
        crossed = np.flatnonzero(np.signbit(gaps[1:]) != np.signbit(gaps[:-1]))
        if not crossed.size:
            raise errors.CaromError(
                f"the last link cannot reach the surface in the first posture (its end stays "
                f"{np.min(np.abs(gaps)):.3g} m away); change start"
            )
        chosen = crossed[np.argmax(reach[crossed])]
        return problem.close(jnp.append(led, 0.5 * (turns[chosen] + turns[chosen + 1])))[0]


def _turned(holds: str, angles: Vector) -> Any:
    """Angles from the foot that holds as angles in the world: seen from the front the x axis points back."""
    return angles if holds == "rear" else np.pi - angles


def _near(angles: Vector, others: Vector) -> Any:
    """The same directions, less than half a turn from others: nobody turns a link over to take a step."""
    return others + jnp.mod(angles - others + np.pi, 2.0 * np.pi) - np.pi


def _settled_on(surface: AbstractSurface, foot: Point) -> tuple[Any, Any]:
    """The place of the surface that is near to a point."""
    x, y, gap = _approached(surface, *(jnp.asarray(each, dtype=float) for each in foot))
    left = errors.known(gap)
    if left is not None and not abs(float(left)) < 1e-9 * (1.0 + float(jnp.hypot(x, y))):
        place = tuple(float(each) for each in foot)
        raise errors.CaromError(
            f"foot of TerrainInchworm is {place}, from where no place of {spelled(surface)} was "
            "found; give one nearer to it"
        )
    return x, y


@kept
def _approached(surface: AbstractSurface, x: Real, y: Real) -> tuple[Any, Any, Any]:
    """A point brought to the surface, and the gap that is left."""

    def nearer(_: Any, at: tuple[Any, Any]) -> tuple[Any, Any]:
        gap, (nx, ny) = surface.gap(*at, 0.0), surface.normal(*at, 0.0)
        return at[0] - gap * nx, at[1] - gap * ny

    x, y = jax.lax.fori_loop(0, SETTLE, nearer, (x, y))
    return x, y, surface.gap(x, y, 0.0)


def _each(duration: Times, count: int) -> list[Any]:
    given: Any = duration
    times = [given] * count if np.ndim(given) == 0 else list(given)
    if len(times) != count:
        raise errors.CaromError(
            f"duration of gait holds {len(times)} numbers; it must be one number, or one for each of the {count} steps"
        )
    return times
