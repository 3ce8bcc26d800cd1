"""Bodies that are rigidly fixed to a link: payloads, captured objects."""

from __future__ import annotations

import dataclasses
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from .. import errors
from ..quantities import Given, Point, Real
from ._bending import Reach, centre_and_inertia, integrated, joined, node_of, offset
from .bodies import AbstractBody
from .numbers import Numbers
from .topology import Topology


def welded(
    old: Numbers, top: Topology, link: str, body: AbstractBody, at: Point | None, angle: Real
) -> tuple[Numbers, Topology]:
    """Both halves of the mechanism in which the body is fixed to the link; see `Mechanism.weld`."""
    k = top.link(link)
    if not isinstance(body, AbstractBody):
        raise errors.CaromError(f"body welded to '{link}' is a {type(body).__name__}; it must be a Rod, Disk, ...")
    errors.number(f"weld to '{link}'", "angle", angle)
    if at is not None:
        errors.vector(f"weld to '{link}'", "at", at, 2)
    origin = old.tip[k] if at is None else jnp.asarray(at, dtype=float)
    cos, sin = jnp.cos(angle), jnp.sin(angle)
    if body.flexible() is not None:
        raise errors.CaromError(
            f"body welded to '{link}' is an elastic {type(body).__name__}; only rigid bodies are welded; hang it "
            "on a joint with a stiff spring instead"
        )
    cx, cy = body.centre()
    centre = origin + jnp.stack([cos * cx - sin * cy, sin * cx + cos * cy])
    if old.flex[k] is not None:
        return _welded_to_elastic(old, top, k, body, origin, centre), top
    mass, com, inertia = _joined(
        (old.mass[k], old.com[k], old.inertia[k]), (body.mass, centre, body.inertia_about_centre())
    )
    numbers = eqx.tree_at(
        lambda n: (n.mass, n.com, n.inertia),
        old,
        (old.mass.at[k].set(mass), old.com.at[k].set(com), old.inertia.at[k].set(inertia)),
    )
    shapes = tuple("body" if i == k else s for i, s in enumerate(top.shapes))
    return numbers, dataclasses.replace(top, shapes=shapes)


def _welded_to_elastic(
    old: Numbers, top: Topology, k: int, body: AbstractBody, origin: Given, centre: Given
) -> Numbers:
    """A payload on a beam moves and turns with the section that it is welded to."""
    flex, reach = old.flex[k], _reach_at(old, top, k, origin)
    assert flex is not None
    at_centre = offset(reach, centre[0] - origin[0], centre[1] - origin[1])
    nodes = joined(flex.nodes, node_of((centre[0], centre[1]), body.mass, body.inertia_about_centre(), at_centre))
    mass, com, inertia = centre_and_inertia(nodes)
    new = integrated(nodes, flex.stiffness, flex.damping)
    return eqx.tree_at(
        lambda n: (n.mass, n.com, n.inertia, n.flex[k]),
        old,
        (old.mass.at[k].set(mass), old.com.at[k].set(com), old.inertia.at[k].set(inertia), new),
    )


def _reach_at(n: Numbers, top: Topology, k: int, point: Given) -> Reach:
    """Shapes of an elastic link at a point of it that is known: its tip, a site, a hanging point."""
    known = [(n.site[i], n.site_reach[i]) for i, owner in enumerate(top.site_links) if owner == k]
    known += [(n.hang[c], n.hang_reach[c]) for c in top.children[k]]
    for place, reach in known:
        values = errors.known((place, point))
        if values is not None and reach is not None and np.allclose(values[0], values[1], rtol=0.0, atol=1e-12):
            return reach
    raise errors.CaromError(
        f"a body is welded to elastic link '{top.names[k]}' at {np.asarray(point).tolist()}, where it has no site; "
        "give the link a site there: Link(body, sites={'payload': (x, y)})"
    )


def _joined(a: tuple[Any, Any, Any], b: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
    """Mass, centre and central inertia of two bodies (mass, centre, central inertia) fixed to each other."""
    mass = a[0] + b[0]
    share = b[0] / jnp.where(mass == 0, 1.0, mass)
    apart = b[1] - a[1]
    return mass, a[1] + share * apart, a[2] + b[2] + a[0] * share * (apart[0] ** 2 + apart[1] ** 2)
