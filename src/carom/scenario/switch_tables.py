"""Tables of switches: what ends a phase of a schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from .. import control
from ..errors import name_in
from ..mechanism import Mechanism
from .fields import Number, Part, Word, says
from .form_tables import choice, plain, told_by


class OnStrike(Part):
    """Until a contact closes."""

    until: Literal["strike"] = says("a contact closes")
    contact: Word = says("its name")

    def made(self, whole: Mechanism, contacts: dict[str, Any]) -> control.OnStrike:
        name_in("contact", self.contact, tuple(contacts))
        return control.OnStrike(contacts[self.contact])

    @classmethod
    def told(cls, thing: Any) -> dict[str, Any] | None:
        return {"until": "strike", "contact": thing.contact} if type(thing) is control.OnStrike else None


class AtHeight(Part):
    """Until a site passes a height."""

    until: Literal["height"] = says("a site passes a height")
    site: Word = says("its name")
    height: Number = says("[m]")
    rising: bool = says("on the way up (true) or down", True)

    def made(self, whole: Mechanism, contacts: dict[str, Any]) -> control.AtHeight:
        return control.AtHeight(whole.site(self.site), self.height, self.rising)

    @classmethod
    def told(cls, thing: Any) -> dict[str, Any] | None:
        if type(thing) is not control.AtHeight:
            return None
        return {"until": "height", "site": thing.site.name, "height": plain(thing.height), "rising": thing.rising}


class AtTime(Part):
    """Until an instant."""

    until: Literal["time"] = says("an instant")
    time: Number = says("[s]")

    def made(self, whole: Mechanism, contacts: dict[str, Any]) -> control.AtTime:
        return control.AtTime(self.time)

    @classmethod
    def told(cls, thing: Any) -> dict[str, Any] | None:
        return {"until": "time", "time": plain(thing.time)} if type(thing) is control.AtTime else None


SWITCHES = (OnStrike, AtHeight, AtTime)

if TYPE_CHECKING:
    from typing import TypeAlias

    Switch: TypeAlias = Any
else:
    Switch = choice(SWITCHES, "until")


def told_switch(switch: Any) -> dict[str, Any]:
    """A switch as a table."""
    return told_by(SWITCHES, "a switch", switch)
