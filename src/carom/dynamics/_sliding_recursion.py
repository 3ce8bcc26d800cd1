"""Recursions over a tree in which some links slide, in O(n): gibbs_appell.py, with moments through sliders.

Through a hinge a subtree asks only a force of its parent; through a slider also a moment, since it turns with the
parent. What a subtree needs at its joint, if that accelerates by a and its frame by alpha, is

    force = A a + u alpha + b           moment = u . a + D alpha + d

A hinge determines its own alpha from moment = Q, and no moment is left. A slider with axis e determines s'' from
e . force = Q: with w = A e, mu = e . w, y = e . u

    s'' = (Q - e . b - w . a - y alpha) / mu
    A - w w^T / mu,   u - w y / mu,   D - y^2 / mu,   b + w (Q - e . b) / mu,   d + y (Q - e . b) / mu

are left. The joint is at h from that of the parent, and accelerates by perp(h) alpha + c relative to it,
c = -theta'^2 h + 2 theta' s' perp(e). A rotor adds to mu, y and D of its joint, and makes a hinge hand on a moment.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..mechanism import Mechanism, Topology
from ..quantities import Coordinates, Point, Real, Reals
from ._elastic_links import Turn, Vec, dot, perp, plus
from ._rotors import gearing
from ._sliding_trees import Turned, hangs, tree_of, turned


class _Need(NamedTuple):
    """A (xx, xy, yy), u, D, b, d."""

    mass: tuple[Any, Any, Any]
    lever: Vec
    turning: Any
    force: Vec
    moment: Any


class _Hung(NamedTuple):
    """A joint in world axes: from its parent's joint h, its axis e, and c."""

    place: Vec
    axis: Vec
    drift: Vec


class _Solved(NamedTuple):
    """The joint's own acceleration: gain - through . a - along alpha."""

    gain: Any
    through: Vec
    along: Any


STILL = Turned(Turn(1.0, 0.0), 0.0)


def _hung(mechanism: Mechanism, turns: list[Turned], q: Coordinates, v: Coordinates) -> list[_Hung]:
    n, top = mechanism.numbers, mechanism.topology
    out = []
    for k in range(top.links):
        turn, rate = turns[top.parents[k]] if top.parents[k] >= 0 else STILL
        axis, drift = (0.0, 0.0), (0.0, 0.0)
        if top.slides[k]:
            axis = turn((n.axis[k][0], n.axis[k][1]))
            drift = plus(drift, perp(axis), 2.0 * rate * v[top.angle_index(k)])
        place = turn(hangs(tree_of(mechanism), k, q))
        out.append(_Hung(place, axis, plus(drift, place, -rate * rate)))
    return out


def _symmetric(m: tuple[Any, Any, Any], a: Vec) -> Vec:
    return m[0] * a[0] + m[1] * a[1], m[1] * a[0] + m[2] * a[1]


def _less(m: tuple[Any, Any, Any], a: Vec, over: Real) -> tuple[Any, Any, Any]:
    """m - a a^T / over."""
    return m[0] - a[0] * a[0] * over, m[1] - a[0] * a[1] * over, m[2] - a[1] * a[1] * over


def _own(mechanism: Mechanism, k: int, at: Turned, gravity: Point) -> _Need:
    """What a link needs for itself; weight is a force that it does not need."""
    n = mechanism.numbers
    m, r = n.mass[k], at.turn((n.com[k][0], n.com[k][1]))
    pull = (-m * gravity[0], -m * gravity[1])
    lever = (-m * r[1], m * r[0])
    force = plus(pull, r, -m * at.rate * at.rate)
    return _Need((m, 0.0, m), lever, n.inertia[k] + m * dot(r, r), force, r[0] * pull[1] - r[1] * pull[0])


class _Rotor(NamedTuple):
    """What a rotor adds to the equations of its joint and of the parent's angle: J n^2, J n m, J m^2, where it turns at
    n times the joint's coordinate and m times the parent's angle (_rotors.py)."""

    own: Any = 0.0
    across: Any = 0.0
    above: Any = 0.0


def _rotor(mechanism: Mechanism, k: int) -> _Rotor:
    n, top = mechanism.numbers, mechanism.topology
    if not top.rotors[k]:
        return _Rotor()
    inertia, gear = n.rotor[k], n.gear[k]
    parent = 1.0 if top.slides[k] else 1.0 - gear
    return _Rotor(inertia * gear * gear, inertia * gear * parent, inertia * parent * parent)


def _at_hinge(need: _Need, effort: Real, rotor: _Rotor) -> tuple[_Solved, _Need]:
    over, y = 1.0 / (need.turning + rotor.own), rotor.across
    gain = (effort - need.moment) * over
    left = _Need(
        _less(need.mass, need.lever, over),
        (-need.lever[0] * y * over, -need.lever[1] * y * over),
        rotor.above - y * y * over,
        plus(need.force, need.lever, gain),
        y * gain,
    )
    return _Solved(gain, (need.lever[0] * over, need.lever[1] * over), y * over), left


def _at_slider(need: _Need, axis: Vec, effort: Real, rotor: _Rotor) -> tuple[_Solved, _Need]:
    w, y = _symmetric(need.mass, axis), dot(axis, need.lever) + rotor.across
    over = 1.0 / (dot(axis, w) + rotor.own)
    gain = (effort - dot(axis, need.force)) * over
    left = _Need(
        _less(need.mass, w, over),
        plus(need.lever, w, -y * over),
        need.turning + rotor.above - y * y * over,
        plus(need.force, w, gain),
        need.moment + y * gain,
    )
    return _Solved(gain, (w[0] * over, w[1] * over), y * over), left


def _seen(need: _Need, hung: _Hung) -> _Need:
    """The same about the parent's joint."""
    arm = perp(hung.place)
    felt = _symmetric(need.mass, arm)
    force = plus(need.force, _symmetric(need.mass, hung.drift))
    return _Need(
        need.mass,
        plus(need.lever, felt),
        need.turning + 2.0 * dot(need.lever, arm) + dot(arm, felt),
        force,
        need.moment + dot(need.lever, hung.drift) + dot(arm, force),
    )


def _sum(a: _Need, b: _Need) -> _Need:
    mass = (a.mass[0] + b.mass[0], a.mass[1] + b.mass[1], a.mass[2] + b.mass[2])
    return _Need(mass, plus(a.lever, b.lever), a.turning + b.turning, plus(a.force, b.force), a.moment + b.moment)


def accelerations(
    mechanism: Mechanism, q: Coordinates, v: Coordinates, force: Coordinates, gravity: Point
) -> list[Any]:
    """v' in O(n): inward elimination, outward substitution."""
    top = mechanism.topology
    turns = turned(tree_of(mechanism), q, v)
    hung = _hung(mechanism, turns, q, v)
    needs = [_own(mechanism, k, turns[k], gravity) for k in range(top.links)]
    solved: list[Any] = [None] * top.links
    roots: dict[int, _Need] = {}
    for k in reversed(top.order):
        effort, parent, tree, rotor = force[top.angle_index(k)], top.parents[k], top.trees[k], _rotor(mechanism, k)
        at_slider = top.slides[k]
        solved[k], left = (
            _at_slider(needs[k], hung[k].axis, effort, rotor) if at_slider else _at_hinge(needs[k], effort, rotor)
        )
        left = _seen(left, hung[k])
        if parent >= 0:
            needs[parent] = _sum(needs[parent], left)
        else:
            roots[tree] = _sum(roots[tree], left) if tree in roots else left
    return _outward(mechanism, hung, solved, roots, force)


def _outward(
    mechanism: Mechanism, hung: list[_Hung], solved: list[_Solved], roots: dict[int, _Need], force: Coordinates
) -> list[Any]:
    top = mechanism.topology
    out: list[Any] = [0.0] * top.dof
    for tree, need in roots.items():
        at = top.base_index(tree)
        if at is not None:
            (xx, xy, yy), (bx, by) = need.mass, need.force
            over, fx, fy = 1.0 / (xx * yy - xy * xy), force[at] - bx, force[at + 1] - by
            out[at], out[at + 1] = (yy * fx - xy * fy) * over, (xx * fy - xy * fx) * over
    moved: dict[int, tuple[Vec, Any]] = {}  # acceleration of the joint, and of the angle
    for k in top.order:
        above, alpha = moved.get(top.parents[k]) or _base(top, k, out)
        a = plus(plus(above, perp(hung[k].place), alpha), hung[k].drift)
        own = solved[k]
        own_value = own.gain - dot(own.through, a) - own.along * alpha
        out[top.angle_index(k)] = own_value
        moved[k] = (plus(a, hung[k].axis, own_value), alpha) if top.slides[k] else (a, own_value)
    return out


def _base(top: Topology, k: int, values: Reals) -> tuple[Vec, Any]:
    at = top.base_index(top.trees[k])
    return ((0.0, 0.0) if at is None else (values[at], values[at + 1])), 0.0


def inverse(mechanism: Mechanism, q: Coordinates, v: Coordinates, a: Coordinates, gravity: Point) -> list[Any]:
    """The generalized force that the motion needs besides weight, in O(n): accelerations outward, forces inward."""
    n, top = mechanism.numbers, mechanism.topology
    turns = turned(tree_of(mechanism), q, v)
    hung = _hung(mechanism, turns, q, v)
    moved: dict[int, tuple[Vec, Any]] = {}
    for k in top.order:
        above, alpha = moved.get(top.parents[k]) or _base(top, k, a)
        place = plus(plus(above, perp(hung[k].place), alpha), hung[k].drift)
        own = a[top.angle_index(k)]
        moved[k] = (plus(place, hung[k].axis, own), alpha) if top.slides[k] else (place, own)
    out: list[Any] = [0.0] * top.dof
    needed: list[tuple[Vec, Any]] = [((0.0, 0.0), 0.0)] * top.links  # force, and moment about the joint
    for k in reversed(top.order):
        (place, alpha), (turn, rate) = moved[k], turns[k]
        r = turn((n.com[k][0], n.com[k][1]))
        fall = plus(plus(plus(place, (gravity[0], gravity[1]), -1.0), perp(r), alpha), r, -rate * rate)
        f = (n.mass[k] * fall[0], n.mass[k] * fall[1])
        force, moment = plus(f, needed[k][0]), n.inertia[k] * alpha + dot(perp(r), f) + needed[k][1]
        out[top.angle_index(k)] = dot(hung[k].axis, force) if top.slides[k] else moment
        base, parent = top.base_index(top.trees[k]), top.parents[k]
        if parent >= 0:
            left = dot(perp(hung[k].place), force) + (moment if top.slides[k] else 0.0)
            needed[parent] = (plus(needed[parent][0], force), needed[parent][1] + left)
        elif base is not None:
            out[base], out[base + 1] = plus((out[base], out[base + 1]), force)
    for k in (k for k, rotor in enumerate(top.rotors) if rotor):
        entries = gearing(top, n.gear, k)
        spun = n.rotor[k] * sum(g * a[i] for i, g in entries)
        for i, g in entries:
            out[i] = out[i] + g * spun
    return out
