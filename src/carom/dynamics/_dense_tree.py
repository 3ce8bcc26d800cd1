"""Trees of many rigid links on hinges: every pass over the tree is a product with a constant matrix of zeros and ones.

A scan goes from link to link, and a scatter from entry to entry, each at the cost of a dispatch; a product with a small
dense matrix is one. A mass matrix has n^2 numbers anyway; where links are has not: beyond `MOST` it is found by a scan.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..mechanism import Mechanism
from ..mechanism.topology import Topology
from ..quantities import Vector
from . import _linear as linear

MOST = 256  # links whose places are found so
BLOCK = 5  # coordinates of a tree, up to which its own equations are solved by themselves


class Plan(NamedTuple):
    """Who hangs on whom, as matrices over (links, links) and (trees, links) of zeros and ones."""

    up: np.ndarray  # parent of every link; of roots, any
    inner: np.ndarray  # has a parent
    trees: np.ndarray  # number of the tree
    path: np.ndarray  # [k, s]: joint s is on the way from the base to link k, its own included
    children: np.ndarray  # [k, c]
    below: np.ndarray  # [k, j]: j is k, or hangs on it
    base: np.ndarray  # of every tree: where its x stands in q; 0 if it is fixed
    free: np.ndarray  # of every tree
    on: np.ndarray  # (free trees, links): the tree of a link
    roots: np.ndarray  # (free trees, links): the roots of a tree


@lru_cache(maxsize=64)
def plan(topology: Topology) -> Plan:
    links, parents, trees = topology.links, np.asarray(topology.parents), np.asarray(topology.trees)
    path, children = np.eye(links), np.zeros((links, links))
    for k, way in enumerate(topology.paths):
        path[k, [i for i, _ in way]] = 1.0  # the joint of every ancestor, and its own, are on the way
        if way:
            children[parents[k], k] = 1.0
    free = np.asarray(topology.free, dtype=bool)
    base = np.asarray([topology.base_index(t) or 0 for t in range(len(free))], dtype=np.uint32)
    on = np.asarray([trees == t for t in np.flatnonzero(free)], dtype=float).reshape(-1, links)
    up = np.maximum(parents, 0).astype(np.uint32)
    inner = parents >= 0
    return Plan(up, inner, trees.astype(np.uint32), path, children, path.T, base, free, on, on * ~inner)


def dense_frames(mechanism: Mechanism, q: Vector, v: Vector) -> tuple[Array, ...]:
    """Origin of every link, its velocity, cosine and sine of the angle, rate: the columns of `LinkMotion`."""
    n, p, angles = mechanism.numbers, plan(mechanism.topology), mechanism.topology.angles
    cos, sin, rate = jnp.cos(q[angles]), jnp.sin(q[angles]), v[angles]
    pivot = jnp.asarray(n.pivot)
    place = jnp.stack([q[p.base], q[p.base + 1]], axis=1) if np.any(p.free) else pivot
    speed = jnp.stack([v[p.base], v[p.base + 1]], axis=1) if np.any(p.free) else jnp.zeros_like(pivot)
    if not np.all(p.free):
        place, speed = jnp.where(p.free[:, None], place, pivot), jnp.where(p.free[:, None], speed, 0.0)
    out, up = n.hang[:, 0], n.hang[:, 1]
    if np.any(p.inner):
        turned = jnp.stack([cos, sin, rate])[:, p.up]
        pcos, psin, prate = (jnp.where(p.inner, x, y) for x, y in zip(turned, (1.0, 0.0, 0.0), strict=True))
        hx, hy = pcos * out - psin * up, psin * out + pcos * up
        hung = jnp.asarray(p.path) @ jnp.stack([hx, hy, -prate * hy, prate * hx], axis=1)
    else:  # every link is a tree of its own
        hung = jnp.stack([out, up, 0.0 * out, 0.0 * up], axis=1)
    x, y, vx, vy = (hung + jnp.concatenate([place, speed], axis=1)[p.trees]).T
    return x, y, vx, vy, cos, sin, rate


def dense_moments(mechanism: Mechanism) -> tuple[Array, ...]:
    """Subtree mass, first moment (x, y) and second moment of everything a link carries."""
    n, p = mechanism.numbers, plan(mechanism.topology)
    m, (cx, cy), (hx, hy) = n.mass, n.com.T, n.hang.T
    mass = jnp.asarray(p.below) @ m
    carried = p.children @ (mass[:, None] * jnp.stack([hx, hy, hx * hx + hy * hy], axis=1))
    own = jnp.stack([m * cx, m * cy, n.inertia + m * (cx * cx + cy * cy)], axis=1)
    px, py, inertia = (own + carried).T
    return mass, px, py, inertia


class Parts(NamedTuple):
    """What the equations are made of; symbols as in explicit.py."""

    x: Array  # (links,) p_k in world axes
    y: Array
    inertia: Array
    off: Array | None  # (links, links): what couples angles, on one side of the diagonal; None where nothing does
    whole: Array  # (free trees,) mass
    bias: Array  # (dof,)
    weight: Array  # (dof,)


def parts_of(mechanism: Mechanism, q: Vector, v: Vector, gravity: Vector) -> Parts:
    n, top, p = mechanism.numbers, mechanism.topology, plan(mechanism.topology)
    mass, px, py, inertia = dense_moments(mechanism)
    angle, square = q[top.angles], v[top.angles] ** 2
    cos, sin = jnp.cos(angle), jnp.sin(angle)
    x, y = cos * px - sin * py, sin * px + cos * py
    bias, weight, off = jnp.zeros(top.links), x * gravity[1] - y * gravity[0], None
    if np.any(p.inner):
        # With e_s from a parent's joint to that of s, in world axes: M_ik = e_s . p_k, B_ik = e_s x p_k, by the child s
        # of i on the way to k; so sums over pairs are sums over what is below, and over what is above.
        pcos, psin, sped = jnp.stack([cos, sin, square])[:, p.up] * p.inner[None, :]
        ex, ey = pcos * n.hang[:, 0] - psin * n.hang[:, 1], psin * n.hang[:, 0] + pcos * n.hang[:, 1]
        below, children = jnp.asarray(p.below), jnp.asarray(p.children)
        off = children @ (below * (jnp.outer(ex, x) + jnp.outer(ey, y)))
        bx, by = (below @ jnp.stack([x * square, y * square], axis=1)).T
        ax, ay = jnp.stack([ex * sped, ey * sped]) @ below
        bias = y * ax - x * ay - children @ (ex * by - ey * bx)
    trees = len(p.on)
    whole = jnp.asarray(p.roots) @ mass
    if trees:  # links of free trees also push and pull their base; roots bring the mass of their whole subtree to it
        pulled = jnp.stack([p.on @ (-x * square), p.on @ (-y * square)], axis=1).reshape(2 * trees)
        falls = jnp.outer(whole, gravity).reshape(2 * trees)
        bias, weight = jnp.concatenate([pulled, bias]), jnp.concatenate([falls, weight])
    return Parts(x, y, inertia, off, whole, bias, weight)


def matrix_of(topology: Topology, parts: Parts) -> Array:
    """The mass matrix."""
    p, trees = plan(topology), len(parts.whole)
    matrix = jnp.diag(parts.inertia)
    matrix = matrix if parts.off is None else matrix + parts.off + parts.off.T
    if not trees:
        return matrix
    beside = jnp.stack([p.on * -parts.y[None, :], p.on * parts.x[None, :]], axis=1).reshape(2 * trees, topology.links)
    whole, first = jnp.diag(jnp.repeat(parts.whole, 2)), 2 * trees
    out = jnp.zeros((topology.dof, topology.dof))  # block by block: a concatenation would ask of each entry where it is
    for block, at in ((whole, (0, 0)), (beside, (0, first)), (beside.T, (first, 0)), (matrix, (first, first))):
        out = jax.lax.dynamic_update_slice(out, block, at)
    return out


def dense_terms(mechanism: Mechanism, q: Vector, v: Vector, gravity: Vector) -> tuple[Array, Array, Array]:
    """Mass matrix, bias and weight."""
    parts = parts_of(mechanism, q, v, gravity)
    return matrix_of(mechanism.topology, parts), parts.bias, parts.weight


class Forest(NamedTuple):
    """Coordinates of every tree: those of its base, if it is free, then of its links, as many as the largest has."""

    base: np.ndarray  # (trees,): where its x stands in q
    free: np.ndarray  # (trees,)
    number: np.ndarray  # (trees,): among the free ones
    links: np.ndarray  # (trees, most)
    there: np.ndarray  # (trees, most): not only filled up
    back: np.ndarray  # (dof,): where each coordinate stands among all of these


@lru_cache(maxsize=64)
def forest(topology: Topology) -> Forest | None:
    """None where trees are large, or there is but one."""
    count = len(topology.free)
    each = [[k for k, t in enumerate(topology.trees) if t == tree] for tree in range(count)]
    most = max(map(len, each))
    if count < 2 or 2 + most > BLOCK:
        return None
    p = plan(topology)
    links, there = np.zeros((count, most), dtype=np.uint32), np.zeros((count, most), dtype=bool)
    back = np.zeros(topology.dof, dtype=np.uint32)
    for t, mine in enumerate(each):
        links[t, : len(mine)], there[t, : len(mine)] = mine, True
        back[topology.base_dof + np.asarray(mine)] = (2 + np.arange(len(mine))) * count + t
        if p.free[t]:
            back[p.base[t]], back[p.base[t] + 1] = t, count + t
    number = np.where(p.free, np.cumsum(p.free) - 1, 0).astype(np.uint32)
    return Forest(p.base, p.free, number, links, there, back)


def solver_by_trees(topology: Topology, f: Forest, parts: Parts) -> Any:
    """M^-1 times a vector, or times every column of a matrix: trees that stand side by side do not share a row."""
    most = f.links.shape[1]
    mass = jnp.where(f.free, parts.whole[f.number], 1.0) if np.any(f.free) else jnp.ones(len(f.free))
    rows: list[list[Any]] = [[mass], [jnp.zeros_like(mass), mass]]
    for i in range(most):
        k, there = f.links[:, i], f.there[:, i]
        beside = [jnp.where(there & f.free, e, 0.0) for e in (-parts.y[k], parts.x[k])]
        across = [_coupled(parts.off, k, f.links[:, j], there & f.there[:, j]) for j in range(i)]
        rows.append([*beside, *across, jnp.where(there, parts.inertia[k], 1.0)])
    factored = linear.ldl_factor([[x[:, None] for x in row] for row in rows])
    first = topology.base_dof

    def solve(right: Array) -> Array:
        wide = right[:, None] if right.ndim == 1 else right
        bases = [jnp.where(f.free[:, None], wide[f.base + axis], 0.0) for axis in (0, 1)]
        each = [*bases, *(jnp.where(f.there[:, i, None], wide[first + f.links[:, i]], 0.0) for i in range(most))]
        out = jnp.concatenate(factored(each))[f.back]
        return out[:, 0] if right.ndim == 1 else out

    return solve


def _coupled(off: Array | None, k: np.ndarray, j: np.ndarray, both: np.ndarray) -> Array:
    """What couples the angles of links k and j, tree by tree."""
    return jnp.zeros(len(k)) if off is None else jnp.where(both, off[k, j] + off[j, k], 0.0)
