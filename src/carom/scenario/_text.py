"""Scenario files: TOML in, a scenario or one sentence out; and back."""

from __future__ import annotations

import tomllib
from typing import Any

import tomli_w
from pydantic import ValidationError

from ._mistakes import refusal
from .library import LONGEST
from .model import Scenario
from .places import ScenarioError, one_line

DEEPEST = 20  # tables in tables


def read(text: str, where: str = "scenario") -> Scenario:
    """A scenario from TOML text; `where` names the file in messages."""
    if len(text) > LONGEST:
        raise ScenarioError(f"{where} has {len(text)} characters; a scenario has at most {LONGEST}")
    data = parsed(text, where)
    if not data:
        raise ScenarioError(f"{where} is empty; `carom new FILE` writes a scenario to start from")
    return checked(data, where, text)


def parsed(text: str, where: str) -> dict[str, Any]:
    """The tables of a TOML text."""
    if text.count("\x00"):
        raise ScenarioError(f"{where} contains zero bytes; a scenario is a text file (UTF-8, TOML)")
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as mistake:
        raise ScenarioError(f"{where} is not valid TOML: {one_line(mistake)}") from None
    except (RecursionError, ValueError, OverflowError) as mistake:  # a million brackets, numbers with 5,000 digits
        raise ScenarioError(f"{where} cannot be read: {one_line(mistake)}; is it a scenario file?") from None
    if _depth(data) > DEEPEST:
        raise ScenarioError(f"{where} has tables nested more than {DEEPEST} deep; a scenario needs a handful")
    return data


def checked(data: dict[str, Any], where: str, text: str = "") -> Scenario:
    """A scenario from tables, or the first mistake as a sentence."""
    try:
        return Scenario.model_validate(data)
    except ValidationError as mistakes:
        found = mistakes.errors(include_url=False, include_context=True)
        raise refusal(found, data, where, text) from None
    except RecursionError:
        raise ScenarioError(f"{where} has tables nested too deep; a scenario needs a handful") from None


def write(scenario: Scenario) -> str:
    """TOML text with every field that has a value, defaults included."""
    return tomli_w.dumps(plain(scenario))


def plain(scenario: Scenario) -> dict[str, Any]:
    """Tables of plain values. What is None is left out: TOML has no word for it, and it is the default."""
    return dict(_without_none(scenario.model_dump(mode="python")))


def _without_none(value: object) -> Any:
    if isinstance(value, dict):
        return {key: _without_none(each) for key, each in value.items() if each is not None}
    return [_without_none(each) for each in value] if isinstance(value, list) else value


def _depth(value: object) -> int:
    """How deep tables and arrays are nested; without recursion, which a file could exhaust."""
    depth, layer = 0, [value]
    while layer and depth <= DEEPEST:
        inner: list[Any] = []
        for each in layer:
            if isinstance(each, dict):
                inner += each.values()
            elif isinstance(each, list):
                inner += each
        depth, layer = depth + 1, inner
    return depth
