"""What is given: a mechanism, its contacts, and as many unknown reactions as equations without a torque."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import equinox as eqx

from ... import errors
from ..._arguments import ContactsLike, Names
from ...hybrid._member import AbstractUnplaced
from ...mechanism import Mechanism
from ..impact import RigidContact
from ..pairs.site_on_surface import SiteOnSurface


class InverseProblem(eqx.Module):
    """What touches what, which contacts stick, and which joints have no motor."""

    mechanism: Mechanism
    contacts: tuple[RigidContact, ...]
    gravity: Any
    passive: tuple[int, ...] = eqx.field(static=True)
    sticking: tuple[int, ...] = eqx.field(static=True)

    @property
    def idle(self) -> tuple[int, ...]:
        """Equations without a torque, as entries of (base forces ..., joint torques ...)."""
        top = self.mechanism.topology
        roots = [k for k in range(top.links) if top.parents[k] < 0 and top.free[top.trees[k]]]
        joints = sorted({*roots, *self.passive})
        return (*range(top.base_dof), *(top.angle_index(k) for k in joints))

    @property
    def sliding(self) -> list[RigidContact]:
        """The contacts that do not stick."""
        return [c for i, c in enumerate(self.contacts) if i not in self.sticking]


def listed(names: Iterable[str]) -> str:
    return " and ".join(f"'{name}'" for name in names)


def names_of(field: str, names: Names) -> tuple[str, ...]:
    if isinstance(names, str):
        return (names,)
    try:
        return tuple(names)
    except TypeError:
        raise errors.CaromError(f"{field} is {names!r}; it must be a list of names, such as ['link4']") from None


def rigid_of(mechanism: Mechanism) -> Mechanism:
    if not isinstance(mechanism, Mechanism):
        raise errors.CaromError(f"mechanism of ContactInverse is a {type(mechanism).__name__}; it must be a Mechanism")
    top = mechanism.topology
    if top.sliding:
        raise errors.CaromError(
            f"link '{top.names[top.slid[0]]}' is on a Slider; ContactInverse solves for torques of hinges only; use "
            "carom.dynamics.inverse_dynamics with the contact forces"
        )
    if top.elastic:
        bends = next(name for name, modes in zip(top.names, top.modes, strict=True) if modes)
        raise errors.CaromError(
            f"link '{bends}' is elastic; no torque acts on its bending, so no motion can be prescribed; make it rigid"
        )
    return mechanism


def contacts_of(mechanism: Mechanism, contacts: ContactsLike) -> tuple[RigidContact, ...]:
    found = tuple(contacts) if isinstance(contacts, list | tuple) else (contacts,)
    found = tuple(c.placed(mechanism) if isinstance(c, AbstractUnplaced) else c for c in found)
    if not found:
        raise errors.CaromError(
            "contacts of ContactInverse is empty; give at least one, or use carom.dynamics.inverse_dynamics"
        )
    for c in found:
        if not isinstance(c, RigidContact) or not isinstance(c.pair, SiteOnSurface):
            what = f"of '{c.name}' with a body" if isinstance(c, RigidContact) else f"a {type(c).__name__}"
            raise errors.CaromError(
                f"contacts of ContactInverse holds {what}; it must hold rigid contacts of sites with "
                "surfaces, such as carom.Contact(arm.tip, carom.Plane(height=0.0), carom.Plastic(), carom.Coulomb(0.4))"
            )
    return found


def sticking_of(contacts: tuple[RigidContact, ...], names: tuple[str, ...]) -> tuple[int, ...]:
    known = [c.name for c in contacts]
    for name in names:
        errors.name_in("sticking contact", name, known)
        if contacts[known.index(name)].friction is None:
            raise errors.CaromError(
                f"contact '{name}' is to stick but has no friction; give it one, such as carom.Coulomb(0.4)"
            )
    return tuple(sorted(known.index(name) for name in set(names)))


def _carried_by(problem: InverseProblem, k: int) -> bool:
    """Does any contact lie on what joint k carries?"""
    top = problem.mechanism.topology
    links = [site.link for c in problem.contacts for shape in c.pair.shapes for site in shape.sites]
    return any(k == link or k in (i for i, _ in top.paths[link]) for link in links)


def _on_the_way(problem: InverseProblem) -> list[str]:
    """Links whose joints carry a contact, the outermost first, and that could be passive."""
    top = problem.mechanism.topology
    able = [k for k in reversed(top.order) if _carried_by(problem, k) and top.angle_index(k) not in problem.idle]
    return [top.names[k] for k in able]


def refuse_idle(problem: InverseProblem) -> None:
    """A passive joint that carries no contact is moved by nothing that could be chosen."""
    top = problem.mechanism.topology
    for k in problem.passive:
        if not _carried_by(problem, k):
            able = _on_the_way(problem)
            cure = f"give it a motor and make '{able[0]}' passive instead" if able else "give it a motor"
            raise errors.CaromError(
                f"passive joint '{top.names[k]}' carries nothing that touches a surface, so no reaction can give it "
                f"its motion; {cure}"
            )


def refuse_count(problem: InverseProblem) -> None:
    top = problem.mechanism.topology
    reactions, idle = len(problem.contacts) + len(problem.sticking), len(problem.idle)
    motors = top.dof - idle
    counted = f"{motors} torques and {reactions} reactions are {motors + reactions} unknowns for {top.dof} equations"
    if idle > reactions:
        spare = [top.names[k] for k in problem.passive][: idle - reactions]
        cure = f"give {listed(spare)} a motor" if spare else "the free base needs more to stand on"
        raise errors.CaromError(f"{counted}; {cure}, or add a contact, or let one stick (two reactions)")
    if idle < reactions:
        spare = _on_the_way(problem)[: reactions - idle]
        cure = (
            f"make {reactions - idle} more joint(s) passive, such as {listed(spare)}" if spare else "remove a contact"
        )
        raise errors.CaromError(f"{counted}, so that torques and reactions could work against each other; {cure}")


def refuse_follow(problem: InverseProblem, links: tuple[int, ...]) -> None:
    count, names = len(problem.sliding), [problem.mechanism.topology.names[k] for k in links]
    if len(links) != count or count == 0:
        raise errors.CaromError(
            f"{len(links)} joints follow ({listed(names) or 'none'}) but {count} contacts slide; one joint must "
            "follow for each; name them with follow=[...]"
        )
    for k, name in zip(links, names, strict=True):
        if not _carried_by(problem, k):
            raise errors.CaromError(
                f"joint '{name}' is to follow but carries nothing that touches a surface; choose one between the base "
                "and the contact"
            )
