"""Terrain: the graph of a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ... import errors
from ...hybrid._in_words import told
from ...quantities import Real
from ._outline import SMOOTH, Box, finite_runs
from .curve import BENT, SAME_SIDE, AbstractCurve, numbers, probed, refuse_function, refuse_unless_finite, settled
from .surface import Bound, bend_of, given_bend, still

SEEN = 10.0  # [m] how far from the probe curvature is looked at


class Graph(AbstractCurve):
    """The curve y = height(x) [m]; its free side is above, or below with `below=True` (a ceiling).

    - `height`: a function of x, smooth, written with jax.numpy: `Graph(lambda x: 0.1 * jnp.sin(3 * x))`
    - `parameters`: further arguments of it, if they are to be changed without compiling again, or differentiated:
      `Graph(lambda x, a, k: a * jnp.sin(k * x), parameters=(0.1, 3.0))`
    - `probe` [m]: an x within its domain, where it is tried out
    - `bend` [m]: its smallest radius of curvature; if left out, what is found within 10 m of `probe`

    The gap is the distance to the nearest point, a true one within the graph's radius of curvature; its sign is right
    everywhere. A tip that is blunter than a valley has no unique foot there: make its radius smaller than the valley's.
    """

    height: Callable[..., Any] = eqx.field(static=True)
    parameters: tuple[Any, ...]
    probe: Any
    bend: Any
    steep: Any  # its steepest slope, where bend was not given
    below: bool = eqx.field(static=True)

    def __init__(
        self, height: Any, parameters: Any = (), below: bool = False, probe: Any = 0.0, bend: Any = None
    ) -> None:
        refuse_function("Graph", "height", height, "lambda x: 0.1 * jnp.sin(x)")
        errors.number("Graph", "probe", probe)
        self.height, self.below = height, below
        self.parameters = numbers("Graph", parameters)
        at = self.probe = jnp.asarray(probe, dtype=float)
        self.bend, self.steep = given_bend("Graph", bend), None
        where = "probe" if errors.known(probe) is None else f"x = {float(probe):g}"
        probed("Graph", "height", height, (at, *self.parameters), 1, where)
        refuse_unless_finite("Graph", "height", self._shape(at), where)
        if self.bend is None:  # looked at once, not in every step
            self.bend, self.steep = jax.lax.stop_gradient(self._estimated())

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

    def foot(self, x: Real, y: Real) -> tuple[Any, Any, Any, Any]:
        still, sx, sy = jax.lax.stop_gradient((self, x, y))
        above = y - self._shape(x)[0]
        # The foot is no farther than the point of the graph below x, hence not farther in x either.
        reach = jnp.abs(jax.lax.stop_gradient(above))
        s = settled(
            lambda s: jnp.clip(still._step(s, sx, sy), sx - reach, sx + reach), lambda s: self._step(s, x, y), x
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
        """A foot nearer than the sharpest bend is the nearest; and nothing is nearer than the steepest slope allows."""
        near = jnp.minimum(gap, self.bend)
        if self.steep is None:
            return near
        above = jnp.abs(y - self._shape(x)[0]) / jnp.sqrt(1.0 + self.steep * self.steep)
        return jnp.where(gap > 0.0, jnp.maximum(near, above), gap)

    def outline(self, box: Box, times: np.ndarray) -> list[np.ndarray]:
        def height(x: Real) -> Any:
            return jnp.asarray(self.height(x, *self.parameters), dtype=float)

        x = np.linspace(box.left, box.right, SMOOTH + 1)
        line = np.stack([x, np.asarray(jax.vmap(height)(jnp.asarray(x)))], axis=1)
        return finite_runs(line[:: -1 if self.below else 1])

    def bound(self) -> Bound:
        return still(self.bend)

    def _estimated(self) -> tuple[Any, Any]:
        """Sharpest bend and steepest slope, close to the probe and far from it, in steps that no terrain shares."""
        far = np.concatenate([np.geomspace(1e-4, SEEN, 200), np.linspace(0.0, SEEN, 800)])
        _, slope, second = jax.vmap(self._shape)(self.probe + jnp.asarray(np.concatenate([-far, far])))
        one = jnp.ones_like(slope)
        steep = jnp.max(jnp.where(jnp.isfinite(slope), jnp.abs(slope), 0.0))
        return bend_of((one, slope), (0.0 * one, second)), steep
