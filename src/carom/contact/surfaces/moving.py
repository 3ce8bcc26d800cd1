"""Surfaces that move as prescribed: belts, shakers, turntables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from ... import errors
from ..._arguments import SurfaceLike
from ...hybrid._in_words import told
from ...quantities import Function, Point, Real
from .._hull import AbstractHull
from ._outline import Box, box_around, floats
from .curve import numbers, probed, refuse_function
from .surface import AbstractSurface, Bound, Known, Relief, finite


class Moving(AbstractSurface):
    """A surface whose motion is prescribed, whatever pushes it.

    - `velocity` (x, y) [m/s]: uniform motion. A belt is a plane that moves along itself
    - `turning` [rad/s]: uniform rotation about the point `about` (x, y) [m], which moves with the surface
    - `amplitude` (x, y) [m], `frequency` [Hz], `phase` [rad]: the displacement amplitude sin(2 pi frequency t + phase)
    - `motion`: instead of these, any function of t [s] (and of `parameters`), smooth and written with jax.numpy, that
      gives the displacement x, y [m] and the angle [rad] about `about`. What a function does between two instants
      cannot be seen, so it comes with `frequency` [Hz], the highest that is in it (0 if it moves uniformly), and if
      possible with `travel` [m], how far it ever moves the surface from its place

    At t = 0 and phase 0 the surface is where it was given. A point s of it goes to about + R(angle) (s - about) +
    displacement. The work that it does on the mechanism is part of the energy ledger.
    """

    carries_another: ClassVar[bool] = True
    surface: AbstractSurface
    about: tuple[Any, Any]
    parameters: tuple[Any, ...]
    frequency: Any  # [Hz] of a motion given as a function, else None
    travel: Any  # [m] of a motion given as a function, where it is known
    motion: Callable[..., Any] = eqx.field(static=True)

    def __init__(
        self,
        surface: SurfaceLike,
        velocity: Point | None = None,
        turning: Real | None = None,
        about: Point = (0.0, 0.0),
        amplitude: Point | None = None,
        frequency: Real | None = None,
        phase: Real | None = None,
        motion: Function | None = None,
        parameters: PyTree = (),
        travel: Real | None = None,
    ) -> None:
        if not isinstance(surface, AbstractSurface):
            raise errors.CaromError(
                f"surface of Moving is a {type(surface).__name__}; it must be a surface, such as Plane(height=0.0)"
            )
        errors.vector("Moving", "about", about, 2)
        self.surface = surface
        self.about = (jnp.asarray(about[0], dtype=float), jnp.asarray(about[1], dtype=float))
        ready: dict[str, Any] = {
            "velocity": velocity,
            "turning": turning,
            "amplitude": amplitude,
            "frequency": frequency,
            "phase": phase,
        }
        given = [name for name, value in ready.items() if value is not None]
        self.frequency = self.travel = None
        if motion is None:
            self.motion, self.parameters = _ready, _ready_numbers(given, **ready)
            if len(parameters) > 0 or travel is not None:
                word = "parameters were" if travel is None else "travel was"
                raise errors.CaromError(f"{word} given to Moving without a motion to use them; leave them out")
            return
        own = [name for name in given if name != "frequency"]
        if own:
            raise errors.CaromError(
                f"Moving got a motion and also {', '.join(own)}; only one may say how it moves; put all into the motion"
            )
        self.motion, self.parameters = _own_motion(motion, parameters)
        self.frequency, self.travel = _own_bounds(frequency, travel)

    @property
    def words(self) -> str:
        if not is_ready(self):
            how = (("motion", self.motion, ""), ("frequency", self.frequency, "Hz"), ("travel", self.travel, "m"))
            return f"{self.surface.words}, {told('Moving', *how)}"
        vx, vy, turning, ax, ay, frequency, phase = self.parameters
        numbers = (
            ("velocity", (vx, vy), "m/s"),
            ("turning", turning, "rad/s"),
            ("amplitude", (ax, ay), "m"),
            ("frequency", frequency, "Hz"),
            ("phase", phase, "rad"),
        )
        acting = (n for n in numbers if np.any(errors.known(n[1]) != 0.0))
        return f"{self.surface.words}, {told('Moving', *acting)}"

    def _motion(self, t: Real) -> tuple[tuple[Any, Any, Any], tuple[Any, Any, Any]]:
        """Displacement and angle, and their rates."""
        t = jnp.asarray(t, dtype=float)

        def placed(t: Real) -> tuple[Any, ...]:
            return tuple(jnp.asarray(p, dtype=float) for p in self.motion(t, *self.parameters))

        return jax.jvp(placed, (t,), (jnp.ones_like(t),))

    def _inside(self, x: Real, y: Real, t: Real) -> tuple[Any, Any, Any, Any]:
        """The point in the surface's own frame, and cosine and sine of the frame's angle."""
        (dx, dy, angle), _ = self._motion(t)
        cos, sin = jnp.cos(angle), jnp.sin(angle)
        rx, ry = x - self.about[0] - dx, y - self.about[1] - dy
        return self.about[0] + cos * rx + sin * ry, self.about[1] + cos * ry - sin * rx, cos, sin

    def locate(self, x: Real, y: Real, t: Real) -> tuple[Any, tuple[Any, Any]]:
        px, py, cos, sin = self._inside(x, y, t)
        gap, (nx, ny) = self.surface.locate(px, py, t)
        return gap, (cos * nx - sin * ny, sin * nx + cos * ny)

    def gap(self, x: Real, y: Real, t: Real) -> Any:
        return self.locate(x, y, t)[0]

    def normal(self, x: Real, y: Real, t: Real) -> tuple[Any, Any]:
        return self.locate(x, y, t)[1]

    def drift(self, x: Real, y: Real, t: Real) -> tuple[Any, Any]:
        (dx, dy, _), (ux, uy, rate) = self._motion(t)
        px, py, cos, sin = self._inside(x, y, t)
        wx, wy = self.surface.drift(px, py, t)  # of a surface that moves on one that moves
        return (
            ux - rate * (y - self.about[1] - dy) + cos * wx - sin * wy,
            uy + rate * (x - self.about[0] - dx) + sin * wx + cos * wy,
        )

    def place(self, x: Real, y: Real, t: Real) -> tuple[Any, Any]:
        px, py, _, _ = self._inside(x, y, t)
        return self.surface.place(px, py, t)

    @property
    def relief(self) -> Relief:
        return self.surface.relief

    @property
    def hull(self) -> AbstractHull | None:
        return self.surface.hull

    def pose(self, t: Real) -> tuple[Any, Any, Any, Any]:
        x, y, c, s = self.surface.pose(t)
        (dx, dy, angle), (ax, ay) = self._motion(t)[0], self.about
        cos, sin = jnp.cos(angle), jnp.sin(angle)
        rx, ry = x - ax, y - ay
        place = ax + dx + cos * rx - sin * ry, ay + dy + sin * rx + cos * ry
        return *place, cos * c - sin * s, sin * c + cos * s

    @property
    def exact(self) -> bool:
        return self.surface.exact

    def clearance(self, x: Real, y: Real, t: Real, gap: Real) -> Any:
        px, py, _, _ = self._inside(x, y, t)
        return self.surface.clearance(px, py, t, gap)

    def known(self, x: Real, y: Real, t: Real) -> Known:
        px, py, _, _ = self._inside(x, y, t)
        return self.surface.known(px, py, t)

    def carries(self, x: Real, y: Real, t: Real, pace: Real, span: Real) -> Any:
        own, (dx, dy, _) = self._bound(), self._motion(t)[0]
        steady, turning = finite(own.steady), finite(own.turning)
        # As seen from the centre, which moves along; then in the frame that turns.
        away = jnp.hypot(x - self.about[0] - dx, y - self.about[1] - dy) + finite(own.swing)
        mine = steady + turning * (away + (pace + steady) * span)
        if not self.surface.moves:
            return mine
        px, py, _, _ = self._inside(x, y, t)
        return mine + self.surface.carries(px, py, t, pace + mine, span)

    def spin(self, t: Real) -> Any:
        return jnp.abs(self._motion(t)[1][2]) + self.surface.spin(t)

    def outline(self, box: Box, times: np.ndarray) -> list[np.ndarray]:
        def placed(t: Real) -> Any:
            return jnp.stack([jnp.asarray(p, dtype=float) for p in self.motion(t, *self.parameters)])

        pose = np.asarray(jax.vmap(placed)(jnp.asarray(times)))
        about = floats(self.about)
        cos, sin = np.cos(pose[:, 2])[:, None], np.sin(pose[:, 2])[:, None]
        # What the box sees of the surface over the whole time, in the surface's own frame.
        corners = np.array([[box.left, box.bottom], [box.right, box.bottom], [box.right, box.top], [box.left, box.top]])
        back = corners[None] - about - pose[:, None, :2]
        turned = np.stack([cos * back[..., 0] + sin * back[..., 1], cos * back[..., 1] - sin * back[..., 0]], axis=2)
        out = []
        for line in self.surface.outline(box_around(about + turned), times):
            own = np.broadcast_to(line, (len(times), *line.shape[-2:])) - about
            turned = np.stack([cos * own[..., 0] - sin * own[..., 1], sin * own[..., 0] + cos * own[..., 1]], axis=2)
            out.append(turned + about + pose[:, None, :2])
        return out

    def bound(self) -> Bound:
        """Of this motion and of what it carries: frequencies add, as in a product of two sines."""
        inner, own = self.surface.bound(), self._bound()
        added = [a + b for a, b in zip(inner[:-1], own[:-1], strict=True)]
        return Bound(*jax.lax.stop_gradient(tuple(jnp.asarray(x, dtype=float) for x in (*added, inner.bend))))

    def _bound(self) -> Bound:
        return self._ready_bound() if is_ready(self) else self._own_bound()

    def _ready_bound(self) -> Bound:
        vx, vy, turning, ax, ay, frequency, _ = self.parameters
        steady, amplitude, rate = jnp.hypot(vx, vy), jnp.hypot(ax, ay), 2.0 * jnp.pi * frequency
        return Bound(steady + rate * amplitude, 2.0 * amplitude, steady, jnp.abs(turning), rate)

    def _own_bound(self) -> Bound:
        """A motion without frequencies above f that stays within A is not faster than 2 pi f A (Bernstein)."""
        rate = 2.0 * jnp.pi * self.frequency
        turning = jnp.inf if self._turns() else 0.0
        if self.travel is None:
            return Bound(jnp.inf, jnp.inf, jnp.inf, turning, rate)
        return Bound(rate * self.travel, 2.0 * self.travel, 0.0, turning, rate)

    def _turns(self) -> bool:
        """Does the angle of a motion given as a function depend on time?"""
        program = jax.make_jaxpr(lambda t: self.motion(t, *self.parameters))(0.0).jaxpr
        touched = set(program.invars)
        for line in program.eqns:
            if any(not hasattr(x, "val") and x in touched for x in line.invars):
                touched.update(line.outvars)
        angle = program.outvars[2]
        return not hasattr(angle, "val") and angle in touched


def is_ready(surface: Moving) -> bool:
    """Does it move uniformly and harmonically, by numbers alone?"""
    return surface.motion is _ready


def _own_motion(motion: Function, parameters: PyTree) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """A motion given as a function, tried out at t = 0, and its parameters."""
    refuse_function("Moving", "motion", motion, "lambda t: (0.0, 0.01 * jnp.sin(60 * t), 0.0)")
    known = numbers("Moving", parameters)
    placed = errors.known(probed("Moving", "motion", motion, (jnp.asarray(0.0), *known), 3, "t = 0"))
    if placed is not None and not np.all(np.isfinite(placed)):
        raise errors.CaromError(f"motion of Moving is {placed.tolist()} at t = 0; every entry must be finite")
    return motion, known


def _own_bounds(frequency: Real | None, travel: Real | None) -> tuple[Any, Any]:
    if frequency is None:
        raise errors.CaromError(
            "motion of Moving is a function; how quickly it changes cannot be read from it; give frequency= [Hz], the "
            "highest frequency in it (0 if it moves uniformly)"
        )
    errors.number("Moving", "frequency", frequency, least=0.0)
    if travel is not None:
        errors.number("Moving", "travel", travel, least=0.0)
        travel = jnp.asarray(travel, dtype=float)
    return jnp.asarray(frequency, dtype=float), travel


def _ready(
    t: Real, vx: Real, vy: Real, turning: Real, ax: Real, ay: Real, frequency: Real, phase: Real
) -> tuple[Any, ...]:
    """Uniform and harmonic motion together."""
    swing = jnp.sin(2.0 * jnp.pi * frequency * t + phase)
    return vx * t + ax * swing, vy * t + ay * swing, turning * t


def _ready_numbers(
    given: list[str],
    velocity: Point | None,
    turning: Real | None,
    amplitude: Point | None,
    frequency: Real | None,
    phase: Real | None,
) -> tuple[Any, ...]:
    if not given:
        raise errors.CaromError(
            "Moving got no motion; give velocity=(x, y), turning=, amplitude=(x, y) with frequency=, or a motion="
        )
    if (amplitude is None) != (frequency is None) or (phase is not None and amplitude is None):
        raise errors.CaromError(
            f"Moving got {', '.join(given)}; harmonic motion needs both amplitude=(x, y) [m] and frequency= [Hz]"
        )
    two = [(0.0, 0.0) if pair is None else pair for pair in (velocity, amplitude)]
    one = [0.0 if number is None else number for number in (turning, frequency, phase)]
    errors.vector("Moving", "velocity", two[0], 2)
    errors.vector("Moving", "amplitude", two[1], 2)
    errors.number("Moving", "turning", one[0])
    errors.number("Moving", "frequency", one[1], **({} if frequency is None else {"above": 0.0}))
    errors.number("Moving", "phase", one[2])
    return numbers("Moving", (two[0][0], two[0][1], one[0], two[1][0], two[1][1], one[1], one[2]))
