"""Conditions as texts: `strike foot`, `release hand`, `slip foot`, `after 0.2 s`, or any signal's `hip.y < 0.4 m`."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from .. import errors
from ..hybrid._in_words import spelled
from ..hybrid.scene import Scene
from ..signal import known_names
from .switch import AbstractSwitch, After, OnRelease, OnSlip, OnStrike, When

_EVENT = re.compile(r"\s*(strike|release|slip)(?:\s+(?:of\s+)?(.+?))?\s*$")
_AFTER = re.compile(r"\s*after\s+(.+?)\s*$")


class Happening(NamedTuple):
    """What happens to a contact, or, without a name, to any: a strike, a release; or what it is: closed."""

    kind: str
    contact: str = ""

    def value(self, scene: Scene) -> Any:
        return known_names(scene.mechanism, scene.automata)[f"contact.{self.contact}.{self.kind}"].value(scene)


def switch_of(given: str | AbstractSwitch, anywhere: bool = False) -> Any:
    """The switch of a text. `anywhere`: strikes and releases are handed back as happenings, of any contact or one."""
    if isinstance(given, AbstractSwitch):
        return given
    if not isinstance(given, str):
        raise errors.CaromError(
            f"a condition is given as {given!r}; it must be a text such as 'strike foot', 'after 0.2 s' or "
            "'hip.y < 0.4 m', or a switch such as carom.OnStrike('foot')"
        )
    event, after = _EVENT.match(given), _AFTER.match(given)
    if event:
        kind, name = event.group(1), (event.group(2) or "").strip("'\"")
        if anywhere and kind != "slip":
            return Happening(kind, name)
        if not name:
            raise errors.CaromError(f"'{given}' names no contact; write '{kind} NAME'")
        return OnStrike(name) if kind == "strike" else OnRelease(name) if kind == "release" else OnSlip(name)
    if after:
        return After(seconds_of(after.group(1)))
    return When(given)


def seconds_of(text: str) -> float:
    """A stretch of time such as '0.2', '0.2 s' or '30 ms'."""
    from ..signal._grammar import parsed
    from ..signal._unit import unit_of

    tree = parsed(text)
    if tree.kind != "number" or not tree.unit.fits(unit_of("s")[1]):
        raise errors.CaromError(f"'after {text}' is no stretch of time; write it such as 'after 0.2 s'")
    return tree.value


def words_of(switch: AbstractSwitch) -> str:
    """A switch in a few words."""
    return switch.as_text() or spelled(switch)


def text_of(switch: AbstractSwitch) -> str:
    """A switch as files write it in the conditions of a state machine."""
    found = switch.as_text()
    if found is None:
        raise errors.CaromError(
            f"{spelled(switch)} is a condition that no file holds; write it as a text, or use it from Python"
        )
    return found
