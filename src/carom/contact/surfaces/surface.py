"""What a surface is: a signed distance and its normal."""

from __future__ import annotations

import abc
from typing import Any, Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ... import errors
from ...hybrid._in_words import spelled
from ...quantities import Point, Real
from .._hull import AbstractHull
from .._vectors import NOWHERE as NOWHERE
from .._vectors import direction as direction
from ._outline import Box, moving_zero_set, zero_set

UNKNOWN_BEND = 0.01  # [m] radius of curvature that is assumed of a surface which does not say
WINDOW = 10.0  # [m] how far from its probe a curve that is given by a function is looked at when it is made
WIDEST = 1000.0  # [m] largest such window: looking takes time and memory in proportion to it

# A flat surface has one normal everywhere. Into a hollow one (a bowl) a convex shape goes with its corners, and on a
# round one (a solid that is convex) it has one nearest point. Any other may bulge into edges, and be met twice.
Relief = Literal["flat", "hollow", "round", "any"]


class Bound(NamedTuple):
    """How fast and how sharply a surface can change: upper bounds, over all time and, for `bend`, over all places.

    The motion is a steady one and one that oscillates: `speed` is that of both together. Turning comes on top: a point
    at a distance r from the centre of the rotation moves by up to `turning` r faster.
    """

    speed: Any = 0.0  # [m/s] of the translation
    swing: Any = 0.0  # [m] between any two places of the part that oscillates; infinite if not known
    steady: Any = 0.0  # [m/s] of the part that does not oscillate
    turning: Any = 0.0  # [rad/s]
    rate: Any = 0.0  # [rad/s] highest angular frequency; 0 of uniform motion
    bend: Any = UNKNOWN_BEND  # [m] smallest radius of curvature; infinite of a plane


class Known(NamedTuple):
    """What is known of how sharply a surface bends around a place.

    What was not looked at cannot be excluded: there it may bend as one that says nothing.
    """

    bend: Any  # [m] smallest radius of curvature
    within: Any = jnp.inf  # [m] how far from the place that holds; negative where it was not looked at
    assumed: Any = 0.0  # [m] beyond


def bend_of(first: Point, second: Point) -> Any:
    """Smallest radius of curvature [m] of a curve, from its derivatives (x, y) at many places; infinite if straight.

    Places where a derivative is not finite are outside the curve's domain, and left out.
    """
    (dx, dy), (bx, by) = first, second
    lib = errors.library_for(first, second)
    size = lib.sqrt(dx * dx + dy * dy + NOWHERE)
    curvature = lib.abs(dx * by - dy * bx) / size**3
    sharpest = lib.max(lib.where(lib.isfinite(curvature), curvature, 0.0))
    straight = sharpest <= 0.0
    return lib.where(straight, lib.inf, 1.0 / lib.where(straight, 1.0, sharpest))


class AbstractSurface(eqx.Module):
    """A curve with a free side. Gap positive on the free side, normal pointing into it.

    The gap is a true distance: its gradient is the normal, a unit vector. `t` [s] matters to surfaces that move.
    """

    @abc.abstractmethod
    def gap(self, x: Real, y: Real, t: Real) -> Any:
        """Signed distance [m] of a point."""

    @abc.abstractmethod
    def normal(self, x: Real, y: Real, t: Real) -> tuple[Any, Any]:
        """Unit normal at the foot of the point."""

    def locate(self, x: Real, y: Real, t: Real) -> tuple[Any, tuple[Any, Any]]:
        """Gap and normal together, for surfaces that find both by one search."""
        return self.gap(x, y, t), self.normal(x, y, t)

    def drift(self, x: Real, y: Real, t: Real) -> tuple[Any, Any]:
        """Velocity [m/s] of the surface's material at a point; surfaces are at rest unless they say otherwise."""
        return 0.0, 0.0

    @property
    def moves(self) -> bool:
        """Is its motion prescribed, so that it can do work? Whoever has a `drift` of its own does."""
        return type(self).drift is not AbstractSurface.drift

    def bound(self) -> Bound:
        """How fast and how sharply it can change; a surface of one's own should say, or small steps are taken."""
        unknown = (jnp.inf,) * 5
        return Bound(*unknown) if self.moves else Bound()

    @property
    def relief(self) -> Relief:
        """How what is solid lies to what is free; "any" unless the surface knows better."""
        return "any"

    @property
    def hull(self) -> AbstractHull | None:
        """The convex polygon that it is the outside of, in a frame of its own; None of all but blocks."""
        return None

    def pose(self, t: Real) -> tuple[Any, Any, Any, Any]:
        """Where that frame is: place (x, y) [m], and cosine and sine of its angle."""
        return 0.0, 0.0, 1.0, 0.0

    @property
    def exact(self) -> bool:
        """Is the gap the distance to the nearest point, however far away?"""
        return True

    def clearance(self, x: Real, y: Real, t: Real, gap: Real) -> Any:
        """No point of the surface is nearer than this [m]; `gap` is what `locate` found there."""
        return gap

    def known(self, x: Real, y: Real, t: Real) -> Known:
        """How sharply it bends around a point; what `bound` says, unless that is an estimate."""
        return Known(self.bound().bend)

    def carries(self, x: Real, y: Real, t: Real, pace: Real, span: Real) -> Any:
        """Bound of the speed [m/s] of its material near a point that moves at up to `pace` for so long.

        What swings, and what is not known, counts apart.
        """
        bound, (ux, uy) = self.bound(), self.drift(x, y, t)
        turning = jnp.where(bound.turning > 0.0, jnp.abs(ux) + jnp.abs(uy) + finite(bound.turning) * pace * span, 0.0)
        return finite(bound.steady) + turning

    def spin(self, t: Real) -> Any:
        """How fast it turns at that instant [rad/s], both ways counted alike."""
        return finite(self.bound().turning)

    def outline(self, box: Box, times: np.ndarray) -> list[np.ndarray]:
        """What is drawn of it inside a box: lines (points, 2) if it is at rest, (times, points, 2) if it moves.

        A surface that does not say otherwise is drawn where its gap is zero.
        """
        if self.moves:
            return moving_zero_set(self.gap, box, times)
        return zero_set(lambda x, y: jnp.asarray(self.gap(x, y, jnp.asarray(0.0)), dtype=float), box)

    @property
    def words(self) -> str:
        """What it is, in a line: its numbers with their units."""
        return spelled(self)

    def place(self, x: Real, y: Real, t: Real) -> tuple[Any, Any]:
        """The point in the frame of the surface's material; the world's frame for a surface at rest."""
        return x, y


def given_bend(owner: str, bend: Real | None) -> Any:
    """A radius of curvature as it was given, or None."""
    if bend is None:
        return None
    errors.number(owner, "bend", bend, above=0.0)
    return jnp.asarray(bend, dtype=float)


def given_window(owner: str, window: Real | None, bend: Real | None) -> float | None:
    """How far [m] from its probe a curve is looked at; None if its bend is given. The work depends on it."""
    if window is None:
        return WINDOW if bend is None else None
    if bend is not None:
        raise errors.CaromError(
            f"{owner} got window and bend; where the bend is known it is not searched for; leave one of them out"
        )
    errors.number(owner, "window", window, above=0.0)
    if errors.known(window) is None:
        raise errors.CaromError(
            f"window of {owner} is traced; it must be a plain number, because it says how often to look; or give bend="
        )
    if not float(window) <= WIDEST:
        raise errors.CaromError(
            f"window of {owner} is {float(window):g} m; it must not be above {WIDEST:g} m; give bend= instead, the "
            "smallest radius of curvature [m]"
        )
    return float(window)


def looked_at(bend: Real, edge: Real) -> Known:
    """What is known of a curve so far [m] from the edge of its window; negative outside."""
    bend, edge = jax.lax.stop_gradient((bend, edge))
    return Known(bend, edge, jnp.minimum(bend, UNKNOWN_BEND))


def nearest(gap: Real, known: Known, apart: Real = 0.0) -> Any:
    """No point of a curve is nearer than this [m], if one at `gap` is near, and none that was looked at within `apart`.

    A foot nearer than the sharpest bend is the nearest.
    """
    inside = jnp.minimum(jnp.maximum(jnp.minimum(gap, known.bend), apart), known.within)
    return jnp.where(gap > 0.0, jnp.maximum(inside, jnp.minimum(gap, known.assumed)), gap)


def still(bend: Real) -> Bound:
    """Of a surface at rest; steps are chosen by it, and steps are constants for derivatives."""
    return Bound(bend=jax.lax.stop_gradient(errors.array(bend)))


def finite(x: Real) -> Any:
    """A bound, or zero where there is none."""
    return jnp.where(jnp.isfinite(x), x, 0.0)
