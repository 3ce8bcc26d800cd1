"""What a pair sees when it stands for many: where its own sites are, and nobody else's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ...dynamics._dense_tree import MOST, dense_frames, plan
from ...dynamics.kinematics import LinkMotion, frames
from ...hybrid.scene import Load, Scene
from ...mechanism import Mechanism, Site
from ...quantities import Real, Reals, Vector


class Body(NamedTuple):
    """A site of a link, by its number; or the link alone, at a joint's stop."""

    link: int
    site: int | None


class Ways(NamedTuple):
    """All links at one instant, and how fast coordinates may move at most: what places and bounds are made of."""

    links: LinkMotion
    angles: Vector
    q: Vector
    speeds: Vector


class BodyState(NamedTuple):
    """One body of a contact at one instant."""

    frame: LinkMotion
    angle: Any
    point: Any  # (2,) of the site in the frame of its link
    base: Any  # (2,) sizes of the coordinates of the base
    levers: Any  # sum of the sizes of the links on the way [m]
    reach: Any  # bound of its speed [m/s]
    turn: Any  # bound of the link's rate [rad/s]


def ways_of(mechanism: Mechanism, q: Vector, v: Vector, speeds: Vector) -> Ways:
    top = mechanism.topology
    links = LinkMotion(*(dense_frames(mechanism, q, v) if top.links <= MOST else frames(mechanism, q, v)))
    return Ways(links, q[top.angles], q, speeds)


def table_of(mechanism: Mechanism, ways: Ways) -> Array:
    """What bodies take from their link, one row each: its motion, its angle, and the bound of its rate."""
    return jnp.stack([*ways.links, ways.angles, ways.speeds[mechanism.topology.angles]])


def body_at(mechanism: Mechanism, ways: Ways, table: Array, bodies: Sequence[Body]) -> BodyState:
    """The bodies of many contacts, side by side."""
    n, top = mechanism.numbers, mechanism.topology
    links = np.asarray([b.link for b in bodies], dtype=np.uint32)
    *frame, angle, turn = table[:, links]
    sites = np.asarray([0 if b.site is None else b.site for b in bodies], dtype=np.uint32)
    sited = np.asarray([b.site is not None for b in bodies])
    point = jnp.where(sited[:, None], n.site[sites], 0.0) if np.any(sited) else jnp.zeros((len(bodies), 2))
    base, drift = _bases(mechanism, ways, links)
    own = jnp.abs(point[:, 0]) + jnp.abs(point[:, 1])
    hang = jnp.abs(n.hang[:, 0]) + jnp.abs(n.hang[:, 1])
    levers, reach = own, drift + own * turn
    if any(top.paths[b.link] for b in bodies):
        carried = _carried(top.paths, top.parents, links)
        turns = ways.speeds[top.angles][np.maximum(np.asarray(top.parents), 0).astype(np.uint32)]
        levers = levers + carried @ hang
        reach = reach + carried @ (hang * turns)
    return BodyState(LinkMotion(*frame), angle, point, base, levers, reach, turn)


class Bodies(NamedTuple):
    """All bodies that contacts ask for, one column each, and the numbers of these."""

    columns: Array
    numbers: dict[Body, int]

    def at(self, which: Array | np.ndarray) -> BodyState:
        """Those with these numbers."""
        x, y, vx, vy, cos, sin, rate, angle, turn, px, py, bx, by, levers, reach = self.columns[:, which]
        point, base = jnp.stack([px, py], axis=1), jnp.stack([bx, by], axis=1)
        return BodyState(LinkMotion(x, y, vx, vy, cos, sin, rate), angle, point, base, levers, reach, turn)


def bodies_of(mechanism: Mechanism, ways: Ways, bodies: Sequence[Body]) -> Bodies:
    s = body_at(mechanism, ways, table_of(mechanism, ways), bodies)
    columns = jnp.stack([*s.frame, s.angle, s.turn, *s.point.T, *s.base.T, s.levers, s.reach])
    return Bodies(columns, {body: i for i, body in enumerate(bodies)})


def _bases(mechanism: Mechanism, ways: Ways, links: np.ndarray) -> tuple[Array, Array]:
    """(bodies, 2) sizes of the coordinates of their bases [m], and bounds of the speeds of these [m/s]."""
    n, top = mechanism.numbers, mechanism.topology
    trees = np.asarray(top.trees)[links].astype(np.uint32)
    p = plan(top)
    free, first = p.free[trees], p.base[trees]
    if not np.any(free):
        return jnp.abs(n.pivot[trees]), jnp.zeros(len(links))
    x, y = jnp.stack([ways.q, ways.speeds])[:, np.stack([first, first + 1])].transpose(1, 0, 2)
    place, drift = jnp.abs(jnp.stack([x[0], y[0]], axis=1)), x[1] + y[1]
    if np.all(free):
        return place, drift
    return jnp.where(free[:, None], place, jnp.abs(n.pivot[trees])), jnp.where(free, drift, 0.0)


def _carried(paths: Any, parents: Any, links: np.ndarray) -> np.ndarray:
    """(bodies, links): 1 where the body is carried through the joint of that link."""
    out = np.zeros((len(links), len(parents)))
    for row, link in enumerate(links):
        for _, s in paths[link]:
            out[row, s] = 1.0
    return out


class LaneScene(Scene):
    """The bodies of one contact, found by those of the contact that stands for its kind."""

    def __init__(self, mechanism: Mechanism, t: Real, length: Real, span: Real, bodies: dict[Body, BodyState]) -> None:
        at = {mechanism.topology.angle_index(body.link): state for body, state in bodies.items()}
        angles: Any = {i: state.angle for i, state in at.items()}  # of its own links alone, by their places in q
        rates: Any = {i: state.frame.rate for i, state in at.items()}
        super().__init__(mechanism, t, angles, rates)
        self.length, self.span = length, span
        self.bodies = bodies
        self._found: dict[int, Any] = {}  # places and velocities of sites
        self.pushed: list[tuple[Body, Any]] = []  # on whom, and (x, y, fx, fy, torque)

    def _state(self, site: Site) -> BodyState:
        return self.bodies[Body(site.link, site.index)]

    def frame(self, link: int) -> LinkMotion:
        return next(state.frame for body, state in self.bodies.items() if body.link == link)

    def site(self, site: Site) -> tuple[Any, Any, Any, Any]:
        if site.index not in self._found:
            state = self._state(site)
            f, (px, py) = state.frame, state.point
            rx, ry = f.cos * px - f.sin * py, f.sin * px + f.cos * py
            self._found[site.index] = (f.x + rx, f.y + ry, f.vx - f.rate * ry, f.vy + f.rate * rx)
        return self._found[site.index]

    def velocity(self, site: Site, x: Real, y: Any) -> tuple[Any, Any]:
        f = self._state(site).frame
        return f.vx - f.rate * (y - f.y), f.vy + f.rate * (x - f.x)

    def extent(self, site: Site, along: tuple[Any, Any] = (1.0, 1.0)) -> Any:
        state = self._state(site)
        return along[0] * state.base[0] + along[1] * state.base[1] + state.levers

    def reach(self, site: Site, speeds: Reals) -> Any:
        return self._state(site).reach

    @property
    def speeds(self) -> Any:
        """Bounds of the rates of its links, by the place of their angles in q."""
        return {self.top.angle_index(body.link): state.turn for body, state in self.bodies.items()}

    def push(self, load: Load, link: int, x: Real, y: Any, fx: Real, fy: Real, site: Site | None = None) -> None:
        assert site is not None  # every pair with sites says which
        self.pushed.append((Body(site.link, site.index), (x, y, fx, fy, 0.0)))

    def turn(self, load: Load, link: int, torque: Real) -> None:
        parent = self.top.parents[link]
        for body, share in ((link, torque), (parent, -torque)):
            if body >= 0:
                self.pushed.append((Body(body, None), (0.0, 0.0, 0.0, 0.0, share)))
