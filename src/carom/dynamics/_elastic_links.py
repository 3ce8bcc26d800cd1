"""Elastic links in their own frames: what their mass contributes, where their points are, how fast their frames move.

For link k with z = (theta, d_1 .. d_m), everything in its own frame:

    p     a point of it; a point's velocity is R(theta) (b z'), b = [perp(p), u_1 .. u_m], u_j = dp/dd_j
    c     its acceleration with z'' = 0:  -theta'^2 p + 2 theta' perp(p') + p'',  p' = sum d_j' u_j
    S     first moment, integral of p dm;  B = integral of b dm = [perp(S), dS/dd_j];  C = integral of c dm
    D     integral of b^T b dm: J(d) = J0 + 2 a.d + d^T G d, coupling K_j + sum_i d_i X_ij, and the modal inertia
    e     rows of the own bias: theta' J'  and  2 theta' sum_i d_i' X_ij - theta'^2 (dJ/dd_j) / 2

Without foreshortening D is exact. Foreshortening H enters D as far as the kinetic energy is of second order in (d, d'):
G loses the integral of p0_x H, and the coupling gains sum_i d_i times that of p0_y H, which adds d'^T (..) d' to e.
`lagrange` differentiates the positions as they are, so that it differs from this by terms of third order.

p'' at zero acceleration is zero but for foreshortening.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp

from ..mechanism import Mechanism
from ..mechanism._bending import Reach
from ..quantities import Coordinates, Point, Real, Reals

Vec = tuple[Any, Any]


def perp(a: Vec) -> Vec:
    return -a[1], a[0]


def dot(a: Reals, b: Reals) -> Any:
    return sum(x * y for x, y in zip(a, b, strict=True))


def plus(a: Vec, b: Vec, factor: Real = 1) -> Vec:
    return a[0] + factor * b[0], a[1] + factor * b[1]


class Turn(NamedTuple):
    """Rotation of a link's frame."""

    cos: Any
    sin: Any

    def __call__(self, a: Vec) -> Vec:
        return self.cos * a[0] - self.sin * a[1], self.sin * a[0] + self.cos * a[1]


class Bent(NamedTuple):
    """A point of a link, in the link's frame: place, velocity relative to the frame, columns b, acceleration c."""

    place: Vec
    rate: Vec
    columns: list[Vec]
    bias: Vec


class LinkTerms(NamedTuple):
    """What a link's own mass contributes, in its frame."""

    mass: Any
    first: Vec  # S
    rate: Vec  # S' relative to the frame
    columns: list[Vec]  # B
    bias: Vec  # C
    second: list[list[Any]]  # D, in full
    rows: list[Any]  # e


class State(NamedTuple):
    """Coordinates and rates of one link."""

    turn: Turn
    rate: Any
    bend: list[Any]
    bend_rate: list[Any]


def indices(mechanism: Mechanism, link: int) -> list[int]:
    """Where (theta, d_1 ..) of a link stand in q."""
    top = mechanism.topology
    return [top.angle_index(link), *top.mode_index(link)]


def state_of(mechanism: Mechanism, link: int, q: Coordinates, v: Coordinates) -> State:
    at, *modes = indices(mechanism, link)
    return State(Turn(jnp.cos(q[at]), jnp.sin(q[at])), v[at], [q[j] for j in modes], [v[j] for j in modes])


def bent(point: Point, reach: Reach | None, s: State) -> Bent:
    """A point (x, y) of the straight link, where the bent one has it."""
    place, rate, extra = (point[0], point[1]), (0.0, 0.0), (0.0, 0.0)
    shapes: list[Vec] = []
    if reach is not None:
        size = range(len(s.bend))
        shapes = [(reach.shape[j][0], reach.shape[j][1]) for j in size]
        back = [sum(reach.short[i][j] * s.bend[i] for i in size) for j in size]  # H d
        place = (place[0] - 0.5 * dot(back, s.bend), place[1])
        shapes = [(u[0] - b, u[1]) for u, b in zip(shapes, back, strict=True)]
        for j in size:
            place = plus(place, (reach.shape[j][0], reach.shape[j][1]), s.bend[j])
            rate = plus(rate, shapes[j], s.bend_rate[j])
        extra = (-sum(reach.short[i][j] * s.bend_rate[i] * s.bend_rate[j] for i in size for j in size), 0.0)
    return Bent(place, rate, [perp(place), *shapes], _bias(place, rate, extra, s.rate))


def _bias(place: Vec, rate: Vec, extra: Vec, turning: Real) -> Vec:
    out = plus(plus(extra, place, -turning * turning), perp(rate), 2.0 * turning)
    return out


def own(mechanism: Mechanism, link: int, s: State) -> LinkTerms:
    """The link's own mass."""
    n = mechanism.numbers
    f, mass = n.flex[link], n.mass[link]
    first = (mass * n.com[link][0], mass * n.com[link][1])
    inertia = n.inertia[link] + dot(first, (n.com[link][0], n.com[link][1]))
    if f is None:
        bias = _bias(first, (0.0, 0.0), (0.0, 0.0), s.rate)
        return LinkTerms(mass, first, (0.0, 0.0), [perp(first)], bias, [[inertia]], [0.0])
    size = range(len(s.bend))
    d, w = s.bend, s.bend_rate
    back = [sum(f.short_first[i][j] * d[i] for i in size) for j in size]
    shapes = [(f.first[j][0] - back[j], f.first[j][1]) for j in size]
    first = (first[0] - 0.5 * dot(back, d), first[1])
    rate: Vec = (0.0, 0.0)
    for j in size:
        first = plus(first, (f.first[j][0], f.first[j][1]), d[j])
        rate = plus(rate, shapes[j], w[j])
    extra = (-sum(f.short_first[i][j] * w[i] * w[j] for i in size for j in size), 0.0)
    # Half the gradient of J, and J itself
    half = [f.along[j] + sum((f.overlap[i][j] - f.short_along[i][j]) * d[i] for i in size) for j in size]
    inertia = inertia + sum((f.along[j] + half[j]) * d[j] for j in size)
    coupling = [f.turning[j] + sum(d[i] * (f.twist[i][j] + f.short_across[i][j]) for i in size) for j in size]
    second = [[inertia, *coupling], *([coupling[i], *(f.inertia[i][j] for j in size)] for i in size)]
    rows = [2.0 * s.rate * dot(half, w) + sum(f.short_across[i][j] * w[i] * w[j] for i in size for j in size)]
    for j in size:
        gyro = sum(w[i] * f.twist[i][j] for i in size)
        rows.append(2.0 * s.rate * gyro - s.rate * s.rate * half[j])
    return LinkTerms(mass, first, rate, [perp(first), *shapes], _bias(first, rate, extra, s.rate), second, rows)


class Whole(NamedTuple):
    """All links at one instant."""

    states: list[State]
    owns: list[LinkTerms]
    hangs: list[Bent | None]  # where each link hangs on its parent; None on a base


def whole(mechanism: Mechanism, q: Coordinates, v: Coordinates) -> Whole:
    n, top = mechanism.numbers, mechanism.topology
    states = [state_of(mechanism, k, q, v) for k in range(top.links)]
    hangs = [None if p < 0 else bent(n.hang[k], n.hang_reach[k], states[p]) for k, p in enumerate(top.parents)]
    return Whole(states, [own(mechanism, k, s) for k, s in enumerate(states)], hangs)


def known(h: Bent | None) -> Bent:
    assert h is not None  # a link that has a parent
    return h


class Carried(NamedTuple):
    """Origin of a link and its velocity."""

    place: Vec
    velocity: Vec


def origins(mechanism: Mechanism, w: Whole, q: Coordinates, v: Coordinates) -> list[Carried]:
    """Where every link's frame is, and how fast."""
    n, top = mechanism.numbers, mechanism.topology
    found: list[Any] = [None] * top.links
    for k in top.order:
        parent, at = top.parents[k], top.base_index(top.trees[k])
        if parent >= 0:
            h, s = known(w.hangs[k]), w.states[parent]
            up = found[parent]
            speed = plus(h.rate, perp(h.place), s.rate)
            found[k] = Carried(plus(up.place, s.turn(h.place)), plus(up.velocity, s.turn(speed)))
        elif at is None:
            pivot, hang = n.pivot[top.trees[k]], n.hang[k]
            found[k] = Carried((pivot[0] + hang[0], pivot[1] + hang[1]), (0.0, 0.0))
        else:
            found[k] = Carried((q[at], q[at + 1]), (v[at], v[at + 1]))
    return found
