"""Forms: how a thing is spelled in a scenario file. Reader, writer, schema and help are made from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

REQUIRED: Any = ...
Kind = Literal[
    "number", "point", "numbers", "gains", "table", "tables", "flag", "word", "words",
    "trajectory", "switches", "states", "joints", "site", "contact", "pose", "place", "surface", "link",
]  # fmt: skip


def stated(thing: object, word: str) -> Any:
    """What the class of a thing says of itself under this word; None where it only inherits that.

    A subclass may be more than its parent says, and would be written as less than it is.
    """
    return vars(type(thing)).get(word)


class Slot(NamedTuple):
    """A value: its name (of the argument), its kind, what it means with unit and range, and its default.

    A point is (x, y), numbers are a list of any length, gains are numbers or one for all, a table is a list of
    lists of numbers, tables are a list of those, words are a list of names, joints are numbers by joint, states are
    those of a state machine. Sites, links, surfaces and contacts are given by name, a place by a site's name or as a
    point; a pose that is left out is that of the start.
    """

    name: str
    kind: Kind
    meaning: str
    default: Any = REQUIRED


class Form(NamedTuple):
    """A class in files: what it is called there, what it is, its values, and how they are read from an object.

    `tell` returns the values by name, those that are None left out, or None if this object cannot be written; without
    it they are the attributes of these names. That of a controller is also given the mechanism, that of a constraint a
    function that names a surface.
    """

    name: str
    meaning: str
    slots: tuple[Slot, ...]
    tell: Callable[..., dict[str, Any] | None] | None = None

    def told(self, thing: object, *around: Any) -> dict[str, Any] | None:
        return {s.name: getattr(thing, s.name) for s in self.slots} if self.tell is None else self.tell(thing, *around)


class Spelled(NamedTuple):
    """A function in files: what makes the thing, and its form; what is made is written by the form of its class."""

    make: Callable[..., Any]
    form: Form
