"""What a program is found by: the structure of what it was made from, as text.

Classes and functions of carom and of the packages that it stands on go by their names: all of carom's source and their
versions are part of the text. Code of users has neither. It is told by its instructions and constants, and by all that
these can reach (`_reached.py`). What cannot be named so that it is the same whenever its name is, is `Foreign`: its
programs are not kept.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import sys
import types
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

import equinox as eqx
import jax
import numpy as np

from ..mechanism._recipe import Recipe
from ._reached import KNOWN, READ, Foreign, Met, builtin, instructions, refuse_notes

WRAPPED = type(jax.jit(len)), functools._lru_cache_wrapper  # what goes on doing what the function within does
# Of a class: what it is made with, and what no computation asks for.
ASIDE = {"__module__", "__doc__", "__dict__", "__weakref__", "__annotations__", "__match_args__", "_abc_impl"}
ASIDE |= {"__abstractmethods__", "__abstractvars__", "__abstractclassvars__", "__orig_bases__", "__parameters__"}
ASIDE |= {"__dataclass_fields__", "__dataclass_params__", "__firstlineno__", "__static_attributes__", "__hash__"}


def words(value: object, static: bool, met: Met | None = None) -> Iterator[str]:
    """A value's structure as text: classes, static values, shapes of arrays; numbers that are traced do not count.

    `met`: functions and classes that were told already; they may reach each other.
    """
    met = {} if met is None else met
    if isinstance(value, jax.core.Tracer):
        raise Foreign("a number that is being traced")
    if isinstance(value, jax.Array | np.ndarray | np.generic):
        yield f"{np.shape(value)} {value.dtype} {getattr(value, 'weak_type', False)}"
        if static:
            yield _numbers(np.asarray(value))
    elif value is None or isinstance(value, str | bytes | bool):
        yield from _subclass(value, met)
        yield repr(value)
    elif isinstance(value, int | float | complex):
        yield from _subclass(value, met)
        yield repr(value) if static else f"scalar {type(value).__name__}"
    elif isinstance(value, Recipe):
        yield "recipe"
    elif isinstance(value, dict):
        yield from _subclass(value, met)
        yield f"dict {list(map(str, value)) if static else sorted(map(str, value))}"  # JAX sorts those of numbers
        for key in sorted(value, key=str):
            yield from words(key, True, met)
            yield from words(value[key], static, met)
    elif isinstance(value, list | tuple):
        yield from _subclass(value, met)
        yield f"{type(value).__name__} {len(value)}"
        for each in value:
            yield from words(each, static, met)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield from _class(type(value), met)
        if not known(type(value)):
            _refuse_more(value, met)
        module = isinstance(value, eqx.Module)
        for field in dataclasses.fields(value):
            yield field.name
            held = static or not module or field.metadata.get("static", False)
            yield from words(getattr(value, field.name), held, met)
    else:
        yield from _code(value, met)


def _numbers(array: np.ndarray) -> str:
    if array.dtype.hasobject:
        raise Foreign("an array of objects")
    return hashlib.sha256(array.tobytes()).hexdigest()


def _subclass(value: object, met: Met) -> Iterator[str]:
    """What a class adds to the plain one that it is made of."""
    if type(value).__module__ != "builtins":
        if getattr(value, "__dict__", None):
            raise Foreign(f"attributes of a {type(value).__qualname__}")
        yield from _class(type(value), met)


def _refuse_more(value: object, met: Met) -> None:
    """What an object of a user's class holds besides its fields is not told; in its lists notes may be taken."""
    held = getattr(value, "__dict__", {})
    if set(held) - {field.name for field in dataclasses.fields(value)}:  # type: ignore[arg-type]
        raise Foreign(f"attributes of a {type(value).__qualname__}")
    if any(isinstance(each, list | dict) for each in held.values()):
        met[READ] = 0
    refuse_notes(met)


# -- code --------------------------------------------------------------------------------------------------------------


def _code(value: object, met: Met) -> Iterator[str]:
    """Functions and classes, and what stands for them."""
    if isinstance(value, type):
        yield from _class(value, met)
        return
    parts: tuple[object, ...] | None = None
    if isinstance(value, functools.partial):
        parts = value.func, value.args, value.keywords
    elif isinstance(value, types.MethodType):
        parts = value.__self__, value.__func__
    elif isinstance(value, property):
        parts = value.fget, value.fset
    elif isinstance(value, staticmethod | classmethod):
        parts = (value.__func__,)
    elif name := known(value):
        yield name
        return
    elif isinstance(value, types.FunctionType):
        yield from _function(value, met)
        return
    elif isinstance(value, WRAPPED):
        parts = (getattr(value, "__wrapped__", None),)
    if parts is None:
        raise Foreign(type(value).__name__)
    yield type(value).__name__
    for part in parts:
        yield from words(part, True, met)


def root(thing: object) -> str:
    return (getattr(thing, "__module__", None) or "").partition(".")[0]


def known(thing: object) -> str:
    """What a function or class of a package is called that goes by its name; nothing: it is none that stands there."""
    name = getattr(thing, "__qualname__", None) or getattr(thing, "__name__", None) or ""
    if root(thing) not in KNOWN or not name:
        return ""
    place = str(getattr(thing, "__module__", ""))
    found: object = sys.modules.get(place)
    for part in name.split("."):
        found = getattr(found, part, None)
    return f"{place}.{name} {_version(root(thing))}" if found is thing else ""


@functools.cache
def _version(package: str) -> str:
    try:
        return "" if package == "carom" else version(package)
    except PackageNotFoundError:  # a part of Python
        return sys.version


def _class(made: type, met: Met) -> Iterator[str]:
    """A class: its name, or all that it says and inherits."""
    if name := known(made):
        yield name
    elif made.__module__ == "builtins":
        yield builtin(made.__name__)
    elif made.__module__ in ("abc", "typing"):
        yield made.__qualname__
    elif id(made) in met:
        yield f"met {met[id(made)]}"
    else:
        met[id(made)] = len(met)
        yield f"class {made.__qualname__} of {len(made.__bases__)}"
        yield from _class(type(made), met)
        for base in made.__bases__:
            yield from _class(base, met)
        for name, member in sorted(vars(made).items()):
            if name not in ASIDE and not (name == "__repr__" and hasattr(member, "__wrapped__")):  # a dataclass's
                yield name
                yield from words(member, True, met)
                if isinstance(member, list | dict):
                    met[READ] = 0
        refuse_notes(met)


def _function(function: types.FunctionType, met: Met) -> Iterator[str]:
    """A function: its instructions, and all that they can reach."""
    if id(function) in met:
        yield f"met {met[id(function)]}"
        return
    met[id(function)] = len(met)
    if set(vars(function)) - {"__wrapped__", "__isabstractmethod__"}:
        raise Foreign(f"attributes of {function.__qualname__}")
    yield f"function {function.__name__}"
    yield from words((function.__defaults__, function.__kwdefaults__), True, met)
    closed: dict[str, object] = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            closed[name] = cell.cell_contents
        except ValueError:
            raise Foreign(f"{name}, which is not known yet") from None
    package = str(function.__globals__.get("__name__", "")).partition(".")[0]
    if package in KNOWN:  # a function within one of a package: only what it closes over is not known by its text
        yield f"{package} {_version(package)}"
        yield from instructions(function.__code__, None)
        for name, value in closed.items():
            mark = isinstance(value, types.ModuleType) or value.__class__ is object  # its modules, and its own marks
            yield from (name, getattr(value, "__name__", "a mark")) if mark else words(value, True, met)
        return
    reached: list[object] = []
    yield from instructions(function.__code__, (closed, function.__globals__, reached, met))
    for value in reached:
        yield from words(value, True, met)
