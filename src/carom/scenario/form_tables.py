"""Tables made from forms: a class that has one can be named in files as soon as it stands in a list."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, ClassVar, Literal, Union

import numpy as np
from pydantic import Field, create_model

from ..errors import CaromError
from ..forms import Form, Slot
from .fields import Number, Numbers, Part, Point, Table, Word, says

TYPES: dict[str, Any] = {
    "number": Number,
    "point": Point,
    "numbers": Numbers,
    "table": Table,
    "flag": bool,
    "word": Word,
}


class FormTable(Part):
    """A table that stands for an object of the class `stands_for`."""

    stands_for: ClassVar[type]
    form: ClassVar[Form]

    def made(self) -> Any:
        """The object."""
        given = {slot.name: getattr(self, slot.name) for slot in self.form.slots}
        pairs = {slot.name for slot in self.form.slots if slot.kind == "point"}
        return self.stands_for(**{k: tuple(v) if k in pairs and v is not None else v for k, v in given.items()})

    @classmethod
    def told(cls, thing: Any) -> dict[str, Any] | None:
        """The object as a table; None if it is of another class, or holds what no file can."""
        values = cls.form.told(thing) if type(thing) is cls.stands_for else None
        if values is None:
            return None
        return {"kind": cls.form.name} | {name: plain(value) for name, value in values.items() if value is not None}


def form_table(kind: Any, **more: Any) -> type[FormTable]:
    """The table of a class with a form; `more` fields (type, says(...)) belong to all tables of its place."""
    form: Form = kind.form
    fields = {"kind": (Literal[form.name], says(form.meaning))} | {slot.name: _field(slot) for slot in form.slots}
    made = create_model(kind.__name__, __base__=FormTable, __doc__=kind.__doc__.partition("\n")[0], **(fields | more))
    made.stands_for, made.form = kind, form
    return made


def _field(slot: Slot) -> Any:
    kind = TYPES[slot.kind]
    default = list(slot.default) if isinstance(slot.default, tuple) else slot.default
    return (kind | None if slot.default is None else kind), says(slot.meaning, default)


def choice(tables: Iterable[Any], tag: str = "kind") -> Any:
    """One of these tables; the tag says which."""
    return Annotated[Union[tuple(tables)], Field(discriminator=tag)]  # noqa: UP007 (a union of many at run time)


def told_by(tables: Iterable[Any], what: str, thing: Any, *context: Any) -> dict[str, Any]:
    """The thing as the first of the tables that can tell it."""
    tables = tuple(tables)
    for table in tables:
        found = table.told(thing, *context)
        if found is not None:
            return dict(found)
    known = ", ".join(table.__name__ for table in tables)
    raise CaromError(
        f"{what} of type {type(thing).__name__} is made of code, or of numbers that a file cannot hold; files hold "
        f"{known}; use it from Python"
    )


def plain(value: Any) -> Any:
    """Numbers and lists as TOML has them."""
    if isinstance(value, str | bool) or value is None:
        return value
    if isinstance(value, int) and not isinstance(value, np.integer):
        return value
    return np.asarray(value, dtype=float).tolist()


def plain_fields(thing: Any, names: Iterable[str]) -> dict[str, Any]:
    """Attributes that have a value, as plain numbers."""
    return {name: plain(getattr(thing, name)) for name in names if getattr(thing, name) is not None}


def plain_gravity(vector: Any) -> Any:
    """g downwards where that says it, else the vector."""
    x, y = np.asarray(vector, dtype=float).tolist()
    return -y if x == 0.0 else [x, y]
