"""Every law that carom knows, with an example of each: `carom laws` lists them, the generic tests run over them.

A new law joins by one line here. Its class has a `card`; the example is a function without arguments that builds one,
so that importing this file builds nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, NamedTuple

from .. import errors
from .card import Card
from .friction import (
    Ambrosio,
    BengisuAkay,
    Coulomb,
    Dahl,
    Frictionless,
    Karnopp,
    LuGre,
    SmoothCoulomb,
    Stribeck,
)
from .impact import Newton, Plastic, Poisson, Stronge
from .material import Material
from .normal import (
    CarvalhoMartins,
    Flores,
    GharibHurmuzlu,
    Gonthier,
    HerbertMcWhannell,
    Hertz,
    Hooke,
    HuGuo,
    HuntCrossley,
    JacksonGreen,
    LankaraniNikravesh,
    LeeWang,
)


class Entry(NamedTuple):
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


NORMAL_LAWS: tuple[Entry, ...] = (
    Entry(Hooke, lambda: Hooke(1e6, 300.0)),
    Entry(Hertz, lambda: Hertz(1e7)),
    Entry(HuntCrossley, lambda: HuntCrossley(1e7, 0.8)),
    Entry(HerbertMcWhannell, lambda: HerbertMcWhannell(1e7, 0.8)),
    Entry(LeeWang, lambda: LeeWang(1e7, 0.8)),
    Entry(LankaraniNikravesh, lambda: LankaraniNikravesh(1e7, 0.8)),
    Entry(Flores, lambda: Flores(1e7, 0.8)),
    Entry(GharibHurmuzlu, lambda: GharibHurmuzlu(1e7, 0.2)),
    Entry(HuGuo, lambda: HuGuo(1e7, 0.8)),
    Entry(Gonthier, lambda: Gonthier(1e7, 0.8)),
    Entry(CarvalhoMartins, lambda: CarvalhoMartins(1e7, 0.8)),
    Entry(JacksonGreen, lambda: JacksonGreen(_steel(), _steel(), 0.005)),
)

FRICTION_LAWS: tuple[Entry, ...] = (
    Entry(Frictionless, lambda: Frictionless()),
    Entry(Coulomb, lambda: Coulomb(0.3, 0.4)),
    Entry(Karnopp, lambda: Karnopp(0.3, 0.4, 1e-3)),
    Entry(Stribeck, lambda: Stribeck(0.3, 0.4, 0.01, 0.1)),
    Entry(SmoothCoulomb, lambda: SmoothCoulomb(0.2, 0.02)),
    Entry(Ambrosio, lambda: Ambrosio(0.1, 1e-4, 1e-3)),
    Entry(BengisuAkay, lambda: BengisuAkay(0.3, 0.4, 1e-3, 100.0)),
    Entry(Dahl, lambda: Dahl(0.3, 1e4)),
    Entry(LuGre, lambda: LuGre(0.3, 0.4, 0.01, 1e4)),
)

IMPACT_LAWS: tuple[Entry, ...] = (
    Entry(Newton, lambda: Newton(0.5)),
    Entry(Poisson, lambda: Poisson(0.5)),
    Entry(Stronge, lambda: Stronge(0.5)),
    Entry(Plastic, lambda: Plastic()),
)


def kinds() -> dict[str, tuple[Entry, ...]]:
    """The catalogue by kind of law."""
    return {"normal": NORMAL_LAWS, "friction": FRICTION_LAWS, "impact": IMPACT_LAWS}


def laws(kind: Any = None) -> dict[str, Entry]:
    """Entries by the names on their cards, of one kind or of all."""
    if kind is not None:
        errors.name_in("kind of law", kind, tuple(kinds()))
    chosen = kinds().values() if kind is None else (kinds()[kind],)
    return {entry.card.name: entry for entries in chosen for entry in entries}


def spelled(name: str) -> str:
    """A law's name however it is written: LuGre, hunt_crossley; what is no law is left as it is."""
    letters = name.lower().replace("-", "").replace("_", "")
    return next((known for known in laws() if known.replace("-", "") == letters), name)


def find(name: Any, kind: Any = None) -> Entry:
    """The entry of that name; a name that is not there is refused with the nearest one."""
    known = laws(kind)
    errors.name_in("law" if kind is None else f"{kind} law", name, tuple(known))
    return known[name]
