"""Mass matrix, bias and weight of trees with elastic links, from which `explicit` builds its equations.

With the terms of each link (_elastic_links.py), for an ancestor i of k and the point h of it where the branch to k
hangs, M_ik = (R_i b_h)^T R_k B_k and so on, as for rigid links (_explicit.py); sums over everything that a link carries
are done once. Large rotation is exact; deflections enter as far as the shapes go.
"""

from __future__ import annotations

from typing import Any

from ..mechanism import Mechanism
from ..quantities import Coordinates, Real
from ._elastic_links import dot, indices, known, plus, whole


def terms(
    mechanism: Mechanism, q: Coordinates, v: Coordinates, gravity: Coordinates
) -> tuple[list[list[Any]], list[Any], list[Any]]:
    """Lower triangle of M, bias and weight, as lists of scalars."""
    top, w = mechanism.topology, whole(mechanism, q, v)
    below = _carried_mass(mechanism)
    matrix: list[list[Any]] = [[0.0] * (i + 1) for i in range(top.dof)]
    bias: list[Any] = [0.0] * top.dof
    weight: list[Any] = [0.0] * top.dof

    def add(i: int, j: int, value: Real) -> None:
        matrix[max(i, j)][min(i, j)] = matrix[max(i, j)][min(i, j)] + value

    for k in range(top.links):
        at, turn, mine = indices(mechanism, k), w.states[k].turn, w.owns[k]
        columns, accel = list(mine.columns), mine.bias
        for c in top.children[k]:
            h = known(w.hangs[c])
            columns = [plus(a, b, below[c]) for a, b in zip(columns, h.columns, strict=True)]
            accel = plus(accel, h.bias, below[c])
            for i, a in enumerate(h.columns):
                bias[at[i]] = bias[at[i]] + below[c] * dot(a, h.bias)
                for j, b in enumerate(h.columns[: i + 1]):
                    add(at[i], at[j], below[c] * dot(a, b))
        turned, driven = [turn(a) for a in columns], turn(accel)
        for i in range(len(at)):
            bias[at[i]] = bias[at[i]] + mine.rows[i]
            weight[at[i]] = weight[at[i]] + dot(turned[i], gravity)
            for j in range(i + 1):
                add(at[i], at[j], mine.second[i][j])
        for above, s in top.paths[k]:
            h, over, up = known(w.hangs[s]), w.states[above].turn, indices(mechanism, above)
            lever, pull = [over(x) for x in h.columns], over(h.bias)
            for i in range(len(up)):
                bias[up[i]] = bias[up[i]] + dot(lever[i], driven)
                for j in range(len(at)):
                    add(up[i], at[j], dot(lever[i], turned[j]))
            for j in range(len(at)):
                bias[at[j]] = bias[at[j]] + dot(turned[j], pull)
        base = top.base_index(top.trees[k])
        if base is not None:
            for axis in (0, 1):
                bias[base + axis] = bias[base + axis] + driven[axis]
                for j in range(len(at)):
                    add(base + axis, at[j], turned[j][axis])
                if top.parents[k] < 0:
                    add(base + axis, base + axis, below[k])
                    weight[base + axis] = weight[base + axis] + below[k] * gravity[axis]
    return matrix, bias, weight


def _carried_mass(mechanism: Mechanism) -> list[Any]:
    """Mass of every link with all it carries."""
    top = mechanism.topology
    below = [mechanism.numbers.mass[k] for k in range(top.links)]
    for k in reversed(top.order):
        if top.parents[k] >= 0:
            below[top.parents[k]] = below[top.parents[k]] + below[k]
    return below
