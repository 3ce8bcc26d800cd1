"""The first of those that are flagged, by sums that run along; a sort would call a comparison for each pair of them.

Numbers stand in a square, so that sums run along its rows, and then down them: two products with small matrices.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Integer


class Ranks(NamedTuple):
    """Where those that are flagged stand among them (0 for the first; of others it says nothing), and how many."""

    rank: Integer[Array, " n"]
    count: Any
    inner: Any  # sums that run along the rows of the square
    before: Any  # what comes before each row

    def first(self, room: int) -> Integer[Array, " room"]:
        """Numbers of the first `room` of them; beyond their count, any."""
        return self.nth(jnp.arange(1, room + 1))

    def nth(self, wanted: Integer[Array, " m"]) -> Integer[Array, " m"]:
        """Number of the first, second, ... of them, counted from one."""
        row = jnp.maximum(jnp.sum(self.before[None, :] < wanted[:, None], axis=1) - 1, 0)
        left = wanted - self.before[row]
        column = jnp.sum(self.inner[row] < left[:, None], axis=1)
        return jnp.minimum(row * len(self.before) + column, len(self.rank) - 1).astype(jnp.uint32)


def ranks_of(flags: Bool[Array, " n"]) -> Ranks:
    n = len(flags)
    side = math.isqrt(max(n - 1, 0)) + 1
    square = jnp.pad(flags.astype(float), (0, side * side - n)).reshape(side, side)
    inner = square @ np.triu(np.ones((side, side)))
    before = inner[:, -1] @ np.triu(np.ones((side, side)), 1)
    total = inner + before[:, None]
    return Ranks(total.reshape(-1)[:n].astype(int) - 1, total[-1, -1].astype(int), inner, before)


def flagged_first(flags: Bool[Array, " n"], others: Bool[Array, " n"], room: int) -> tuple[Any, Any, Any]:
    """Numbers of the first `room` of those that are flagged, then of others; the rank of each; how many are in use."""
    mine, beside = ranks_of(flags), ranks_of(others)
    rank = jnp.where(flags, mine.rank, jnp.where(others, mine.count + beside.rank, len(flags)))
    number = jnp.arange(room)
    place = jnp.where(number < mine.count, mine.nth(number + 1), beside.nth(number + 1 - mine.count))
    return place, rank, mine.count + beside.count
