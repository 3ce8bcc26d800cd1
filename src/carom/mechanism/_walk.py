"""Passes over a tree, outward from the base and inward to it, at a cost linear in the number of links.

A *per-link value* is a list of small tuples of scalars while the mechanism is small, and a tuple of arrays over the
links when it is large. Callers write one step on scalars; the passes below decide how to run it:

- up to `UNROLL` links the steps are written out one after the other. Under vmap every scalar becomes a vector over the
  batch, which compilers turn into straight vector code; this is what makes batches fast.
- beyond it the same step runs inside `lax.scan`, so that compile time does not grow with the number of links. The scan
  visits the links depth first and hands each value straight to the next link: a buffer with a row per link, written in
  every step, would be copied in every step (n^2 work). Only forks park values, in at most log2(links) slots.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import PyTree

from .topology import Topology

UNROLL = 8

Row = tuple[Any, ...]  # what a step is given for one link: scalars, and some points (x, y)
PerLink = Any  # list of tuples of scalars (small) or tuple of arrays over the links (large)


def small(topology: Topology) -> bool:
    """Few links, or such as bend, slide or have rotors: written out one after the other."""
    return topology.links <= UNROLL or topology.elastic or topology.jointed


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


class _Tour(NamedTuple):
    """Depth-first visit of all links, every array in order of the visit; a fork's largest branch comes last."""

    order: np.ndarray  # link visited
    root: np.ndarray  # hangs on a base
    follows: np.ndarray  # its parent was visited just before
    inner: np.ndarray  # has children; the first of them is visited right after
    own: np.ndarray  # one-hot: the slot where a fork parks its value; no slot for other links
    source: np.ndarray  # one-hot: the slot of the parent, for links that neither follow it nor are roots


@lru_cache(maxsize=64)
def _tour(topology: Topology) -> _Tour:
    """Plan the visit. A slot is free again once the last branch is entered, hence log2(links) slots are enough."""
    size = np.ones(topology.links, dtype=int)
    for k in reversed(topology.order):
        if topology.parents[k] >= 0:
            size[topology.parents[k]] += size[k]
    branches = [sorted(children, key=lambda c: size[c]) for children in topology.children]

    order: list[int] = []
    slot: dict[int, int] = {}
    source: dict[int, int] = {}
    todo = [(k, 0) for k in reversed(topology.order) if topology.parents[k] < 0]  # (link, slots in use)
    while todo:
        k, used = todo.pop()
        order.append(k)
        if len(branches[k]) > 1:
            slot[k] = used
            source |= dict.fromkeys(branches[k][1:], used)
        todo += [(c, used + (c != branches[k][-1])) for c in reversed(branches[k])]

    slots = max(slot.values(), default=-1) + 1
    parents = np.asarray(topology.parents)[order]
    return _Tour(
        order=np.asarray(order),
        root=parents < 0,
        follows=parents == np.concatenate([[-2], order[:-1]]),
        inner=np.asarray([bool(branches[k]) for k in order]),
        own=np.asarray([[slot.get(k) == s for s in range(slots)] for k in order], dtype=bool),
        source=np.asarray([[source.get(k) == s for s in range(slots)] for k in order], dtype=bool),
    )


def _arrange(values: PyTree, order: np.ndarray) -> Any:
    """Rows of every array in another order; nothing happens to those that are in order already, as in a chain."""
    return values if np.array_equal(order, np.arange(len(order))) else jax.tree.map(lambda x: x[order], values)


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

    tour = _tour(topology)
    forked = tour.own.shape[1] > 0
    starts = [jnp.stack([jnp.asarray(x, dtype=float) for x in column]) for column in zip(*bases, strict=True)]

    def body(state: PyTree, x: PyTree) -> Any:
        before, parked = state
        root, follows, own, source, start, given = x
        parent = before
        if forked:
            parent = tuple(
                jnp.where(follows, b, jnp.sum(jnp.where(source, p, 0.0))) for b, p in zip(before, parked, strict=True)
            )
        parent = tuple(jnp.where(root, s, p) for s, p in zip(start, parent, strict=True))
        result = tuple(step(given, parent))
        parked = tuple(jnp.where(own, r, p) for r, p in zip(result, parked, strict=True)) if forked else parked
        return (result, parked), result

    trees = np.asarray(topology.trees)[tour.order]
    per_step = (tour.root, tour.follows, tour.own, tour.source, tuple(s[trees] for s in starts))
    nothing = tuple(jnp.zeros(()) for _ in starts)
    slots = tuple(jnp.zeros(tour.own.shape[1]) for _ in starts) if forked else ()
    _, results = lax.scan(body, (nothing, slots), (*per_step, _arrange(inputs, tour.order)))
    return _arrange(results, np.argsort(tour.order))


def inward(
    topology: Topology,
    step: Callable[[tuple[Any, ...], tuple[Any, ...]], tuple[tuple[Any, ...], tuple[Any, ...]]],
    width: int,
    inputs: PerLink,
    lift: Callable[[tuple[Any, ...], tuple[Any, ...]], tuple[Any, ...]] = lambda message, parent: message,
    base: tuple[Any, ...] = (),
) -> tuple[PerLink, list[tuple[Any, ...]]]:
    """(out[k], message) = step(inputs[k], sum of the gifts of k's children); a message is a tuple of `width` scalars.

    What reaches the parent is the gift lift(message, inputs[parent]), with `base` standing for the inputs of a base;
    lift turns a message of zeros into a gift of zeros. Without `lift` the message itself is the gift.
    Returns the per-link outs and, for every tree, the sum of the gifts that reached its base.
    """
    n, trees = topology.links, len(topology.free)
    nothing = (0.0,) * len(lift((0.0,) * width, base))
    if small(topology):
        sums: list[tuple[Any, ...]] = [nothing for _ in range(n + trees)]
        out: list[Any] = [None] * n
        for k in reversed(topology.order):
            out[k], message = step(inputs[k], sums[k])
            p = topology.parents[k]
            row, above = (p, inputs[p]) if p >= 0 else (n + topology.trees[k], base)
            sums[row] = tuple(s + g for s, g in zip(sums[row], lift(message, above), strict=True))
        return out, sums[n:]

    tour = _tour(topology)
    forked, roots = tour.own.shape[1] > 0, np.flatnonzero(tour.root)

    def body(state: PyTree, x: PyTree) -> Any:
        before, parked = state
        inner, own, source, given, above = x
        carried = tuple(jnp.where(inner, g, 0.0) for g in lift(before, given))  # from the first child
        if forked:
            carried = tuple(c + jnp.sum(jnp.where(own, p, 0.0)) for c, p in zip(carried, parked, strict=True))
        result, message = step(given, carried)
        if forked:
            # Empty the own slot for its next user, and leave the gift in that of the parent.
            gifts = zip(parked, lift(message, above), strict=True)
            parked = tuple(jnp.where(own, 0.0, p) + jnp.where(source, g, 0.0) for p, g in gifts)
        return (tuple(message), parked), (result, message if len(roots) > 1 else ())

    given = _arrange(inputs, tour.order)
    above = _arrange(inputs, np.maximum(np.asarray(topology.parents)[tour.order], 0)) if forked else ()
    start = tuple(jnp.zeros(()) for _ in range(width))
    slots = tuple(jnp.zeros(tour.own.shape[1]) for _ in nothing) if forked else ()
    per_step = (tour.inner, tour.own, tour.source, given, above)
    (last, _), (results, messages) = lax.scan(body, (start, slots), per_step, reverse=True)
    arrived: list[tuple[Any, ...]] = [nothing for _ in range(trees)]
    for r in roots:
        tree = topology.trees[tour.order[r]]
        gift = lift(tuple(m[r] for m in messages) if len(roots) > 1 else last, base)
        arrived[tree] = tuple(a + g for a, g in zip(arrived[tree], gift, strict=True))
    return _arrange(results, np.argsort(tour.order)), arrived
