"""Every law that carom knows, with an example of each: `carom laws` lists them, the generic tests run over them.

They stand in registry.py: where the class is, and the arguments of an example. The class has a `card`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import fields
from typing import Any, NamedTuple

from .. import errors, registry
from .._arguments import Name
from ..registry import Line
from .card import Card
from .material import Material


class LawEntry(NamedTuple):
    """A law in the catalogue."""

    law: type
    example: Callable[[], Any]

    @property
    def card(self) -> Card:
        return self.law.card  # type: ignore[attr-defined]

    @property
    def asks(self) -> bool:
        """Is a restitution asked of this law?"""
        return "restitution" in {field.name for field in fields(self.law)}


STEEL = (210e9, 0.29, 1.12e9)  # of an example: modulus [Pa], Poisson's ratio, yield strength [Pa]


def entry(line: Line) -> LawEntry:
    """An entry; the example is built when it is asked for, so that importing builds nothing."""
    law = line.found()
    return LawEntry(law, lambda: law(*(Material(*STEEL) if x == "steel" else x for x in line.more)))


NORMAL_LAWS: tuple[LawEntry, ...]
FRICTION_LAWS: tuple[LawEntry, ...]
IMPACT_LAWS: tuple[LawEntry, ...]
RESTITUTIONS: tuple[LawEntry, ...]


@functools.cache
def __getattr__(name: str) -> tuple[LawEntry, ...]:
    """A list of laws, when it is asked for: who has a law in hand needs no other."""
    if name not in ("NORMAL_LAWS", "FRICTION_LAWS", "IMPACT_LAWS", "RESTITUTIONS"):
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return tuple(entry(line) for line in getattr(registry, name))


def kinds() -> dict[str, tuple[LawEntry, ...]]:
    """The catalogue by kind of law."""
    lists = {"normal": "NORMAL_LAWS", "friction": "FRICTION_LAWS", "impact": "IMPACT_LAWS"}
    return {kind: __getattr__(name) for kind, name in (lists | {"restitution": "RESTITUTIONS"}).items()}


def laws(kind: Name | None = None) -> dict[str, LawEntry]:
    """Entries by the names on their cards, of one kind or of all."""
    if kind is not None:
        errors.name_in("kind of law", kind, tuple(kinds()))
    chosen = kinds().values() if kind is None else (kinds()[kind],)
    return {entry.card.name: entry for entries in chosen for entry in entries}


def spelled(name: str) -> str:
    """A law's name however it is written: LuGre, hunt_crossley; what is no law is left as it is."""
    letters = name.lower().replace("-", "").replace("_", "")
    return next((known for known in laws() if known.replace("-", "") == letters), name)


def find(name: Name, kind: Name | None = None) -> LawEntry:
    """The entry of that name; a name that is not there is refused with the nearest one."""
    known = laws(kind)
    errors.name_in("law" if kind is None else f"{kind} law", name, tuple(known))
    return known[name]
