"""What bends: the modal numbers of an elastic link, and of the points where something hangs on it.

A material point of the link is at p = p0 + sum_j d_j u_j in the link's frame, d_j modal coordinates [m], u_j shapes.
For a beam along x, u_j = (-y T_j, W_j) at a height y above the axis, W_j the deflection and T_j the rotation of the
section of mode j; the section itself turns by sum_j d_j T_j. With foreshortening the point also comes back along the
axis by d^T H d / 2, H_ij(eta) = integral of W_i' W_j' from 0 to eta: a bent beam is not longer than a straight one.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
from jaxtyping import Array, Float

from .. import errors
from ..quantities import Point, Real


class Reach(eqx.Module):
    """Shapes at one point: how it moves, turns and comes back with the modal coordinates."""

    shape: Float[Array, "modes 2"]
    slope: Float[Array, " modes"]
    short: Float[Array, "modes modes"]
    counts: Float[Array, ""]  # 1 with foreshortening, else 0


class Nodes(eqx.Module):
    """Mass as points: the beam's quadrature and what is welded to it. Only `lagrange` looks at them one by one."""

    place: Float[Array, "nodes 2"]
    mass: Float[Array, " nodes"]
    rotary: Float[Array, " nodes"]  # moment of inertia of the section, or of a welded body about its centre
    shape: Float[Array, "nodes modes 2"]
    slope: Float[Array, "nodes modes"]  # by which the rotary inertia turns: zero where it follows the link's rate
    short: Float[Array, "nodes modes modes"]


class Flexible(eqx.Module):
    """Integrals over the mass of an elastic link, in its own frame (x: cross product of plane vectors)."""

    first: Float[Array, "modes 2"]  # of u_j
    along: Float[Array, " modes"]  # of p0 . u_j
    turning: Float[Array, " modes"]  # of p0 x u_j, and rotary inertia times slope
    overlap: Float[Array, "modes modes"]  # of u_i . u_j
    inertia: Float[Array, "modes modes"]  # the same with rotary inertia
    twist: Float[Array, "modes modes"]  # of u_i x u_j
    short_first: Float[Array, "modes modes"]  # of H
    short_along: Float[Array, "modes modes"]  # of p0_x H
    short_across: Float[Array, "modes modes"]  # of p0_y H: what is welded beside the axis
    stiffness: Float[Array, "modes modes"]
    damping: Float[Array, "modes modes"]
    nodes: Nodes


def integrated(nodes: Nodes, stiffness: Real, damping: Real) -> Flexible:
    """All integrals from the nodes."""
    lib = errors.library_for(nodes)
    p, m, rotary, u, t, short = (lib.asarray(x) for x in _fields(nodes))
    cross = lambda a, b: a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]  # noqa: E731
    overlap = lib.einsum("g,gid,gjd->ij", m, u, u)
    found = {
        "first": lib.einsum("g,gjd->jd", m, u),
        "along": lib.einsum("g,gd,gjd->j", m, p, u),
        "turning": lib.einsum("g,gj->j", m, cross(p[:, None, :], u)) + rotary @ t,
        "overlap": overlap,
        "inertia": overlap + lib.einsum("g,gi,gj->ij", rotary, t, t),
        "twist": lib.einsum("g,gij->ij", m, cross(u[:, :, None, :], u[:, None, :, :])),
        "short_first": lib.einsum("g,gij->ij", m, short),
        "short_along": lib.einsum("g,gij->ij", m * p[:, 0], short),
        "short_across": lib.einsum("g,gij->ij", m * p[:, 1], short),
        "stiffness": stiffness,
        "damping": damping,
    }
    return Flexible(**{name: errors.array(x) for name, x in found.items()}, nodes=nodes)


def node_of(place: Point, mass: Real, rotary: Real, reach: Reach) -> Nodes:
    """A body that is welded to the link, as one node; it turns with the section."""
    lib = errors.library_for(place, mass, rotary, reach)
    each = (lib.stack([*place]), mass, rotary, reach.shape, reach.slope, reach.short)
    return Nodes(*(errors.array(lib.asarray(x, dtype=float)[None]) for x in each))


def joined(a: Nodes, b: Nodes) -> Nodes:
    lib = errors.library_for(a, b)
    return Nodes(*(errors.array(lib.concatenate([x, y])) for x, y in zip(_fields(a), _fields(b), strict=True)))


def _fields(n: Nodes) -> tuple[Any, ...]:
    return n.place, n.mass, n.rotary, n.shape, n.slope, n.short


def centre_and_inertia(nodes: Nodes) -> tuple[Any, Any, Any]:
    """Mass, centre of mass and moment of inertia about it of the straight link."""
    lib = errors.library_for(nodes)
    weights, place = lib.asarray(nodes.mass), lib.asarray(nodes.place)
    mass = lib.sum(weights)
    centre = weights @ place / lib.where(mass == 0, 1.0, mass)
    apart = place - centre[None, :]
    return mass, centre, lib.sum(weights * lib.sum(apart**2, axis=1)) + lib.sum(lib.asarray(nodes.rotary))


def offset(reach: Reach, dx: Real, dy: Real) -> Reach:
    """The point that lies (dx, dy) beside another one of the same section, and turns with it.

    To second order it also comes back by dx (1 - cos), the part that matters in a link that turns fast. Of dy there is
    no such part along the axis.
    """
    lib = errors.library_for(reach, dx, dy)
    dx, dy = lib.asarray(dx, dtype=float), lib.asarray(dy, dtype=float)
    shape, slope, short, counts = (lib.asarray(x) for x in (reach.shape, reach.slope, reach.short, reach.counts))
    lever = lib.stack([-dy, dx])
    back = counts * dx * lib.outer(slope, slope)
    found = (shape + slope[:, None] * lever[None, :], slope, short + back, counts)
    return Reach(*(errors.array(x) for x in found))
