"""Tables of constraints: what closes the loops of a mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from .. import registry
from ..errors import name_in
from ..forms import Slot
from .contact_tables import Notes
from .fields import Point, Word
from .form_tables import TYPES, FormTable, form_tables, told_by
from .one_of import choice
from .surface_tables import told_surface


class ConstraintTable(FormTable):
    """Made for a mechanism and the surfaces of the file."""

    types: ClassVar[dict[str, Any]] = TYPES | {"place": Point | Word, "surface": Word, "link": Word}

    def read(self, slot: Slot, *around: Any) -> Any:
        value, (whole, surfaces) = getattr(self, slot.name), around
        if slot.kind == "site" or (slot.kind == "place" and isinstance(value, str)):
            return whole.site(value)
        if slot.kind == "link" and value is not None:
            whole.topology.link(value)
        if slot.kind == "surface":
            name_in("surface", value, tuple(surfaces))
            return surfaces[value]
        return tuple(value) if slot.kind == "place" else super().read(slot)


CONSTRAINTS = form_tables(registry.CONSTRAINTS, base=ConstraintTable)

if TYPE_CHECKING:
    from typing import TypeAlias

    Constraint: TypeAlias = Any
else:
    Constraint = choice(CONSTRAINTS)


def told_constraints(constraints: tuple[Any, ...], notes: Notes) -> dict[str, Any]:
    """Constraints as tables; surfaces that they name are noted with those of the contacts."""
    note = lambda surface: notes.name("surfaces", "surface", told_surface(surface))  # noqa: E731
    every = enumerate(constraints)
    return {f"constraint{i + 1}": told_by(CONSTRAINTS, f"constraint {c.describe()}", c, note) for i, c in every}
