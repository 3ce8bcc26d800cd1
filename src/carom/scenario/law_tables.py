"""Tables of contact laws, made from the catalogue: a law that joins it can be named in files at once.

normal = { law = "hunt-crossley", stiffness = 1e7, restitution = 0.8 }
"""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import create_model

from .. import registry
from ..contact import catalogue
from ..contact.catalogue import LawEntry
from ..contact.impact import AbstractImpactLaw
from ..registry import Line
from .fields import Number, Part, Word, says
from .one_of import Tables, choice


class FromMaterials(Part):
    """Hertz's stiffness of a sphere on a flat, or on another sphere."""

    first: Word = says("name of a material")
    second: Word = says("name of the other body's material")
    radius: Number = says("of the sphere [m]")
    other_radius: Number | None = says("of the other sphere [m]; flat if left out", None)


class LawTable(Part):
    """The parameters of a law."""

    stands_for: ClassVar[type]


def _type(law: type, field: dataclasses.Field[Any]) -> Any:
    """What a file may give for a parameter of a law."""
    if field.name in ("first", "second"):
        return Word
    if isinstance(field.default, bool):
        return bool
    if field.name == "stiffness" and hasattr(law, "of"):
        return Number | FromMaterials
    if field.name == "restitution" and issubclass(law, AbstractImpactLaw):
        return Number | Restitution
    return Number | None if field.default is None else Number


def _table(kind: str, line: Line) -> type[LawTable]:
    entry = catalogue.entry(line)
    meanings = dict(entry.card.parameters)
    fields: dict[str, Any] = {"law": (Literal[entry.card.name], says(f"{entry.card.formula}. {entry.card.source}"))}
    for field in dataclasses.fields(entry.law):
        default = ... if field.default is dataclasses.MISSING else field.default
        fields[field.name] = (_type(entry.law, field), says(meanings.get(field.name, field.name), default))
    name = "".join(word.capitalize() for word in entry.card.name.split("-")) + kind.capitalize()
    made = create_model(name, __base__=LawTable, __doc__=entry.card.choose, **fields)
    made.stands_for = entry.law
    return made


def _choice(**kinds: tuple[Line, ...]) -> Any:
    of = {line: kind for kind, lines in kinds.items() for line in lines}
    return choice(Tables(of, lambda line: _table(of[line], line)), "law")


if TYPE_CHECKING:
    from typing import TypeAlias

    NormalLaw: TypeAlias = Any
    FrictionLaw: TypeAlias = Any
    Restitution: TypeAlias = Any
else:
    Restitution = choice(Tables(registry.RESTITUTIONS, lambda line: _table("", line)), "law")
    NormalLaw = _choice(normal=registry.NORMAL_LAWS, impact=registry.IMPACT_LAWS)
    FrictionLaw = _choice(friction=registry.FRICTION_LAWS)


@functools.cache
def entry_of(law: type) -> LawEntry | None:
    """The catalogue's entry of a class of laws."""
    return next((e for entries in catalogue.kinds().values() for e in entries if e.law is law), None)
