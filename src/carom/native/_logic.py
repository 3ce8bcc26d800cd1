"""Comparisons, logic and choices: what is known already is not asked again."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from ._ssa import Builder, Kind, Value

Parameters = Mapping[str, object]
Operation = Callable[[Builder, Parameters, Kind, list[Value]], Value]

COMPARED = ("lt", "le", "gt", "ge", "eq", "ne")


def ordered(x: Value, y: Value) -> tuple[Value, Value]:
    """Arguments whose order does not matter, in one order."""
    return (x, y) if id(x) <= id(y) else (y, x)


def compared(op: str) -> Operation:
    def one(b: Builder, p: Parameters, kind: Kind, a: list[Value]) -> Value:
        x, y = a
        if x.known and y.known:
            m, n = x.number, y.number
            answer = {"lt": m < n, "le": m <= n, "gt": m > n, "ge": m >= n, "eq": m == n, "ne": m != n}[op]
            return b.number("b", answer)
        if (op == "gt" and y.known and y.data == math.inf) or (op == "lt" and x.known and x.data == math.inf):
            return b.number("b", False)  # nothing is beyond infinity
        if x.kind == "b" and op in ("eq", "ne"):
            for u, v in ((x, y), (y, x)):
                if u.known:
                    return v if u.number == (op == "eq") else opposite(b, p, "b", [v])
        return b.value(op, "b", x, y)

    return one


def both(b: Builder, p: Parameters, kind: Kind, a: list[Value]) -> Value:
    x, y = a
    if kind == "b":
        for u, v in (a, a[::-1]):
            if u.known:
                return v if u.number else u
    elif x.known and y.known:
        return b.number(kind, x.whole & y.whole)
    return x if x is y else b.value("and", kind, *ordered(x, y))


def either(b: Builder, p: Parameters, kind: Kind, a: list[Value]) -> Value:
    x, y = a
    if kind == "b":
        for u, v in (a, a[::-1]):
            if u.known:
                return u if u.number else v
    elif x.known and y.known:
        return b.number(kind, x.whole | y.whole)
    return x if x is y else b.value("or", kind, *ordered(x, y))


def one_of(b: Builder, p: Parameters, kind: Kind, a: list[Value]) -> Value:
    """Exclusive or."""
    x, y = a
    if kind == "b":
        return compared("ne")(b, p, kind, a)
    return b.number(kind, x.whole ^ y.whole) if x.known and y.known else b.value("xor", kind, x, y)


def opposite(b: Builder, p: Parameters, kind: Kind, a: list[Value]) -> Value:
    (x,) = a
    if x.known:
        return b.number(kind, (not x.number) if kind == "b" else ~x.whole)
    return x.args[0] if x.op == "not" else b.value("not", kind, x)


def select(b: Builder, p: Parameters, kind: Kind, a: list[Value]) -> Value:
    which, *cases = a
    if which.known:
        return cases[int(which.number)]
    if all(case is cases[0] for case in cases):
        return cases[0]
    if which.op == "not" and len(cases) == 2:
        return select(b, p, kind, [which.args[0], cases[1], cases[0]])
    if len(cases) > 2:  # one after the other
        rest = cases[-1]
        for i in reversed(range(len(cases) - 1)):
            rest = select(b, p, kind, [compared("eq")(b, p, "b", [which, b.number("i", i)]), rest, cases[i]])
        return rest
    if kind == "b":
        off, on = cases
        if off.known:
            return (
                both(b, p, kind, [which, on])
                if not off.number
                else either(b, p, kind, [opposite(b, p, kind, [which]), on])
            )
        if on.known:
            return (
                either(b, p, kind, [which, off])
                if on.number
                else both(b, p, kind, [opposite(b, p, kind, [which]), off])
            )
    # A choice within a choice of the same kind: the inner one is decided already.
    off, on = (_decided(case, which, i) for i, case in enumerate(cases))
    return off if off is on else b.value("select", kind, which, off, on)


def _decided(case: Value, which: Value, i: int) -> Value:
    return case.args[1 + i] if case.op == "select" and case.args[0] is which else case
