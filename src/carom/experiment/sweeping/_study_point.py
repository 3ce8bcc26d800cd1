"""A point of a study as a scenario: any run of a map can be opened."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from ... import native
from ..._arguments import Name
from ...errors import CaromError
from ...scenario._change import changed, told
from ...scenario._text import read
from ...scenario.model import Scenario
from ._axes import Value, word_of
from ._study_plan import POINT
from ._study_store import identity_of

NEAR = 1e-9  # of a value: so near to one of the study's, it is meant


def point_of(place: Path, at: str) -> Scenario:
    """The scenario of a study with the numbers of one of its runs: 'mu=0.3,angle=60', or 'point=17'."""
    known = identity_of(place)
    if known is None:
        raise CaromError(f"{place} holds no study; `carom sweep` makes one")
    axes = {path: values for path, values in known["axes"]}
    given = _parsed(at, known["points"])
    if known["points"] and POINT in given:
        values = _of_point(given, axes)
    else:
        values = {_path(name, axes): word_of(text) for name, text in given.items()}
        for path, among in axes.items():
            if path not in values:
                raise CaromError(f"--at does not say {path}; it is {_among(among)} in this study")
        values = {path: _meant(value, axes[path]) for path, value in values.items()}
    use_back_end(known)
    return told(
        changed(read(known["scenario"]), values), [f"{path}={json.dumps(value)}" for path, value in values.items()]
    )


def _parsed(at: str, points: bool) -> dict[str, str]:
    example = "--at point=0" if points else "--at mu=0.3,angle=60"
    if not at:
        raise CaromError(f"a study has many runs; say which one, such as {example}")
    parts = [each.partition("=") for each in at.split(",")]
    for name, sign, value in parts:
        if not (name.strip() and sign and value.strip()):
            raise CaromError(f"--at {at} is not of the form name=value,name=value, such as {example}")
    return {name.strip(): value.strip() for name, _, value in parts}


def _of_point(given: dict[str, str], axes: dict[str, list[Value]]) -> dict[str, Value]:
    count, text = len(next(iter(axes.values()))), given[POINT]
    if len(given) > 1 or not text.isdigit() or int(text) >= count:
        raise CaromError(f"--at point={text}: the points of this study are numbered from 0 to {count - 1}")
    return {path: values[int(text)] for path, values in axes.items()}


def _path(name: Name, axes: dict[str, Any]) -> str:
    """The path that is meant: itself, its last words, or the beginning of one of its words."""
    for fits in (
        lambda path: path == name,
        lambda path: path.split(".")[-len(name.split(".")) :] == name.split("."),
        lambda path: any(word[: len(name)] == name for word in path.split(".")),
    ):
        found = [path for path in axes if fits(path)]
        if len(found) == 1:
            return found[0]
        if found:
            raise CaromError(f"--at {name}: it may be {' or '.join(found)}; write more of it")
    raise CaromError(f"--at {name}: the study varies {', '.join(axes)}; name one of them")


def _meant(value: Value, among: list[Value]) -> Value:
    """The study's own value where that is meant; numbers in between are runs, too."""
    if isinstance(value, str | bool):
        if value not in among:
            raise CaromError(f"--at {value}: it is {_among(among)} in this study")
        return value
    for other in among:
        if not isinstance(other, str) and np.isclose(value, other, rtol=NEAR, atol=0.0):
            return other
    return float(value)


def _among(values: list[Value]) -> str:
    if all(isinstance(x, float | int) and not isinstance(x, bool) for x in values):
        return f"from {min(values):g} to {max(values):g}"
    return ", ".join(map(str, values[:8]))


def use_back_end(known: dict[str, Any]) -> None:
    """What the study was computed by, where it can be had here."""
    if known["back_end"] == native.by_xla() and native.wanted():
        os.environ[native.SWITCH] = "xla"
