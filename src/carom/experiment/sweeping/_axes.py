"""What is varied: paths of a scenario, and the values that they take."""

from __future__ import annotations

import csv
import dataclasses
import io
import tomllib
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..._arguments import Count, FileLike, Name
from ...errors import CaromError
from ...scenario._change import changed
from ...scenario._text import plain
from ...scenario.model import Scenario
from ...scenario.places import ScenarioError, shortened
from .indices import SALTELLI, saltelli

Value = float | int | str | bool
MOST = 50_000_000  # runs of a study
FIXED = ("run", "output", "quantities", "variants", "compare", "study", "capture", "crawl", "name", "title", "about")


@dataclasses.dataclass(frozen=True)
class Axis:
    """A path of the scenario and its values; those of a `category` change what is compiled."""

    path: str
    values: tuple[Value, ...]
    category: bool


def axes_of(scenario: Scenario, over: Mapping[str, Any]) -> tuple[Axis, ...]:
    """Every path with the values that it takes on a grid."""
    return tuple(_axis(scenario, path, values_of(path, given)) for path, given in over.items())


def values_of(path: Name, given: Any) -> tuple[Value, ...]:
    """Values from 'a:b:n', 'x,y,z', a list or an array."""
    if isinstance(given, str):
        parts = given.split(":")
        if len(parts) == 3:
            return _range(path, *parts)
        if len(parts) == 2:
            raise CaromError(
                f"over {path}: '{given}' is a range; say how many values, '{given}:n', or how many are drawn (sample)"
            )
        given = [word_of(each) for each in given.split(",")]
    found = np.asarray(given).tolist() if isinstance(given, np.ndarray) or hasattr(given, "__array__") else given
    rows = list(found) if isinstance(found, Sequence) and not isinstance(found, str) else [found]
    if not rows:
        raise CaromError(f"over {path}: there is no value; give a list, or 'a:b:n'")
    for each in rows:
        if not isinstance(each, float | int | str | bool) or (isinstance(each, float) and not np.isfinite(each)):
            raise CaromError(
                f"over {path}: one of the values is {shortened(repr(each), 60)}; values are finite numbers or words"
            )
    if len(set(rows)) != len(rows):
        twice = next(each for each in rows if rows.count(each) > 1)
        raise CaromError(f"over {path}: {twice!r} stands there twice; every value is run once")
    return tuple(rows)


def _range(path: Name, first: str, last: str, count: str) -> tuple[Value, ...]:
    try:
        a, b, n = float(first), float(last), int(count)
    except ValueError:
        raise CaromError(f"over {path}: '{first}:{last}:{count}' must be a:b:n, two numbers and how many") from None
    if n < 1 or n > MOST or not np.isfinite(a) or not np.isfinite(b) or (n > 1 and a == b):
        raise CaromError(
            f"over {path}: '{first}:{last}:{count}' must be a:b:n; a and b finite and different, n from 1 to {MOST:,}"
        )
    return tuple(np.linspace(a, b, n).tolist())


def bounds_of(path: Name, given: Any) -> tuple[float, float]:
    """A range that is drawn from: 'a:b', or two numbers."""
    parts = given.split(":") if isinstance(given, str) else list(given)
    try:
        low, high = (float(each) for each in parts)
    except (TypeError, ValueError):
        raise CaromError(
            f"over {path}: {shortened(str(given), 60)} must be a range to draw from, a:b or two numbers"
        ) from None
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise CaromError(
            f"over {path}: the range {low:g} to {high:g} must be of two finite numbers, the smaller one first"
        )
    return low, high


def drawn(scenario: Scenario, over: Mapping[str, Any], count: Count, method: Name, seed: Count) -> tuple[Axis, ...]:
    """Points drawn from ranges: an axis of as many values for each path."""
    from scipy.stats import qmc

    ranges = {path: bounds_of(path, given) for path, given in over.items()}
    if not ranges:
        raise CaromError(f"{count} points were asked for, but no range; give over, such as gravity=5:15")
    if count > MOST:
        raise CaromError(f"the study has {count:,} points; at most {MOST:,} are one study; draw fewer")
    if method == SALTELLI:
        unit = saltelli(len(ranges), count, seed)
    elif method == "random":
        unit = np.random.default_rng(seed).random((count, len(ranges)))
    else:
        made = {"sobol": qmc.Sobol, "halton": qmc.Halton, "latin-hypercube": qmc.LatinHypercube}
        with warnings.catch_warnings(action="ignore", category=UserWarning):  # counts that are no power of two are fine
            unit = made[method](len(ranges), rng=np.random.default_rng(seed)).random(count)
    low, high = (np.array(side) for side in zip(*ranges.values(), strict=True))
    table = low + unit * (high - low)
    return tuple(_axis(scenario, path, tuple(table[:, k].tolist())) for k, path in enumerate(ranges))


def points_of(scenario: Scenario, file: FileLike) -> tuple[Axis, ...]:
    """Points from a CSV file: the first line has the paths, every other one a point."""
    try:
        rows = list(csv.reader(io.StringIO(Path(file).read_text(encoding="utf-8-sig"))))
    except (OSError, UnicodeDecodeError) as trouble:
        raise CaromError(
            f"{file} cannot be read: {getattr(trouble, 'strerror', None) or 'it is no text'}; check the path"
        ) from None
    rows = [row for row in rows if row]
    if len(rows) < 2:
        raise CaromError(f"{file} has no points; its first line has the paths, every other one a point")
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(rows[0]):
            raise CaromError(f"{file}, line {number} has {len(row)} values, and the first line {len(rows[0])} paths")
    paths = [path.strip() for path in rows[0]]
    for path in paths:
        if paths.count(path) > 1:
            raise CaromError(f"{file} has {paths.count(path)} columns of {path}; every path has one")
    columns = zip(*rows[1:], strict=True)
    return tuple(
        _axis(scenario, path, tuple(word_of(x) for x in each)) for path, each in zip(paths, columns, strict=True)
    )


def word_of(text: str) -> Value:
    """A value as TOML has it; a bare word is a text."""
    try:
        value = tomllib.loads(f"value = {text.strip()}")["value"]
    except (tomllib.TOMLDecodeError, ValueError, RecursionError):
        return text.strip()
    return value if isinstance(value, float | int | str | bool) else text.strip()


def _axis(scenario: Scenario, path: str, values: tuple[Value, ...]) -> Axis:
    """An axis whose path and first value the scenario takes."""
    if path.split(".")[0] in FIXED[1:]:
        raise CaromError(f"over {path}: it does not change the motion; vary a number of the world, its start, or run")
    now = _now(scenario, path)
    numbers = all(isinstance(each, float | int) and not isinstance(each, bool) for each in values)
    whole = isinstance(now, int | str)
    category = not numbers or whole or path.split(".")[0] in FIXED
    made = values if category else tuple(float(each) for each in values)
    for value in made if category else made[:1]:
        try:
            changed(scenario, {path: value})
        except ScenarioError as refusal:
            said = str(refusal).replace("--set ", "over ").replace("the changed scenario: ", f"over {path}: ")
            raise CaromError(said, field="over") from None
    return Axis(path, made, category)


def _now(scenario: Scenario, path: str) -> Any:
    """What stands at a path; None where nothing does."""
    data: Any = plain(scenario)
    for step in path.replace('"', "").split("."):
        if isinstance(data, list):
            data = data[int(step)] if step.isdigit() and int(step) < len(data) else None
        else:
            data = data.get(step) if isinstance(data, dict) else None
    return data
