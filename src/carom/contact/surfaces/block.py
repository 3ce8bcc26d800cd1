"""A convex polygon that is fixed to the world: a step, a kerb, a table."""

from __future__ import annotations

from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np

from ... import errors
from ...forms import Form, Slot
from ...hybrid._in_words import told
from ...quantities import Points, Real
from .._hull import SHARP, AbstractHull, polygon_of
from ._outline import Box
from .surface import AbstractSurface, Bound, still


class Hull(AbstractHull):
    """A convex polygon in a frame."""

    corners: tuple[tuple[Any, Any], ...]
    radius: Any


class Block(AbstractSurface):
    """A convex polygon with corners [(x, y), ..], in metres, of the world, counter-clockwise; the free side is outside.

    `rounding` [m] >= 0 is the radius of its corners: the block is grown by it on all sides. Stairs are a few blocks;
    where they stand side by side, let the lower one begin inside the higher one.

        carom.Block([(0.0, 0.0), (0.3, 0.0), (0.3, 0.2), (0.0, 0.2)])
    """

    form: ClassVar[Form] = Form(
        "block",
        "a convex polygon that is fixed to the world",
        (
            Slot("corners", "table", "(x, y) of every corner, counter-clockwise [m]"),
            Slot("rounding", "number", "radius of its corners, by which it is grown [m] >= 0", 0.0),
        ),
        lambda block: {"corners": block.hull.corners, "rounding": block.hull.radius},
    )
    body: Hull

    def __init__(self, corners: Points, rounding: Real = 0.0) -> None:
        errors.number("Block", "rounding", rounding, least=0.0)
        self.body = Hull(polygon_of("Block", corners), jnp.asarray(rounding, dtype=float))

    @property
    def hull(self) -> Hull:
        return self.body

    def locate(self, x: Real, y: Real, t: Real) -> tuple[Any, tuple[Any, Any]]:
        away, normal = self.body.locate(x, y)
        return away - self.body.radius, normal

    def gap(self, x: Real, y: Real, t: Real) -> Any:
        return self.locate(x, y, t)[0]

    def normal(self, x: Real, y: Real, t: Real) -> tuple[Any, Any]:
        return self.locate(x, y, t)[1]

    def outline(self, box: Box, times: np.ndarray) -> list[np.ndarray]:
        return [self.body.outline()[::-1]]  # clockwise: the free side lies to the left

    @property
    def words(self) -> str:
        low, high = self._ends()
        rounding = ("rounding", None if errors.known(self.body.radius) == 0.0 else self.body.radius, "m")
        return told("Block", ("corners", self.body.edges, ""), ("from", low, "m"), ("to", high, "m"), rounding)

    def _ends(self) -> tuple[Any, Any]:
        """Its lowest and highest coordinates."""
        points = jnp.stack([jnp.stack(corner) for corner in self.body.corners])
        return jnp.min(points, axis=0), jnp.max(points, axis=0)

    def bound(self) -> Bound:
        low, high = self._ends()
        return still(self.body.radius + SHARP * 0.5 * jnp.hypot(*(high - low)))
