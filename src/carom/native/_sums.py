"""Sums, products and extremes along the axes of arrays, written out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ._logic import compared, select
from ._shuffling import Cells, Thing, calculated, cells
from ._ssa import Builder, Kind, Number

Parameters = Mapping[str, Any]


NOTHING: dict[str, Number] = {"add": 0, "mul": 1, "or": False, "and": True, "max": -math.inf, "min": math.inf}


def _reduced(name: str) -> Callable[..., Any]:
    """Along some axes, one after the other."""

    def reduce(b: Builder, p: Parameters, x: Thing, kind: Kind) -> Any:
        have, axes = cells(b, x), p["axes"]
        kept = [d for d in range(have.ndim) if d not in axes]
        count = math.prod(have.shape[d] for d in axes)
        rows = have.transpose([*kept, *axes]).reshape([have.shape[d] for d in kept] + [count])
        out = np.empty(rows.shape[:-1], dtype=object)
        for i in np.ndindex(out.shape):
            total = rows[i][0] if len(rows[i]) else b.number(kind, NOTHING[name])
            for value in rows[i][1:]:
                total = calculated(b, name, kind, total, value)
            out[i] = total
        return out

    return reduce


def _best(name: str) -> Callable[..., Any]:
    """The first place of the largest or smallest along an axis."""

    def argument(b: Builder, p: Parameters, x: Thing, kind: Kind) -> Any:
        (axis,) = p["axes"]
        rows = np.moveaxis(cells(b, x), axis, -1)
        out = np.empty(rows.shape[:-1], dtype=object)
        for i in np.ndindex(out.shape):
            best, place = rows[i][0], b.number("i", 0)
            for k, value in enumerate(rows[i][1:], 1):
                better = compared(name)(b, {}, "b", [value, best])
                if value.kind == "f":  # the first that is not a number wins
                    odd = calculated(
                        b,
                        "and",
                        "b",
                        compared("ne")(b, {}, "b", [value, value]),
                        compared("eq")(b, {}, "b", [best, best]),
                    )
                    better = calculated(b, "or", "b", better, odd)
                best = select(b, {}, best.kind, [better, best, value])
                place = select(b, {}, "i", [better, place, b.number("i", k)])
            out[i] = place
        return out

    return argument


def _running(name: str) -> Callable[..., Any]:
    def accumulate(b: Builder, p: Parameters, x: Thing, kind: Kind) -> Any:
        rows = np.moveaxis(cells(b, x).copy(), p["axis"], -1)
        rows = rows[..., ::-1] if p["reverse"] else rows
        for i in np.ndindex(rows.shape[:-1]):
            for k in range(1, rows.shape[-1]):
                rows[i][k] = calculated(b, name, kind, rows[i][k - 1], rows[i][k])
        rows = rows[..., ::-1] if p["reverse"] else rows
        return np.moveaxis(rows, -1, p["axis"])

    return accumulate


def _products(b: Builder, p: Parameters, x: Thing, y: Thing, kind: Kind) -> Any:
    """Sums of products."""
    (over_x, over_y), (batch_x, batch_y) = p["dimension_numbers"]
    left, right = cells(b, x), cells(b, y)

    def arranged(have: Cells, batch: Any, over: Any) -> Cells:
        kept = [d for d in range(have.ndim) if d not in batch and d not in over]
        shape = [have.shape[d] for d in (*batch, *kept)]
        return have.transpose([*batch, *kept, *over]).reshape([*shape, math.prod(have.shape[d] for d in over)])

    left, right = arranged(left, batch_x, over_x), arranged(right, batch_y, over_y)
    n = len(batch_x)
    out = np.empty([*left.shape[:-1], *right.shape[n:-1]], dtype=object)
    for i in np.ndindex(left.shape[:-1]):
        for j in np.ndindex(right.shape[n:-1]):
            u, v = left[i], right[(*i[:n], *j)]
            total = b.number(kind, 0)
            for s, t in zip(u, v, strict=True):
                total = calculated(b, "add", kind, total, calculated(b, "mul", kind, s, t))
            out[(*i, *j)] = total
    return out


def _overall(name: str) -> Callable[..., Any]:
    """Over all axes, and over lanes, of which there is one here."""

    def reduce(b: Builder, p: Parameters, x: Thing, kind: Kind) -> Any:
        return _reduced(name)(b, {"axes": tuple(range(cells(b, x).ndim))}, x, kind)

    return reduce


SUMS: dict[str, Callable[..., Any]] = {
    "unvmap_any": _overall("or"),
    "unvmap_all": _overall("and"),
    "unvmap_max": _overall("max"),
    "reduce_sum": _reduced("add"),
    "reduce_prod": _reduced("mul"),
    "reduce_or": _reduced("or"),
    "reduce_and": _reduced("and"),
    "reduce_max": _reduced("max"),
    "reduce_min": _reduced("min"),
    "argmax": _best("gt"),
    "argmin": _best("lt"),
    "cumsum": _running("add"),
    "cumprod": _running("mul"),
    "cummax": _running("max"),
    "cummin": _running("min"),
    "dot_general": _products,
}
