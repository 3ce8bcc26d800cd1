"""A straight surface: floor, slope, wall, ceiling."""

from __future__ import annotations

from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np

from ... import errors
from ..._arguments import Name
from ...forms import Form, Slot
from ...hybrid._in_words import told
from ...quantities import Given, Point, Real
from ._outline import Box, floats
from .surface import AbstractSurface, Bound, Relief, still


def _told(plane: Plane) -> dict[str, Any]:
    """A level floor by its height, any other by a point and its normal."""
    (x, y), normal = floats(plane.point).tolist(), floats(plane.unit).tolist()
    return {"height": y} if x == 0.0 and normal == [0.0, 1.0] else {"point": [x, y], "normal": normal}


class Plane(AbstractSurface):
    """Half-plane through a point; its free side lies to the left of its direction (above, for slope 0).

    - `Plane(height=-1.0)`: a floor [m]
    - `Plane(point=(0, 0), slope=0.1)`: a slope, inclined by `slope` [rad]
    - `Plane(point=(2, 0), normal=(-1, 0))`: a wall; `normal` points into the free side and may have any length > 0
    - `Wall(2.0, facing="left")`: the same wall

            free side
        n ^      /  slope
          | ___/______ direction
    """

    form: ClassVar[Form] = Form(
        "plane",
        "a floor, slope, wall or ceiling",
        (
            Slot("height", "number", "of a level floor [m]", None),
            Slot("point", "point", "a point on it (x, y) [m], instead of a height", None),
            Slot("slope", "number", "inclination [rad]", None),
            Slot("normal", "point", "direction into the free side (x, y), instead of a slope", None),
        ),
        _told,
    )
    point: tuple[Any, Any]
    unit: tuple[Any, Any]  # the normal

    def __init__(
        self,
        height: Real | None = None,
        *,
        point: Point | None = None,
        slope: Real | None = None,
        normal: Given | None = None,
    ) -> None:
        if (height is None) == (point is None):
            raise errors.CaromError(
                "Plane needs either a height or a point (x, y), not both; such as Plane(height=0.0)"
            )
        if slope is not None and normal is not None:
            raise errors.CaromError("Plane got both a slope and a normal; each says which way it faces; leave out one")
        if point is not None:
            errors.vector("Plane", "point", point, 2)
        else:
            errors.number("Plane", "height", height)
        x, y = (0.0, height) if point is None else (point[0], point[1])
        self.point = (errors.array(x), errors.array(y))
        self.unit = _along(normal) if normal is not None else _inclined(0.0 if slope is None else slope)

    def gap(self, x: Real, y: Real, t: Real) -> Any:
        nx, ny = self.unit
        return nx * (x - self.point[0]) + ny * (y - self.point[1])

    def normal(self, x: Real, y: Real, t: Real) -> tuple[Any, Any]:
        return self.unit

    def outline(self, box: Box, times: np.ndarray) -> list[np.ndarray]:
        point, normal = floats(self.point), floats(self.unit)
        along = np.array([normal[1], -normal[0]])
        # From the foot of the box's centre half a diagonal to both sides: nothing of it inside the box is missing.
        centre = np.asarray(box.centre)
        foot = centre - ((centre - point) @ normal) * normal
        return [np.stack([foot - 0.6 * box.size * along, foot + 0.6 * box.size * along])]

    @property
    def words(self) -> str:
        known = errors.known((*self.point, *self.unit))
        if known is not None and known[[0, 2, 3]].tolist() == [0.0, 0.0, 1.0]:
            return told("Plane", ("height", self.point[1], "m"))
        return told("Plane", ("point", self.point, "m"), ("normal", self.unit, ""))

    @property
    def relief(self) -> Relief:
        return "flat"

    def bound(self) -> Bound:
        return still(jnp.inf)


def _inclined(slope: Real) -> tuple[Any, Any]:
    errors.number("Plane", "slope", slope)
    of = errors.library_for(slope)
    slope = of.asarray(slope, dtype=float)
    return errors.array(-of.sin(slope)), errors.array(of.cos(slope))


def _along(normal: Given) -> tuple[Any, Any]:
    errors.vector("Plane", "normal", normal, 2)
    errors.refuse_if(
        (normal[0] == 0.0) & (normal[1] == 0.0),
        lambda: "normal of Plane is (0, 0); it must point into the free side, such as (0, 1) for a floor",
    )
    of = errors.library_for((normal[0], normal[1]))
    x, y = of.asarray(normal[0], dtype=float), of.asarray(normal[1], dtype=float)
    size = of.hypot(x, y)
    size = of.where(of.abs(size - 1.0) < 4e-16, 1.0, size)  # a unit vector stays what it is, to the last bit
    return errors.array(x / size), errors.array(y / size)


def Wall(x: Real, facing: Name) -> Plane:
    """An upright plane at x [m] whose free side lies to the "left" or to the "right"."""
    errors.number("Wall", "x", x)
    errors.name_in("facing of Wall", facing, ("left", "right"))
    return Plane(point=(x, 0.0), normal=(-1.0 if facing == "left" else 1.0, 0.0))
