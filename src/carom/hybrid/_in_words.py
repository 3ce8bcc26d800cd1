"""Objects in a few words, for `print`."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import numpy as np

from ..quantities import Real


def spelled(thing: Any) -> str:
    """A law as it would be written: its class, and its numbers that differ from their defaults."""
    if not dataclasses.is_dataclass(thing):
        return type(thing).__name__
    parts = []
    for field in dataclasses.fields(thing):
        value = getattr(thing, field.name)
        if value is None or (field.default is not dataclasses.MISSING and _same(value, field.default)):
            continue
        parts.append(f"{field.name}={_short(value)}")
    return f"{type(thing).__name__}({', '.join(parts)})"


def _same(value: Real, default: Any) -> bool:
    return not isinstance(value, jax.core.Tracer) and np.ndim(value) == 0 and bool(value == default)


def _short(value: Real) -> str:
    if isinstance(value, jax.core.Tracer):
        return "..."  # it has no value yet
    if isinstance(value, bool | str):
        return repr(value)
    if dataclasses.is_dataclass(value):
        return type(value).__name__
    try:
        numbers = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return type(value).__name__
    if numbers.ndim == 0:
        return f"{float(numbers):g}"
    return f"({', '.join(f'{x:g}' for x in numbers.ravel())})" if numbers.size <= 4 else f"{numbers.size} numbers"
