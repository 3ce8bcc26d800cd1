"""Tables of controllers: what drives a mechanism."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

import numpy as np
from pydantic import Field

from .. import registry
from ..forms import Slot
from ..hybrid.world import World
from ..mechanism import Mechanism
from .form_tables import TYPES, FormTable, choice, form_table, told_by
from .switch_tables import Switch, made_switch, told_switch
from .trajectory_tables import Trajectory, told_trajectory


class Around(NamedTuple):
    """What a controller is made for: the mechanism, its contacts by name, and the pose to hold if it has none."""

    whole: Mechanism
    contacts: dict[str, Any]
    pose: Callable[[], Any]


class ControlTable(FormTable):
    """Made for a mechanism, under the name that the file gives it."""

    types: ClassVar[dict[str, Any]] = TYPES | {
        "trajectory": Trajectory,
        "switches": Annotated[list[Switch], Field(max_length=64)],
    }

    def made(self, *around: Any) -> Any:
        name, given = around
        values = {slot.name: self.read(slot, given) for slot in self.form.slots}
        return type(self).make(given.whole, **values, name=name)

    def read(self, slot: Slot, *around: Any) -> Any:
        value, (given,) = getattr(self, slot.name), around
        if slot.kind == "pose":
            return np.asarray(given.pose() if value is None else value, dtype=float)
        if slot.kind == "switches":
            return [made_switch(switch, given.whole, given.contacts) for switch in value]
        if slot.kind == "trajectory":
            return None if value is None else value.made()
        return super().read(slot)

    @classmethod
    def write(cls, kind: str, value: Any) -> Any:
        if kind == "switches":
            return [told_switch(switch) for switch in value]
        return told_trajectory(value) if kind == "trajectory" else super().write(kind, value)


CONTROLLERS = tuple(form_table(line.found(), ControlTable) for line in registry.CONTROLLERS)

if TYPE_CHECKING:
    from typing import TypeAlias

    Control: TypeAlias = Any
else:
    Control = choice(CONTROLLERS)


def told_controller(c: object, world: World) -> dict[str, Any]:
    """A controller as a table."""
    return told_by(CONTROLLERS, f"'{getattr(c, 'name', c)}'", c, world.mechanism)
