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
from .fields import Number, Part, Text, Word, says
from .form_tables import TYPES, FormTable, form_tables, plain, told_by
from .one_of import choice
from .switch_tables import Switch, made_switch, told_switch
from .trajectory_tables import Trajectory, told_trajectory

if TYPE_CHECKING:
    from ..control.mode import Mode


class Around(NamedTuple):
    """What a controller is made for: the mechanism, its contacts by name, the pose to hold if it has none, and what it
    takes the mechanism for.
    """

    whole: Mechanism
    contacts: dict[str, Any]
    pose: Callable[[], Any]
    believed: Mechanism | None = None


class StateTable(Part):
    """A state of a state machine."""

    targets: dict[Word, Number | Text] = says("by joint [rad], [m]: numbers, or signals as texts", {})
    kp: dict[Word, Number] = says("gains by joint [N m/rad], [N/m]", {})
    kd: dict[Word, Number] = says("gains by joint [N m s/rad], [N s/m]", {})
    torques: dict[Word, Number | Text] = says("by joint [N m], [N]: numbers, or signals as texts", {})
    trajectory: Trajectory | None = says("a motion that begins when the state is entered", None)
    follows: list[Word] = says("joints that the trajectory moves; all with kp if left out", [])
    to: dict[Word, Text | list[Text]] = says("conditions by the state that they lead to, such as 'strike foot'", {})

    def made(self) -> Mode:
        """The state as Python has it."""
        from ..control.mode import Mode  # few scenarios have a state machine

        values = {name: getattr(self, name) for name in type(self).model_fields if name != "trajectory"}
        return Mode(**values, trajectory=None if self.trajectory is None else self.trajectory.made())


class ControlTable(FormTable):
    """Made for a mechanism, under the name that the file gives it."""

    types: ClassVar[dict[str, Any]] = TYPES | {
        "trajectory": Trajectory,
        "switches": Annotated[list[Switch], Field(max_length=64)],
        "states": Annotated[dict[Word, StateTable], Field(max_length=64)],
        "joints": dict[Word, Number],
    }

    def made(self, *around: Any) -> Any:
        name, given = around
        values = {slot.name: self.read(slot, given) for slot in self.form.slots}
        knows = given.believed is not None and getattr(type(self).make, "knows_model", False)
        return type(self).make(given.whole, **values, name=name, **({"model": given.believed} if knows else {}))

    def read(self, slot: Slot, *around: Any) -> Any:
        value, (given,) = getattr(self, slot.name), around
        if slot.kind == "pose":
            return np.asarray(given.pose() if value is None else value, dtype=float)
        if slot.kind == "switches":
            return [made_switch(switch, given.whole, given.contacts) for switch in value]
        if slot.kind == "states":
            return {name: state.made() for name, state in value.items()}
        if slot.kind == "trajectory":
            return None if value is None else value.made()
        return super().read(slot)

    @classmethod
    def write(cls, kind: str, value: Any) -> Any:
        if kind == "switches":
            return [told_switch(switch) for switch in value]
        if kind == "states":
            return {name: _told_state(state) for name, state in value.items()}
        if kind == "joints":
            return {name: plain(number) for name, number in value.items()}
        return told_trajectory(value) if kind == "trajectory" else super().write(kind, value)


def _told_state(state: dict[str, Any]) -> dict[str, Any]:
    return {k: told_trajectory(x) if k == "trajectory" else x for k, x in state.items()}


CONTROLLERS = form_tables(registry.CONTROLLERS, base=ControlTable)

if TYPE_CHECKING:
    from typing import TypeAlias

    Control: TypeAlias = Any
else:
    Control = choice(CONTROLLERS)


def told_controller(c: object, world: World) -> dict[str, Any]:
    """A controller as a table."""
    return told_by(CONTROLLERS, f"'{getattr(c, 'name', c)}'", c, world.mechanism)
