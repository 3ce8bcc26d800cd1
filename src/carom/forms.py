"""Forms: how a thing is spelled in a scenario file. Reader, writer, schema and help are made from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

REQUIRED: Any = ...
Kind = Literal["number", "point", "numbers", "table", "flag", "word"]


class Slot(NamedTuple):
    """A value: its name (of the argument), its kind, what it means with unit and range, and its default.

    A point is (x, y), numbers are a list of any length, a table is a list of such lists.
    """

    name: str
    kind: Kind
    meaning: str
    default: Any = REQUIRED


class Form(NamedTuple):
    """A class in files: what it is called there, what it is, its values, and how they are read from an object.

    `tell` returns the values by name, those that are None left out, or None if this object cannot be written; without
    it they are the attributes of these names.
    """

    name: str
    meaning: str
    slots: tuple[Slot, ...]
    tell: Callable[[Any], dict[str, Any] | None] | None = None

    def told(self, thing: Any) -> dict[str, Any] | None:
        return {s.name: getattr(thing, s.name) for s in self.slots} if self.tell is None else self.tell(thing)
