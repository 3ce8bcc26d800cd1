"""Tables made from forms: a class that has one can be named in files as soon as it stands in a list."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import create_model

from ..errors import CaromError
from ..forms import Form, Slot, Spelled, stated
from ..quantities import Given
from ..registry import Line
from .fields import Number, Numbers, Part, Point, Table, Word, says
from .one_of import Tables

TYPES: dict[str, Any] = {
    "number": Number,
    "point": Point,
    "numbers": Numbers,
    "gains": Number | Numbers,
    "table": Table,
    "tables": list[Table],
    "site": Word,
    "contact": Word,
    "pose": Numbers,
    "flag": bool,
    "word": Word,
    "words": list[Word],
}


class FormTable(Part):
    """A table that stands for an object whose class has this form, and is made into one by `make`."""

    make: ClassVar[Any]
    form: ClassVar[Form]
    tag: ClassVar[str] = "kind"
    types: ClassVar[dict[str, Any]] = TYPES

    def made(self, *around: Any) -> Any:
        """The object."""
        return type(self).make(**{slot.name: self.read(slot, *around) for slot in self.form.slots})

    def read(self, slot: Slot, *around: Any) -> Any:
        """A value as the class takes it."""
        value = getattr(self, slot.name)
        if slot.kind == "table" and value is not None:
            return rows_of(slot.name, value)
        return tuple(value) if slot.kind == "point" and value is not None else value

    @classmethod
    def told(cls, thing: object, *around: Any) -> dict[str, Any] | None:
        """The object as a table; None if its class has another form, or it holds what no file can."""
        values = cls.form.told(thing, *around) if stated(thing, "form") is cls.form else None
        if values is None:
            return None
        kinds = {slot.name: slot.kind for slot in cls.form.slots}
        written = {name: cls.write(kinds[name], value) for name, value in values.items() if value is not None}
        return {cls.tag: cls.form.name} | written

    @classmethod
    def write(cls, kind: str, value: Any) -> Any:
        """A value as files have it."""
        return list(value) if kind == "words" else plain(value)


def form_table(kind: Any, base: type[FormTable] = FormTable, **more: Any) -> type[FormTable]:
    """The table of a class with a form, or of a function and its form; `more` fields (type, says(...)) belong to all
    tables of its place, as does their `base`.
    """
    make, form = kind if isinstance(kind, Spelled) else (kind, kind.form)
    fields = {base.tag: (Literal[form.name], says(form.meaning))}
    fields |= {slot.name: _field(slot, base.types) for slot in form.slots}
    made = create_model(
        make.__name__, __base__=base, __doc__=(make.__doc__ or "").partition("\n")[0], **(fields | more)
    )
    made.make, made.form = make, form
    return made


def _field(slot: Slot, types: dict[str, Any]) -> Any:
    kind = types[slot.kind]
    default = list(slot.default) if isinstance(slot.default, tuple) else slot.default
    return (kind | None if slot.default is None else kind), says(slot.meaning, default)


def form_tables(lines: tuple[Line, ...], *last: type[Part], base: type[FormTable] = FormTable, **more: Any) -> Tables:
    """Tables of the things in a list of the registry, and others."""
    return Tables(lines, lambda line: form_table(line.found(), base, **more), last=last)


def told_by(tables: Iterable[Any], what: str, thing: object, *context: Any) -> dict[str, Any]:
    """The thing as the first of the tables that can tell it."""
    for table in tables:
        found = table.told(thing, *context)
        if found is not None:
            return dict(found)
    known = ", ".join(table.__name__ for table in tables)
    raise CaromError(
        f"{what} of type {type(thing).__name__} is made of code, or of numbers that a file cannot hold; files hold "
        f"{known}; use it from Python"
    )


def rows_of(field: str, rows: list[list[float]]) -> np.ndarray:
    """Rows of one length."""
    if len({len(row) for row in rows}) != 1:
        raise CaromError(
            f"{field} has rows of {[len(row) for row in rows]} numbers; every row must have one per link", field=field
        )
    return np.asarray(rows, dtype=float)


def plain(value: object) -> Any:
    """Numbers and lists as TOML has them."""
    if isinstance(value, str | bool) or value is None:
        return value
    if isinstance(value, int) and not isinstance(value, np.integer):
        return value
    return np.asarray(value, dtype=float).tolist()


def plain_fields(thing: object, names: Iterable[str]) -> dict[str, Any]:
    """Attributes that have a value, as plain numbers."""
    return {name: plain(getattr(thing, name)) for name in names if getattr(thing, name) is not None}


def plain_gravity(vector: Given) -> Any:
    """g downwards where that says it, else the vector."""
    x, y = np.asarray(vector, dtype=float).tolist()
    return -y if x == 0.0 else [x, y]
