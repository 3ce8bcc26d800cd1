"""Arrays as tables of scalars: what only moves numbers about costs nothing, sums are written out.

An array of a program is a `Value` (no axes), a NumPy array of values, or a `Memory` where it is long. Only the last is
ever found at an index that the program computes without a choice among all of its numbers.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

import numpy as np

from ._arithmetic import OPERATIONS
from ._logic import compared, select
from ._ssa import Builder, Kind, Value

Cells = np.ndarray[Any, np.dtype[np.object_]]  # of values
FEW = 3  # known numbers up to which one is found by a choice
WRITTEN_OUT = 256  # numbers up to which an array is taken apart


@dataclasses.dataclass
class Memory:
    """A long array: where it begins in the arguments ('in') or in the working memory ('out') [byte]."""

    base: str
    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    overwritten: bool = False  # it has changed since: whoever still asks for this one would get another's numbers

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=int))


Thing = Value | Cells | Memory


@functools.cache  # asked of every equation; comparing types takes longer
def kind_of(dtype: Any) -> Kind:
    """What a number of this type is computed as."""
    if dtype == np.bool_:
        return "b"
    if dtype == np.float64:
        return "f"
    if np.issubdtype(dtype, np.integer):
        return "i"
    raise NotImplementedError(f"numbers of type {dtype}")


def filled(shape: tuple[int, ...], values: list[Value]) -> Value | Cells:
    """Values as an array, or the only one by itself."""
    return shaped(values, shape) if shape else values[0]


def shaped(values: list[Value], shape: tuple[int, ...]) -> Cells:
    """Values as an array with these axes, be they none."""
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out.reshape(shape)


def constant(b: Builder, x: Any) -> Value | Cells:
    """A known array."""
    array = np.asarray(x)
    if not array.shape:
        return b.number(kind_of(array.dtype), array.item())
    if array.size > 16 * WRITTEN_OUT:
        raise NotImplementedError("a long table of numbers")
    kind = kind_of(array.dtype)
    return filled(array.shape, [b.number(kind, y) for y in array.ravel().tolist()])


def cells(b: Builder, x: Thing) -> Cells:
    """An array of values with its own axes, be they none."""
    if isinstance(x, Value):
        return shaped([x], ())
    if isinstance(x, Memory):
        if x.size > WRITTEN_OUT:
            raise NotImplementedError("arithmetic on a long array")
        return shaped([load(b, x, b.number("i", i)) for i in range(x.size)], x.shape)
    return x


def bare(x: Thing) -> Thing:
    """The value itself where there are no axes."""
    return x[()] if isinstance(x, np.ndarray) and x.ndim == 0 else x


def flat(b: Builder, x: Thing) -> list[Value]:
    """All of its values."""
    return [x] if isinstance(x, Value) else list(cells(b, x).ravel())


def load(b: Builder, m: Memory, index: Value) -> Value:
    """The number at an index, counted in numbers from the beginning."""
    if m.overwritten:
        raise NotImplementedError("an array that is changed and asked for again")
    how = (m.base, m.offset, m.dtype.str)
    emit = b.value if m.base == "in" else b.here
    return emit("load", kind_of(m.dtype), index, data=how)


def store(b: Builder, m: Memory, index: Value, value: Value) -> None:
    """Write a number at an index."""
    b.store(value, index, (m.base, m.offset, m.dtype.str))


def calculated(b: Builder, name: str, kind: Kind, *args: Value) -> Value:
    """An operation without parameters."""
    return OPERATIONS[name](b, {}, kind, list(args))


# -- moving ------------------------------------------------------------------------------------------------------------

Parameters = Mapping[str, Any]


def _broadcast(b: Builder, p: Parameters, x: Thing, *_: Thing) -> Any:
    shape, where = p["shape"], p["broadcast_dimensions"]
    have = cells(b, x)
    seen = have.reshape([have.shape[where.index(d)] if d in where else 1 for d in range(len(shape))])
    return np.broadcast_to(seen, shape)


def _sliced(b: Builder, p: Parameters, x: Thing) -> Any:
    steps = p["strides"] or (1,) * len(p["start_indices"])
    spans = zip(p["start_indices"], p["limit_indices"], steps, strict=True)
    return cells(b, x)[tuple(slice(*span) for span in spans)]


def _padded(b: Builder, p: Parameters, x: Thing, fill: Thing) -> Any:
    have = cells(b, x)
    config = p["padding_config"]
    if any(low < 0 or high < 0 or inner for low, high, inner in config):
        raise NotImplementedError("padding that takes away")
    out = np.full(
        [n + low + high for n, (low, high, _) in zip(have.shape, config, strict=True)], bare(fill), dtype=object
    )
    out[tuple(slice(low, low + n) for n, (low, _, _) in zip(have.shape, config, strict=True))] = have
    return out


def window_at(b: Builder, x: Cells, axis: int, index: Value, length: int) -> Cells:
    """`length` entries along an axis from a computed index on: a choice among all places."""
    last = x.shape[axis] - length
    index = calculated(b, "clamp", "i", b.number("i", 0), index, b.number("i", last))
    if index.known:
        return np.take(x, range(index.whole, index.whole + length), axis)
    if length == 1 and x.shape[axis] > FEW and tabled(b, x):
        return np.expand_dims(found_in(b, x, axis, index), axis)
    out = np.take(x, range(last, last + length), axis)
    for place in reversed(range(last)):
        here = compared("eq")(b, {}, "b", [index, b.number("i", place)])
        out = chosen(b, here, out, np.take(x, range(place, place + length), axis))
    return out


def tabled(b: Builder, x: Cells) -> bool:
    """May its numbers be found in a table of constants?"""
    return b.tables and all(v.known and v.kind == "f" for v in x.ravel())


def found_in(b: Builder, x: Cells, axis: int, index: Value) -> Cells:
    """Known numbers at a place along an axis, which is within the table."""
    rows = np.moveaxis(x, axis, 0)
    table = tuple(float(v.number) for v in rows.ravel())
    width = rows[0].size  # what belongs to an index lies together: one place to count up, and the rest beside it
    return shaped([b.value("table", "f", index, data=(table, width, k)) for k in range(width)], rows.shape[1:])


def chosen(b: Builder, flag: Value, off: Cells, on: Cells) -> Cells:
    pairs = zip(off.ravel(), on.ravel(), strict=True)
    return shaped([select(b, {}, x.kind, [flag, x, y]) for x, y in pairs], off.shape)


def _dynamic_slice(b: Builder, p: Parameters, x: Thing, *starts: Thing) -> Any:
    if isinstance(x, Memory):
        return stretch_at(b, x, tuple(p["slice_sizes"]), [_value(start) for start in starts])
    have = cells(b, x)
    for axis, (start, length) in enumerate(zip(starts, p["slice_sizes"], strict=True)):
        if length < have.shape[axis]:
            have = window_at(b, have, axis, _value(start), length)
    return have


def _value(x: Thing) -> Value:
    assert isinstance(x, Value)
    return x


def stretch_at(b: Builder, x: Memory, sizes: tuple[int, ...], starts: list[Value]) -> Cells:
    """A stretch of a long array along one axis, at one place of the axes before it, whole along those behind it."""
    axis = next((k for k, size in enumerate(sizes) if size != 1), len(sizes) - 1)
    if sizes[axis + 1 :] != x.shape[axis + 1 :]:
        raise NotImplementedError("a part of a row of a long array")
    first = b.number("i", 0)
    for k, start in enumerate(starts[: axis + 1]):
        width = int(np.prod(x.shape[k + 1 :], dtype=int))
        first = calculated(b, "add", "i", first, _begun(b, start, x.shape[k] - sizes[k], width))
    return _loaded(b, x, first, int(np.prod(sizes, dtype=int))).reshape(sizes)


def row_of(b: Builder, x: Memory, row: Value, count: int = 1) -> Cells:
    """Numbers of a stretch of rows of a long array."""
    width = x.size // x.shape[0]
    return _loaded(b, x, _begun(b, row, x.shape[0] - count, width), count * width)


def _begun(b: Builder, row: Value, last: int, width: int) -> Value:
    """Where a row of so many numbers begins; beyond the last one it is the last."""
    row = calculated(b, "clamp", "i", b.number("i", 0), row, b.number("i", last))
    return calculated(b, "mul", "i", row, b.number("i", width))


def _loaded(b: Builder, x: Memory, first: Value, count: int) -> Cells:
    out = np.empty(count, dtype=object)
    for i in range(count):
        out[i] = load(b, x, calculated(b, "add", "i", first, b.number("i", i)))
    return out


def write_row(b: Builder, x: Memory, row: Value, values: list[Value]) -> Memory:
    """Overwrite a row of a long array; whoever holds the array as it was may not ask for it any more."""
    if x.overwritten or x.base == "in":
        raise NotImplementedError("an array that is changed and asked for again")
    count = len(values) // max(x.size // x.shape[0], 1)
    row = calculated(b, "clamp", "i", b.number("i", 0), row, b.number("i", x.shape[0] - count))
    first = calculated(b, "mul", "i", row, b.number("i", x.size // x.shape[0]))
    for i, value in enumerate(values):
        store(b, x, calculated(b, "add", "i", first, b.number("i", i)), value)
    x.overwritten = True
    return dataclasses.replace(x, overwritten=False)


def _updated(b: Builder, p: Parameters, x: Thing, part: Thing, *starts: Thing) -> Any:
    if isinstance(x, Memory):
        if cells(b, part).shape[1:] != x.shape[1:]:
            raise NotImplementedError("a part of a row of a long array")
        return write_row(b, x, _value(starts[0]), flat(b, part))
    have, new = cells(b, x).copy(), cells(b, part)
    zero = b.number("i", 0)
    limits = [n - m for n, m in zip(have.shape, new.shape, strict=True)]
    at = [
        calculated(b, "clamp", "i", zero, _value(s), b.number("i", most))
        for s, most in zip(starts, limits, strict=True)
    ]
    for place in product(*([a.whole] if a.known else range(most + 1) for a, most in zip(at, limits, strict=True))):
        here = b.number("b", True)
        for a, i in zip(at, place, strict=True):
            here = calculated(b, "and", "b", here, compared("eq")(b, {}, "b", [a, b.number("i", i)]))
        window = tuple(slice(i, i + m) for i, m in zip(place, new.shape, strict=True))
        have[window] = chosen(b, here, have[window], new)
    return have


def _long_broadcast(b: Builder, p: Parameters, x: Thing, *_: Thing) -> Any:
    if int(np.prod(p["shape"], dtype=int)) > 16 * WRITTEN_OUT:
        raise NotImplementedError("a long array that is no buffer")
    return _broadcast(b, p, x)


def _stacked(b: Builder, p: Parameters, *xs: Thing) -> Any:
    return np.stack([cells(b, x) for x in xs], axis=p["axis"])


SHUFFLES: dict[str, Callable[..., Any]] = {
    "broadcast_in_dim": _long_broadcast,
    "reshape": lambda b, p, x, *_: cells(b, x).reshape(p["new_sizes"]),
    "squeeze": lambda b, p, x: np.squeeze(cells(b, x), tuple(p["dimensions"])),
    "expand_dims": lambda b, p, x: np.expand_dims(cells(b, x), tuple(p["dimensions"])),
    "transpose": lambda b, p, x: cells(b, x).transpose(p["permutation"]),
    "concatenate": lambda b, p, *xs: np.concatenate([cells(b, x) for x in xs], axis=p["dimension"]),
    "stack": _stacked,
    "slice": _sliced,
    "pad": _padded,
    "rev": lambda b, p, x: np.flip(cells(b, x), p["dimensions"]),
    "iota": lambda b, p: _counted(b, p),
    "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _updated,
}


def _counted(b: Builder, p: Parameters) -> Any:
    shape, axis = p["shape"], p["dimension"]
    along = np.arange(shape[axis]).reshape([-1 if d == axis else 1 for d in range(len(shape))])
    return constant(b, np.broadcast_to(along, shape).astype(p["dtype"]))
