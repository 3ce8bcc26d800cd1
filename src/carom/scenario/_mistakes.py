"""Mistakes in scenario files as sentences: which field, what value, which rule, what to do."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from .model import FORMAT
from .places import Path, ScenarioError, dotted, line_of, shortened


def refusal(found: Sequence[ErrorDetails], data: dict[str, Any], where: str, text: str) -> ScenarioError:
    """What is said of a file. The most telling mistake first: an unknown key explains why another one is missing."""
    ranked = sorted(found, key=lambda e: (e["type"] != "extra_forbidden", -len(e["loc"])))
    first = ranked[0]
    path = _path(first["loc"], data)
    field = (*path, _tag(first)) if first["type"] in TAG_MISTAKES else path
    line = line_of(text, path)
    at = f"{where}, line {line}" if line else where
    return ScenarioError(f"{at}: {_rule(first, path, data)}{_others(ranked, path, data)}", field)


def _others(ranked: Sequence[ErrorDetails], path: Path, data: object) -> str:
    """Which other fields are wrong. Tables on the way are not: they are what another member of a union would say."""
    paths = dict.fromkeys(_path(e["loc"], data) for e in ranked)
    others = [dotted(p) for p in paths if p != path[: len(p)]]
    listed = ", ".join(others[:3]) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
    return f" (also wrong: {listed})" if others else ""


def _path(loc: Iterable[str | int], data: Any) -> Path:
    """A location in the file: without the words that pydantic puts in for the members of a union."""
    out: list[str | int] = []
    for step in loc:
        known = isinstance(data, dict) and step in data
        if known or (isinstance(data, list) and isinstance(step, int) and step < len(data)):
            data = data[step]
        elif _is_tag(step) if isinstance(step, str) else data is not None:
            continue
        else:
            data = None  # a missing key
        out.append(step)
    return tuple(out)


def _is_tag(step: str) -> bool:
    """Is it the name of a member of a union, such as `hunt-crossley`, `list[...]` or a class?"""
    return "[" in step or "(" in step or step in _tags() or step[:1].isupper()


@functools.cache
def _tags() -> set[str]:
    from ..contact import catalogue
    from . import (
        body_tables,
        constraint_tables,
        contact_tables,
        control_tables,
        surface_tables,
        switch_tables,
        trajectory_tables,
    )

    words = {
        "float",
        "int",
        "str",
        "bool",
        "none",
        "constrained-str",
        "constrained-float",
        "constrained-int",
        "literal",
    } | set(catalogue.laws())
    families: tuple[Iterable[Any], ...] = (
        body_tables.BODIES,
        constraint_tables.CONSTRAINTS,
        contact_tables.PAIRS,
        control_tables.CONTROLLERS,
        surface_tables.SURFACES,
        switch_tables.SWITCHES,
        trajectory_tables.TRAJECTORIES,
    )
    for table in (table for family in families for table in family):
        for name in ("kind", "until"):
            field = getattr(table, "model_fields", {}).get(name)
            words |= set(getattr(field.annotation, "__args__", ())) if field else set()
    return words


def _rule(mistake: ErrorDetails, path: Path, data: object) -> str:
    name, kind = dotted(path), mistake["type"]
    given = shown(mistake["input"])
    if kind == "extra_forbidden":
        return _unknown(path, data)
    if kind == "missing":
        return f"{name} is missing; {_meaning(path, data)}"
    if kind in TAG_MISTAKES:
        return _tag_sentence(mistake, path, data)
    if path == ("format",):
        return f"format is {given}; this carom reads format {FORMAT}; {_other_format(mistake['input'])}"
    if kind == "literal_error":
        return f"{name} is {given}; it must be one of {mistake['ctx']['expected']}"
    meaning = _meaning(path, data)
    rule = _RULES.get(kind) or _LIMITS.get(kind, "").format(**mistake.get("ctx", {})) or _as_said(mistake)
    return f"{name} is {given}; {rule}; {meaning}" if meaning else f"{name} is {given}; {rule}"


def _other_format(given: Any) -> str:
    """What to do with a file of another format; one of a later carom is not a mistake of its writer."""
    whole = isinstance(given, int) and not isinstance(given, bool)
    if whole and given > FORMAT:
        return "update carom"
    known = whole and 1 <= given < FORMAT
    return f"say format = {FORMAT}" + (" and run carom check: it knows the old words" if known else "")


TAG_MISTAKES = ("union_tag_invalid", "union_tag_not_found")
_RULES = {
    "float_type": "it must be a number",
    "int_type": "it must be a whole number",
    "string_type": "it must be a text in quotes",
    "bool_type": "it must be true or false",
    "list_type": "it must be a list, such as [1.0, 2.0]",
    "dict_type": "it must be a table",
    "model_type": "it must be a table",
    "model_attributes_type": "it must be a table",
    "finite_number": "it must be a finite number",
    "string_too_short": "it must not be empty",
    "unprintable": "it must hold only printable characters",
    "string_pattern_mismatch": "it must begin with a letter or digit, and hold nothing but a-z, 0-9 and -",
}
_LIMITS = {
    "greater_than": "it must be greater than {gt:g}",
    "greater_than_equal": "it must be at least {ge:g}",
    "less_than": "it must be less than {lt:g}",
    "less_than_equal": "it must be at most {le:g}",
    "too_short": "it needs at least {min_length} entries",
    "too_long": "it may have at most {max_length} entries",
    "string_too_long": "it may have at most {max_length} characters",
}


def _as_said(mistake: ErrorDetails) -> str:
    return mistake["msg"][:1].lower() + mistake["msg"][1:]


def _tag(mistake: ErrorDetails) -> str:
    """The key that tells the tables of one place apart."""
    return str(mistake["ctx"]["discriminator"]).strip("'")


def _tag_sentence(mistake: ErrorDetails, path: Path, data: object) -> str:
    from .schema_data import tags_at

    key, name = _tag(mistake), dotted(path)
    if mistake["type"] == "union_tag_not_found":
        return f'{name} does not say which; give it a {key}, such as {{ {key} = "..." }}; `carom schema` lists them'
    known = tags_at(path, data, key)
    tag = str(mistake["ctx"]["tag"])
    near = get_close_matches(tag, known, n=1)
    hint = f"did you mean '{near[0]}'?" if near else "choose one of these"
    return f"{name}.{key} is {shown(tag)}; known: {', '.join(known)}; {hint}"


# Words of earlier formats, by the table that they stood in, and what is said today.
RENAMED = {("contacts", "impact"): "normal"}


def _unknown(path: Path, data: object) -> str:
    today = RENAMED.get((str(path[0]), str(path[-1])))
    if today is not None and len(path) == 3:
        return f"{dotted(path)} belongs to format 1; it is now {dotted((*path[:-1], today))}"
    key, known = str(path[-1]), _known_keys(path[:-1], data)
    near = get_close_matches(key, known, n=1, cutoff=0.5)
    hint = f"did you mean '{near[0]}'?" if near else f"known here: {', '.join(known) or 'nothing'}"
    return f"there is no field {dotted(path)}; {hint}"


def _model_at(path: Path, data: object) -> type[BaseModel] | None:
    """The kind of table that stands at a place of the data."""
    from .schema_data import model_at

    return model_at(path, data)


def _known_keys(path: Path, data: object) -> list[str]:
    model = _model_at(path, data)
    return list(model.model_fields) if model else []


def _meaning(path: Path, data: object) -> str:
    """What a field means in the table that stands there; a parameter of one law is not that of another."""
    from .schema_data import meaning_at

    model = _model_at(path[:-1], data)
    field = model.model_fields.get(str(path[-1])) if model and path else None
    return meaning_at(path) if field is None else field.description or ""


def shown(value: object) -> str:
    """A value as people write it, not longer than a line."""
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "a list" if len(value) > 4 else shortened(repr(value), 60)
    if isinstance(value, bool):
        return "true" if value else "false"
    return shortened(f"'{value}'" if isinstance(value, str) else repr(value), 60)
