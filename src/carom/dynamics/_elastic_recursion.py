"""Recursions over a tree with elastic links, in O(n): accelerations from forces, and forces from accelerations."""

from __future__ import annotations

from typing import Any

from ..mechanism import Mechanism
from ..quantities import Coordinates, Reals, Vector
from . import _linear as linear
from ._elastic_links import Vec, Whole, dot, indices, known, plus, whole


def accelerations(
    mechanism: Mechanism, q: Coordinates, v: Coordinates, force: Coordinates, gravity: Vector
) -> list[Any]:
    """v' in O(n): every link eliminates its own z'' and hands f = Lambda a + beta at its joint to its parent."""
    top, w = mechanism.topology, whole(mechanism, q, v)
    pull = (-gravity[0], -gravity[1])  # weight: the origin accelerates by -g
    carried: list[Any] = [((0.0, 0.0, 0.0), (0.0, 0.0))] * top.links  # (Lambda xx, xy, yy; beta) of each link
    eliminated: list[Any] = [None] * top.links
    for k in reversed(top.order):
        mine, turn, at = w.owns[k], w.states[k].turn, indices(mechanism, k)
        lam = (mine.mass, 0.0, mine.mass)
        u = [turn(a) for a in mine.columns]
        second = [list(row) for row in mine.second]
        beta = plus(turn(mine.bias), pull, mine.mass)
        rows = [row + dot(a, pull) for row, a in zip(mine.rows, u, strict=True)]
        for c in top.children[k]:
            h, (felt_mass, b) = known(w.hangs[c]), carried[c]
            lever, over = [turn(a) for a in h.columns], plus(b, _times(felt_mass, turn(h.bias)))
            felt = [_times(felt_mass, a) for a in lever]
            lam = tuple(x + y for x, y in zip(lam, felt_mass, strict=True))
            u = [plus(x, y) for x, y in zip(u, felt, strict=True)]
            beta = plus(beta, over)
            rows = [row + dot(a, over) for row, a in zip(rows, lever, strict=True)]
            for i in range(len(at)):
                for j in range(len(at)):
                    second[i][j] = second[i][j] + dot(lever[i], felt[j])
        solve = linear.ldl_factor([row[: i + 1] for i, row in enumerate(second)])
        gain = solve([force[at[i]] - rows[i] for i in range(len(at))])
        through = [solve([a[axis] for a in u]) for axis in (0, 1)]  # D^-1 U^T, by world axis
        cut = lambda i, j: sum(a[i] * x for a, x in zip(u, through[j], strict=True))  # noqa: B023, E731
        lam = (lam[0] - cut(0, 0), lam[1] - cut(0, 1), lam[2] - cut(1, 1))
        for a, g in zip(u, gain, strict=True):
            beta = plus(beta, a, g)
        carried[k], eliminated[k] = (lam, beta), (gain, through)
    return _outward(mechanism, w, carried, eliminated, force)


def _outward(
    mechanism: Mechanism, w: Whole, carried: list[Any], eliminated: list[Any], force: Coordinates
) -> list[Any]:
    top = mechanism.topology
    out: list[Any] = [0.0] * top.dof
    joint: list[Vec] = [(0.0, 0.0)] * top.links
    bases: dict[int, Vec] = {}
    for tree in range(len(top.free)):
        at = top.base_index(tree)
        roots = [k for k in range(top.links) if top.parents[k] < 0 and top.trees[k] == tree]
        bases[tree] = (0.0, 0.0)
        if at is not None:
            xx, xy, yy = (sum(carried[k][0][i] for k in roots) for i in range(3))
            fx, fy = (force[at + i] - sum(carried[k][1][i] for k in roots) for i in (0, 1))
            over = 1.0 / (xx * yy - xy * xy)
            bases[tree] = ((yy * fx - xy * fy) * over, (xx * fy - xy * fx) * over)
            out[at], out[at + 1] = bases[tree]
    for k in top.order:
        parent = top.parents[k]
        a = bases[top.trees[k]] if parent < 0 else _moved(mechanism, w, k, joint[parent], out)
        gain, through = eliminated[k]
        for i, index in enumerate(indices(mechanism, k)):
            out[index] = gain[i] - through[0][i] * a[0] - through[1][i] * a[1]
        joint[k] = a
    return out


def _moved(mechanism: Mechanism, w: Whole, k: int, above: Vec, z: Reals) -> Vec:
    """Acceleration of the joint of link k from that of its parent's joint and the parent's z''."""
    parent, h = mechanism.topology.parents[k], known(w.hangs[k])
    turn = w.states[parent].turn
    a = plus(above, turn(h.bias))
    for column, index in zip(h.columns, indices(mechanism, parent), strict=True):
        a = plus(a, turn(column), z[index])
    return a


def inverse(mechanism: Mechanism, q: Coordinates, v: Coordinates, a: Coordinates, gravity: Vector) -> list[Any]:
    """The generalized force that the motion needs besides weight, in O(n)."""
    top, w = mechanism.topology, whole(mechanism, q, v)
    joint: list[Vec] = [(0.0, 0.0)] * top.links
    for k in top.order:
        root = top.base_index(top.trees[k])
        start = (-gravity[0], -gravity[1]) if root is None else (a[root] - gravity[0], a[root + 1] - gravity[1])
        joint[k] = start if top.parents[k] < 0 else _moved(mechanism, w, k, joint[top.parents[k]], a)
    out: list[Any] = [0.0] * top.dof
    needed: list[Vec] = [(0.0, 0.0)] * top.links
    for k in reversed(top.order):
        mine, turn, at = w.owns[k], w.states[k].turn, indices(mechanism, k)
        z = [a[i] for i in at]
        f = plus(turn(mine.bias), joint[k], mine.mass)
        for column, x in zip(mine.columns, z, strict=True):
            f = plus(f, turn(column), x)
        for i, index in enumerate(at):
            out[index] = out[index] + mine.rows[i] + dot(mine.second[i], z) + dot(turn(mine.columns[i]), joint[k])
        for c in top.children[k]:
            h = known(w.hangs[c])
            f = plus(f, needed[c])
            for column, index in zip(h.columns, at, strict=True):
                out[index] = out[index] + dot(turn(column), needed[c])
        needed[k] = f
        base = top.base_index(top.trees[k])
        if base is not None and top.parents[k] < 0:
            out[base], out[base + 1] = plus((out[base], out[base + 1]), f)
    return out


def _times(m: Reals, a: Vec) -> Vec:
    """A symmetric 2 x 2 matrix (xx, xy, yy) times a vector."""
    return m[0] * a[0] + m[1] * a[1], m[1] * a[0] + m[2] * a[1]
