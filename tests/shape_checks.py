"""Shapes and types of arguments and results are checked once for each kind of arguments that a function gets.

jaxtyping checks every call, a tenth of a millisecond each; a program of ten thousand operations calls the same hundred
functions again and again with scalars. What was right for arguments of these types, shapes and plain values is right.

A function within another is made anew whenever that one runs, and its check, two functions of Python that are written
for it, takes a millisecond to make: it is made when a call of a kind comes that none of its kin has passed.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import jax
import jaxtyping
import numpy as np

VALUES = (int, bool, str, bytes, type(None))  # may decide what a function returns

Look = Callable[[Any], Any]


def kind(x: Any) -> Any:
    """What a check can see of an argument: type, shape and dtype, plain values, and the same of what is within."""
    made = type(x)
    look = _LOOKS.get(made)
    if look is None:
        look = _LOOKS[made] = _look_at(made)
    return look(x)


_LOOKS: dict[type, Look] = {}


def _look_at(made: type) -> Look:
    """How to look at things of this type; asking each of them takes longer than looking."""
    if made in VALUES:
        return lambda x: (made, x)
    if issubclass(made, tuple | list):
        return lambda x: (made, *map(kind, x))
    if issubclass(made, dict):
        return lambda x: (made, *((key, kind(value)) for key, value in x.items()))
    if issubclass(made, jax.core.Tracer):  # what stands for an array in a trace
        return lambda x: (made, getattr(x.aval, "shape", None), getattr(x.aval, "dtype", None))
    if issubclass(made, jax.Array | np.ndarray | np.generic):
        return lambda x: (made, x.shape, x.dtype)
    return type


def _around(thing: Any) -> Any:
    """The kinds of what else a function within another gets: defaults, and values of the function around it."""
    given = (thing.__defaults__, thing.__kwdefaults__ or {})
    return kind(given), tuple(kind(_value(cell)) for cell in thing.__closure__ or ())


def _value(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not known yet
        return None


_PASSED_WITHIN: dict[Any, set[Any]] = {}  # by all functions that are made at one place


def once_per_kind(jaxtyped: Callable[..., Any]) -> Callable[..., Any]:
    """jaxtyping's decorator, whose functions skip checks that their arguments have passed."""

    def decorated(thing: Any, check: Callable[[], Any]) -> Any:
        if not inspect.isfunction(thing) or inspect.isgeneratorfunction(thing):
            return check()
        within = "<locals>" in thing.__qualname__
        passed = _PASSED_WITHIN.setdefault((thing.__module__, thing.__code__), set()) if within else set()
        checked = None if within else check()
        around = None

        @functools.wraps(thing)
        def call(*args: Any, **named: Any) -> Any:
            nonlocal checked, around
            if jaxtyping.config.jaxtyping_disable:
                return thing(*args, **named)
            if within and around is None:
                around = _around(thing)
            what = (around, tuple(map(kind, args)), tuple(named), tuple(map(kind, named.values())))
            if what in passed:
                return thing(*args, **named)
            checked = checked or check()
            out = checked(*args, **named)
            passed.add(what)
            return out

        return call

    @functools.wraps(jaxtyped)
    def decorator(*given: Any, **how: Any) -> Any:
        if given:
            return decorated(given[0], lambda: jaxtyped(*given, **how))
        return lambda thing: decorated(thing, lambda: jaxtyped(**how)(thing))

    return decorator
