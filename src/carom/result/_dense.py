"""A run at any instants, and functions of it there.

Everything goes a chunk at a time: memory stays small, and one compiled program serves any number of instants.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from ..hybrid._carry import Carry
from ..hybrid._run import StepRow, executable
from ..quantities import Columns, Coordinates, Function, Given, Times
from ._records import States

if TYPE_CHECKING:
    from .result import Result

CHUNK = 512  # rows computed at once


def chunked(function: Function, static: tuple[Any, ...], fixed: tuple[Any, ...], columns: tuple[Any, ...]) -> Any:
    """`function(*static, *fixed, *columns)`, which maps over the rows of the columns (one at least); NumPy arrays."""
    return in_chunks(lambda *rows: executable(function, static, *fixed, *rows)(*fixed, *rows), columns)


def in_chunks(run: Function, columns: tuple[Any, ...]) -> Any:
    """`run(*columns)`, which maps over their rows, always for the same number of rows; NumPy arrays."""
    count, parts = len(jax.tree.leaves(columns)[0]), []
    for begin in range(0, count, CHUNK):
        rows = np.minimum(np.arange(begin, begin + CHUNK), count - 1)  # the last chunk is filled up with its last row
        parts.append(
            jax.tree.map(np.asarray, run(*jax.tree.map(lambda column, r=rows: np.asarray(column)[r], columns)))
        )
    return jax.tree.map(lambda *pieces: np.concatenate(pieces)[:count], *parts)


def over(result: Result, times: Times, function: Function, static: tuple[Any, ...] = ()) -> Any:
    """`function(*static, world, states)`, which maps over the states, at the instants asked for."""
    times = np.atleast_1d(np.asarray(times, dtype=float))
    if not times.size:
        return jax.tree.map(lambda column: column[:0], over(result, result.t[0], function, static))
    return chunked(function, static, (result.world,), (states(result, times),))


def states(result: Result, times: Times) -> States:
    """The state at these instants: t, q, v, own states, works, phases and memories of the automata."""
    return result.at(times)


def standing(end: Carry) -> StepRow:
    """A run that made no step, as one of no length."""
    row = StepRow(end.t, np.zeros(()), end.y, end.phases, end.memory)
    return jax.tree.map(lambda x: np.asarray(x)[None], row)


def vector_of(values: Coordinates) -> np.ndarray:
    """Coordinates as the engine carries them, as an array."""
    return np.stack([np.asarray(x) for x in values]) if isinstance(values, tuple) else np.asarray(values)


def with_end(columns: Columns, end: Columns) -> np.ndarray:
    """Columns of the steps' beginnings as rows of an array, and the end of the run behind them."""
    if isinstance(columns, tuple):
        return np.stack([np.append(c, np.asarray(e)) for c, e in zip(columns, end, strict=True)], axis=1)
    return np.concatenate([columns, np.asarray(end)[None]])


def ended(found: States, end: Carry, over: np.ndarray) -> States:
    """The end of the run is what its last event left behind, which begins no step."""
    if not np.any(over):
        return found
    last = States(end.t, vector_of(end.y.q), vector_of(end.y.v), end.y.extra, end.y.work, end.phases, end.memory)

    def choose(column: np.ndarray, value: Given) -> Any:
        mask = over.reshape(-1, *(1,) * (np.ndim(column) - 1))
        return np.where(mask, np.asarray(value)[None], column).astype(column.dtype)

    return jax.tree.map(choose, found, last)
