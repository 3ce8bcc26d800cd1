"""The schema as data: for editors, and for finding which table stands where."""

from __future__ import annotations

import types
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

from .model import Scenario
from .one_of import OneOf

TAGS = ("law", "kind", "until")  # keys by which the tables of one place are told apart


def json_schema() -> dict[str, Any]:
    """JSON Schema of scenario files; editors complete and check with it."""
    found = Scenario.model_json_schema()
    found["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    found["title"] = "carom scenario"
    return found


def model_at(path: tuple[str | int, ...], data: object) -> type[BaseModel] | None:
    """The kind of table at a place of a scenario's data; the data tell which member of a union it is."""
    kind = _chosen(*_type_at(path, data))
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def tags_at(path: tuple[str | int, ...], data: object, key: str) -> list[str]:
    """The words that `key` may have in the tables of one place, in the order of their list."""
    fields = [table.model_fields[key] for table in _tables_at(path, data) if key in table.model_fields]
    return [word for field in fields for word in get_args(field.annotation)]


def told_apart(path: tuple[str | int, ...], data: object) -> bool:
    """May tables of several kinds stand at a place, so that a tag says which?"""
    return len(_tables_at(path, data)) > 1


def _tables_at(path: tuple[str | int, ...], data: object) -> list[type[BaseModel]]:
    return [m for m in _members(_type_at(path, data)[0]) if isinstance(m, type) and issubclass(m, BaseModel)]


def _type_at(path: tuple[str | int, ...], data: object) -> tuple[Any, Any]:
    """What may stand at a place, all members of a union, and the value that does."""
    kind: Any = Scenario
    for step in path:
        kind = _inside(_chosen(kind, data), str(step))
        inner = data.get(step) if isinstance(data, dict) else None
        if isinstance(data, list) and isinstance(step, int) and step < len(data):
            inner = data[step]
        data = inner
    return kind, data


def meaning_at(path: tuple[str | int, ...]) -> str:
    """What a field means, if it means the same in every table that can stand there."""
    kinds: list[Any] = [Scenario]
    for i, step in enumerate(path):
        inner: list[Any] = []
        for kind in kinds:
            for member in _members(kind):
                if isinstance(member, type) and issubclass(member, BaseModel):
                    field = member.model_fields.get(str(step))
                    if field is not None and i == len(path) - 1:
                        return field.description or ""
                    inner += [field.annotation] if field is not None else []
                else:
                    inner += _values(member)
        kinds = inner
    return ""


def _inside(kind: object, step: str) -> Any:
    """The type of an entry of a table, mapping or list."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        field = kind.model_fields.get(step)
        return None if field is None else field.annotation
    values = _values(kind)
    return values[0] if values else None


def _values(kind: object) -> list[Any]:
    """Types of the values of a mapping or list."""
    out: list[Any] = []
    for member in _members(kind):
        origin, args = get_origin(member), get_args(member)
        if origin is dict:
            out.append(args[1])
        elif origin is list:
            out.append(args[0])
    return out


def _members(kind: object) -> list[Any]:
    """Members of a union, the kind itself if it is none; annotations are taken off."""
    if isinstance(kind, type) and issubclass(kind, OneOf):
        return list(kind.tables)
    if get_origin(kind) is Annotated:
        return _members(get_args(kind)[0])
    if get_origin(kind) in (Union, types.UnionType):
        return [inner for member in get_args(kind) for inner in _members(member)]
    return [kind]


def _chosen(kind: object, value: object) -> Any:
    """The member of a union that the value's tag names."""
    members = [m for m in _members(kind) if m is not types.NoneType]
    tables = [m for m in members if isinstance(m, type) and issubclass(m, BaseModel)]
    if len(tables) > 1 and isinstance(value, dict):
        for tag in TAGS:
            for table in tables:
                field = table.model_fields.get(tag)
                if field is not None and value.get(tag) in get_args(field.annotation):
                    return table
    if len(tables) >= 1 and isinstance(value, dict):
        return tables[0]
    return members[0] if members else None
