"""Objects in a few words, for `print`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from .. import errors
from ..quantities import Real

if TYPE_CHECKING:
    from .world import World


def told(name: str, *numbers: tuple[str, Any, str]) -> str:
    """A thing and its numbers (name, value, unit): Circle(centre=(0, 0) m, radius=1 m); None is left out."""
    return f"{name}({', '.join(_with_unit(*number) for number in numbers if number[1] is not None)})"


def _with_unit(name: str, value: object, unit: str) -> str:
    return f"{name}={_short(value)}{' ' if unit else ''}{unit}"


def spelled(thing: object, units: Mapping[str, str] | None = None, without: Sequence[str] = ()) -> str:
    """A thing as it would be written: its class, and its numbers that differ from their defaults, with their units."""
    if not dataclasses.is_dataclass(thing):
        return type(thing).__name__
    parts = []
    for field in dataclasses.fields(thing):
        value = getattr(thing, field.name)
        if (
            field.name in without
            or value is None
            or (field.default is not dataclasses.MISSING and _same(value, field.default))
        ):
            continue
        parts.append((field.name, value, (units or {}).get(field.name, "")))
    return told(type(thing).__name__, *parts)


def _same(value: Real, default: object) -> bool:
    return not isinstance(value, jax.core.Tracer) and np.ndim(value) == 0 and bool(value == default)


def _short(value: object) -> str:
    if any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(value)):
        return "..."  # it has no value yet
    if isinstance(value, bool | str):
        return repr(value)
    if dataclasses.is_dataclass(value):
        return type(value).__name__
    if callable(value):
        return str(getattr(value, "__name__", type(value).__name__))
    try:
        numbers = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return type(value).__name__
    if numbers.ndim == 0:
        return f"{float(numbers):g}"
    if numbers.size <= 4:
        return f"({', '.join(f'{x:g}' for x in numbers.ravel())})"
    return f"{numbers.size} times {numbers.flat[0]:g}" if np.ptp(numbers) == 0.0 else f"{numbers.size} numbers"


def world_in_words(world: World) -> str:
    """The mechanism, and everything that acts on it."""
    lines = [repr(world.mechanism).replace("Mechanism:", "World:", 1)]
    gravity = errors.known(world.gravity)
    if gravity is not None and gravity.shape == (2,):
        lines.append("  gravity ({:g}, {:g}) m/s^2".format(*gravity))
    rows = [row for automaton in world.automata for row in automaton.report.words]
    rows += [("constraint", constraint.describe()) for constraint in world.constraints]
    wide = max([12, *(len(name) for name, _ in rows)])
    return "\n".join([*lines, *(f"  {name:{wide}} {words}" for name, words in rows)])
