"""The mechanism that arm and object form after a capture, and its state, so that the motion can continue."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from .. import errors
from .._arguments import CaptureLike
from ..mechanism import Body, Mechanism, Numbers, Site, State, Topology
from ..mechanism.tree import mechanism_of
from ..quantities import Vector
from ._grip import turning_row
from .record import Capture


class AfterCapture(eqx.Module):
    """One mechanism instead of two, with its coordinates and velocities.

    after = carom.after_capture(carom.capture(...))
    carom.simulate(carom.World(after.mechanism, gravity=0.0), after.state, until=10.0)
    """

    mechanism: Mechanism
    q: Float[Array, " dof"]
    v: Float[Array, " dof"]

    @property
    def state(self) -> State:
        """Where it is and how it moves: what `carom.simulate` starts from."""
        return State(self.q, self.v)


def after_capture(capture: CaptureLike) -> AfterCapture:
    """Arm and object as one mechanism, from the state that a plastic capture leaves behind.

    After 'point' the object is a further link that hangs at the arm's site. After a weld its mass belongs to the link
    that holds it, and its coordinates are gone; on an elastic link it turns with the section at the site (exactly if
    the link is straight at the capture, else to first order in the slope of the section).
    """
    if not isinstance(capture, Capture):
        raise errors.CaromError(f"after_capture got a {type(capture).__name__}; it must be what carom.capture returned")
    m, hand, grip = capture.mechanism, capture.mechanism.site(capture.hand), capture.mechanism.site(capture.grip)
    _refuse(capture, m, grip)
    made = _hung(m, hand, grip) if capture.kind == "point" else _welded(m, hand, grip, capture.q)
    keep = _kept(m.topology, grip, capture.kind == "point")
    return AfterCapture(made, capture.q[keep], capture.after[keep])


def _refuse(capture: Capture, m: Mechanism, grip: Site) -> None:
    top, e = m.topology, errors.known(capture.restitution)
    name = top.tree_names[top.trees[grip.link]]
    if capture.kind == "pseudo-inverse":
        raise errors.CaromError(
            "after_capture got the pseudo-inverse formula, whose velocities are not those of any capture; "
            "use carom.capture"
        )
    if e is not None and float(e) > 0.0:
        raise errors.CaromError(
            f"restitution of the capture is {float(e):g}: '{name}' flies off; only a plastic capture (0) holds it"
        )
    if top.base_index(top.trees[grip.link]) is None:
        raise errors.CaromError(f"the object '{name}' hangs on a fixed pivot; only a free one can be carried away")
    if top.parents[grip.link] >= 0 or top.modes[grip.link]:
        raise errors.CaromError(
            f"site '{grip.name}' is on link '{top.names[grip.link]}', which is not the rigid first link of '{name}'; "
            "build the object from the link that is gripped"
        )
    if capture.kind != "point" and top.trees.count(top.trees[grip.link]) > 1:
        raise errors.CaromError(
            f"the object '{name}' has several links; only a single rigid body is welded; use kind='point', or weld its "
            "links together first"
        )


def _kept(top: Topology, grip: Site, angle: bool) -> np.ndarray:
    """Coordinates that stay: all but the object's base, and its angle if it is welded."""
    at = top.base_index(top.trees[grip.link])
    assert at is not None
    gone = {at, at + 1} if angle else {at, at + 1, top.angle_index(grip.link)}
    return np.asarray([i for i in range(top.dof) if i not in gone])


def _hung(m: Mechanism, hand: Site, grip: Site) -> Mechanism:
    """The object as a link whose origin is the grip; its angle is the one it had."""
    n, top, k = m.numbers, m.topology, grip.link
    shift = n.site[grip.index]
    own = np.asarray([owner == k for owner in top.site_links])
    numbers = dataclasses.replace(
        n,
        com=n.com.at[k].add(-shift),
        tip=n.tip.at[k].add(-shift),
        hang=n.hang.at[np.asarray(top.children[k], dtype=int)].add(-shift).at[k].set(n.site[hand.index]),
        site=n.site - jnp.where(own[:, None], shift, 0.0),
        stiffness=n.stiffness.at[k].set(0.0),  # the grip is a free joint
        damping=n.damping.at[k].set(0.0),
        hang_reach=tuple(n.site_reach[hand.index] if i == k else r for i, r in enumerate(n.hang_reach)),
    )
    parents = tuple(hand.link if i == k else p for i, p in enumerate(top.parents))
    return _without_tree(mechanism_of(numbers, dataclasses.replace(top, parents=parents)), grip, range(top.links), hand)


def _welded(m: Mechanism, hand: Site, grip: Site, q: Vector) -> Mechanism:
    """The object's mass on the link that holds it. The body that is welded has its origin at the grip."""
    n, top, k = m.numbers, m.topology, grip.link
    angle = (turning_row(m, grip) - turning_row(m, hand)) @ q
    arm = n.com[k] - n.site[grip.index]
    cos, sin = jnp.cos(angle), jnp.sin(angle)
    com = jnp.stack([cos * arm[0] - sin * arm[1], sin * arm[0] + cos * arm[1]])
    body = Body(mass=n.mass[k], inertia=n.inertia[k], com=com)
    whole = m.weld(top.names[hand.link], body, at=n.site[hand.index])
    return _without_tree(whole, grip, [i for i in range(top.links) if i != k], hand)


def _without_tree(m: Mechanism, grip: Site, links: Sequence[int], hand: Site) -> Mechanism:
    """Only these links, in their order, and no base for the object: links of its tree that stay join the arm's."""
    n, top = m.numbers, m.topology
    gone, links = top.trees[grip.link], list(links)
    trees = [t for t in range(len(top.free)) if t != gone]
    link_to = {old: new for new, old in enumerate(links)} | {-1: -1}
    owner = [top.trees[hand.link] if t == gone else t for t in top.trees]
    sites = [i for i, k in enumerate(top.site_links) if k in link_to]
    topology = Topology(
        names=tuple(top.names[k] for k in links),
        shapes=tuple(top.shapes[k] for k in links),
        parents=tuple(link_to[top.parents[k]] for k in links),
        trees=tuple(trees.index(owner[k]) for k in links),
        free=tuple(top.free[t] for t in trees),
        tree_names=tuple(top.tree_names[t] for t in trees),
        site_names=tuple(top.site_names[i] for i in sites),
        site_links=tuple(link_to[top.site_links[i]] for i in sites),
        modes=tuple(top.modes[k] for k in links),
        slides=tuple(top.slides[k] for k in links),
        rotors=tuple(top.rotors[k] for k in links),
        rubs=tuple(top.rubs[k] for k in links),
        limited=tuple(top.limited[k] for k in links),
    )
    rows = {"site": sites, "site_reach": sites, "pivot": trees}
    picked = {f.name: _rows(getattr(n, f.name), rows.get(f.name, links)) for f in dataclasses.fields(Numbers)}
    return mechanism_of(Numbers(**picked), topology)


def _rows(values: PyTree, which: list[int]) -> Any:
    if isinstance(values, tuple):
        return tuple(values[i] for i in which)
    of = errors.library_for(values)
    return errors.array(of.asarray(values)[np.asarray(which, dtype=int)])
