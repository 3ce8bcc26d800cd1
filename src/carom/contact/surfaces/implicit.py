"""A surface given by an equation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from ... import errors, native
from ...hybrid._in_words import told
from ...quantities import Function, Point, Real
from ._look import Along, followed, radius_of
from ._outline import Box, zero_set
from .curve import BENT, SAME_SIDE, AbstractCurve, numbers, probed, refuse_function, refuse_unless_finite, settled
from .surface import NOWHERE, WINDOW, Bound, Known, given_bend, given_window, looked_at, nearest, still

FLAT = 1e-6  # [m] a gradient smaller than this times the second derivatives counts as zero
LOST = 1e-20  # a gradient without a direction
RINGS, RAYS = 3, 8  # of points around the probe, from which the curve is looked for and followed
STEPS = 240  # along it, either way, from each of the points found; in a window above 10 m as many more
STRIDE = 1 / 400  # of a window of 10 m or less: the longest of these steps


class Implicit(AbstractCurve):
    """The curve a(x, y) = 0; its free side is where a > 0.

    - `function`: smooth, written with jax.numpy, with a gradient that does not vanish on the curve; in any unit, for
      the gap is a distance [m] all the same. A billiard table: `Implicit(lambda x, y: 1 - (x / 2) ** 2 - y**2)`
    - `parameters`: further arguments of it, if they are to be changed without compiling again, or differentiated
    - `probe`: a point (x, y) [m], the origin by default, from which the curve is looked for when the surface is made
    - `bend` [m]: its smallest radius of curvature; if left out, the curve is followed through the window, within
      `window` [m] (10) of `probe`, when it is made; outside, it is taken to be 0.01 m or what was found, if smaller

    The gap is the distance to the nearest point, a true one within the curve's radius of curvature. Farther away the
    search walks downhill to a nearby foot, not always the nearest; the sign of the gap is right everywhere.
    """

    function: Callable[..., Any] = eqx.field(static=True)
    parameters: tuple[Any, ...]
    probe: tuple[Any, Any]
    bend: Any
    window: float | None = eqx.field(static=True)  # None where bend was given

    def __init__(
        self,
        function: Function,
        parameters: PyTree = (),
        probe: Point = (0.0, 0.0),
        bend: Real | None = None,
        window: Real | None = None,
    ) -> None:
        refuse_function("Implicit", "function", function, "lambda x, y: y - x**2")
        errors.vector("Implicit", "probe", probe, 2)
        self.function, self.parameters = function, numbers("Implicit", parameters)
        x, y = self.probe = jnp.asarray(probe[0], dtype=float), jnp.asarray(probe[1], dtype=float)
        self.bend, self.window = given_bend("Implicit", bend), given_window("Implicit", window, bend)
        known = errors.known(probe)
        where = "probe" if known is None else f"({known[0]:g}, {known[1]:g})"
        value = probed("Implicit", "function", function, (x, y, *self.parameters), 1, where)
        refuse_unless_finite("Implicit", "function", (value,), where)
        self._refuse_degenerate(x, y, where)
        if self.bend is None:  # looked at once, not in every step
            self.bend = jax.lax.stop_gradient(native.at_once(self._estimated, x, y))

    @property
    def words(self) -> str:
        return told("Implicit", ("function", self.function, ""), ("parameters", self.parameters or None, ""))

    def _refuse_degenerate(self, x: Real, y: Real, where: str) -> None:
        """Walk from the probe to the curve; refuse if there is none, or none with a slope across it."""

        def met(x: Real, y: Real) -> tuple[Any, ...]:
            x, y = self._walked(x, y, 100)
            jet = self._jet(x, y)
            return x, y, jet.a, jnp.hypot(jet.x, jet.y), jet.bending

        found = errors.known(native.at_once(met, x, y))
        if found is None:
            return
        x, y, value, size, bending = (float(f) for f in found)
        if not abs(value) <= 1e-9 * (size + bending):
            raise errors.CaromError(
                f"function of Implicit is nowhere zero near {where}; it must change sign across the curve; give "
                "`probe=` a point near the curve, or check the function"
            )
        if not size > FLAT * bending:
            raise errors.CaromError(
                f"function of Implicit has gradient zero at ({x:.4g}, {y:.4g}), where it is itself zero; there is no "
                "normal there; take a function that changes sign across the curve with a slope"
            )

    def _walked(self, x: Real, y: Real, steps: int) -> tuple[Any, Any]:
        """Downhill to the curve."""
        x, y = jax.lax.fori_loop(0, steps, lambda _, at: self._search(at, *at), (x, y))
        return x, y

    def _jet(self, x: Real, y: Real) -> _Jet:
        one, zero = jnp.ones_like(x), jnp.zeros_like(x)

        def function(x: Real, y: Real) -> Any:
            return jnp.asarray(self.function(x, y, *self.parameters), dtype=float)

        def slopes(x: Real, y: Real) -> tuple[Any, Any, Any]:
            a, ax = jax.jvp(function, (x, y), (one, zero))
            return a, ax, jax.jvp(function, (x, y), (zero, one))[1]

        (a, ax, ay), (_, xx, xy) = jax.jvp(slopes, (x, y), (one, zero))
        return _Jet(a, ax, ay, xx, xy, jax.jvp(slopes, (x, y), (zero, one))[1][2])

    def _search(self, at: tuple[Any, Any], x: Real, y: Real) -> tuple[Any, Any]:
        """A step that goes the right way from afar too."""
        jet = self._jet(*at)
        far, nx, ny = jet.way()
        side = jnp.where(jet.size < LOST, 0.0, jet.side(x - at[0], y - at[1]))
        new = at[0] - far * nx + side * ny, at[1] - far * ny - side * nx
        sound = jnp.isfinite(new[0]) & jnp.isfinite(new[1])
        return jnp.where(sound, new[0], at[0]), jnp.where(sound, new[1], at[1])

    def _newton(self, at: tuple[Any, Any], x: Real, y: Real) -> tuple[Any, Any]:
        """Newton's step to the curve, and along it to the foot of (x, y)."""
        jet = self._jet(*at)
        nx, ny = jet.normal
        down, side = jet.a / jet.size, jet.side(x - at[0], y - at[1])
        return at[0] - down * nx + side * ny, at[1] - down * ny - side * nx

    def foot(self, x: Real, y: Real) -> tuple[Any, Any, Any, Any]:
        still, sx, sy = jax.lax.stop_gradient((self, x, y))
        fx, fy = settled(lambda at: still._search(at, sx, sy), lambda at: self._newton(at, x, y), (x, y))
        there = self._jet(fx, fy)
        nx, ny = there.normal
        # A foot on the wrong side, or not on the curve, was not found: an estimate with the right sign stands in.
        far, ux, uy = self._jet(x, y).way()
        wrong = ((x - fx) * nx + (y - fy) * ny) * far < -SAME_SIDE
        wrong = wrong | (jnp.abs(there.way()[0]) > 1e-3 * jnp.abs(far) + 1e-12)
        return (
            jnp.where(wrong, x - far * ux, fx),
            jnp.where(wrong, y - far * uy, fy),
            jnp.where(wrong, ux, nx),
            jnp.where(wrong, uy, ny),
        )

    @property
    def exact(self) -> bool:
        return False

    def clearance(self, x: Real, y: Real, t: Real, gap: Real) -> Any:
        return nearest(gap, self.known(x, y, t))

    def known(self, x: Real, y: Real, t: Real) -> Known:
        if self.window is None:
            return Known(self.bend)
        (px, py), wide = self.probe, self.window
        return looked_at(self.bend, wide - jnp.maximum(jnp.abs(x - px), jnp.abs(y - py)))

    def outline(self, box: Box, times: np.ndarray) -> list[np.ndarray]:
        return zero_set(lambda x, y: jnp.asarray(self.function(x, y, *self.parameters), dtype=float), box)

    def bound(self) -> Bound:
        """Of the window, where the bend was not given; `known` says what holds outside."""
        return still(self.bend)

    def _estimated(self, px: Real, py: Real) -> Any:
        """Sharpest bend along the curve, as far as it is found from points near the probe and far from it."""
        assert self.window is not None
        window, wide = self.window, max(1.0, self.window / WINDOW)
        reach, turn = np.meshgrid(np.geomspace(1e-3, 0.7, RINGS), np.arange(RAYS) * 2.4)
        out, turn = self.window * reach.ravel(), turn.ravel()
        x, y = native.rows(lambda x, y: self._walked(x, y, 40))(px + out * np.cos(turn), py + out * np.sin(turn))

        def within(x: Real, y: Real) -> Any:
            return jnp.maximum(jnp.abs(x - px), jnp.abs(y - py)) <= window

        return radius_of(followed(self._put, x, y, within, STRIDE * self.window / wide, round(STEPS * wide)))

    def _put(self, x: Real, y: Real) -> Along:
        """The place of the curve near a point, by Newton's steps down its slope."""
        for _ in range(3):
            jet = self._jet(x, y)
            (nx, ny), down = jet.normal, jet.a / jet.size
            x, y = x - down * nx, y - down * ny
        jet = self._jet(x, y)
        nx, ny = jet.normal
        # The curve runs along (a_y, -a_x), and with a step along it the gradient turns by its Hessian.
        turning = (jet.xx * ny * ny - 2.0 * jet.xy * nx * ny + jet.yy * nx * nx) / jet.size
        on = jnp.abs(jet.a) <= 1e-6 * (jet.size + jet.bending)  # the others did not find the curve
        return Along(x, y, ny, -nx, jnp.abs(turning), on & jnp.isfinite(turning))


class _Jet(NamedTuple):
    """A function and its derivatives at one point."""

    a: Any
    x: Any
    y: Any
    xx: Any
    xy: Any
    yy: Any

    @property
    def size(self) -> Any:
        """Of the gradient."""
        return jnp.sqrt(self.x * self.x + self.y * self.y + NOWHERE)

    @property
    def normal(self) -> tuple[Any, Any]:
        return self.x / self.size, self.y / self.size

    @property
    def bending(self) -> Any:
        """Size of the Hessian."""
        return jnp.sqrt(self.xx * self.xx + 2.0 * self.xy * self.xy + self.yy * self.yy + NOWHERE)

    def way(self) -> tuple[Any, Any, Any]:
        """A way to the curve: how far, and against which unit vector.

        No farther than to where a parabola with this slope and bend would vanish; a / |grad a| close to the curve.
        Where the gradient vanishes, as in the middle of a table, any direction leads to the curve.
        """
        size, (nx, ny) = self.size, self.normal
        far = 2.0 * self.a / (size + jnp.sqrt(size * size + 2.0 * jnp.abs(self.a) * self.bending))
        lost = size < LOST
        return far, jnp.where(lost, 0.8, nx), jnp.where(lost, 0.6, ny)

    def side(self, dx: Real, dy: Real) -> Any:
        """Newton's step along the tangent t = (n_y, -n_x) to the foot of a point at (dx, dy) from here.

        With H the Hessian, d = a / |grad a| the way to the curve and l = (dx, dy) . n / |grad a| the multiplier of the
        condition a = 0, it is s of (1 + l t.H.t) s = (dx, dy) . t + d l t.H.n.
        """
        size, (nx, ny) = self.size, self.normal
        hx, hy = self.xx * ny - self.xy * nx, self.xy * ny - self.yy * nx  # H t
        pull = (dx * nx + dy * ny) / size
        bend = 1.0 + pull * (hx * ny - hy * nx)
        across = dx * ny - dy * nx + self.a / size * pull * (hx * nx + hy * ny)
        return across / jnp.where(bend > BENT, bend, 1.0)
