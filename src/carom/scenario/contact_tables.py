"""Tables of contacts: what touches what, by which laws; and of the materials that laws name."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Literal

from .. import contact
from ..contact.material import hertz_stiffness
from ..errors import CaromError, name_in
from ..forms import stated
from ..hybrid._member import AbstractUnplaced
from ..hybrid.automaton import AbstractAutomaton
from ..hybrid.reporting import ContactReport
from ..mechanism import Mechanism
from .fields import Number, Part, Word, says
from .form_tables import FormTable, plain, plain_fields, told_by
from .law_tables import FrictionLaw, FromMaterials, NormalLaw, entry_of
from .one_of import choice
from .shape_tables import SHAPES, Shape, told_shape
from .surface_tables import told_surface


class Notes:
    """Materials and surfaces that several objects share, under one name each."""

    def __init__(self) -> None:
        self.kept: dict[str, dict[str, Any]] = {"materials": {}, "surfaces": {}}

    def name(self, kind: str, word: str, table: dict[str, Any]) -> str:
        known = self.kept[kind]
        for name, other in known.items():
            if other == table:
                return name
        known[f"{word}{len(known) + 1}"] = table
        return f"{word}{len(known)}"

    def tables(self) -> dict[str, Any]:
        return {kind: tables for kind, tables in self.kept.items() if tables}


class Material(Part):
    """Elastic and plastic data of a solid."""

    youngs_modulus: Number = says("E [Pa] > 0")
    poisson_ratio: Number = says("in (-1, 0.5]")
    yield_strength: Number | None = says("[Pa] > 0; needed by elasto-plastic laws", None)


class OtherSite(Part):
    """The other body is round about a site."""

    kind: Literal["site"] = says("a round tip about a site of another link")
    site: Word = says("name of the site")
    radius: Number = says("of the round tip there [m] >= 0", 0.0)

    def made(self, whole: Mechanism) -> dict[str, Any]:
        return {"against": whole.site(self.site), "other_radius": self.radius}

    @classmethod
    def told(cls, pair: Any, notes: Notes) -> dict[str, Any] | None:
        if stated(pair, "other") != "disk" or pair.inside:
            return None
        other = {"kind": "site", "site": pair.second.name, "radius": plain(pair.second_radius)}
        return {"site": pair.first.name, "radius": plain(pair.first_radius), "against": other}


class Bar(Part):
    """The other body is a bar between two sites of one link."""

    kind: Literal["segment"] = says("a bar with round ends")
    start: Word = says("name of a site")
    end: Word = says("name of another site of the same link")
    radius: Number = says("half the bar's thickness [m] >= 0", 0.0)

    def made(self, whole: Mechanism) -> dict[str, Any]:
        return {"against": contact.Segment(whole.site(self.start), whole.site(self.end), self.radius)}

    @classmethod
    def told(cls, pair: Any, notes: Notes) -> dict[str, Any] | None:
        if stated(pair, "other") != "segment":
            return None
        bar = pair.segment
        other = {"kind": "segment", "start": bar.start.name, "end": bar.end.name, "radius": plain(bar.radius)}
        return {"site": pair.site.name, "radius": plain(pair.radius), "against": other}


class Ring(Part):
    """The other body is a round hole about a site."""

    kind: Literal["ring"] = says("the inner face of a round hole")
    site: Word = says("name of the site at its centre")
    radius: Number = says("of the hole [m] > 0")

    def made(self, whole: Mechanism) -> dict[str, Any]:
        return {"against": contact.Ring(whole.site(self.site), self.radius)}

    @classmethod
    def told(cls, pair: Any, notes: Notes) -> dict[str, Any] | None:
        if stated(pair, "other") != "disk" or not pair.inside:
            return None
        other = {"kind": "ring", "site": pair.second.name, "radius": plain(pair.second_radius)}
        return {"site": pair.first.name, "radius": plain(pair.first_radius), "against": other}


class Stop(Part):
    """A stop of a joint: the contact is between a link and its parent."""

    link: Word = says("name of the link")
    lower: Number | None = says("smallest relative angle [rad], or displacement [m] of a slider", None)
    upper: Number | None = says("largest relative angle [rad], or displacement [m] of a slider", None)

    @classmethod
    def told(cls, pair: Any, notes: Notes) -> dict[str, Any] | None:
        if stated(pair, "other") != "stop":
            return None
        return {"limit": {"link": pair.link_name, "lower" if pair.sign > 0 else "upper": plain(pair.angle)}}


class OnSurface:
    """A site on a surface, which files give by its name."""

    @classmethod
    def told(cls, pair: Any, notes: Notes) -> dict[str, Any] | None:
        if stated(pair, "other") != "surface":
            return None
        surface = notes.name("surfaces", "surface", told_surface(pair.surface))
        return {"site": pair.site.name, "radius": plain(pair.radius), "against": surface}


class OfShapes:
    """A shape on a surface, or on another shape; several pairs may stand for one contact."""

    @classmethod
    def told(cls, pair: Any, notes: Notes) -> dict[str, Any] | None:
        if stated(pair, "other") == "shape on surface":
            surface = notes.name("surfaces", "surface", told_surface(pair.surface))
            return {"shape": told_shape(pair.shape), "against": surface}
        if stated(pair, "other") != "shape on shape":
            return None
        first, second = (pair.second, pair.first) if pair.turned else (pair.first, pair.second)
        return {"shape": told_shape(first), "against": told_shape(second)}


class During(Part):
    """Phases of something else, in which a contact is there."""

    of: Word = says("name of a controller, or of anything else that has phases")
    phases: list[Word] = says("names of its phases")


if TYPE_CHECKING:
    from typing import TypeAlias

    Other: TypeAlias = Any
else:
    Other = choice(SHAPES.after(OtherSite, Bar, Ring))
PAIRS = (Stop, OnSurface, OtherSite, Ring, Bar, OfShapes)


class Contact(Part):
    """Two things that can touch: with a compliant law of the normal direction, or rigid with an impulsive one."""

    site: Word | None = says("name of the site that touches", None)
    shape: Shape | None = says("what touches, instead of a site and a radius", None)
    against: Word | Other | None = says("name of a surface, or a site, segment, ring or shape of another link", None)
    limit: Stop | None = says("a joint's stop, instead of site and against", None)
    radius: Number = says("of the round tip at the site [m] >= 0", 0.0)
    normal: NormalLaw = says("law of the normal direction: compliant (hertz, ...) or impulsive (newton, ...)")
    friction: FrictionLaw | None = says("friction law; none if left out", None)
    during: During | None = says("it is there only in some phases of a controller; always if left out", None)

    def made(self, name: str, whole: Mechanism, surfaces: dict[str, Any], materials: dict[str, Any]) -> Any:
        friction = None if self.friction is None else made_law(self.friction, materials)
        normal = made_law(self.normal, materials)
        during = None if self.during is None else (self.during.of, self.during.phases)
        laws = {"normal": normal, "friction": friction, "during": during}
        made = contact.Contact(name=name, **laws, **self._pair(whole, surfaces))
        return made.placed(whole) if isinstance(made, AbstractUnplaced) else made

    def _pair(self, whole: Mechanism, surfaces: dict[str, Any]) -> dict[str, Any]:
        """What touches what."""
        if self.limit is not None:
            if any(given is not None for given in (self.site, self.shape, self.against)):
                raise CaromError("it has a limit and also site, shape or against; a joint's stop needs the limit alone")
            stop = contact.JointLimit(whole, self.limit.link, lower=self.limit.lower, upper=self.limit.upper)
            return {"site": stop, "radius": self.radius}
        what = None if self.shape is None else self.shape.made()
        if (self.site is None) == (what is None) or self.against is None:
            raise CaromError(
                'it needs a site or a shape, and against, such as site = "link1.tip" and against = "floor", or a limit'
            )
        out: dict[str, Any] = {"site": what if self.site is None else whole.site(self.site), "radius": self.radius}
        if isinstance(self.against, str):
            name_in("surface", self.against, tuple(surfaces))
            return out | {"against": surfaces[self.against]}
        if isinstance(self.against, FormTable):
            return out | {"against": self.against.made()}
        return out | self.against.made(whole)

    @classmethod
    def told(cls, held: ContactReport, notes: Notes) -> dict[str, Any]:
        normal, friction = held.laws
        table = told_by(PAIRS, "a pair", held.pair, notes) | {"normal": told_law(normal, notes)}
        if friction is not None and friction.rubs:
            table |= {"friction": told_law(friction, notes)}
        if held.during is not None:
            table |= {"during": {"of": held.during[0], "phases": list(held.during[1])}}
        return table


def told_contacts(automaton: AbstractAutomaton, notes: Notes) -> dict[str, dict[str, Any]]:
    """The contacts that an automaton holds, by name."""
    held = automaton.report.contacts
    # Several pairs may stand for one contact of a shape, which has their `group` as its name.
    return {getattr(c.pair, "group", c.name): Contact.told(c, notes) for c in held}


# -- laws --------------------------------------------------------------------------------------------------------------


def made_law(table: Any, materials: dict[str, Any]) -> Any:
    """A law of the catalogue from its table."""
    given = {name: getattr(table, name) for name in type(table).model_fields if name != "law"}
    for name in ("first", "second"):
        if isinstance(given.get(name), str):
            given[name] = _material(given[name], materials)
    if isinstance(given.get("stiffness"), FromMaterials):
        s = given["stiffness"]
        pair = (_material(s.first, materials), _material(s.second, materials))
        given["stiffness"] = hertz_stiffness(*pair, s.radius, s.other_radius)
    if isinstance(given.get("restitution"), Part):
        given["restitution"] = made_law(given["restitution"], materials)
    return type(table).stands_for(**given)


def _material(name: str, materials: dict[str, Any]) -> Any:
    name_in("material", name, tuple(materials))
    return materials[name]


def told_law(law: Any, notes: Notes) -> dict[str, Any]:
    """A law as a table; its materials by name."""
    entry = entry_of(law.__class__)
    if entry is None:
        raise CaromError(
            f"the law {type(law).__name__} is not in carom's catalogue, and a file cannot hold code; use it from Python"
        )
    out: dict[str, Any] = {"law": entry.card.name}
    for field in dataclasses.fields(law):
        value = getattr(law, field.name)
        if isinstance(value, contact.Material):
            names = [f.name for f in dataclasses.fields(value)]
            out[field.name] = notes.name("materials", "material", plain_fields(value, names))
        elif entry_of(value.__class__) is not None:  # a restitution that is a function of speed
            out[field.name] = told_law(value, notes)
        elif value is not None:
            out[field.name] = plain(value)
    return out
