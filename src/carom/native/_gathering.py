"""Picking numbers out of arrays, and putting them there, at indices that may be computed."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from ._logic import compared
from ._shuffling import (
    WRITTEN_OUT,
    Cells,
    Memory,
    Thing,
    bare,
    calculated,
    cells,
    chosen,
    shaped,
    stretch_at,
    window_at,
    write_row,
)
from ._ssa import Builder, Equation, Value


def _gather(b: Builder, eqn: Equation, x: Thing, indices: Thing) -> Cells:
    """XLA's gather: for every index a window of the operand."""
    p, out_shape = eqn.params, eqn.outvars[0].aval.shape
    d, sizes = p["dimension_numbers"], p["slice_sizes"]
    if d.operand_batching_dims:
        raise NotImplementedError("gather in batches")
    have = x if isinstance(x, Memory) and x.size > WRITTEN_OUT else cells(b, x)
    at, collapsed = cells(b, indices), d.collapsed_slice_dims
    batch_axes = [i for i in range(len(out_shape)) if i not in d.offset_dims]
    out = np.empty(out_shape, dtype=object)
    fills = "FILL" in str(p["mode"])
    for batch in np.ndindex(at.shape[:-1]):
        window, inside = _window(b, have, list(at[batch]), d.start_index_map, sizes, "CLIP" in str(p["mode"]))
        window = window.reshape([n for i, n in enumerate(window.shape) if i not in collapsed])
        if fills and not (inside.known and inside.data):
            window = _kept(b, inside, window, eqn)
        place: list[Any] = [slice(None)] * len(out_shape)
        for axis, i in zip(batch_axes, batch, strict=True):
            place[axis] = i
        out[tuple(place)] = bare(window)
    return out


def _kept(b: Builder, inside: Value, window: Cells, eqn: Equation) -> Cells:
    """What lies outside of the operand is not a number."""
    fill = eqn.params["fill_value"]
    odd = (
        np.nan
        if eqn.outvars[0].aval.dtype == np.float64
        else False
        if eqn.outvars[0].aval.dtype == np.bool_
        else np.iinfo(np.int64).min
    )
    blank = [b.number(x.kind, odd if fill is None else fill) for x in window.ravel()]
    return chosen(b, inside, shaped(blank, window.shape), window)


def _window(
    b: Builder, have: Cells | Memory, index: list[Value], axes: Any, sizes: Any, clips: bool
) -> tuple[Cells, Value]:
    """The window that begins at an index, and whether the index lies in the operand."""
    inside, begins = b.number("b", True), [b.number("i", 0)] * len(sizes)  # axes without an index begin at zero
    for axis, i in zip(axes, index, strict=True):
        last, begins[axis] = have.shape[axis] - sizes[axis], i
        if not clips:
            low = compared("ge")(b, {}, "b", [i, b.number("i", 0)])
            high = compared("le")(b, {}, "b", [i, b.number("i", last)])
            inside = calculated(b, "and", "b", inside, calculated(b, "and", "b", low, high))
    if isinstance(have, Memory):
        return stretch_at(b, have, tuple(sizes), begins), inside
    for axis, i in enumerate(begins):
        have = window_at(b, have, axis, i, sizes[axis])
    return have, inside


COMBINED = {"scatter": None} | {f"scatter-{how}": how for how in ("add", "sub", "mul", "max", "min")}


def _scatter(b: Builder, eqn: Equation, x: Thing, indices: Thing, updates: Thing) -> Any:
    """XLA's scatter: windows of updates are written, or added, at their indices, one after the other."""
    p = eqn.params
    d, how = p["dimension_numbers"], COMBINED[eqn.primitive.name]
    if d.operand_batching_dims:
        raise NotImplementedError("scatter in batches")
    at, new = cells(b, indices), cells(b, updates)
    if isinstance(x, Memory):
        return _row_written(b, x, at, new, d, how)
    have = cells(b, x).copy()
    batch_axes = [i for i in range(new.ndim) if i not in d.update_window_dims]
    for batch in np.ndindex(at.shape[:-1]):
        place: list[Any] = [slice(None)] * new.ndim
        for axis, i in zip(batch_axes, batch, strict=True):
            place[axis] = i
        window = new[tuple(place)]
        window = np.expand_dims(
            window if isinstance(window, np.ndarray) else cells(b, window), tuple(d.inserted_window_dims)
        )
        have = _placed(b, have, window, dict(zip(d.scatter_dims_to_operand_dims, at[batch], strict=True)), how)
    return have


def _placed(b: Builder, have: Cells, window: Cells, index: dict[int, Value], how: str | None) -> Cells:
    """The window at an index; one that lies outside is dropped."""
    ranges = []
    for axis, (n, m) in enumerate(zip(have.shape, window.shape, strict=True)):
        i = index.get(axis)
        if i is None:
            ranges.append([0])
        elif i.known:
            ranges.append([i.whole] if 0 <= i.whole <= n - m else [])
        else:
            ranges.append(list(range(n - m + 1)))
    for place in product(*ranges):
        here = b.number("b", True)
        for axis, i in index.items():
            here = calculated(b, "and", "b", here, compared("eq")(b, {}, "b", [i, b.number("i", place[axis])]))
        spot = tuple(slice(i, i + m) for i, m in zip(place, window.shape, strict=True))
        old, new = have[spot], window
        if how is not None:
            pairs = zip(old.ravel(), window.ravel(), strict=True)
            new = shaped([calculated(b, how, x.kind, x, y) for x, y in pairs], window.shape)
        have[spot] = chosen(b, here, old, new)
    return have


def _row_written(b: Builder, x: Memory, at: Cells, new: Cells, d: Any, how: str | None) -> Memory:
    """One row of a long array."""
    whole = new.size == x.size // x.shape[0] and tuple(d.scatter_dims_to_operand_dims) == (0,)
    if how is not None or at.size != 1 or not whole:
        raise NotImplementedError("scattering into a long array")
    return write_row(b, x, at.ravel()[0], list(new.ravel()))


GATHERING: dict[str, Callable[..., Any]] = {"gather": _gather, **dict.fromkeys(COMBINED, _scatter)}
