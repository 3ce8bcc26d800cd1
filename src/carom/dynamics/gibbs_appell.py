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

inward, then accelerations outward. Weight enters by letting the origin accelerate by -g, as the elastic-chain paper
does.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..mechanism import Mechanism, walk
from .formalism import AbstractFormalism


def _frame(mechanism: Mechanism, q: Any, v: Any) -> walk.PerLink:
    """Per link: mass, central inertia, centre r_c (world axes), rate^2, hanging point r_h, the parent's rate^2."""
    n, top = mechanism.numbers, mechanism.topology
    nb = top.base_dof
    angle, rate = q[nb:], v[nb:]
    turned = walk.per_link(top, jnp.cos(angle), jnp.sin(angle), rate * rate)
    parent = walk.of_parent(top, turned, (1.0, 0.0, 0.0))  # the base neither turns nor spins
    own = walk.per_link(top, n.mass, n.inertia, n.com, n.hang)

    def world(own: Any, turned: Any, parent: Any) -> Any:
        mass, inertia, com, hang = own
        cos, sin, square = turned
        pcos, psin, psquare = parent
        cx, cy = com[..., 0], com[..., 1]
        hx, hy = hang[..., 0], hang[..., 1]
        rx, ry = cos * cx - sin * cy, sin * cx + cos * cy
        return mass, inertia, rx, ry, square, pcos * hx - psin * hy, psin * hx + pcos * hy, psquare

    if walk.small(top):
        return [world(o, t, p) for o, t, p in zip(own, turned, parent, strict=True)]
    return world(own, turned, parent)


def _with(top: Any, values: walk.PerLink, *more: Any) -> walk.PerLink:
    """Append columns over the links to a per-link value."""
    if walk.small(top):
        return [(*value, *(column[k] for column in more)) for k, value in enumerate(values)]
    return (*values, *more)


def accelerations(mechanism: Mechanism, q: Any, v: Any, force: Any, gravity: Any) -> Array:
    """v' in O(n): inward elimination, outward substitution."""
    top = mechanism.topology
    nb = top.base_dof
    gx, gy = gravity[0], gravity[1]

    def eliminate(own: Any, carried: Any) -> Any:
        m, inertia, rx, ry, square, hx, hy, psquare, effort = own
        axx, axy, ayy, ux, uy, dd, bx, by, d = carried
        axx, ayy = axx + m, ayy + m
        ux, uy = ux - m * ry, uy + m * rx
        dd = dd + inertia + m * (rx * rx + ry * ry)
        bx, by = bx - m * (square * rx + gx), by - m * (square * ry + gy)
        d = d + m * (ry * gx - rx * gy)
        over = 1.0 / dd
        gain = (effort - d) * over
        lxx, lxy, lyy = axx - ux * ux * over, axy - ux * uy * over, ayy - uy * uy * over
        ex, ey = bx + ux * gain, by + uy * gain
        # What this subtree asks of its parent, whose turning moves the joint by perp(h).
        wx, wy = lxy * hx - lxx * hy, lyy * hx - lxy * hy  # Lambda perp(h)
        ex, ey = ex - psquare * (lxx * hx + lxy * hy), ey - psquare * (lxy * hx + lyy * hy)
        gift = (lxx, lxy, lyy, wx, wy, hx * wy - hy * wx, ex, ey, hx * ey - hy * ex)
        return (ux * over, uy * over, gain, hx, hy, psquare), gift

    inputs = _with(top, _frame(mechanism, q, v), force[nb:])
    reduced, arrived = walk.inward(top, eliminate, 9, inputs)

    base = []
    for tree, (axx, axy, ayy, _, _, _, bx, by, _) in enumerate(arrived):
        at = top.base_index(tree)
        if at is None:
            base.append((0.0, 0.0))
        else:
            det = 1.0 / (axx * ayy - axy * axy)
            fx, fy = force[at] - bx, force[at + 1] - by
            base.append(((ayy * fx - axy * fy) * det, (axx * fy - axy * fx) * det))

    def substitute(own: Any, parent: Any) -> Any:
        ux, uy, gain, hx, hy, psquare = own
        px, py, turn = parent  # the parent's joint and angular acceleration
        ax = px - turn * hy - psquare * hx
        ay = py + turn * hx - psquare * hy
        return ax, ay, gain - ux * ax - uy * ay

    moved = walk.outward(top, substitute, [(x, y, 0.0) for x, y in base], reduced)
    return _coordinates(top, base, walk.columns(top, moved)[2])


def _coordinates(top: Any, base: list[Any], angles: Array) -> Array:
    """Coordinate vector from per-tree base values and per-link angle values."""
    moving = [
        jnp.stack([jnp.asarray(x, dtype=float) for x in b]) for b, free in zip(base, top.free, strict=True) if free
    ]
    return jnp.concatenate([*moving, angles])


def inverse(mechanism: Mechanism, q: Any, v: Any, a: Any, gravity: Any) -> Array:
    """dS/dv' in O(n): accelerations outward, joint forces inward."""
    top = mechanism.topology
    nb = top.base_dof
    gx, gy = gravity[0], gravity[1]

    def accelerate(own: Any, parent: Any) -> Any:
        _, _, _, _, _, hx, hy, psquare, turn = own
        px, py, pturn = parent
        return px - pturn * hy - psquare * hx, py + pturn * hx - psquare * hy, turn

    def gather(own: Any, carried: Any) -> Any:
        m, inertia, rx, ry, square, hx, hy, _, turn, ax, ay = own
        fx = m * (ax - turn * ry - square * rx)
        fy = m * (ay + turn * rx - square * ry)
        moment = inertia * turn + rx * fy - ry * fx + carried[2]
        sx, sy = fx + carried[0], fy + carried[1]
        return (moment,), (sx, sy, hx * sy - hy * sx)

    inputs = _with(top, _frame(mechanism, q, v), a[nb:])
    starts = []
    for tree in range(len(top.free)):
        at = top.base_index(tree)
        ax, ay = (0.0, 0.0) if at is None else (a[at], a[at + 1])
        starts.append((ax - gx, ay - gy, 0.0))  # weight: the origin accelerates by -g
    moved = walk.columns(top, walk.outward(top, accelerate, starts, inputs))
    moments, arrived = walk.inward(top, gather, 3, _with(top, inputs, moved[0], moved[1]))
    return _coordinates(top, [(f[0], f[1]) for f in arrived], walk.columns(top, moments)[0])


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
