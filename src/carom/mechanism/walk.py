"""Passes over a tree, outward from the base and inward to it, at a cost linear in the number of links.

A *per-link value* is a list of small tuples of scalars while the mechanism is small, and a tuple of arrays over the
links when it is large. Callers write one step on scalars; the passes below decide how to run it:

- up to `UNROLL` links the steps are written out one after the other. Under vmap every scalar becomes a vector over the
  batch, which compilers turn into straight vector code; this is what makes batches fast.
- beyond it the same step runs inside `lax.scan`, so that compile time does not grow with the number of links.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .topology import Topology

UNROLL = 8

PerLink = Any  # list of tuples of scalars (small) or tuple of arrays over the links (large)


def small(topology: Topology) -> bool:
    return topology.links <= UNROLL


def per_link(topology: Topology, *columns: Any) -> PerLink:
    """Turn arrays over the links (last axis indexes nothing else) into a per-link value."""
    if small(topology):
        return [tuple(column[k] for column in columns) for k in range(topology.links)]
    return tuple(jnp.asarray(column) for column in columns)


def columns(topology: Topology, values: PerLink) -> tuple[Any, ...]:
    """The inverse of `per_link`: one array over the links for every entry of the tuple."""
    if small(topology):
        return tuple(jnp.stack([jnp.asarray(v) for v in column]) for column in zip(*values, strict=True))
    return tuple(values)


def of_parent(topology: Topology, values: PerLink, base: tuple[Any, ...]) -> PerLink:
    """For every link the value of its parent; `base` for those that hang on the base."""
    if small(topology):
        return [values[p] if p >= 0 else base for p in topology.parents]
    parents = np.asarray(topology.parents)
    return tuple(
        jnp.where(parents >= 0, column[np.maximum(parents, 0)], b) for column, b in zip(values, base, strict=True)
    )


def outward(
    topology: Topology,
    step: Callable[[tuple[Any, ...], tuple[Any, ...]], tuple[Any, ...]],
    bases: list[tuple[Any, ...]],
    inputs: PerLink,
) -> PerLink:
    """out[k] = step(inputs[k], out[parent of k]), with `bases[t]` standing for the base of tree t."""
    if small(topology):
        out: list[Any] = [None] * topology.links
        for k in topology.order:
            p = topology.parents[k]
            out[k] = step(inputs[k], out[p] if p >= 0 else bases[topology.trees[k]])
        return out

    # Rows 0 .. n-1 belong to the links, the rows behind them to the bases.
    n, order = topology.links, np.asarray(topology.order)
    rows = np.where(np.asarray(topology.parents) >= 0, topology.parents, n + np.asarray(topology.trees))
    stacked = [jnp.stack([jnp.asarray(b[i], dtype=float) for b in bases]) for i in range(len(bases[0]))]
    buffers = tuple(jnp.concatenate([jnp.zeros((n, *s.shape[1:]), s.dtype), s]) for s in stacked)

    def body(buffers: Any, x: Any) -> Any:
        k, row, given = x
        result = step(given, tuple(buffer[row] for buffer in buffers))
        return tuple(b.at[k].set(r) for b, r in zip(buffers, result, strict=True)), None

    ordered = jax.tree.map(lambda column: column[order], inputs)
    buffers, _ = lax.scan(body, buffers, (order, rows[order], ordered))
    return tuple(buffer[:n] for buffer in buffers)


def inward(
    topology: Topology,
    step: Callable[[tuple[Any, ...], tuple[Any, ...]], tuple[tuple[Any, ...], tuple[Any, ...]]],
    width: int,
    inputs: PerLink,
) -> tuple[PerLink, list[tuple[Any, ...]]]:
    """(out[k], gift) = step(inputs[k], sum of the gifts of k's children); a gift is a tuple of `width` scalars.

    Returns the per-link outs and, for every tree, the sum of the gifts that reached its base.
    """
    n, trees = topology.links, len(topology.free)
    if small(topology):
        sums: list[tuple[Any, ...]] = [(0.0,) * width for _ in range(n + trees)]
        out: list[Any] = [None] * n
        for k in reversed(topology.order):
            out[k], gift = step(inputs[k], sums[k])
            row = topology.parents[k] if topology.parents[k] >= 0 else n + topology.trees[k]
            sums[row] = tuple(s + g for s, g in zip(sums[row], gift, strict=True))
        return out, sums[n:]

    order = np.asarray(topology.order)[::-1]
    rows = np.where(np.asarray(topology.parents) >= 0, topology.parents, n + np.asarray(topology.trees))

    def body(sums: Any, x: Any) -> Any:
        k, row, given = x
        result, gift = step(given, tuple(s[k] for s in sums))
        return tuple(s.at[row].add(g) for s, g in zip(sums, gift, strict=True)), result

    ordered = jax.tree.map(lambda column: column[order], inputs)
    start = tuple(jnp.zeros(n + trees) for _ in range(width))
    final, results = lax.scan(body, start, (order, rows[order], ordered))
    back = np.argsort(order)
    arrived = [tuple(s[n + t] for s in final) for t in range(trees)]
    return tuple(r[back] for r in results), arrived
