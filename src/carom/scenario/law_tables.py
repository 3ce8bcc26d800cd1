"""Tables of contact laws, made from the catalogue: a law that joins it can be named in files at once.

normal = { law = "hunt-crossley", stiffness = 1e7, restitution = 0.8 }
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union

from pydantic import Field, create_model

from ..contact import catalogue
from ..contact.catalogue import LawEntry
from ..contact.impact import AbstractImpactLaw
from .fields import Number, Part, Word, says


class FromMaterials(Part):
    """Hertz's stiffness of a sphere on a flat, or on another sphere."""

    first: Word = says("name of a material")
    second: Word = says("name of the other body's material")
    radius: Number = says("of the sphere [m]")
    other_radius: Number | None = says("of the other sphere [m]; flat if left out", None)


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


def _model(kind: str, entry: LawEntry) -> type[Part]:
    meanings = dict(entry.card.parameters)
    fields: dict[str, Any] = {"law": (Literal[entry.card.name], says(f"{entry.card.formula}. {entry.card.source}"))}
    for field in dataclasses.fields(entry.law):
        default = ... if field.default is dataclasses.MISSING else field.default
        fields[field.name] = (_type(entry.law, field), says(meanings.get(field.name, field.name), default))
    name = "".join(word.capitalize() for word in entry.card.name.split("-")) + kind.capitalize()
    return create_model(name, __base__=Part, __doc__=entry.card.choose, **fields)


def _choice(*kinds: tuple[str, Iterable[LawEntry]]) -> Any:
    models = tuple(_model(kind, entry) for kind, entries in kinds for entry in entries)
    return Annotated[Union[models], Field(discriminator="law")]  # noqa: UP007 (a union of many at run time)


if TYPE_CHECKING:
    from typing import TypeAlias

    NormalLaw: TypeAlias = Any
    FrictionLaw: TypeAlias = Any
    Restitution: TypeAlias = Any
else:
    Restitution = _choice(("", catalogue.RESTITUTIONS))
    NormalLaw = _choice(("normal", catalogue.NORMAL_LAWS), ("impact", catalogue.IMPACT_LAWS))
    FrictionLaw = _choice(("friction", catalogue.FRICTION_LAWS))


@functools.cache
def entry_of(law: type) -> LawEntry | None:
    """The catalogue's entry of a class of laws."""
    return next((e for entries in catalogue.kinds().values() for e in entries if e.law is law), None)


def law_named(name: str) -> Any:
    """The class of the law that files call so."""
    return next(e.law for entries in catalogue.kinds().values() for e in entries if e.card.name == name)
