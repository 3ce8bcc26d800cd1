"""Operations on scalars, by the names of JAX's primitives.

Known numbers are computed at once, what does nothing is left out. Rounding is that of IEEE arithmetic, operation by
operation, but for products that are added at once (`_fusing.py`); nothing is reordered. Only 0 x = 0 is taken for
granted (for infinite or negative x too, whence a zero of either sign, which nothing feels that it is added to): it
removes what a structure has as zeros, such as the inertia of a part without mass.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import jax
import numpy as np

from ._logic import COMPARED, Operation, Parameters, both, compared, either, one_of, opposite, ordered, select
from ._ssa import Builder, Kind, Number, Value

LIBRARY = (  # functions of C's mathematical library
    *("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
    *("exp", "exp2", "expm1", "log", "log2", "log1p", "cbrt", "pow", "nextafter", "erf", "erfc", "fmod"),
)


def _float(value: Value) -> float:
    return float(value.number)


def is_number(value: Value, x: Number) -> bool:
    """Is it this number, and known to be?"""
    return value.op == "known" and value.data == x


def nothing(value: Value) -> bool:
    """Does adding it change nothing, not even the sign of zero? (-0.0 + 0.0 is 0.0.)"""
    return is_number(value, 0) and (value.kind != "f" or math.copysign(1.0, _float(value)) < 0.0)


def may_be_minus_zero(value: Value, deep: int = 3) -> bool:
    """It may, unless it is a size, a square, a cosine, a number that is not, or a sum or choice of what is not.

    A sum is -0.0 only if both terms are, a difference only if it is -0.0 - 0.0.
    """
    if value.kind != "f":
        return False
    if value.known:
        return nothing(value)
    if deep == 0:
        return True
    if value.op == "add":
        return all(may_be_minus_zero(term, deep - 1) for term in value.args)
    if value.op == "sub":
        first, second = value.args
        zero = is_number(second, 0) and not nothing(second) if second.known else True
        return zero and may_be_minus_zero(first, deep - 1)
    if value.op == "select":
        return any(may_be_minus_zero(arm, deep - 1) for arm in value.args[1:])
    square = value.op == "mul" and value.args[0] is value.args[1]
    return not (square or value.op in ("abs", "itof", "btof") or (value.op == "call" and value.data in ("cos", "exp")))


def add(b: Builder, p: Parameters, kind: Kind, a: list[Value]) -> Value:
    x, y = a
    if kind == "b":
        return either(b, p, kind, a)
    if x is y is b.nought:
        return x
    if x.known and y.known:
        return b.number(kind, x.number + y.number)
    for u, v in ((x, y), (y, x)):
        if u is b.nought or nothing(u) or (is_number(u, 0) and not may_be_minus_zero(v)):
            return v
        if v.op == "neg" and u.op != "neg" and kind == "f":
            return sub(b, p, kind, [u, v.args[0]])
    return b.value("add", kind, *ordered(x, y))


def sub(b: Builder, p: Parameters, kind: Kind, a: list[Value]) -> Value:
    x, y = a
    if is_number(y, 0):
        return x
    if x.known and y.known:
        return b.number(kind, x.number - y.number)
    if x is b.nought:
        return neg(b, p, kind, [y])
    if y.op == "neg" and kind == "f":
        return add(b, p, kind, [x, y.args[0]])
    return b.value("sub", kind, x, y)


def mul(b: Builder, p: Parameters, kind: Kind, a: list[Value]) -> Value:
    if kind == "b":
        return both(b, p, kind, a)
    x, y = a
    if x.known and y.known:
        return b.number(kind, x.number * y.number)
    for x, y in (a, a[::-1]):
        if is_number(x, 0):
            return b.nought if kind == "f" else b.number(kind, 0)
        if is_number(x, 1):
            return y
        if is_number(x, -1):
            return neg(b, p, kind, [y])
    x, y = a
    return b.value("mul", kind, *ordered(x, y))


def div(b: Builder, p: Parameters, kind: Kind, a: list[Value]) -> Value:
    x, y = a
    if is_number(y, 1):
        return x
    if kind == "f" and x.known and y.known:
        with np.errstate(all="ignore"):
            return b.number(kind, float(np.float64(_float(x)) / np.float64(_float(y))))
    if kind == "i" and not (y.known and y.number):
        raise NotImplementedError("whole numbers divided by one that is not known")
    return b.value("div", kind, x, y)


def neg(b: Builder, p: Parameters, kind: Kind, a: list[Value]) -> Value:
    (x,) = a
    if x.known:
        return x if x is b.nought else b.number(kind, -x.number)
    return x.args[0] if x.op == "neg" else b.value("neg", kind, x)


def extreme(op: str) -> Operation:
    """The larger or the smaller; what is not a number stays so."""

    def one(b: Builder, p: Parameters, kind: Kind, a: list[Value]) -> Value:
        x, y = a
        if kind == "b":
            return (either if op == "max" else both)(b, p, kind, a)
        if x is y:
            return x
        if x.known and y.known:
            if kind == "f":
                return b.number(kind, float((np.maximum if op == "max" else np.minimum)(_float(x), _float(y))))
            return b.number(kind, (max if op == "max" else min)(x.number, y.number))
        for u, v in ((x, y), (y, x)):
            if kind == "f" and is_number(u, -math.inf if op == "max" else math.inf):
                return v
        return b.value(op, kind, *ordered(x, y))

    return one


def power(b: Builder, p: Parameters, kind: Kind, a: list[Value]) -> Value:
    """x to a whole power, by repeated squaring."""
    exponent = p["y"]
    assert isinstance(exponent, int)
    (x,) = a
    out, square, left = b.number(kind, 1), x, abs(exponent)
    while left:
        out = mul(b, p, kind, [out, square]) if left & 1 else out
        left >>= 1
        square = mul(b, p, kind, [square, square]) if left else square
    return div(b, p, kind, [b.number(kind, 1), out]) if exponent < 0 else out


def sign(b: Builder, p: Parameters, kind: Kind, a: list[Value]) -> Value:
    """1, -1, or the number itself: 0, or not a number."""
    (x,) = a
    zero, above, below = b.number(kind, 0), b.number(kind, 1), b.number(kind, -1)
    low = select(b, p, kind, [compared("lt")(b, p, "b", [x, zero]), x, below])
    return select(b, p, kind, [compared("gt")(b, p, "b", [x, zero]), low, above])


def finite(b: Builder, p: Parameters, kind: Kind, a: list[Value]) -> Value:
    (x,) = a
    if x.kind != "f":
        return b.number("b", True)
    return compared("lt")(b, p, "b", [absolute(b, p, "f", a), b.number("f", math.inf)])


def absolute(b: Builder, p: Parameters, kind: Kind, a: list[Value]) -> Value:
    (x,) = a
    if x.known:
        return b.number(kind, abs(x.number))
    return x if x.op == "abs" else b.value("abs", kind, x)


def clamp(b: Builder, p: Parameters, kind: Kind, a: list[Value]) -> Value:
    low, x, high = a
    if x.op == "btoi" and is_number(low, 0) and high.known and _float(high) >= 1.0:
        return x
    return extreme("min")(b, p, kind, [extreme("max")(b, p, kind, [x, low]), high])


def converted(b: Builder, p: Parameters, kind: Kind, a: list[Value]) -> Value:
    (x,) = a
    if x.kind == kind:
        return x
    if x.known:
        return b.number(kind, bool(x.number) if kind == "b" else x.number)
    if kind == "b":
        return compared("ne")(b, p, "b", [x, b.number(x.kind, 0)])
    return b.value(f"{x.kind}to{kind}", kind, x)


def plain(op: str) -> Operation:
    """An instruction with one argument."""
    functions: dict[str, Callable[[float], float]] = {
        "sqrt": lambda x: math.sqrt(x) if x >= 0.0 else math.nan,
        "floor": lambda x: float(np.floor(x)),
        "ceil": lambda x: float(np.ceil(x)),
        "round": lambda x: float(np.round(x)),
    }

    def one(b: Builder, p: Parameters, kind: Kind, a: list[Value]) -> Value:
        name = op
        if op == "round" and p.get("rounding_method") == jax.lax.RoundingMethod.AWAY_FROM_ZERO:
            name = "away"  # halves go away from zero
        elif a[0].known and kind == "f":
            return b.number(kind, functions[op](_float(a[0])))
        return b.value(name, kind, *a)

    return one


def library(name: str) -> Operation:
    """A function of the mathematical library."""
    numpy = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "pow": "power"}
    numpy |= {"asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh"}
    known = getattr(np, numpy.get(name, name), None)

    def one(b: Builder, p: Parameters, kind: Kind, a: list[Value]) -> Value:
        if kind != "f":
            raise NotImplementedError(f"{name} of whole numbers")
        a = [converted(b, p, "f", [x]) for x in a]
        if known is not None and all(x.known for x in a):
            with np.errstate(all="ignore"):
                return b.number(kind, float(known(*map(_float, a))))
        return b.value("call", kind, *a, data=name)

    return one


def remainder(b: Builder, p: Parameters, kind: Kind, a: list[Value]) -> Value:
    """With the sign of what is divided."""
    if kind == "f":
        return library("fmod")(b, p, kind, a)
    x, y = a
    if not y.known or not y.number:
        raise NotImplementedError("whole numbers divided by one that is not known")
    return b.number(kind, int(math.fmod(_float(x), _float(y)))) if x.known else b.value("rem", kind, x, y)


def one_minus_square(b: Builder, p: Parameters, kind: Kind, a: list[Value]) -> Value:
    """1 - x^2, exact near 1, too; JAX has had it since 0.11."""
    one = b.number(kind, 1)
    return mul(b, p, kind, [sub(b, p, kind, [one, a[0]]), add(b, p, kind, [one, a[0]])])


def logistic(b: Builder, p: Parameters, kind: Kind, a: list[Value]) -> Value:
    below = library("exp")(b, p, kind, [neg(b, p, kind, a)])
    return div(b, p, kind, [b.number(kind, 1), add(b, p, kind, [b.number(kind, 1), below])])


def rsqrt(b: Builder, p: Parameters, kind: Kind, a: list[Value]) -> Value:
    return div(b, p, kind, [b.number(kind, 1), plain("sqrt")(b, p, kind, a)])


OPERATIONS: dict[str, Operation] = {
    "add": add,
    "add_any": add,
    "sub": sub,
    "mul": mul,
    "div": div,
    "neg": neg,
    "max": extreme("max"),
    "min": extreme("min"),
    "and": both,
    "or": either,
    "xor": one_of,
    "not": opposite,
    "select_n": select,
    "integer_pow": power,
    "square": lambda b, p, kind, a: mul(b, p, kind, [a[0], a[0]]),
    "sign": sign,
    "is_finite": finite,
    "abs": absolute,
    "clamp": clamp,
    "convert_element_type": converted,
    "rsqrt": rsqrt,
    "one_minus_square": one_minus_square,
    "logistic": logistic,
    **{name: compared(name) for name in COMPARED},
    **{name: plain(name) for name in ("sqrt", "floor", "ceil", "round")},
    **{name: library(name) for name in LIBRARY},
    "rem": remainder,
}
