"""Shapes and types of arguments and results are checked once for each kind of arguments that a function gets.

jaxtyping checks every call, a tenth of a millisecond each; a program of ten thousand operations calls the same hundred
functions again and again with scalars. What was right for arguments of these types, shapes and plain values is right.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

VALUES = (int, bool, str, bytes, type(None))  # may decide what a function returns

ARRAYS = (jax.Array, np.ndarray, np.generic)  # and what stands for them in a trace


def kind(x: Any) -> Any:
    """What a check can see of an argument: type, shape and dtype, plain values, and the same of what is within."""
    made = type(x)
    if made in VALUES:
        return made, x
    if isinstance(x, tuple | list):
        return made, *map(kind, x)
    if isinstance(x, dict):
        return made, *((key, kind(value)) for key, value in x.items())
    return (made, x.shape, x.dtype) if isinstance(x, ARRAYS) else made


def once_per_kind(jaxtyped: Callable[..., Any]) -> Callable[..., Any]:
    """jaxtyping's decorator, whose functions skip checks that their arguments have passed."""

    def decorated(thing: Any, checked: Any) -> Any:
        if not inspect.isfunction(thing) or inspect.isgeneratorfunction(thing):
            return checked
        passed: set[Any] = set()

        @functools.wraps(thing)
        def call(*args: Any, **named: Any) -> Any:
            what = (tuple(map(kind, args)), tuple(named), tuple(map(kind, named.values())))
            if what in passed:
                return thing(*args, **named)
            out = checked(*args, **named)
            passed.add(what)
            return out

        return call

    @functools.wraps(jaxtyped)
    def decorator(*given: Any, **how: Any) -> Any:
        made = jaxtyped(*given, **how)
        return decorated(given[0], made) if given else lambda thing: decorated(thing, made(thing))

    return decorator
