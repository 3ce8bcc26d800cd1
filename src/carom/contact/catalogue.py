"""Every law that carom knows, with an example of each: `carom laws` lists them, the generic tests run over them.

A new law joins by one line here: where its class stands, and the arguments of an example. The class has a `card`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, NamedTuple

from .. import errors
from .._arguments import Name
from ..forms import named
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


def _steel() -> Material:
    return Material(210e9, 0.29, 1.12e9)


def _law(place: str, *arguments: Any) -> LawEntry:
    """An entry; arguments that are functions are called when the example is built, so that importing builds nothing."""
    law = named(f"contact.{place}")
    return LawEntry(law, lambda: law(*(x() if callable(x) else x for x in arguments)))


NORMAL_LAWS: tuple[LawEntry, ...] = (
    _law("normal.hooke.Hooke", 1e6, 300.0),
    _law("normal.hertz.Hertz", 1e7),
    _law("normal.hunt_crossley.HuntCrossley", 1e7, 0.8),
    _law("normal.herbert_mcwhannell.HerbertMcWhannell", 1e7, 0.8),
    _law("normal.lee_wang.LeeWang", 1e7, 0.8),
    _law("normal.lankarani_nikravesh.LankaraniNikravesh", 1e7, 0.8),
    _law("normal.flores.Flores", 1e7, 0.8),
    _law("normal.gharib_hurmuzlu.GharibHurmuzlu", 1e7, 0.2),
    _law("normal.hu_guo.HuGuo", 1e7, 0.8),
    _law("normal.gonthier.Gonthier", 1e7, 0.8),
    _law("normal.carvalho_martins.CarvalhoMartins", 1e7, 0.8),
    _law("normal.jackson_green.JacksonGreen", _steel, _steel, 0.005),
)

FRICTION_LAWS: tuple[LawEntry, ...] = (
    _law("friction.friction_law.Frictionless"),
    _law("friction.coulomb.Coulomb", 0.3, 0.4),
    _law("friction.karnopp.Karnopp", 0.3, 0.4, 1e-3),
    _law("friction.stribeck.Stribeck", 0.3, 0.4, 0.01, 0.1),
    _law("friction.smooth_coulomb.SmoothCoulomb", 0.2, 0.02),
    _law("friction.ambrosio.Ambrosio", 0.1, 1e-4, 1e-3),
    _law("friction.bengisu_akay.BengisuAkay", 0.3, 0.4, 1e-3, 100.0),
    _law("friction.dahl.Dahl", 0.3, 1e4),
    _law("friction.lugre.LuGre", 0.3, 0.4, 0.01, 1e4),
)

IMPACT_LAWS: tuple[LawEntry, ...] = (
    _law("impact.newton.Newton", 0.5),
    _law("impact.poisson.Poisson", 0.5),
    _law("impact.stronge.Stronge", 0.5),
    _law("impact.plastic.Plastic"),
)


def kinds() -> dict[str, tuple[LawEntry, ...]]:
    """The catalogue by kind of law."""
    return {"normal": NORMAL_LAWS, "friction": FRICTION_LAWS, "impact": IMPACT_LAWS}


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
