"""Numbers of a scenario that are varied: where they stand, where they begin, and between which bounds they lie."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..._arguments import Name
from ...errors import CaromError, name_in
from ...scenario._build import beginning, world_of
from ...scenario._change import changed
from ...scenario._text import plain
from ...scenario.model import Scenario
from ...scenario.places import ScenarioError, shortened
from ..sweeping._axes import FIXED
from ._plausible import refuse_gravity
from ._recorded_runs import Records
from ._run_predictor import Parameter

EDGE = 1e-9  # how far beyond 0 and 1 a law is asked whether it is allowed there


def guesses_of(scenario: Scenario, vary: Any, what: str) -> dict[str, float]:
    """Paths with the values at which the search begins."""
    rows = [vary] if isinstance(vary, str) else vary
    if not isinstance(rows, Mapping | Sequence):
        raise CaromError(f"vary is a {type(rows).__name__}; name numbers of the scenario, such as start.angles.0")
    pairs = list(rows.items()) if isinstance(rows, Mapping) else [_pair(each) for each in rows]
    out: dict[str, float] = {}
    for path, given in pairs:
        if not isinstance(path, str):
            raise CaromError(f"vary names {path!r}; a number of the scenario has a name, such as start.angles.0")
        if path in out:
            raise CaromError(f"{what} {path} stands there twice; once is enough")
        out[path] = _guess(scenario, path, given, what)
    return out


def _pair(text: Any) -> tuple[str, Any]:
    """'path', or 'path=guess'."""
    if not isinstance(text, str) or not text.strip():
        raise CaromError(f"vary is {shortened(repr(text), 60)}; name a number of the scenario, such as gravity")
    path, sign, value = text.partition("=")
    return path.strip(), value.strip() if sign else None


def _guess(scenario: Scenario, path: Name, given: Any, what: str) -> float:
    if path.split(".")[0] in FIXED:
        raise CaromError(f"{what} {path}: it does not change the motion; vary a number of the world, or of its start")
    now = _now(scenario, path)
    if isinstance(now, str):
        raise CaromError(f"{what} {path}: it is '{shortened(now, 40)}', a word; words are compared: --laws {path}=a,b")
    try:
        value = float(now if given is None else given) if not isinstance(now, bool) else None
    except (TypeError, ValueError):
        value = None
    try:
        changed(scenario, {path: 1.0 if value is None else value})
    except ScenarioError as refusal:
        said = str(refusal).replace("--set ", f"{what} ").replace("the changed scenario: ", f"{what} {path}: ")
        raise CaromError(said, field="vary") from None
    if value is None or not np.isfinite(value):
        shown = (
            "has no value in the scenario"
            if now is None and given is None
            else f"is {shortened(repr(given or now), 40)}"
        )
        raise CaromError(f"{what} {path}: it {shown}, and a search begins at a number; say which: {path}=0.5")
    if path == "gravity":
        refuse_gravity(value, "the scenario")
    return value


def _now(scenario: Scenario, path: str) -> Any:
    """What stands at a path; None where nothing does."""
    data: Any = plain(scenario)
    for step in path.replace('"', "").split("."):
        if isinstance(data, list):
            data = data[int(step)] if step.isdigit() and int(step) < len(data) else None
        else:
            data = data.get(step) if isinstance(data, dict) else None
    return data


def parameters_of(
    guesses: Mapping[str, float], each: Mapping[str, float], records: Records
) -> tuple[tuple[Parameter, ...], np.ndarray]:
    """Those for all runs, then those that every run has for itself, with their first values."""
    shared = {path: value for path, value in guesses.items() if path not in each}
    for path in shared:
        if path in records.known:
            raise CaromError(
                f"vary {path}: the data say what it is in every run; leave out that column, or do not vary it"
            )
    out = [(Parameter(path, None, path), value) for path, value in shared.items()]
    many = len(records.names) > 1
    for path, value in each.items():
        begin = records.known.get(path, np.full(len(records.names), value))
        for run, name in enumerate(records.names):
            shown = f"{path}[{name or run + 1}]" if many else path
            out.append((Parameter(path, run, shown), float(begin[run])))
    if not out:
        raise CaromError("nothing is varied; name a number of the scenario, such as contacts.floor.normal.restitution")
    return tuple(p for p, _ in out), np.array([value for _, value in out])


def bounds_within(
    scenario: Scenario, parameters: Sequence[Parameter], first: np.ndarray, given: Mapping[str, tuple[Any, Any]] | None
) -> dict[str, tuple[float, float]]:
    """What laws and tables allow, and, narrower, what is asked for."""
    asked = dict(given or {})
    paths = tuple(dict.fromkeys(p.path for p in parameters))
    names = (*paths, *(p.name for p in parameters if p.name not in paths))
    for name in asked:
        name_in("parameter (named in bounds)", name, names)
    ranges = {path: _range(scenario, path, _first_of(parameters, first, path)) for path in paths}
    return {p.name: asked.get(p.name, asked.get(p.path, ranges[p.path])) for p in parameters}


def _first_of(parameters: Sequence[Parameter], first: np.ndarray, path: str) -> float:
    return float(next(value for p, value in zip(parameters, first, strict=True) if p.path == path))


def _range(scenario: Scenario, path: str, first: float) -> tuple[float, float]:
    """From where to where the objects of a scenario take a number, as far as 0 and 1 tell."""
    low, high = -np.inf, np.inf
    if first >= 0.0 and not _allowed(scenario, path, -EDGE):
        low = 0.0 if _allowed(scenario, path, 0.0) else min(EDGE, 1e-6 * first)
    if first <= 1.0 and not _allowed(scenario, path, 1.0 + EDGE) and _allowed(scenario, path, 1.0 - EDGE):
        high = 1.0 if _allowed(scenario, path, 1.0) else 1.0 - EDGE
    return low, high


def _allowed(scenario: Scenario, path: str, value: float) -> bool:
    try:
        with warnings.catch_warnings(action="ignore"):
            made = changed(scenario, {path: value})
            world = world_of(made)
            if path.split(".")[0] == "start":
                beginning(made, world)
    except (CaromError, ZeroDivisionError, FloatingPointError):
        return False
    return True
