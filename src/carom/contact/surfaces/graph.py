"""Terrain: the graph of a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from ... import errors, native
from ...hybrid._in_words import told
from ...quantities import Function, Real
from ._look import largest, radius_of
from ._outline import SMOOTH, Box, finite_runs
from .curve import BENT, SAME_SIDE, AbstractCurve, numbers, probed, refuse_function, refuse_unless_finite, settled
from .surface import WINDOW, Bound, Known, given_bend, given_window, looked_at, nearest, still

ROWS = 250  # of 16 cells each, in a window of 10 m either way, or less; in a larger one as many more
STEPS = 16  # to the foot
MARGIN = 1.1  # on the steepest slope, which is not sought for by itself


class Graph(AbstractCurve):
    """The curve y = height(x) [m]; its free side is above, or below with `below=True` (a ceiling).

    - `height`: a function of x, smooth, written with jax.numpy: `Graph(lambda x: 0.1 * jnp.sin(3 * x))`
    - `parameters`: further arguments of it, if they are to be changed without compiling again, or differentiated:
      `Graph(lambda x, a, k: a * jnp.sin(k * x), parameters=(0.1, 3.0))`
    - `probe` [m]: an x within its domain, where it is tried out
    - `bend` [m]: its smallest radius of curvature; if left out, it is looked for within `window` [m] (10) of `probe`
      when the surface is made, every 5 mm and closer where it sharpens; outside, 0.01 m is assumed, or less if less
      was found

    The gap is the distance to the nearest point, a true one within the graph's radius of curvature; its sign is right
    everywhere. A tip that is blunter than a valley has no unique foot there: make its radius smaller than the valley's.
    """

    height: Callable[..., Any] = eqx.field(static=True)
    parameters: tuple[Any, ...]
    probe: Any
    bend: Any
    steep: Any  # its steepest slope, where bend was not given
    window: Any
    below: bool = eqx.field(static=True)

    def __init__(
        self,
        height: Function,
        parameters: PyTree = (),
        below: bool = False,
        probe: Real = 0.0,
        bend: Real | None = None,
        window: Real | None = None,
    ) -> None:
        refuse_function("Graph", "height", height, "lambda x: 0.1 * jnp.sin(x)")
        errors.number("Graph", "probe", probe)
        self.height, self.below = height, below
        self.parameters = numbers("Graph", parameters)
        at = self.probe = jnp.asarray(probe, dtype=float)
        self.bend, self.steep = given_bend("Graph", bend), None
        self.window = given_window("Graph", window, bend)
        where = "probe" if errors.known(probe) is None else f"x = {float(probe):g}"
        probed("Graph", "height", height, (at, *self.parameters), 1, where)
        refuse_unless_finite("Graph", "height", native.at_once(self._shape, at), where)
        if self.bend is None:  # looked at once, not in every step
            self.bend, self.steep = jax.lax.stop_gradient(self._looked(at, self.window))

    @property
    def words(self) -> str:
        given = ("parameters", self.parameters or None, "")
        return told("Graph", ("height", self.height, ""), given, ("below", True if self.below else None, ""))

    def _shape(self, s: Real) -> tuple[Any, Any, Any]:
        """Height, slope and second derivative."""
        one = jnp.ones_like(s)

        def height(s: Real) -> Any:
            return jnp.asarray(self.height(s, *self.parameters), dtype=float)

        (f0, f1), (_, f2) = jax.jvp(lambda s: jax.jvp(height, (s,), (one,)), (s,), (one,))
        return f0, f1, f2

    def _step(self, s: Real, x: Real, y: Real) -> Any:
        """Newton's step to the least distance; where the graph bends away from the point, as if it were straight."""
        f0, f1, f2 = self._shape(s)
        straight = 1.0 + f1 * f1
        bend = straight + (f0 - y) * f2
        return s - (s - x + (f0 - y) * f1) / jnp.where(bend > BENT * straight, bend, straight)

    def _nearer(self, at: tuple[Any, Any], x: Real, y: Real, above: Real) -> tuple[Any, Any]:
        """That step, if it leads nearer and not through the graph; else a shorter one is tried next.

        A step that overshoots would never settle, or beyond a hill.
        """
        s, most = at
        step = jnp.clip(self._step(s, x, y) - s, -most, most)
        new = s + step
        f0, f1, _ = self._shape(new)
        good = (new - x) ** 2 + (f0 - y) ** 2 <= (s - x) ** 2 + (self._shape(s)[0] - y) ** 2
        good = good & ((y - f0 - f1 * (x - new)) * above >= -SAME_SIDE)
        return jnp.where(good, new, s), jnp.where(good, 2.0 * most, 0.25 * jnp.minimum(most, jnp.abs(step)))

    def foot(self, x: Real, y: Real) -> tuple[Any, Any, Any, Any]:
        still, sx, sy = jax.lax.stop_gradient((self, x, y))
        above = y - self._shape(x)[0]
        # The foot is no farther than the point of the graph below x, hence not farther in x either.
        apart = jax.lax.stop_gradient(above)
        s, _ = settled(
            lambda at: still._nearer(at, sx, sy, apart),
            lambda at: (self._step(at[0], x, y), at[1]),
            (x, jnp.abs(apart)),
            STEPS,
        )
        f0, f1, _ = self._shape(s)
        # A foot whose side contradicts the point's was reached through the graph: take the one below x instead.
        wrong = (y - f0 - f1 * (x - s)) * above < -SAME_SIDE
        s = jnp.where(wrong, x, s)
        f0, f1, _ = self._shape(s)
        size = (-1.0 if self.below else 1.0) * jnp.sqrt(1.0 + f1 * f1)
        return s, f0, -f1 / size, 1.0 / size

    @property
    def exact(self) -> bool:
        return False  # the foot is one nearby: a hill beside it may be nearer

    def clearance(self, x: Real, y: Real, t: Real, gap: Real) -> Any:
        """Nothing is nearer than the steepest slope allows, either."""
        if self.window is None:
            return nearest(gap, self.known(x, y, t))
        above = jnp.abs(y - self._shape(x)[0]) / jnp.sqrt(1.0 + self.steep * self.steep)
        return nearest(gap, self.known(x, y, t), above)

    def known(self, x: Real, y: Real, t: Real) -> Known:
        return Known(self.bend) if self.window is None else looked_at(self.bend, self.window - jnp.abs(x - self.probe))

    def outline(self, box: Box, times: np.ndarray) -> list[np.ndarray]:
        def height(x: Real) -> Any:
            return jnp.asarray(self.height(x, *self.parameters), dtype=float)

        x = np.linspace(box.left, box.right, SMOOTH + 1)
        line = np.stack([x, np.asarray(jax.vmap(height)(jnp.asarray(x)))], axis=1)
        return finite_runs(line[:: -1 if self.below else 1])

    def bound(self) -> Bound:
        """Of the window, where the bend was not given; `known` says what holds outside."""
        return still(self.bend)

    def _looked(self, x: Real, reach: float) -> tuple[Any, Any]:
        """Sharpest bend and steepest slope within a distance of a place."""

        def measure(s: Real) -> Any:
            _, slope, second = self._shape(s)
            # Of a steep hill's crest the curvature is a needle, and the second derivative as wide as the hill.
            return jnp.stack([second, second / (1.0 + slope * slope) ** 1.5, slope])

        _, curvature, steep = largest(measure, x, reach, round(ROWS * max(1.0, reach / WINDOW)))
        return jnp.asarray(radius_of(curvature)), jnp.asarray(MARGIN * steep)
