"""Where points are, how they move: positions, velocities, Jacobians and bias accelerations of sites."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from .. import errors, native
from .._arguments import SiteLike
from ..mechanism import Mechanism
from ..mechanism import _walk as walk
from ..quantities import Coordinates, Vector
from . import _elastic_links as elastic_links
from . import _sliding_trees as sliding_trees
from ._dense_tree import MOST, dense_frames

SMALL = 12  # degrees of freedom of a mechanism whose equations are short, written out number by number


class LinkMotion(NamedTuple):
    """Per link, in columns: origin, its velocity, cosine and sine of the angle, rate."""

    x: Any
    y: Any
    vx: Any
    vy: Any
    cos: Any
    sin: Any
    rate: Any


def small(*args: Any) -> bool:
    """Is it about a small mechanism?"""
    found = next((x for x in args if isinstance(x, Mechanism)), None)
    return found is not None and found.dof <= SMALL


def of_state(function: Callable[..., Any]) -> Callable[..., Any]:
    """A short function of a mechanism's coordinates `q`, and of rates `v`, which may be lists, compiled at once."""
    made, fields = native.quick(small)(function), list(inspect.signature(function).parameters)

    def array(mechanism: Mechanism, field: str, value: Any) -> Any:
        if field not in ("q", "v"):
            return value
        errors.vector("mechanism", field, value, mechanism.dof)
        return jnp.asarray(value, dtype=float) if isinstance(value, list) else value

    @functools.wraps(function)
    def call(mechanism: Mechanism, *args: Any, **named: Any) -> Any:
        given = [array(mechanism, field, x) for field, x in zip(fields[1:], args, strict=False)]
        return made(mechanism, *given, *args[len(given) :], **{k: array(mechanism, k, x) for k, x in named.items()})

    return call


def link_motion(mechanism: Mechanism, q: Vector, v: Vector) -> LinkMotion:
    """Position and velocity of every link's frame, as arrays over the links."""
    top = mechanism.topology
    errors.vector("mechanism", "q", q, top.dof)
    errors.vector("mechanism", "v", v, top.dof)
    if top.elastic:
        return _bent_motion(mechanism, q, v)
    return LinkMotion(*walk.columns(top, frames(mechanism, q, v)))


def frames(mechanism: Mechanism, q: Coordinates, v: Coordinates) -> walk.PerLink:
    """The same per link, of rigid links; coordinates may be a tuple of scalars, as in the engine."""
    n, top = mechanism.numbers, mechanism.topology
    if top.sliding:
        return _slid_frames(mechanism, q, v)
    if not walk.small(top) and top.links <= MOST and not isinstance(q, tuple) and not isinstance(v, tuple):
        return LinkMotion(*dense_frames(mechanism, q, v))
    turned: Any = (jnp.cos(q[top.angles]), jnp.sin(q[top.angles]), v[top.angles]) if not isinstance(q, tuple) else None
    if turned is None:
        at = [top.angle_index(k) for k in range(top.links)]
        turned = [jnp.cos(q[i]) for i in at], [jnp.sin(q[i]) for i in at], [v[i] for i in at]

    def step(own: walk.Row, parent: walk.Row) -> Any:
        hang, cos, sin, rate = own
        px, py, pvx, pvy, pcos, psin, prate = parent
        out, up = hang[0], hang[1]
        hx, hy = pcos * out - psin * up, psin * out + pcos * up
        return LinkMotion(px + hx, py + hy, pvx - prate * hy, pvy + prate * hx, cos, sin, rate)

    return walk.outward(top, step, _bases(mechanism, q, v), walk.per_link(top, n.hang, *turned))


def _bases(mechanism: Mechanism, q: Coordinates, v: Coordinates) -> list[tuple[Any, ...]]:
    """What the first links of every tree hang on."""
    n, top, found = mechanism.numbers, mechanism.topology, []
    for tree in range(len(top.free)):
        base = top.base_index(tree)
        place = (*n.pivot[tree], 0.0, 0.0) if base is None else (q[base], q[base + 1], v[base], v[base + 1])
        found.append((*place, 1.0, 0.0, 0.0))
    return found


def _slid_frames(mechanism: Mechanism, q: Coordinates, v: Coordinates) -> list[LinkMotion]:
    """The same where links slide: they move along an axis of their parent, and turn with it."""
    n, top, bases = mechanism.numbers, mechanism.topology, _bases(mechanism, q, v)
    found: dict[int, LinkMotion] = {}
    tree = sliding_trees.tree_of(mechanism)
    turns = sliding_trees.turned(tree, q, v)
    for k in top.order:
        above = found[top.parents[k]] if top.parents[k] >= 0 else LinkMotion(*bases[top.trees[k]])
        turn = elastic_links.Turn(above.cos, above.sin)
        hx, hy = turn(sliding_trees.hangs(tree, k, q))
        ux, uy = 0.0, 0.0
        if top.slides[k]:
            ux, uy = (v[top.angle_index(k)] * e for e in turn((n.axis[k][0], n.axis[k][1])))
        place = above.x + hx, above.y + hy
        speed = above.vx - above.rate * hy + ux, above.vy + above.rate * hx + uy
        found[k] = LinkMotion(*place, *speed, *turns[k].turn, turns[k].rate)
    return [found[k] for k in range(top.links)]


def _bent_motion(mechanism: Mechanism, q: Vector, v: Vector) -> LinkMotion:
    """The same with elastic links, whose joints move with the bending."""
    w = elastic_links.whole(mechanism, q, v)
    found = elastic_links.origins(mechanism, w, q, v)
    rows = [(*o.place, *o.velocity, s.turn.cos, s.turn.sin, s.rate) for o, s in zip(found, w.states, strict=True)]
    columns = zip(*rows, strict=True)
    return LinkMotion(*(jnp.stack([jnp.asarray(x, dtype=float) for x in column]) for column in columns))


@of_state
def site_position(mechanism: Mechanism, q: Float[Array, " dof"], site: SiteLike) -> Float[Array, "2"]:
    """World position [m] of a site."""
    return _site_motion(mechanism, q, jnp.zeros_like(q), site)[0]


@of_state
def site_velocity(
    mechanism: Mechanism, q: Float[Array, " dof"], v: Float[Array, " dof"], site: SiteLike
) -> Float[Array, "2"]:
    """World velocity [m/s] of a site."""
    return _site_motion(mechanism, q, v, site)[1]


def _site_motion(mechanism: Mechanism, q: Vector, v: Vector, site: SiteLike) -> tuple[Array, Array]:
    at = mechanism.site(site)
    x, y, vx, vy, cos, sin, rate = (column[at.link] for column in link_motion(mechanism, q, v))
    px, py = mechanism.numbers.site[at.index]
    ux, uy = 0.0, 0.0  # velocity relative to the link
    if mechanism.topology.elastic:
        state = elastic_links.state_of(mechanism, at.link, q, v)
        b = elastic_links.bent((px, py), mechanism.numbers.site_reach[at.index], state)
        (px, py), (ux, uy) = b.place, b.rate
    rx, ry = cos * px - sin * py, sin * px + cos * py
    sx, sy = cos * ux - sin * uy, sin * ux + cos * uy
    return jnp.stack([x + rx, y + ry]), jnp.stack([vx - rate * ry + sx, vy + rate * rx + sy])


@of_state
def site_jacobian(mechanism: Mechanism, q: Float[Array, " dof"], site: SiteLike) -> Float[Array, "2 dof"]:
    """J with site velocity = J v; a force f at the site is the generalized force J^T f."""
    top = mechanism.topology
    columns: dict[int, tuple[Any, Any]] = {}
    for at, given, _ in _along_path(mechanism, q, jnp.zeros_like(q), site):
        columns |= dict(zip(at, given, strict=True))
    base = top.base_index(top.trees[mechanism.site(site).link])
    if base is not None:
        columns[base], columns[base + 1] = (1.0, 0.0), (0.0, 1.0)
    used = sorted(columns)
    values = jnp.stack([jnp.stack([jnp.asarray(x, dtype=float) for x in columns[i]]) for i in used])
    return jnp.zeros((2, top.dof)).at[:, jnp.asarray(used)].set(values.T)


@of_state
def site_bias(
    mechanism: Mechanism, q: Float[Array, " dof"], v: Float[Array, " dof"], site: SiteLike
) -> Float[Array, "2"]:
    """Acceleration [m/s^2] of a site at zero generalized acceleration: J' v."""
    total = jnp.zeros(2)
    for _, _, pulled in _along_path(mechanism, q, v, site):  # every link on the way pulls its end inward
        total = total + jnp.stack([jnp.asarray(x, dtype=float) for x in pulled])
    return total


def _along_path(mechanism: Mechanism, q: Vector, v: Vector, site: SiteLike) -> list[tuple[list[int], list[Any], Any]]:
    """For every link on the way to a site, in world axes: where its coordinates stand, the velocity of the site that a
    unit rate of each gives, and the acceleration from its motion."""
    n, top = mechanism.numbers, mechanism.topology
    errors.vector("mechanism", "q", q, top.dof)
    at = mechanism.site(site)
    if top.sliding:
        each = sliding_trees.columns(sliding_trees.tree_of(mechanism), q, v, at.link, n.site[at.index])
        return [([index], [given], pulled) for index, given, pulled in each]
    steps = [(i, n.hang[s], n.hang_reach[s]) for i, s in top.paths[at.link]]
    steps.append((at.link, n.site[at.index], n.site_reach[at.index]))
    found = []
    for link, point, reach in steps:
        state = elastic_links.state_of(mechanism, link, q, v)
        b = elastic_links.bent(point, reach, state)
        given = [state.turn(column) for column in b.columns]
        found.append((elastic_links.indices(mechanism, link), given, state.turn(b.bias)))
    return found
