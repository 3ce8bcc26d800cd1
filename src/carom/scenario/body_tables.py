"""Tables of bodies: what links and payloads are made of."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from .. import beam, mechanism, registry
from ..forms import stated
from .fields import Number, Part, Word, says
from .form_tables import form_tables, told_by
from .one_of import choice

MOST_MODES = 16  # a chain of beams with more takes minutes to compile


class Section(Part):
    """A uniform cross-section of a beam."""

    area: Number = says("A [m^2] > 0")
    second_moment: Number = says("I [m^4] > 0, for bending in the plane")
    mass_per_length: Number = says("[kg/m] > 0")
    youngs_modulus: Number = says("E [Pa] > 0")
    shear_modulus: Number | None = says("G [Pa] > 0; Timoshenko beams need it", None)
    shear_factor: Number | None = says("k in (0, 1]; Timoshenko beams need it", None)
    rotary_inertia: Number | None = says("mass moment of inertia per length [kg m]; mu I/A if left out", None)


class Beam(Part):
    """An elastic link: a uniform beam with assumed modes."""

    kind: Literal["beam"] = says("an elastic beam")
    length: Number = says("[m] > 0")
    section: Section = says("its cross-section")
    ends: Annotated[list[Word], Field(min_length=2, max_length=2)] = says(
        "left and right end: simple, clamped, and on the right also free or guided", ["simple", "simple"]
    )
    modes: Annotated[int, Field(ge=1, le=MOST_MODES)] = says("how many modes", 1)
    theory: Word = says("timoshenko or euler-bernoulli", "timoshenko")
    rotary: Word = says("rotary inertia turns with the section, or with the link alone", "section")
    rotary_inertia: Number | None = says("of the moving link [kg m], if not the section's", None)
    air_damping: Number = says("[kg/(m s)] >= 0", 0.0)
    material_damping: Number = says("Kelvin-Voigt [Pa s] >= 0", 0.0)
    damping_ratio: Number | None = says("of every mode, instead of the two above", None)
    foreshortening: bool = says("second-order shortening of the bent axis; for beams that spin fast", False)

    def made(self) -> mechanism.Beam:
        given = self.model_dump(exclude={"kind", "section"}) | {"ends": tuple(self.ends)}
        return mechanism.Beam(section=beam.Section(**self.section.model_dump()), **given)

    @classmethod
    def told(cls, thing: Any) -> dict[str, Any] | None:
        """Its arguments; None for shapes that were given as functions."""
        made_of = thing.recipe.made_of if stated(thing, "shape") == "beam" else None
        if made_of is None:
            return None
        table: dict[str, Any] = {k: list(v) if isinstance(v, tuple) else v for k, v in made_of.items() if v is not None}
        section = {k: v for k, v in dataclasses.asdict(table.pop("section")).items() if v is not None}
        numbers = {k: float(v) for k, v in table.items() if isinstance(v, int | float) and k not in WHOLE}
        return {"kind": "beam", "section": section} | table | numbers


WHOLE = ("modes", "foreshortening")
BODIES = form_tables(registry.BODIES, Beam)

if TYPE_CHECKING:
    from typing import TypeAlias

    AnyBody: TypeAlias = Any
else:
    AnyBody = choice(BODIES)


def told_body(body: object) -> dict[str, Any]:
    """A body as a table."""
    return told_by(BODIES, "a body", body)
