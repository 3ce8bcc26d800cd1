"""Changes of a scenario: single values by path, and variants that are merged over it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from typing import Any

from ..errors import name_in
from ._text import checked, plain
from .model import Scenario
from .places import ScenarioError, at, dotted, shortened
from .schema_data import model_at, told_apart


def changed(scenario: Scenario, changes: dict[str, Any]) -> Scenario:
    """A copy with other values at dotted paths; a path must lead to a known field."""
    data = plain(scenario)
    for path, value in changes.items():
        _put(data, _split(path), value)
    return checked(data, "the changed scenario")


def told(scenario: Scenario, changes: Sequence[str]) -> Scenario:
    """A copy that says, in its title and beside the numbers of its source, what was changed ('path=value')."""
    physics = [shortened(each, 80) for each in changes if each.split(".")[0].split("=")[0].strip() not in WORDS]
    if not physics:
        return scenario
    words = f"changed: {', '.join(physics)}"
    known = {
        name: q if q.expected is None else q.model_copy(update={"note": f"{q.note}; {words}" if q.note else words})
        for name, q in scenario.quantities.items()
    }
    title = f"{scenario.title or scenario.name} ({words})"
    return scenario.model_copy(update={"title": title, "quantities": known})


WORDS = ("name", "title", "about", "source", "output", "quantities")  # changing these does not change the motion


def variant(scenario: Scenario, name: str) -> Scenario:
    """A copy with the variant's tables merged over it."""
    with at(words=f"scenario '{scenario.name}'"):
        name_in("variant", name, tuple(scenario.variants))
    return merged(
        scenario,
        scenario.variants[name],
        f"{scenario.name}-{name}",
        f"variant '{name}' of '{scenario.name}'",
    )


def merged(scenario: Scenario, tables: dict[str, Any], name: str, where: str) -> Scenario:
    """A copy with tables merged over it, under another name, and without variants of its own."""
    whole = plain(scenario)
    data = _over(whole, tables, (), whole)
    data["variants"], data["compare"] = {}, []
    data["name"] = name
    return checked(data, where)


def parsed_change(text: str) -> tuple[str, Any]:
    """'path=value' in parts; the value is TOML, a bare word a text."""
    path, sign, value = text.partition("=")
    if not sign or not path.strip():
        raise ScenarioError(f"--set {text} has no value; write path=value, such as --set run.until=2.0")
    return path.strip(), _value(value.strip())


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        return text


def _split(path: str) -> list[str]:
    """Parts of a dotted path; quotes keep dots together."""
    parts = [a or b for a, b in re.findall(r'"([^"]*)"|([^.\s"]+)', path)]
    if not parts:
        raise ScenarioError(f"--set {path!r} names no field; write path=value, such as --set run.until=2.0")
    return parts


def _put(whole: dict[str, Any], path: list[str], value: object) -> None:
    """Set one value; tables that are left to their defaults are made on the way."""
    data: Any = whole
    for i, step in enumerate(path):
        last = i == len(path) - 1
        if isinstance(data, list):
            index = _index(data, path, i)
            if last:
                data[index] = value
            data = data[index]
        elif isinstance(data, dict):
            if last:
                data[step] = value
            elif step not in data:
                _refuse_stranger(whole, path, i)
            data = data.setdefault(step, {})
        else:
            said = f"--set {dotted(tuple(path))}: {dotted(tuple(path[:i]))} is a value and has no fields"
            raise ScenarioError(said, tuple(path))


def _refuse_stranger(whole: dict[str, Any], path: list[str], i: int) -> None:
    """A contact, link or variant that is not there cannot be changed, nor a table that no scenario has."""
    above = model_at(tuple(path[:i]), whole)
    if above is not None and i == 0:
        with at(*path, words=f"--set {dotted(tuple(path))}"):
            name_in("table of a scenario", path[0], tuple(above.model_fields))
    if above is None:
        here: Any = whole
        for step in path[:i]:
            here = here[int(step)] if isinstance(here, list) else here[step]
        with at(*path, words=f"--set {dotted(tuple(path))}"):
            name_in(f"entry of {dotted(tuple(path[:i]))}", path[i], tuple(here))


def _index(data: list[Any], path: list[str], i: int) -> int:
    step = path[i]
    if not step.isdigit() or int(step) >= len(data):
        raise ScenarioError(
            f"--set {dotted(tuple(path))}: {dotted(tuple(path[:i]))} is a list of {len(data)}; "
            f"'{shortened(step, 40)}' must be a number from 0 to {len(data) - 1}",
            tuple(path),
        )
    return int(step)


def _over(below: object, above: object, path: tuple[str, ...], whole: dict[str, Any]) -> Any:
    """Tables are merged, everything else is replaced."""
    if not (isinstance(below, dict) and isinstance(above, dict)):
        return above
    # A table of another kind, and a quantity that measures anew, share nothing with what they replace.
    if "measure" in above:
        return above
    if any(tag in above and above[tag] != below.get(tag) for tag in ("kind", "law")) and told_apart(path, whole):
        return above
    return {**below, **{key: _over(below.get(key), value, (*path, key), whole) for key, value in above.items()}}
