"""What the instructions of a user's function can reach: names outside of it, and what they stand for now.

A name stands for a number, a text, an array or a function, whose own words tell it, or for a module, of which that
counts which is asked of it. Only what computes may be reached. Whatever could be otherwise the next time (a file, a
clock, random numbers that no key makes, the environment, a name that is put together while it runs) is refused, and so
is what may leave notes in a list outside of it: a program from disk leaves none.
"""

from __future__ import annotations

import builtins
import dis
import hashlib
import sys
import types
from collections.abc import Iterator

Met = dict[int, int]  # functions and classes that were told, and in which order; below, what else was met
READ, WRITES = -1, -2
Around = tuple[dict[str, object], dict[str, object], list[object], Met]  # closed over, global names, reached, met

# Modules that compute and do nothing else, of the packages whose code goes by its name.
KNOWN = ("carom", "jax", "jaxlib", "numpy", "equinox", "diffrax", "math", "cmath", "operator", "itertools", "functools")
PURE = {"carom", "math", "cmath", "operator", "itertools", "functools", "equinox", "numpy", "numpy.linalg", "numpy.fft"}
PURE |= {f"jax{part}" for part in ("", ".numpy", ".numpy.linalg", ".lax", ".nn", ".scipy", ".scipy.special")}
PURE |= {f"jax{part}" for part in (".random", ".tree", ".tree_util")}
# Packages of carom that ask for nothing but what they are given; others read files.
FLOORS = {"errors", "mechanism", "dynamics", "hybrid", "signal", "contact", "control", "element", "captures", "crawl"}
FLOORS |= {"study", "optimal", "_simulation", "quantities", "forms", "beam"}
PURE |= {f"carom.{name}" for name in FLOORS}
# What asks the world outside, or does something to it, in modules that compute.
ASKING = {"load", "loadtxt", "genfromtxt", "fromfile", "fromregex", "memmap", "save", "savez", "savetxt"}
ASKING |= {"savez_compressed", "pure_callback", "io_callback", "devices", "local_devices", "default_backend", "config"}
COMPUTING = {"abs", "all", "any", "bool", "bytes", "callable", "complex", "dict", "divmod", "enumerate", "filter"}
COMPUTING |= {"float", "frozenset", "int", "isinstance", "issubclass", "iter", "len", "list", "map", "max", "min"}
COMPUTING |= {"next", "object", "pow", "property", "range", "reversed", "round", "set", "slice", "sorted", "str", "sum"}
COMPUTING |= {"staticmethod", "classmethod", "super", "tuple", "type", "zip", "NotImplemented", "Ellipsis", "__debug__"}
COMPUTING |= {"__build_class__"}
OUTSIDE = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")
ENCLOSED = ("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF")
ATTRIBUTE = ("LOAD_ATTR", "LOAD_METHOD")
WRITTEN = {"append", "extend", "insert", "pop", "remove", "clear", "update", "setdefault", "popitem", "add", "discard"}
REFUSED = ("IMPORT_NAME", "IMPORT_FROM", "IMPORT_STAR", "STORE_GLOBAL", "DELETE_GLOBAL", "LOAD_BUILD_CLASS")


class Foreign(Exception):
    """Something whose code or value cannot be named so that it is the same whenever its name is."""


def builtin(name: str) -> str:
    """The name of something that Python brings along, if it computes."""
    found = getattr(builtins, name, None)
    if name not in COMPUTING and not (isinstance(found, type) and issubclass(found, BaseException)):
        raise Foreign(name)
    return f"builtin {name}"


def instructions(code: types.CodeType, around: Around | None) -> Iterator[str]:
    """A function's instructions and constants; what it reaches of what is around it goes into the list there."""
    counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
    yield f"code {counts} {code.co_varnames} {code.co_names} {code.co_freevars} {code.co_cellvars} {sys.version}"
    yield hashlib.sha256(code.co_code + getattr(code, "co_exceptiontable", b"")).hexdigest()
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from instructions(constant, around)
        else:
            yield f"{type(constant).__name__} {_printed(constant)}"
    if around is not None:
        yield from _names(list(dis.get_instructions(code)), around)


def _printed(constant: object) -> str:
    """The order within a set is another one in every process."""
    return str(sorted(map(repr, constant))) if isinstance(constant, frozenset) else repr(constant)


def _names(steps: list[dis.Instruction], around: Around) -> Iterator[str]:
    closed, names, reached, met = around
    for at, step in enumerate(steps):
        if step.opname in ("STORE_SUBSCR", "DELETE_SUBSCR") or (step.opname in ATTRIBUTE and step.argval in WRITTEN):
            met[WRITES] = 0
        if step.opname in REFUSED:
            raise Foreign(f"{step.opname} {step.argval}")
        if step.opname == "STORE_DEREF" and step.argval in closed:  # somebody else may read what is written there
            raise Foreign(f"{step.argval}, which is overwritten")
        if step.opname in ENCLOSED and step.argval in closed:
            value = closed[step.argval]
        elif step.opname in OUTSIDE and step.argval in names:
            value = names[step.argval]
        elif step.opname in OUTSIDE:
            yield builtin(step.argval)
            continue
        else:
            continue
        found = _asked(value, steps[at + 1 :])
        yield f"{step.argval} {len(reached)}"
        reached.append(found)
        if isinstance(found, list | dict):
            met[READ] = 0
    refuse_notes(met)


def refuse_notes(met: Met) -> None:
    """A list outside of a function, and something that is written to: a program from disk would not write it."""
    if READ in met and WRITES in met:
        raise Foreign("a list that may be written to")


def _asked(value: object, after: list[dis.Instruction]) -> object:
    """What a name stands for; of a module that which the instructions after it ask of it."""
    for step in after:
        if not isinstance(value, types.ModuleType) or step.opname not in ATTRIBUTE:
            break
        name = value.__name__
        if name.partition(".")[0] in KNOWN and (name not in PURE or step.argval in ASKING):
            raise Foreign(f"{name}.{step.argval}")
        value = getattr(value, step.argval, None)
    if isinstance(value, types.ModuleType):
        raise Foreign(f"module {value.__name__}")
    module = getattr(value, "__module__", None) or ""
    if module.startswith("carom.") and module.split(".")[1] not in FLOORS:
        raise Foreign(f"{module}, which may read files")
    return value
