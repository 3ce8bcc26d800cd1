"""What a state of a return map holds, by name; and what it is when things that are alike exchange their names.

A walker that has made a step stands where it stood, but on its other leg. Call the legs by each other's names, and the
step is a period: half as long, and its stability is that of the walker.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from .. import errors
from .._arguments import DriftsLike
from ..hybrid.world import World


class Entry(NamedTuple):
    """One number of the state."""

    kind: str
    owner: str  # the automaton; '' of coordinates and velocities
    name: str

    def __str__(self) -> str:
        if self.kind == "v":
            return f"the rate of {self.name}"
        return f"'{self.name}' of '{self.owner}'" if self.owner else self.name


def entries(world: World) -> list[Entry]:
    """Of everything that a return map carries, in its order."""
    coordinates = coordinate_names(world)
    found = [Entry(kind, "", name) for kind in "qv" for name in coordinates]
    for kind in ("states", "memory"):
        found += [Entry(kind, a.name, name) for a in world.automata for name in getattr(a.anatomy, kind)]
    return found


def coordinate_names(world: World) -> list[str]:
    """Names of the generalized coordinates, as signals have them: base.x, thigh.angle, shin.slide, beam.bend.1."""
    top = world.mechanism.topology
    free = [k for k, moves in enumerate(top.free) if moves]
    names = [f"{_base(world, k)}.{part}" for k in free for part in "xy"]
    names += [f"{name}.{'slide' if top.slides[k] else 'angle'}" for k, name in enumerate(top.names)]
    return names + [f"{name}.bend.{j + 1}" for k, name in enumerate(top.names) for j in range(top.modes[k])]


def coordinate_units(world: World) -> list[str]:
    """Units of the generalized coordinates."""
    top = world.mechanism.topology
    own = ["m" if slides else "rad" for slides in top.slides]
    return [*["m"] * top.base_dof, *own, *["m"] * sum(top.modes)]


def _base(world: World, tree: int) -> str:
    top = world.mechanism.topology
    return "base" if sum(top.free) == 1 else f"base.{top.tree_names[tree]}"


def drifting(world: World, drifts: DriftsLike) -> dict[int, float | None]:
    """Where the numbers stand that may shift from period to period, and by how much, where that is known."""
    if isinstance(drifts, str) or not isinstance(drifts, Sequence | Mapping):
        name = drifts if isinstance(drifts, str) else "base.x"
        raise errors.CaromError(f"drifts is {drifts!r}; it must be a list of coordinates: ['{name}']")
    told = entries(world)
    known = {entry.name: k for k, entry in enumerate(told) if entry.kind in ("q", "states")}
    found: dict[int, float | None] = {}
    for name in drifts:
        errors.name_in("coordinate or extra state (drifts of a return map)", name, tuple(known))
        by = drifts[name] if isinstance(drifts, Mapping) else None
        if by is not None:
            errors.number("drifts", f"shift of {name}", by)
        found[known[name]] = None if by is None else float(by)
    return found


class Relabelling:
    """Links, contacts, automata and their phases under each other's names."""

    def __init__(self, world: World, exchange: Mapping[str, str]) -> None:
        top = world.mechanism.topology
        kinds: dict[str, str] = {}
        for kind, names in (
            ("link", top.names),
            ("contact", [contact.name for contact in world.contacts]),
            ("controller or element", [a.name for a in world.automata]),
            ("phase", [p for a in world.automata if not a.report.contacts for p in a.anatomy.phases]),
            ("extra state", [quantity.name for quantity in world.extra]),
        ):
            kinds |= {name: kind for name in names if name not in kinds}
        self.names = _both_ways(exchange, kinds)
        every = sorted(kinds, key=len, reverse=True)
        self._pattern = re.compile("|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in every))
        self._bases = self._exchanged_bases(world)
        keys = entries(world)
        places = {entry: k for k, entry in enumerate(keys)}
        self.order = np.zeros(len(keys), dtype=int)  # new[i] = old[order[i]]
        for k, entry in enumerate(keys):
            self.order[self._place(places, entry)] = k
        self.events = [(world.automata[i].name, world.automata[i].anatomy.exit_names[e]) for i, e in world.events]

    def text(self, text: str) -> str:
        """A text in which every name stands for its counterpart."""
        return self._pattern.sub(lambda found: self.names.get(found.group(), found.group()), text)

    def _place(self, places: Mapping[Entry, int], entry: Entry) -> int:
        base, dot, part = entry.name.rpartition(".")
        moved = f"{self._bases[base]}{dot}{part}" if not entry.owner and base in self._bases else self.text(entry.name)
        other = Entry(entry.kind, self.names.get(entry.owner, entry.owner), moved)
        if other not in places:
            raise errors.CaromError(
                f"exchange makes {other} of {entry}, which is not there; only what is alike can be exchanged: name "
                "links, contacts, controllers and their states with their counterparts"
            )
        return places[other]

    def _exchanged_bases(self, world: World) -> dict[str, str]:
        """Bases go with the first links of their trees; where that becomes another link of the tree, it stays."""
        top, found = world.mechanism.topology, dict[str, str]()
        for k in top.loose:
            other = top.names.index(self.names.get(top.names[k], top.names[k]))
            tree = top.trees[other] if other in top.loose else top.trees[k]
            found[_base(world, top.trees[k])] = _base(world, tree)
        return found

    def before(self, event: int) -> int:
        """The event that is called so after the exchange."""
        wanted = self.events[event]
        for k, (owner, exit) in enumerate(self.events):
            if (self.names.get(owner, owner), self.text(exit)) == wanted:
                return k
        raise errors.CaromError(
            f"no event becomes '{wanted[1]}' of '{wanted[0]}' by the exchange; name the contacts and the states of "
            "controllers, too: exchange={'left foot': 'right foot', ...}"
        )


def _both_ways(exchange: Mapping[str, str], kinds: Mapping[str, str]) -> dict[str, str]:
    """Where one thing gets the name of another that is not mentioned, that one gets its name."""
    if not isinstance(exchange, Mapping) or not exchange:
        raise errors.CaromError(
            f"exchange is {exchange!r}; it must hold names and the names that they get, such as {{'left': 'right'}}"
        )
    for name in (*exchange, *exchange.values()):
        errors.name_in("link, contact, controller or phase (exchange of a return map)", name, tuple(kinds))
    found = dict(exchange)
    for old, new in exchange.items():
        if kinds[old] != kinds[new]:
            raise errors.CaromError(
                f"exchange gives {kinds[old]} '{old}' the name of {kinds[new]} '{new}'; only what is alike can be "
                "exchanged"
            )
        found.setdefault(new, old)
    if len(set(found.values())) < len(found):
        twice = next(new for new in found.values() if list(found.values()).count(new) > 1)
        raise errors.CaromError(
            f"exchange gives the name '{twice}' to more than one; give every name once, or only one of a pair"
        )
    return found
