"""A round surface, from outside or inside."""

from __future__ import annotations

from typing import Any, ClassVar

import equinox as eqx
import numpy as np

from ... import errors
from ...forms import Form, Slot
from ...hybrid._in_words import told
from ...quantities import Given, Real
from ._outline import SMOOTH, Box, floats
from .surface import AbstractSurface, Bound, Relief, direction, still


class Circle(AbstractSurface):
    """Circle of a radius [m] about a centre [m]; the free side is outside, or inside with `inside=True`.

    At the centre no direction leads to the nearest point: the normal is (0, 0) there, and nothing is infinite.
    """

    form: ClassVar[Form] = Form(
        "circle",
        "a round surface",
        (
            Slot("centre", "point", "(x, y) [m]"),
            Slot("radius", "number", "[m] > 0"),
            Slot("inside", "flag", "is the free side inside?", False),
        ),
    )
    centre: tuple[Any, Any]
    radius: Any
    inside: bool = eqx.field(static=True, default=False)

    def __init__(self, centre: Given, radius: Real, inside: bool = False) -> None:
        errors.vector("Circle", "centre", centre, 2)
        errors.number("Circle", "radius", radius, above=0.0)
        self.centre = (errors.array(centre[0]), errors.array(centre[1]))
        self.radius = errors.array(radius)
        self.inside = inside

    def locate(self, x: Real, y: Real, t: Real) -> tuple[Any, tuple[Any, Any]]:
        away, (ux, uy) = direction(x - self.centre[0], y - self.centre[1])
        return (self.radius - away, (-ux, -uy)) if self.inside else (away - self.radius, (ux, uy))

    def gap(self, x: Real, y: Real, t: Real) -> Any:
        return self.locate(x, y, t)[0]

    def normal(self, x: Real, y: Real, t: Real) -> tuple[Any, Any]:
        return self.locate(x, y, t)[1]

    def outline(self, box: Box, times: np.ndarray) -> list[np.ndarray]:
        turn = np.linspace(0.0, 2.0 * np.pi, SMOOTH // 2 + 1) * (1.0 if self.inside else -1.0)
        return [floats(self.centre) + float(self.radius) * np.stack([np.cos(turn), np.sin(turn)], axis=1)]

    @property
    def words(self) -> str:
        inside = ("inside", True if self.inside else None, "")
        return told("Circle", ("centre", self.centre, "m"), ("radius", self.radius, "m"), inside)

    @property
    def relief(self) -> Relief:
        return "hollow" if self.inside else "round"

    def bound(self) -> Bound:
        return still(self.radius)
