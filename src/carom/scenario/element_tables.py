"""Tables of elements: forces that are neither contacts nor controllers. Springs have a table of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import registry
from ..forms import Slot
from ..hybrid.automaton import AbstractAutomaton
from .form_tables import FormTable, form_tables, told_by
from .one_of import choice


class ElementTable(FormTable):
    """Made for a mechanism, under the name that the file gives it."""

    def made(self, *around: Any) -> Any:
        name, whole = around
        return type(self).make(**{slot.name: self.read(slot, whole) for slot in self.form.slots}, name=name)

    def read(self, slot: Slot, *around: Any) -> Any:
        value, (whole,) = getattr(self, slot.name), around
        return whole.site(value) if slot.kind == "site" else super().read(slot)


ELEMENTS = form_tables(registry.ELEMENTS, base=ElementTable)

if TYPE_CHECKING:
    from typing import TypeAlias

    Element: TypeAlias = Any
else:
    Element = choice(ELEMENTS)


def told_element(element: AbstractAutomaton) -> dict[str, Any]:
    """An element as a table."""
    return told_by(ELEMENTS, f"'{element.name}'", element)
