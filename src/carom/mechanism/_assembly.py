"""From links to a mechanism: names, topology, numbers, and refusals of what would not be one."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from .. import errors
from .._arguments import LinksLike
from .bodies import AbstractBody
from .joint import Slider, has_friction, has_limit, has_rotor, largest_effort, stiction_of
from .link import BASE, Fixed, Free, Link
from .numbers import Numbers
from .topology import Topology


def named(links: LinksLike) -> list[Link]:
    """Give every link a name and refuse names that could not be told apart."""
    if isinstance(links, AbstractBody | Link):
        links = [links]
    if not isinstance(links, Sequence) or isinstance(links, str):
        raise errors.CaromError(f"links is a {type(links).__name__}; it must be a list of bodies or carom.Links")
    if len(links) == 0:
        raise errors.CaromError("links is empty; a mechanism needs at least one, such as [carom.Rod(1.0, 1.0)]")
    placed = []
    for i, item in enumerate(links):
        link = Link(item) if isinstance(item, AbstractBody) else item
        if not isinstance(link, Link):
            raise errors.CaromError(f"links[{i}] is a {type(item).__name__}; it must be a body or a carom.Link")
        name = link.name or f"link{i + 1}"
        placed.append(dataclasses.replace(link, name=name))
    for link in placed:
        if link.name == BASE or "." in str(link.name):
            raise errors.CaromError(f"a link is called '{link.name}'; '{BASE}' and names with a dot are reserved")
    errors.names("links", [str(link.name) for link in placed])
    return placed


def topology_of(placed: list[Link], base: Fixed | Free) -> Topology:
    names = tuple(str(link.name) for link in placed)
    parents = []
    for i, link in enumerate(placed):
        if link.parent is None:
            parents.append(i - 1)  # the one before; -1 is the base
        elif link.parent == BASE:
            parents.append(-1)
        else:
            errors.name_in(f"link (named as parent of '{link.name}')", link.parent, names)
            parents.append(names.index(link.parent))
    sites = [(f"{name}.tip", i) for i, name in enumerate(names)]
    sites += [(site, i) for i, link in enumerate(placed) for site in link.sites]
    errors.names("sites", [s for s, _ in sites])
    if not isinstance(base, Fixed | Free):
        raise errors.CaromError(f"base is a {type(base).__name__}; it must be carom.Fixed(x, y) or carom.Free()")
    if isinstance(base, Free):
        _refuse_offsets(placed, parents)
    topology = Topology(
        names=names,
        shapes=tuple(link.body.shape for link in placed),
        parents=tuple(parents),
        trees=(0,) * len(placed),
        free=(isinstance(base, Free),),
        tree_names=(BASE,),
        site_names=tuple(s for s, _ in sites),
        site_links=tuple(i for _, i in sites),
        modes=tuple(0 if (f := link.body.flexible()) is None else len(f.along) for link in placed),
        slides=tuple(isinstance(link.joint, Slider) for link in placed),
        rotors=tuple(has_rotor(link.joint) for link in placed),
        rubs=tuple(has_friction(link.joint) for link in placed),
        limited=tuple(has_limit(link.joint) for link in placed),
    )
    _ = topology.order  # refuses circles
    _refuse_sliders(topology)
    _refuse_rotors(topology)
    _refuse_loose(topology)
    return topology


def _refuse_sliders(top: Topology) -> None:
    """A slider needs a direction, which a free point has not, and a rigid guide."""
    _refuse_joints(
        top,
        top.slides,
        lambda first, bends: (
            f"link '{first}' has a Slider and link '{bends}' is elastic; a mechanism has either sliders or elastic "
            "links; make the links rigid, or use a carom.Joint"
        ),
        lambda loose: (
            f"link '{loose}' has a Slider on a free base, which is a point without direction; make the first link a "
            "Body on a carom.Joint and let this one slide on it"
        ),
    )


def _refuse_rotors(top: Topology) -> None:
    """A rotor turns with a joint of rigid links."""
    _refuse_joints(
        top,
        top.rotors,
        lambda first, bends: (
            f"the joint of link '{first}' has a rotor_inertia and link '{bends}' is elastic; rotors go with rigid "
            "links only; leave it out, or make the links rigid"
        ),
        lambda loose: (
            f"the joint of '{loose}' has a rotor_inertia, but '{loose}' is the first link of a free base: it has no "
            "joint; leave it out"
        ),
    )


def _refuse_joints(
    top: Topology, those: tuple[bool, ...], beside: Callable[[str, str], str], alone: Callable[[str], str]
) -> None:
    """Refuse joints of a kind beside an elastic link, and on a free base, in the words of that kind."""
    first = next((k for k, is_one in enumerate(those) if is_one), None)
    bends = next((k for k, modes in enumerate(top.modes) if modes), None)
    if first is not None and bends is not None:
        raise errors.CaromError(beside(top.names[first], top.names[bends]))
    loose = next((k for k in top.loose if those[k]), None)
    if loose is not None:
        raise errors.CaromError(alone(top.names[loose]))


def _refuse_loose(top: Topology) -> None:
    """Friction and motors act between a link and its parent; the first link of a free base has none."""
    for field, flags in (("friction", top.rubs), ("effort_limit", top.limited)):
        loose = next((k for k in top.loose if flags[k]), None)
        if loose is not None:
            raise errors.CaromError(
                f"the joint of '{top.names[loose]}' has {field}, but '{top.names[loose]}' is the first link of a free "
                "base: it has no joint; leave it out"
            )


def _refuse_offsets(placed: list[Link], parents: list[int]) -> None:
    """A free point has no orientation, so nothing can hang beside it."""
    for link, parent in zip(placed, parents, strict=True):
        at = None if link.at is None else errors.known(link.at)
        if parent < 0 and at is not None and np.any(at != 0.0):
            raise errors.CaromError(
                f"link '{link.name}' hangs at ({at[0]:g}, {at[1]:g}) of a free base, which is a point with nothing "
                "beside it; hang it at (0, 0), or make the first link a Body and hang the others on that"
            )


def numbers_of(placed: list[Link], base: Fixed | Free, topology: Topology) -> Numbers:
    def stack(values: Sequence[Any]) -> Array:
        if any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(values)):
            return jnp.stack(
                [
                    jnp.stack([jnp.asarray(x, float) for x in v]) if isinstance(v, tuple) else jnp.asarray(v, float)
                    for v in values
                ]
            )
        return errors.array(np.asarray(values, dtype=float))  # one transfer instead of one per link

    def hang(link: Link, parent: int) -> tuple[Any, Any]:
        if link.at is not None:
            return link.at[0], link.at[1]
        return _stands(placed[parent], placed[parent].body.end()) if parent >= 0 else (0.0, 0.0)

    tips = [_stands(link, link.body.end()) for link in placed]
    sites = list(tips)
    sites += [(point[0], point[1]) for link in placed for point in link.sites.values()]
    hangs = [hang(link, p) for link, p in zip(placed, topology.parents, strict=True)]
    owners = [placed[i].body for i in topology.site_links]
    above = [None if p < 0 else placed[p].body for p in topology.parents]
    pivot = (base.x, base.y) if isinstance(base, Fixed) else (0.0, 0.0)
    return Numbers(
        mass=stack([link.body.mass for link in placed]),
        com=stack([_stands(link, link.body.centre()) for link in placed]),
        inertia=stack([link.body.inertia_about_centre() for link in placed]),
        hang=stack(hangs),
        tip=stack(tips),
        axis=stack([link.joint.direction if isinstance(link.joint, Slider) else (0.0, 0.0) for link in placed]),
        stiffness=stack([link.joint.stiffness for link in placed]),
        rest=stack([link.joint.rest for link in placed]),
        damping=stack([link.joint.damping for link in placed]),
        rotor=stack([link.joint.rotor_inertia for link in placed]),
        gear=stack([link.joint.gear for link in placed]),
        friction=stack([link.joint.friction for link in placed]),
        stiction=stack([stiction_of(link.joint) for link in placed]),
        effort=stack([largest_effort(link.joint) for link in placed]),
        site=stack(sites),
        pivot=stack([pivot]),
        flex=tuple(link.body.flexible() for link in placed),
        hang_reach=tuple(None if b is None else b.reach(*at) for b, at in zip(above, hangs, strict=True)),
        site_reach=tuple(b.reach(*at) for b, at in zip(owners, sites, strict=True)),
    )


def _stands(link: Link, point: tuple[Any, Any]) -> tuple[Any, Any]:
    """A point of a body in its link's frame: on a slider the body may stand at an angle in it."""
    x, y = point
    if not isinstance(link.joint, Slider):
        return x, y
    cos, sin = jnp.cos(link.joint.angle), jnp.sin(link.joint.angle)
    return cos * x - sin * y, sin * x + cos * y


def refuse_idle_links(numbers: Numbers, topology: Topology) -> None:
    """A link whose turning moves nothing (no extent, no inertia, everything at its origin) has no equation."""
    parts = [errors.known(x) for x in (numbers.mass, numbers.com, numbers.inertia, numbers.hang, numbers.site)]
    if any(p is None for p in parts):
        return
    mass, com, inertia, hang, site = (p for p in parts if p is not None)
    for k, name in enumerate(topology.names):
        points = [hang[c] for c in topology.children[k]]
        points += [site[i] for i, owner in enumerate(topology.site_links) if owner == k]
        moves_a_point = topology.slides[k] or any(np.any(p != 0) for p in points)
        if inertia[k] == 0 and not np.any(mass[k] * com[k]) and not moves_a_point:
            raise errors.CaromError(
                f"link '{name}' has zero length and no moment of inertia; turning it moves nothing, so its angle has "
                "no equation; give it a length or an inertia, or weld it to another link with mechanism.weld"
            )
