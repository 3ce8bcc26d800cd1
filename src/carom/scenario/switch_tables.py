"""Tables of switches: what ends a phase of a schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from .. import control, registry
from ..errors import name_in
from ..forms import Slot
from ..mechanism import Mechanism
from .form_tables import FormTable, form_tables, plain, told_by
from .one_of import choice


class SwitchTable(FormTable):
    """Contacts and sites are those of the world that it is made for."""

    tag: ClassVar[str] = "until"

    def read(self, slot: Slot, *around: Any) -> Any:
        whole, contacts = around
        value = getattr(self, slot.name)
        if slot.kind == "contact":
            name_in("contact", value, tuple(contacts))
            return contacts[value]
        return whole.site(value) if slot.kind == "site" else super().read(slot)

    @classmethod
    def write(cls, kind: str, value: Any) -> Any:
        return value.name if kind == "site" else plain(value)


SWITCHES = form_tables(registry.SWITCHES, base=SwitchTable)

if TYPE_CHECKING:
    from typing import TypeAlias

    Switch: TypeAlias = Any
else:
    Switch = choice(SWITCHES, SwitchTable.tag)


def made_switch(table: Any, whole: Mechanism, contacts: dict[str, Any]) -> control.AbstractSwitch:
    """The switch, for the contacts and sites of a world."""
    made: control.AbstractSwitch = table.made(whole, contacts)
    return made


def told_switch(switch: object) -> dict[str, Any]:
    """A switch as a table."""
    return told_by(SWITCHES, "a switch", switch)
