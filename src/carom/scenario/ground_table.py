"""The table of whole-body contact."""

from __future__ import annotations

from typing import Any

from .. import contact
from ..errors import name_in
from ..mechanism import Mechanism
from .contact_tables import made_law
from .fields import Number, Part, Word, says
from .law_tables import FrictionLaw, NormalLaw
from .shape_tables import Shape


class GroundTable(Part):
    """Whole-body contact: every link against one surface or several, by one law."""

    surface: Word | list[Word] = says("name of a surface, or of several")
    normal: NormalLaw = says("law of the normal direction: compliant (hertz, ...) or impulsive (newton, ...)")
    friction: FrictionLaw | None = says("friction law; none if left out", None)
    shapes: list[Shape] = says("of links; without one a rod has its ends, a disk its rim", [])
    radius: Number = says("half the thickness of rods [m] >= 0", 0.0)
    exclude: list[Word] = says("names of links that do not touch", [])

    def made(self, whole: Mechanism, surfaces: dict[str, Any], materials: dict[str, Any]) -> tuple[Any, ...]:
        names = [self.surface] if isinstance(self.surface, str) else self.surface
        for name in names:
            name_in("surface", name, tuple(surfaces))
        return contact.Ground(
            [surfaces[name] for name in names],
            made_law(self.normal, materials),
            None if self.friction is None else made_law(self.friction, materials),
            shapes=[shape.made() for shape in self.shapes],
            radius=self.radius,
            exclude=self.exclude,
        ).placed(whole)
