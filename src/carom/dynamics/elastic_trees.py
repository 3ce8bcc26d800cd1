"""Trees with elastic links: the terms from which `explicit` and `gibbs_appell` build their equations.

For link k with z = (theta, d_1 .. d_m), everything in its own frame:

    p     a point of it; a point's velocity is R(theta) (b z'), b = [perp(p), u_1 .. u_m], u_j = dp/dd_j
    c     its acceleration with z'' = 0:  -theta'^2 p + 2 theta' perp(p') + p'',  p' = sum d_j' u_j
    S     first moment, integral of p dm;  B = integral of b dm = [perp(S), dS/dd_j];  C = integral of c dm
    D     integral of b^T b dm: J(d) = J0 + 2 a.d + d^T G d, coupling K_j + sum_i d_i X_ij, and the modal inertia
    e     rows of the own bias: theta' J'  and  2 theta' sum_i d_i' X_ij - theta'^2 (dJ/dd_j) / 2

Without foreshortening D is exact. Foreshortening H enters D as far as the kinetic energy is of second order in (d, d'):
G loses the integral of p0_x H, and the coupling gains sum_i d_i times that of p0_y H, which adds d'^T (..) d' to e.
`lagrange` differentiates the positions as they are, so that it differs from this by terms of third order.

p'' at zero acceleration is zero but for foreshortening. With those, for an ancestor i of k and the point h of it where
the branch to k hangs, M_ik = (R_i b_h)^T R_k B_k and so on, as for rigid links (explicit.py); sums over everything that
a link carries are done once. Large rotation is exact; deflections enter as far as the shapes go.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp

from ..mechanism import Mechanism
from . import linear

Vec = tuple[Any, Any]


def perp(a: Vec) -> Vec:
    return -a[1], a[0]


def dot(a: Any, b: Any) -> Any:
    return sum(x * y for x, y in zip(a, b, strict=True))


def plus(a: Vec, b: Vec, factor: Any = 1.0) -> Vec:
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


class Own(NamedTuple):
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


def state_of(mechanism: Mechanism, link: int, q: Any, v: Any) -> State:
    at, *modes = indices(mechanism, link)
    return State(Turn(jnp.cos(q[at]), jnp.sin(q[at])), v[at], [q[j] for j in modes], [v[j] for j in modes])


def bent(point: Any, reach: Any, s: State) -> Bent:
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


def _bias(place: Vec, rate: Vec, extra: Vec, turning: Any) -> Vec:
    out = plus(plus(extra, place, -turning * turning), perp(rate), 2.0 * turning)
    return out


def own(mechanism: Mechanism, link: int, s: State) -> Own:
    """The link's own mass."""
    n = mechanism.numbers
    f, mass = n.flex[link], n.mass[link]
    first = (mass * n.com[link][0], mass * n.com[link][1])
    inertia = n.inertia[link] + dot(first, (n.com[link][0], n.com[link][1]))
    if f is None:
        bias = _bias(first, (0.0, 0.0), (0.0, 0.0), s.rate)
        return Own(mass, first, (0.0, 0.0), [perp(first)], bias, [[inertia]], [0.0])
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
    return Own(mass, first, rate, [perp(first), *shapes], _bias(first, rate, extra, s.rate), second, rows)


class Whole(NamedTuple):
    """All links at one instant."""

    states: list[State]
    owns: list[Own]
    hangs: list[Bent | None]  # where each link hangs on its parent; None on a base


def whole(mechanism: Mechanism, q: Any, v: Any) -> Whole:
    n, top = mechanism.numbers, mechanism.topology
    states = [state_of(mechanism, k, q, v) for k in range(top.links)]
    hangs = [None if p < 0 else bent(n.hang[k], n.hang_reach[k], states[p]) for k, p in enumerate(top.parents)]
    return Whole(states, [own(mechanism, k, s) for k, s in enumerate(states)], hangs)


def terms(mechanism: Mechanism, q: Any, v: Any, gravity: Any) -> tuple[list[list[Any]], list[Any], list[Any]]:
    """Lower triangle of M, bias and weight, as lists of scalars."""
    top, w = mechanism.topology, whole(mechanism, q, v)
    below = _carried_mass(mechanism)
    matrix: list[list[Any]] = [[0.0] * (i + 1) for i in range(top.dof)]
    bias: list[Any] = [0.0] * top.dof
    weight: list[Any] = [0.0] * top.dof

    def add(i: int, j: int, value: Any) -> None:
        matrix[max(i, j)][min(i, j)] = matrix[max(i, j)][min(i, j)] + value

    for k in range(top.links):
        at, turn, mine = indices(mechanism, k), w.states[k].turn, w.owns[k]
        columns, accel = list(mine.columns), mine.bias
        for c in top.children[k]:
            h = _known(w.hangs[c])
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
            h, over, up = _known(w.hangs[s]), w.states[above].turn, indices(mechanism, above)
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


def _known(h: Bent | None) -> Bent:
    assert h is not None  # a link that has a parent
    return h


def _carried_mass(mechanism: Mechanism) -> list[Any]:
    """Mass of every link with all it carries."""
    top = mechanism.topology
    below = [mechanism.numbers.mass[k] for k in range(top.links)]
    for k in reversed(top.order):
        if top.parents[k] >= 0:
            below[top.parents[k]] = below[top.parents[k]] + below[k]
    return below


# -- recursion -------------------------------------------------------------------------------------------------------


def accelerations(mechanism: Mechanism, q: Any, v: Any, force: Any, gravity: Any) -> list[Any]:
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
            h, (felt_mass, b) = _known(w.hangs[c]), carried[c]
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


def _outward(mechanism: Mechanism, w: Whole, carried: list[Any], eliminated: list[Any], force: Any) -> list[Any]:
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


def _moved(mechanism: Mechanism, w: Whole, k: int, above: Vec, z: Any) -> Vec:
    """Acceleration of the joint of link k from that of its parent's joint and the parent's z''."""
    parent, h = mechanism.topology.parents[k], _known(w.hangs[k])
    turn = w.states[parent].turn
    a = plus(above, turn(h.bias))
    for column, index in zip(h.columns, indices(mechanism, parent), strict=True):
        a = plus(a, turn(column), z[index])
    return a


def inverse(mechanism: Mechanism, q: Any, v: Any, a: Any, gravity: Any) -> list[Any]:
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
            h = _known(w.hangs[c])
            f = plus(f, needed[c])
            for column, index in zip(h.columns, at, strict=True):
                out[index] = out[index] + dot(turn(column), needed[c])
        needed[k] = f
        base = top.base_index(top.trees[k])
        if base is not None and top.parents[k] < 0:
            out[base], out[base + 1] = plus((out[base], out[base + 1]), f)
    return out


def _times(m: Any, a: Vec) -> Vec:
    """A symmetric 2 x 2 matrix (xx, xy, yy) times a vector."""
    return m[0] * a[0] + m[1] * a[1], m[1] * a[0] + m[2] * a[1]


# -- energies --------------------------------------------------------------------------------------------------------


class Carried(NamedTuple):
    """Origin of a link and its velocity."""

    place: Vec
    velocity: Vec


def origins(mechanism: Mechanism, w: Whole, q: Any, v: Any) -> list[Carried]:
    """Where every link's frame is, and how fast."""
    n, top = mechanism.numbers, mechanism.topology
    found: list[Any] = [None] * top.links
    for k in top.order:
        parent, at = top.parents[k], top.base_index(top.trees[k])
        if parent >= 0:
            h, s = _known(w.hangs[k]), w.states[parent]
            up = found[parent]
            speed = plus(h.rate, perp(h.place), s.rate)
            found[k] = Carried(plus(up.place, s.turn(h.place)), plus(up.velocity, s.turn(speed)))
        elif at is None:
            pivot, hang = n.pivot[top.trees[k]], n.hang[k]
            found[k] = Carried((pivot[0] + hang[0], pivot[1] + hang[1]), (0.0, 0.0))
        else:
            found[k] = Carried((q[at], q[at + 1]), (v[at], v[at + 1]))
    return found


def kinetic_by_link(mechanism: Mechanism, q: Any, v: Any) -> list[Any]:
    w = whole(mechanism, q, v)
    out = []
    for k, o in enumerate(origins(mechanism, w, q, v)):
        mine, s = w.owns[k], w.states[k]
        z = [s.rate, *s.bend_rate]
        moved = s.turn(plus(mine.rate, perp(mine.first), s.rate))
        inner = dot(z, [dot(row, z) for row in mine.second])
        out.append(0.5 * mine.mass * dot(o.velocity, o.velocity) + dot(o.velocity, moved) + 0.5 * inner)
    return out


def elastic_by_link(mechanism: Mechanism, q: Any) -> list[Any]:
    out: list[Any] = []
    for k, f in enumerate(mechanism.numbers.flex):
        d = [q[j] for j in mechanism.topology.mode_index(k)]
        size = range(len(d))
        out.append(0.0 if f is None else 0.5 * sum(f.stiffness[i][j] * d[i] * d[j] for i in size for j in size))
    return out


def first_moments(mechanism: Mechanism, q: Any, v: Any) -> list[tuple[Any, Vec, Vec, Any]]:
    """Per link: mass, first moment about the world's origin, linear momentum, angular momentum about that origin."""
    w = whole(mechanism, q, v)
    out = []
    for k, o in enumerate(origins(mechanism, w, q, v)):
        mine, s = w.owns[k], w.states[k]
        first = s.turn(mine.first)
        moved = s.turn(plus(mine.rate, perp(mine.first), s.rate))
        linear_part = plus(moved, o.velocity, mine.mass)
        spin = dot(mine.second[0], [s.rate, *s.bend_rate])
        angular = _cross(o.place, linear_part) + _cross(first, o.velocity) + spin
        out.append((mine.mass, plus(first, o.place, mine.mass), linear_part, angular))
    return out


def _cross(a: Vec, b: Vec) -> Any:
    return a[0] * b[1] - a[1] * b[0]


def bending(mechanism: Mechanism, q: Any, v: Any) -> tuple[list[tuple[int, Any]], Any]:
    """Forces of stiffness and damping on the modal coordinates, by index, and the power of the damping."""
    forces: list[tuple[int, Any]] = []
    power: Any = 0.0
    if not mechanism.topology.elastic:
        return forces, power
    for k, f in enumerate(mechanism.numbers.flex):
        if f is None:
            continue
        at = mechanism.topology.mode_index(k)
        for i, index in enumerate(at):
            drag = -sum(f.damping[i][j] * v[at[j]] for j in range(len(at)))
            forces.append((index, drag - sum(f.stiffness[i][j] * q[at[j]] for j in range(len(at)))))
            power = power + drag * v[index]
    return forces, power
