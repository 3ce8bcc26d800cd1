"""Where points are, how they move: positions, velocities, Jacobians and bias accelerations of sites."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from .. import errors
from ..mechanism import Mechanism, walk


class LinkMotion(NamedTuple):
    """Per link, in columns: origin, its velocity, cosine and sine of the angle, rate."""

    x: Any
    y: Any
    vx: Any
    vy: Any
    cos: Any
    sin: Any
    rate: Any


def link_motion(mechanism: Mechanism, q: Any, v: Any) -> LinkMotion:
    """Position and velocity of every link's frame, as arrays over the links."""
    n, top = mechanism.numbers, mechanism.topology
    errors.vector("mechanism", "q", q, top.dof)
    errors.vector("mechanism", "v", v, top.dof)
    nb = top.base_dof
    angle, rate = q[nb:], v[nb:]
    cos, sin = jnp.cos(angle), jnp.sin(angle)

    def step(own: Any, parent: Any) -> Any:
        hang, cos, sin, rate = own
        px, py, pvx, pvy, pcos, psin, prate = parent
        hx, hy = pcos * hang[0] - psin * hang[1], psin * hang[0] + pcos * hang[1]
        return LinkMotion(px + hx, py + hy, pvx - prate * hy, pvy + prate * hx, cos, sin, rate)

    starts = []
    for tree in range(len(top.free)):
        at = top.base_index(tree)
        pivot = n.pivot[tree]
        place = (pivot[0], pivot[1], 0.0, 0.0) if at is None else (q[at], q[at + 1], v[at], v[at + 1])
        starts.append((*place, 1.0, 0.0, 0.0))
    motion = walk.outward(top, step, starts, walk.per_link(top, n.hang, cos, sin, rate))
    return LinkMotion(*walk.columns(top, motion))


def site_position(mechanism: Mechanism, q: Float[Array, " dof"], site: Any) -> Float[Array, "2"]:
    """World position [m] of a site."""
    return _site_motion(mechanism, q, jnp.zeros_like(q), site)[0]


def site_velocity(
    mechanism: Mechanism, q: Float[Array, " dof"], v: Float[Array, " dof"], site: Any
) -> Float[Array, "2"]:
    """World velocity [m/s] of a site."""
    return _site_motion(mechanism, q, v, site)[1]


def _site_motion(mechanism: Mechanism, q: Any, v: Any, site: Any) -> tuple[Array, Array]:
    at = mechanism.site(site)
    x, y, vx, vy, cos, sin, rate = (column[at.link] for column in link_motion(mechanism, q, v))
    px, py = mechanism.numbers.site[at.index]
    rx, ry = cos * px - sin * py, sin * px + cos * py
    return jnp.stack([x + rx, y + ry]), jnp.stack([vx - rate * ry, vy + rate * rx])


def site_jacobian(mechanism: Mechanism, q: Float[Array, " dof"], site: Any) -> Float[Array, "2 dof"]:
    """J with site velocity = J v; a force f at the site is the generalized force J^T f."""
    return _along_path(mechanism, q, site)[0]


def site_bias(mechanism: Mechanism, q: Float[Array, " dof"], v: Float[Array, " dof"], site: Any) -> Float[Array, "2"]:
    """Acceleration [m/s^2] of a site at zero generalized acceleration: J' v."""
    levers = _along_path(mechanism, q, site)[1]
    nb = mechanism.topology.base_dof
    total = jnp.zeros(2)
    for link, (rx, ry) in levers:  # every link on the way pulls its end inward
        rate = v[nb + link]
        total = total - rate * rate * jnp.stack([rx, ry])
    return total


def _along_path(mechanism: Mechanism, q: Any, site: Any) -> tuple[Array, list[tuple[int, tuple[Any, Any]]]]:
    """Jacobian of a site, and for every link on the way to it the lever (in world axes) that turns with that link."""
    n, top = mechanism.numbers, mechanism.topology
    errors.vector("mechanism", "q", q, top.dof)
    at, nb = mechanism.site(site), top.base_dof
    levers = []
    columns: dict[int, tuple[Any, Any]] = {}
    for link, (px, py) in [*((i, n.hang[s]) for i, s in top.paths[at.link]), (at.link, n.site[at.index])]:
        cos, sin = jnp.cos(q[nb + link]), jnp.sin(q[nb + link])
        rx, ry = cos * px - sin * py, sin * px + cos * py
        levers.append((link, (rx, ry)))
        columns[nb + link] = (-ry, rx)
    base = top.base_index(top.trees[at.link])
    if base is not None:
        columns[base], columns[base + 1] = (1.0, 0.0), (0.0, 1.0)
    used = sorted(columns)
    values = jnp.stack([jnp.stack([jnp.asarray(x, dtype=float) for x in columns[i]]) for i in used])
    return jnp.zeros((2, top.dof)).at[:, jnp.asarray(used)].set(values.T), levers
