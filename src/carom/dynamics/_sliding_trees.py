"""The closed form of trees in which some links slide, or joints turn rotors: explicit.py, with levers that grow.

Links that slide on each other turn as one; the hinge that carries them has the angle theta. In its frame, from its
joint, the place l_k of a link grows with the displacements s on the way to it. For every coordinate, with e_k the axis
of a slider in world axes, m_k the mass of the subtree of k, and what hangs on hinges counted as a mass at its hinge:

    Q_k   first moment of all that turns with k and is moved by it, about the joint of the hinge
    L_k = perp(Q_k)         S_k = -theta'^2 Q_k           on a hinge
    L_k = m_k e_k           S_k = 2 theta' s' m_k perp(e_k)   on a slider (Coriolis)

L_k is the momentum that a unit rate of k brings, S_k the force that its motion takes at zero accelerations. With c_ik
the velocity that a unit rate of an ancestor i gives to all that k moves, and p_ik the acceleration from its motion,

    M_ik = c_ik . L_k        bias_i += c_ik . S_k        bias_k += p_ik . L_k        weight_k = L_k . g
    c_ik = perp(d), p_ik = -theta_i'^2 d     on a hinge, d from its joint to the next hinge on the way to k
    c_ik = e_i,     p_ik = 2 theta' s' perp(e_i)    on a slider

Where k slides on the hinge i itself, all that k moves turns about i: d is Q_k, and L_k, S_k are those of a unit mass.
Rotors add J g g^T to M (_rotors.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp

from ..mechanism import Mechanism, Topology
from ..quantities import Coordinates, Point, Real
from ._elastic_links import Turn, Vec, dot, perp, plus
from ._rotors import gearing


class Tree(NamedTuple):
    """What the formulas read: columns over the links, of numbers or of symbols, and the functions of angles."""

    topology: Topology
    mass: Any
    com: Any
    inertia: Any
    hang: Any
    axis: Any
    rotor: Any
    gear: Any
    cos: Callable[[Any], Any] = jnp.cos
    sin: Callable[[Any], Any] = jnp.sin


def tree_of(mechanism: Mechanism) -> Tree:
    n = mechanism.numbers
    return Tree(mechanism.topology, n.mass, n.com, n.inertia, n.hang, n.axis, n.rotor, n.gear)


class Part(NamedTuple):
    """A link in the frame of the hinge that carries it: its place l; mass, first moment Q, second moment below it."""

    place: Vec
    mass: Any
    first: Vec
    second: Any


def places(tree: Tree, q: Coordinates) -> list[Vec]:
    """l of every link: zero for one on a hinge."""
    top = tree.topology
    found: dict[int, Vec] = {-1: (0, 0)}
    for k in top.order:
        found[k] = plus(found[top.parents[k]], hangs(tree, k, q)) if top.slides[k] else (0, 0)
    return [found[k] for k in range(top.links)]


def hangs(tree: Tree, k: int, q: Coordinates) -> Vec:
    """Where a link hangs now, in its parent's frame."""
    n, top = tree, tree.topology
    at = (n.hang[k][0], n.hang[k][1])
    return plus(at, (n.axis[k][0], n.axis[k][1]), q[top.angle_index(k)]) if top.slides[k] else at


def _parts(tree: Tree, q: Coordinates) -> list[Part]:
    """Places outward, moments inward."""
    n, top, place = tree, tree.topology, places(tree, q)
    found: dict[int, Part] = {}
    for k in reversed(top.order):
        at = plus(place[k], (n.com[k][0], n.com[k][1]))
        mass, first = n.mass[k], _times(n.mass[k], at)
        second = n.inertia[k] + n.mass[k] * dot(at, at)
        for c in top.children[k]:
            below = found[c]
            mass = mass + below.mass
            if top.slides[c]:
                more, turning = below.first, below.second
            else:
                hung = plus(place[k], hangs(tree, c, q))
                more, turning = _times(below.mass, hung), below.mass * dot(hung, hung)
            first, second = plus(first, more), second + turning
        found[k] = Part(place[k], mass, first, second)
    return [found[k] for k in range(top.links)]


class _Moving(NamedTuple):
    """A coordinate: L and S; of a slider also those of a unit mass, and its first moment Q, all in world axes."""

    momentum: Vec
    source: Vec
    unit: tuple[Vec, Vec] | None
    first: Vec


def _times(factor: Real, vector: Vec) -> Vec:
    return factor * vector[0], factor * vector[1]


class Turned(NamedTuple):
    """Rotation of a link's frame, and its rate."""

    turn: Turn
    rate: Any


def turned(tree: Tree, q: Coordinates, v: Coordinates) -> list[Turned]:
    """Of every link; one that slides turns with its carrier, or not at all."""
    found: dict[int | None, Turned] = {None: Turned(Turn(1, 0), 0)}
    top = tree.topology
    for k in top.hinged:
        i = top.angle_index(k)
        found[i] = Turned(Turn(tree.cos(q[i]), tree.sin(q[i])), v[i])
    return [found[top.turn_index(k)] for k in range(top.links)]


def _moving(tree: Tree, part: list[Part], turns: list[Turned], v: Coordinates) -> list[_Moving]:
    n, top = tree, tree.topology
    out = []
    for k in range(top.links):
        turn, rate = turns[k]
        first = turn(part[k].first)
        if top.slides[k]:
            axis = turn((n.axis[k][0], n.axis[k][1]))
            unit = axis, _times(2 * rate * v[top.angle_index(k)], perp(axis))
            out.append(_Moving(_times(part[k].mass, unit[0]), _times(part[k].mass, unit[1]), unit, first))
        else:
            out.append(_Moving(perp(first), _times(-rate * rate, first), None, first))
    return out


def columns(tree: Tree, q: Coordinates, v: Coordinates, link: int, point: Point) -> list[tuple[int, Vec, Vec]]:
    """For every coordinate on the way to a point (x, y) of a link: index, c and p there, in world axes."""
    n, top, place = tree, tree.topology, places(tree, q)
    turns, out = turned(tree, q, v), []
    to, inner = plus(place[link], (point[0], point[1])), link  # in the frame of the hinge that carries `inner`
    for k in (link, *(i for i, _ in reversed(top.paths[link]))):
        if top.carriers[k] != top.carriers[inner]:  # a hinge was passed: the way goes on from where it hangs
            to = plus(place[k], hangs(tree, inner, q))
        inner, (turn, rate), i = k, turns[k], top.angle_index(k)
        if top.slides[k]:
            axis = turn((n.axis[k][0], n.axis[k][1]))
            out.append((i, axis, _times(2 * rate * v[i], perp(axis))))
        else:
            lever = turn(to)
            out.append((i, perp(lever), _times(-rate * rate, lever)))
    return out


def columns_at(
    mechanism: Mechanism, frame: Callable[[int], Any], link: int, x: Any, y: Any
) -> list[tuple[int, Any, Any]]:
    """Index and c of every coordinate on the way to the point of `link` that is now at (x, y), from the links' frames.

    A hinge turns all up to the next hinge; a slider moves all beyond it along its axis.
    """
    top, out, to = mechanism.topology, [], (x, y)
    for k in (link, *(i for i, _ in reversed(top.paths[link]))):
        f, axis = frame(k), mechanism.numbers.axis[k]
        if top.slides[k]:
            out.append((top.angle_index(k), *Turn(f.cos, f.sin)((axis[0], axis[1]))))
        else:
            out.append((top.angle_index(k), -(to[1] - f.y), to[0] - f.x))
            to = (f.x, f.y)
    return out


def terms(
    tree: Tree, q: Coordinates, v: Coordinates, gravity: Coordinates
) -> tuple[list[list[Any]], list[Any], list[Any]]:
    """Lower triangle of M, bias and weight."""
    top = tree.topology
    part, turns = _parts(tree, q), turned(tree, q, v)
    moving = _moving(tree, part, turns, v)
    matrix: list[list[Any]] = [[0] * (i + 1) for i in range(top.dof)]
    bias: list[Any] = [0] * top.dof
    weight: list[Any] = [0] * top.dof
    for k, own in enumerate(moving):
        row = top.angle_index(k)
        matrix[row][row] = part[k].mass if top.slides[k] else part[k].second
        weight[row] = dot(own.momentum, gravity)
        for i, _ in top.paths[k]:
            column = top.angle_index(i)
            given, pulled, momentum, source = _pair(tree, part, turns, moving, i, k)
            matrix[max(row, column)][min(row, column)] = dot(given, momentum)
            bias[column] = bias[column] + dot(given, source)
            bias[row] = bias[row] + dot(pulled, momentum)
        base = top.base_index(top.trees[k])
        for axis in () if base is None else (0, 1):
            assert base is not None
            matrix[row][base + axis] = own.momentum[axis]
            bias[base + axis] = bias[base + axis] + own.source[axis]
            if top.parents[k] < 0:
                matrix[base + axis][base + axis] = matrix[base + axis][base + axis] + part[k].mass
                weight[base + axis] = weight[base + axis] + part[k].mass * gravity[axis]
    for k in (k for k, rotor in enumerate(top.rotors) if rotor):
        entries = gearing(top, tree.gear, k)
        for i, g in entries:
            for j, h in entries:
                if j <= i:
                    matrix[i][j] = matrix[i][j] + tree.rotor[k] * g * h
    return matrix, bias, weight


def _pair(
    tree: Tree, part: list[Part], turns: list[Turned], moving: list[_Moving], i: int, k: int
) -> tuple[Vec, Vec, Vec, Vec]:
    """c and p of an ancestor i, and L and S of k."""
    n, top, own = tree, tree.topology, moving[k]
    above = moving[i].unit
    if above is not None:
        return *above, own.momentum, own.source
    square = turns[i].rate * turns[i].rate
    if top.carriers[k] == i:
        assert own.unit is not None
        return perp(own.first), _times(-square, own.first), *own.unit
    leaving = next(s for _, s in top.paths[k] if top.turned_by[s] == i)  # the next hinge
    lever = turns[i].turn(plus(part[top.parents[leaving]].place, (n.hang[leaving][0], n.hang[leaving][1])))
    return perp(lever), _times(-square, lever), own.momentum, own.source
