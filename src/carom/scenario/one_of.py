"""One of several tables, of which a tag says which. A table is made when a file first names it: few files name many.

What is wrong with a file is said by all tables of a place together, as pydantic says it of a union.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Annotated, Any, ClassVar, Union, get_args

from pydantic import BaseModel, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, TypeAdapter, ValidationError
from pydantic_core import core_schema

from ..registry import Line

Table = type[BaseModel]
Made = Iterable[Table]


class Tables:
    """The tables of one place, in the order of their lists: some are classes, others are made of a list's lines."""

    def __init__(self, lines: Iterable[Line], make: Callable[[Line], Table], first: Made = (), last: Made = ()) -> None:
        self.lines, self.first, self.last = tuple(lines), tuple(first), tuple(last)
        self.made = functools.cache(make)

    def __iter__(self) -> Iterator[Table]:
        return chain(self.first, map(self.made, self.lines), self.last)

    def named(self, key: str, word: object) -> Any:
        """The table whose `key` says `word`; None if there is none."""
        if not isinstance(word, str):
            return None
        # Things are called as their files or classes are, nearly all of them: those are looked at first.
        like = word.replace("-", "_")
        lines = sorted(self.lines, key=lambda line: like not in line.place.lower())
        for table in chain(self.first, self.last, map(self.made, lines)):
            if word in get_args(table.model_fields[key].annotation):
                return table
        return None

    def after(self, *others: Table) -> Tables:
        """These tables, and others before them."""
        return Tables(self.lines, self.made, first=others)


class OneOf:
    """The type of a field for which a file gives one of these tables."""

    tables: ClassVar[Tables]
    tag: ClassVar[str]

    @classmethod
    def read(cls, value: object) -> Any:
        """The table that the tag names; if it does not fit, what all of them say."""
        table = cls.tables.named(cls.tag, value.get(cls.tag)) if isinstance(value, dict) else None
        if table is not None:
            try:
                return table.model_validate(value)
            except ValidationError:
                pass
        return cls.union().validate_python(value)

    @classmethod
    @functools.cache
    def union(cls) -> Any:
        """All tables."""
        kind: Any = Annotated[Union[tuple(cls.tables)], Field(discriminator=cls.tag)]  # noqa: UP007 (made at run time)
        return TypeAdapter(kind)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(cls.read)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return handler(cls.union().core_schema)


def choice(tables: Tables, tag: str = "kind") -> Any:
    """One of these tables; the tag says which."""
    return type("OneOf", (OneOf,), {"tables": tables, "tag": tag})
