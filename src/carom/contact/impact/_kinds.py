"""Many rigid contacts, sorted into kinds: contacts that differ in their numbers and sites alone.

A kind is evaluated once, for all its contacts side by side (vmap), so that code does not grow with their number. What a
pair, a law or friction does is what its own class says; `LaneScene` only tells it where its sites are.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ...mechanism import Mechanism, Site
from ..during import During
from ..pairs import AbstractPair
from ._lane_scene import Bodies, Body, LaneScene, Ways, bodies_of
from .rigid_contact import Contacts, RigidContact

MANY = 128  # contacts of one kind, up to which all are looked at: choosing would cost as much


class Shared(NamedTuple):
    """What all contacts see: time, the world's length, and that of the step."""

    t: Any
    length: Any
    span: Any = 0.0


class Kind(eqx.Module):
    """Contacts of one kind; `numbers` are the leaves of all of them, stacked."""

    numbers: list[Any]
    members: tuple[int, ...] = eqx.field(static=True)  # their places in the list of all
    structures: tuple[Any, ...] = eqx.field(static=True)  # of each as a pytree; the first stands for all
    bodies: tuple[tuple[Body, ...], ...] = eqx.field(static=True)  # of each: its sites, or the links of its joint

    during: tuple[During | None, ...] = eqx.field(static=True)  # of each: when it is there
    couples: tuple[int, ...] = eqx.field(static=True)  # of each: which two shapes meet, where several of it share them

    @property
    def contacts(self) -> list[RigidContact]:
        """Its members, one by one."""
        known = not any(isinstance(x, jax.core.Tracer) for x in self.numbers)
        numbers = [np.asarray(x) for x in self.numbers] if known else self.numbers  # NumPy takes rows at once
        return [jax.tree.unflatten(form, [x[k] for x in numbers]) for k, form in enumerate(self.structures)]

    @property
    def first(self) -> RigidContact:
        """What stands for all, to be asked for what is fixed; it has no numbers."""
        blank = [np.zeros(x.shape[1:]) for x in self.numbers]
        return jax.tree.unflatten(self.structures[0], blank)

    @property
    def sifted(self) -> bool:
        """Is it looked at in two steps: bounds of all gaps, then what is near?"""
        return len(self.members) > MANY and self.first.pair.bounded

    @property
    def edged(self) -> bool:
        return self.first.pair.edged

    def knowing(self, closed: Any) -> Kind:
        """The same, told which of all contacts are closed: 1, else 0."""
        if not self.edged:
            return self
        numbers = jax.tree.unflatten(self.structures[0], range(len(self.numbers)))
        which, mine = numbers.pair.held, closed[np.asarray(self.members)]
        column = [mine if i == which else x for i, x in enumerate(self.numbers)]
        return eqx.tree_at(lambda kind: kind.numbers, self, column)


def kinds_of(mechanism: Mechanism, contacts: Contacts) -> tuple[Kind, ...]:
    """Contacts sorted into kinds, those with friction first."""
    found: dict[Any, list[int]] = {}
    for i, c in enumerate(contacts):
        found.setdefault(_key(mechanism, c), []).append(i)
    groups = sorted(found.values(), key=lambda members: contacts[members[0]].friction is None)
    return tuple(_kind(mechanism, contacts, tuple(members)) for members in groups)


def _kind(mechanism: Mechanism, contacts: Contacts, members: tuple[int, ...]) -> Kind:
    mine = [contacts[i] for i in members]
    leaves = [[jnp.asarray(x, dtype=float) for x in jax.tree.leaves(c)] for c in mine]
    numbers = [jnp.stack(column) for column in zip(*leaves, strict=True)]
    bodies = tuple(_bodies(mechanism, c.pair) for c in mine)
    during = tuple(c.during for c in mine)
    return Kind(numbers, members, tuple(jax.tree.structure(c) for c in mine), bodies, during, _couples(mine))


def _couples(contacts: Sequence[RigidContact]) -> tuple[int, ...]:
    """Numbers of the couples of shapes: corners of one shape on another share both."""
    found: dict[Any, int] = {}
    return tuple(found.setdefault(tuple(map(id, c.pair.couple)), len(found)) for c in contacts)


def _bodies(mechanism: Mechanism, pair: AbstractPair) -> tuple[Body, ...]:
    """Sites of a pair, or the links of its joint."""
    stop = pair.stop
    if stop is not None:
        parent = mechanism.topology.parents[stop.link]
        return tuple(Body(link, None) for link in (stop.link, parent) if link >= 0)
    return tuple(Body(s.link, s.index) for shape in pair.shapes for s in shape.sites)


def _key(mechanism: Mechanism, contact: RigidContact) -> Any:
    """What contacts of one kind have in common."""
    stop = contact.pair.stop
    pair = _form(contact.pair) if stop is None else (type(contact.pair), stop.sign)
    return pair, len(_bodies(mechanism, contact.pair)), _form(contact.law), _form(contact.friction)


def _form(x: Any) -> Any:
    """Classes, and whatever is not a number or a site, all the way down."""
    if isinstance(x, Site):
        return "site"
    if isinstance(x, eqx.Module):
        return type(x), tuple((f.name, _field(f, getattr(x, f.name))) for f in dataclasses.fields(x))
    if isinstance(x, tuple | list):
        return tuple(_form(item) for item in x)
    return None if x is None else ("number", np.shape(x))


NAMES = ("name", "group", "link_name")


def _field(field: Any, value: Any) -> Any:
    """Fields that are fixed at compile time must agree, but for names."""
    if field.name in NAMES:
        return None
    fixed = field.metadata.get("static", False) and not isinstance(value, Site)
    return (value,) if fixed else _form(value)


def contacts_of(kinds: Sequence[Kind]) -> Contacts:
    """All contacts, in the order in which they were given."""
    found = {i: contact for kind in kinds for i, contact in zip(kind.members, kind.contacts, strict=True)}
    return tuple(found[i] for i in sorted(found))


def firsts_of(kinds: Sequence[Kind]) -> Contacts:
    """One of every kind, to be asked for what is fixed."""
    return tuple(kind.first for kind in kinds)


def rubs_of(kinds: Sequence[Kind]) -> tuple[int, ...]:
    """Numbers of the contacts with friction, in their order."""
    return tuple(sorted(i for kind in kinds if kind.first.friction is not None for i in kind.members))


def for_each(kinds: Sequence[Kind], function: Callable[..., Any], *given: Any) -> Any:
    """`function(contact, numbers ...)` of every contact, side by side; `given` and results run over all contacts.

    With fewer kinds than there are, results run over their contacts, in order.
    """
    size = len(jax.tree.leaves(given)[0]) if given else 0
    parts: list[Any] = []
    order: list[int] = []
    for kind in kinds:
        at = np.asarray(kind.members, dtype=np.uint32)
        mine = given if len(at) == size else jax.tree.map(lambda x, at=at: x[at], given)

        def one(numbers: list[Any], args: Any, kind: Kind = kind) -> Any:
            contact = jax.tree.unflatten(kind.structures[0], numbers)
            return jax.tree.map(lambda x: jnp.asarray(x, dtype=float), function(contact, *args))

        parts.append(jax.vmap(one)(kind.numbers, mine))
        order += kind.members
    return _in_order(parts, order)


def for_each_pair(
    kinds: Sequence[Kind],
    function: Callable[[RigidContact, LaneScene], Any],
    mechanism: Mechanism,
    ways: Ways,
    shared: Shared,
) -> Any:
    """`function(contact, scene)` of every contact, where the scene tells about its own sites."""
    bodies = all_bodies(kinds, mechanism, ways)
    parts = [side_by_side(kind, function, mechanism, bodies, shared) for kind in kinds]
    return _in_order(parts, [i for kind in kinds for i in kind.members])


def all_bodies(kinds: Sequence[Kind], mechanism: Mechanism, ways: Ways) -> Bodies:
    """Every body that contacts of these kinds ask for, once."""
    return bodies_of(mechanism, ways, list(dict.fromkeys(b for kind in kinds for each in kind.bodies for b in each)))


def side_by_side(
    kind: Kind,
    function: Callable[[RigidContact, LaneScene], Any],
    mechanism: Mechanism,
    bodies: Bodies,
    shared: Shared,
    at: Array | np.ndarray | None = None,
) -> Any:
    """`function(contact, scene)` of the members of a kind, or of those `at` these of its places."""
    which = np.asarray([[bodies.numbers[b] for b in each] for each in kind.bodies], dtype=np.uint32)
    numbers = kind.numbers if at is None else [x[at] for x in kind.numbers]
    lanes = [bodies.at(column if at is None else jnp.asarray(column)[at]) for column in which.T]
    given = (mechanism, *(jnp.asarray(x, dtype=float) for x in shared))
    return _side_by_side(function, kind.structures[0], kind.bodies[0])(numbers, lanes, given)


def _in_order(parts: list[Any], order: list[int]) -> Any:
    """Numbers of the kinds, given to all contacts in their order: one matrix, so that they change places at once."""
    back = np.argsort(np.asarray(order)).astype(np.uint32)
    stays = np.array_equal(back, np.arange(len(back)))
    if stays and len(parts) == 1:
        return parts[0]
    columns = [jax.tree.leaves(part) for part in parts]
    whole = jnp.concatenate([jnp.stack(each) for each in columns], axis=1)
    whole = whole if stays else whole[:, back]
    return jax.tree.unflatten(jax.tree.structure(parts[0]), list(whole))


@functools.lru_cache(maxsize=256)
def _side_by_side(function: Callable[..., Any], structure: Any, names: tuple[Body, ...]) -> Callable[..., Any]:
    """`function(contact, scene)` of all contacts of a kind. Geometry is asked for some twenty times in a program: JAX
    traces and differentiates it once, as long as it is given the same object."""

    def one(numbers: list[Any], states: Any, shared: Any) -> Any:
        contact, (mechanism, t, length, span) = jax.tree.unflatten(structure, numbers), shared
        scene = LaneScene(mechanism, t, length, span, dict(zip(names, states, strict=True)))
        return jax.tree.map(lambda x: jnp.asarray(x, dtype=float), function(contact, scene))

    return jax.jit(jax.vmap(one, in_axes=(0, 0, None)))


def body_links(kinds: Sequence[Kind]) -> np.ndarray:
    """(contacts, 2): the links on which forces of each act, as `LaneScene.pushed` counts them."""
    found = {}
    for kind in kinds:
        which = pushed_bodies(kind)
        for bodies, i in zip(kind.bodies, kind.members, strict=True):
            found[i] = [bodies[j].link for j in which] + [0] * (2 - len(which))
    return np.asarray([found[i] for i in sorted(found)], dtype=int)


def pushed_bodies(kind: Kind) -> list[int]:
    """Which of its bodies a contact of this kind pushes: of a bar's two ends, one stands for the bar."""
    names = kind.bodies[0]
    if names[0].site is None:
        return list(range(len(names)))
    return [0] if len(names) == 1 else [0, 1]
