"""Recursive Gibbs-Appell equations: S = 1/2 sum of integral a.a dm, and dS/dv' = Q, link by link in O(n).

With absolute angles a link acts on its parent through one force only, the one at its joint. Let f_k be the force that
the subtree of link k needs at its joint when that joint accelerates by a. The equations of the subtree give

    f_k = Lambda_k a + beta_k           Lambda_k: 2x2, symmetric, the subtree's apparent mass at its joint

and eliminating theta_k'' from dS/dtheta_k'' = Q_k is a division by a scalar. Hence (r_h the hanging point of a child,
r_c the centre of mass, both from the joint, in world axes; perp turns by 90 degrees; sums over the children):

    A = m + sum Lambda                                          u = m perp(r_c) + sum Lambda perp(r_h)
    D = I + m |c|^2 + sum perp(r_h).Lambda perp(r_h)            d = moment of b about the joint
    b = -m (w^2 r_c + g) + sum (beta - w^2 Lambda r_h)
    theta'' = (Q - d - u.a) / D,  Lambda_k = A - u u^T / D,  beta_k = b + u (Q - d) / D

inward, then accelerations outward. An elastic link eliminates its modal coordinates with its angle: D is then a small
matrix (_elastic_recursion.py). Through a slider a moment is handed on as well (_sliding_recursion.py). Weight enters by
letting the origin accelerate by -g, as the elastic-chain paper does.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..mechanism import Mechanism
from ..mechanism import _walk as walk
from ..mechanism.topology import Topology
from ..quantities import Point, Real, Vector
from . import _elastic_recursion as elastic_recursion
from . import _sliding_recursion as sliding_recursion
from .formalism import AbstractFormalism

# A link's inputs are (mass, inertia, com, hang, cos, sin, rate^2, one more number); this stands for those of a base.
_BASE = (0.0, 0.0, (0.0, 0.0), (0.0, 0.0), 1.0, 0.0, 0.0, 0.0)


def _inputs(mechanism: Mechanism, q: Vector, v: Vector, more: Vector) -> walk.PerLink:
    """Per link: mass, central inertia, centre of mass and hanging point (link axes), cos, sin, rate^2, and `more`."""
    n, top = mechanism.numbers, mechanism.topology
    nb = top.base_dof
    angle, rate = q[nb:], v[nb:]
    return walk.per_link(top, n.mass, n.inertia, n.com, n.hang, jnp.cos(angle), jnp.sin(angle), rate * rate, more[nb:])


def _turn(cos: Real, sin: Real, point: Point) -> tuple[Any, Any]:
    """A point of a link in world axes."""
    return cos * point[0] - sin * point[1], sin * point[0] + cos * point[1]


def _with(top: Topology, values: walk.PerLink, more: walk.PerLink) -> walk.PerLink:
    """Two per-link values as one."""
    if walk.small(top):
        return [(*value, *further) for value, further in zip(values, more, strict=True)]
    return (*values, *more)


def accelerations(mechanism: Mechanism, q: Vector, v: Vector, force: Vector, gravity: Vector) -> Array:
    """v' in O(n): inward elimination, outward substitution."""
    top = mechanism.topology
    if top.elastic:
        return _stacked(elastic_recursion.accelerations(mechanism, q, v, force, gravity))
    if top.jointed:
        return _stacked(sliding_recursion.accelerations(mechanism, q, v, force, gravity))
    gx, gy = gravity[0], gravity[1]

    def eliminate(own: walk.Row, carried: walk.Row) -> Any:
        m, inertia, com, hang, cos, sin, square, effort = own
        axx, axy, ayy, ux, uy, dd, bx, by, d = carried
        rx, ry = _turn(cos, sin, com)
        axx, ayy = axx + m, ayy + m
        ux, uy = ux - m * ry, uy + m * rx
        dd = dd + inertia + m * (rx * rx + ry * ry)
        bx, by = bx - m * (square * rx + gx), by - m * (square * ry + gy)
        d = d + m * (ry * gx - rx * gy)
        over = 1.0 / dd
        gain = (effort - d) * over
        lxx, lxy, lyy = axx - ux * ux * over, axy - ux * uy * over, ayy - uy * uy * over
        return (ux * over, uy * over, gain), (lxx, lxy, lyy, bx + ux * gain, by + uy * gain, hang[0], hang[1])

    def ask(message: walk.Row, parent: walk.Row) -> Any:
        """What a subtree asks of its parent, whose turning moves the joint by perp(h)."""
        lxx, lxy, lyy, ex, ey, *hang = message
        hx, hy = _turn(parent[4], parent[5], hang)
        wx, wy = lxy * hx - lxx * hy, lyy * hx - lxy * hy  # Lambda perp(h)
        ex, ey = ex - parent[6] * (lxx * hx + lxy * hy), ey - parent[6] * (lxy * hx + lyy * hy)
        return lxx, lxy, lyy, wx, wy, hx * wy - hy * wx, ex, ey, hx * ey - hy * ex

    inputs = _inputs(mechanism, q, v, force)
    reduced, arrived = walk.inward(top, eliminate, 7, inputs, ask, _BASE)

    base = []
    for tree, (axx, axy, ayy, _, _, _, bx, by, _) in enumerate(arrived):
        at = top.base_index(tree)
        if at is None:
            base.append((0.0, 0.0))
        else:
            det = 1.0 / (axx * ayy - axy * axy)
            fx, fy = force[at] - bx, force[at + 1] - by
            base.append(((ayy * fx - axy * fy) * det, (axx * fy - axy * fx) * det))

    def substitute(own: walk.Row, parent: walk.Row) -> Any:
        _, _, _, hang, cos, sin, square, _, ux, uy, gain = own
        ax, ay = _joint(hang, parent)
        return ax, ay, gain - ux * ax - uy * ay, cos, sin, square

    moved = walk.outward(top, substitute, [(x, y, 0.0, *_BASE[4:7]) for x, y in base], _with(top, inputs, reduced))
    return _coordinates(top, base, walk.columns(top, moved)[2])


def _joint(hang: Point, parent: walk.Row) -> tuple[Any, Any]:
    """Acceleration of a joint; the parent is (acceleration of its own joint x, y, of its angle, cos, sin, rate^2)."""
    px, py, turn, cos, sin, square = parent
    hx, hy = _turn(cos, sin, hang)
    return px - turn * hy - square * hx, py + turn * hx - square * hy


def _coordinates(top: Topology, base: list[Any], angles: Array) -> Array:
    """Coordinate vector from per-tree base values and per-link angle values."""
    moving = [
        jnp.stack([jnp.asarray(x, dtype=float) for x in b]) for b, free in zip(base, top.free, strict=True) if free
    ]
    return jnp.concatenate([*moving, angles])


def inverse(mechanism: Mechanism, q: Vector, v: Vector, a: Vector, gravity: Vector) -> Array:
    """dS/dv' in O(n): accelerations outward, joint forces inward."""
    top = mechanism.topology
    if top.elastic:
        return _stacked(elastic_recursion.inverse(mechanism, q, v, a, gravity))
    if top.jointed:
        return _stacked(sliding_recursion.inverse(mechanism, q, v, a, gravity))
    gx, gy = gravity[0], gravity[1]

    def accelerate(own: walk.Row, parent: walk.Row) -> Any:
        _, _, _, hang, cos, sin, square, turn = own
        return *_joint(hang, parent), turn, cos, sin, square

    def gather(own: walk.Row, carried: walk.Row) -> Any:
        m, inertia, com, hang, cos, sin, square, turn, ax, ay = own[:10]
        rx, ry = _turn(cos, sin, com)
        fx = m * (ax - turn * ry - square * rx)
        fy = m * (ay + turn * rx - square * ry)
        moment = inertia * turn + rx * fy - ry * fx + carried[2]
        return (moment,), (fx + carried[0], fy + carried[1], hang[0], hang[1])

    def ask(message: walk.Row, parent: walk.Row) -> Any:
        hx, hy = _turn(parent[4], parent[5], message[2:])
        return message[0], message[1], hx * message[1] - hy * message[0]

    inputs = _inputs(mechanism, q, v, a)
    starts = []
    for tree in range(len(top.free)):
        at = top.base_index(tree)
        ax, ay = (0.0, 0.0) if at is None else (a[at], a[at + 1])
        starts.append((ax - gx, ay - gy, 0.0, *_BASE[4:7]))  # weight: the origin accelerates by -g
    moved = walk.outward(top, accelerate, starts, inputs)
    moments, arrived = walk.inward(top, gather, 4, _with(top, inputs, moved), ask, _BASE)
    return _coordinates(top, [(f[0], f[1]) for f in arrived], walk.columns(top, moments)[0])


def _stacked(values: list[Any]) -> Array:
    return jnp.stack([jnp.asarray(x, dtype=float) for x in values])


class GibbsAppell(AbstractFormalism):
    """Recursive, linear in the number of links: the choice for long chains. Source: the elastic-chain paper."""

    @property
    def name(self) -> str:
        return "gibbs_appell"

    def mass_matrix(self, mechanism: Mechanism, q: Float[Array, " dof"]) -> Float[Array, "dof dof"]:
        still = jnp.zeros_like(q)
        column = jax.vmap(lambda a: inverse(mechanism, q, still, a, jnp.zeros(2)))
        return column(jnp.eye(mechanism.dof))

    def bias(self, mechanism: Mechanism, q: Float[Array, " dof"], v: Float[Array, " dof"]) -> Float[Array, " dof"]:
        return inverse(mechanism, q, v, jnp.zeros_like(q), jnp.zeros(2))

    def gravity(
        self, mechanism: Mechanism, q: Float[Array, " dof"], gravity: Float[Array, "2"]
    ) -> Float[Array, " dof"]:
        still = jnp.zeros_like(q)
        return -inverse(mechanism, q, still, still, gravity)

    def inverse(
        self,
        mechanism: Mechanism,
        q: Float[Array, " dof"],
        v: Float[Array, " dof"],
        a: Float[Array, " dof"],
        gravity: Float[Array, "2"],
    ) -> Float[Array, " dof"]:
        return inverse(mechanism, q, v, a, gravity)

    def accelerations(
        self,
        mechanism: Mechanism,
        q: Float[Array, " dof"],
        v: Float[Array, " dof"],
        force: Float[Array, " dof"],
        gravity: Float[Array, "2"],
    ) -> Float[Array, " dof"]:
        return accelerations(mechanism, q, v, force, gravity)
