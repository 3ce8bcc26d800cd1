"""Operators of scalars that write their primitive at once, while a function is traced for machine code.

JAX sends `a + b` through a compiled function of its own (checks, promotion, an equation that is put in line again):
0.1 ms for each of some ten thousand operations of a program, a fifth of its compiling. Where both operands are plain
float64 scalars there is nothing to promote; the equation that is written is the same. Everything else goes JAX's way,
and so does all of it in a version of JAX that has other insides.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ._staging import Written, shortcuts

FLOAT, TRUTH = np.dtype("float64"), np.dtype("bool")
# Names of operators and functions, and the function of jax.lax whose equation they write.
OPERATORS = {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div"}
OPERATORS |= {name: name for name in ("lt", "le", "gt", "ge", "eq", "ne")}
TURNED = {"radd": "add", "rsub": "sub", "rmul": "mul", "rtruediv": "div"}
TRUTHS = {"and": "bitwise_and", "or": "bitwise_or", "rand": "bitwise_and", "ror": "bitwise_or"}
ALONE = {name: name for name in ("abs", "sign", "cos", "sin", "sqrt")}
BOTH = {"minimum": "min", "maximum": "max"}

Operation = Callable[..., Any]


def scalar(x: Any) -> Any:
    """The operand, if it is a float64 scalar that nothing promotes; else None."""
    if isinstance(x, jax.core.Tracer):
        aval: Any = x.aval
        return x if aval.shape == () and aval.dtype == FLOAT and not aval.weak_type else None
    kind = type(x)
    return np.float64(x) if kind is float or kind is int or kind is np.float64 else None


def truth(x: Any) -> bool:
    """Is this a traced flag?"""
    return isinstance(x, jax.core.Tracer) and x.aval.shape == () and x.aval.dtype == TRUTH  # type: ignore[attr-defined]


def weak(x: Any) -> bool:
    """Is this a traced float64 scalar that takes its type from what it meets, as JAX makes of plain numbers?"""
    if not isinstance(x, jax.core.Tracer):
        return False
    aval: Any = x.aval
    return aval.shape == () and aval.dtype == FLOAT and aval.weak_type


def alike(a: object, b: object) -> bool:
    """Are these traced float64 arrays of one shape, which nothing promotes or spreads?"""
    if not (isinstance(a, jax.core.Tracer) and isinstance(b, jax.core.Tracer)):
        return False
    x: Any = a.aval
    y: Any = b.aval
    return x.shape == y.shape and x.dtype == y.dtype == FLOAT and not (x.weak_type or y.weak_type)


def _pair(write: Written, usual: Operation, turned: bool = False) -> Operation:
    """An equation of two scalars, or of two arrays that are alike."""

    def operation(a: Any, b: Any) -> Any:
        x, y = scalar(a), scalar(b)
        if x is y is None and alike(a, b):
            return write.primitive.bind(*((b, a) if turned else (a, b)), **write.params)
        if x is a and y is None and weak(b):
            y = b
        elif y is b and x is None and weak(a):
            x = a
        if x is None or y is None or not (x is a or y is b):
            return usual(a, b)
        return write(y, x) if turned else write(x, y)

    return operation


def _added(write: Written, usual: Operation, turned: bool = False) -> Operation:
    """A sum; what `sum` begins with, the whole number 0, is no term."""
    both = _pair(write, usual, turned)

    def operation(a: object, b: object) -> Any:
        kind = type(b)
        return a if kind is int and b == 0 and scalar(a) is a else both(a, b)

    return operation


def _flags(write: Operation, usual: Operation) -> Operation:
    def operation(a: Any, b: Any) -> Any:
        return write(a, b) if truth(a) and truth(b) else usual(a, b)

    return operation


def _opposite(write: Operation, usual: Operation) -> Operation:
    def operation(a: Any) -> Any:
        return write(a) if truth(a) else usual(a)

    return operation


def _alone(write: Operation, usual: Operation) -> Operation:
    """An equation of one scalar."""

    def operation(a: Any, *more: Any, **how: Any) -> Any:
        traced = isinstance(a, jax.core.Tracer) and not more and not how and scalar(a) is not None
        return write(a) if traced else usual(a, *more, **how)

    return operation


def _where(write: Operation, flags: Operation, usual: Operation) -> Operation:
    def operation(condition: Any, *values: Any, **how: Any) -> Any:
        if len(values) == 2 and not how and truth(condition):
            if truth(values[0]) and truth(values[1]):
                return flags(condition, values[1], values[0])
            x, y = scalar(values[0]), scalar(values[1])
            # Of two plain numbers JAX chooses the type: 1 and 0 are integers.
            if x is not None and y is not None and (x is values[0] or y is values[1]):
                return write(condition, y, x)
        return usual(condition, *values, **how)

    return operation


def _asarray(usual: Operation) -> Operation:
    def operation(x: Any, dtype: Any = None, **how: Any) -> Any:
        is_one = dtype in (None, float) and not how and isinstance(x, jax.core.Tracer) and scalar(x) is not None
        return x if is_one else usual(x, dtype, **how)

    return operation


def _changes() -> list[tuple[Any, str, Any, Any]]:
    """(where, name, JAX's own or None if it has none there, ours) of everything that is put in its place meanwhile."""
    shaped, one, flag = jax.core.ShapedArray, np.float64(1.0), np.bool_(True)
    usual = {name: vars(shaped)[f"_{name}"].__func__ for name in (*OPERATORS, *TURNED, *TRUTHS, "neg", "invert")}
    pair = {"add": _added, "radd": _added}
    ours = {name: pair.get(name, _pair)(Written(to, one, one), usual[name]) for name, to in OPERATORS.items()}
    ours |= {
        name: pair.get(name, _pair)(Written(to, one, one), usual[name], turned=True) for name, to in TURNED.items()
    }
    ours |= {name: _flags(Written(to, flag, flag), usual[name]) for name, to in TRUTHS.items()}
    ours["neg"] = _alone(Written("neg", one), usual["neg"])
    ours["invert"] = _opposite(Written("bitwise_not", flag), usual["invert"])
    out: list[Any] = [(shaped, f"_{name}", staticmethod(usual[name]), staticmethod(ours[name])) for name in ours]
    functions = {name: _alone(Written(to, one), getattr(jnp, name)) for name, to in ALONE.items()}
    functions |= {name: _pair(Written(to, one, one), getattr(jnp, name)) for name, to in BOTH.items()}
    functions["where"] = _where(Written("select_n", flag, one, one), Written("select_n", flag, flag, flag), jnp.where)
    functions["asarray"] = _asarray(jnp.asarray)
    out += [(jnp, name, getattr(jnp, name), function) for name, function in functions.items()]
    return out + shortcuts()


class _Count:
    """How many threads trace, and what they changed."""

    lock = threading.Lock()
    now = 0
    changes: list[tuple[Any, str, Any, Any]] | None = None


@contextlib.contextmanager
def direct() -> Iterator[None]:
    """Meanwhile scalars write their primitives at once. Other threads may trace, too: they get the same equations."""
    with _Count.lock:
        if _Count.changes is None:
            try:
                _Count.changes = _changes()
            except (AttributeError, KeyError, ValueError):  # another JAX
                _Count.changes = []
        _Count.now += 1
        if _Count.now == 1:
            for where, name, _, ours in _Count.changes:
                setattr(where, name, ours)
    try:
        yield
    finally:
        with _Count.lock:
            _Count.now -= 1
            if not _Count.now:
                for where, name, usual, _ in _Count.changes:
                    delattr(where, name) if usual is None else setattr(where, name, usual)
