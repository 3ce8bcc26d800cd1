"""What the fields of scenario files have in common: strict types, no unknown keys, a meaning with unit for each."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

from ..errors import writable

BIGGEST = 1e30  # nothing in a robot is larger, in SI units


class Part(BaseModel):
    """A table of a scenario file. Frozen; unknown keys are refused; nothing is guessed from another type."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False, defer_build=True)


def _readable(text: str) -> str:
    """Line breaks and tabs are part of texts; other control characters would break tables and files."""
    if not writable(text.replace("\n", "").replace("\r", "").replace("\t", "")):
        raise PydanticCustomError("unprintable", "it must hold only printable characters")
    return text


def _printable(word: str) -> str:
    if not writable(word):
        raise PydanticCustomError("unprintable", "it must hold only printable characters")
    return word


Number = Annotated[float, Field(ge=-BIGGEST, le=BIGGEST, allow_inf_nan=False)]
Word = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_printable)]
Text = Annotated[str, Field(max_length=20_000), AfterValidator(_readable)]
Point = Annotated[list[Number], Field(min_length=2, max_length=2)]
Numbers = Annotated[list[Number], Field(max_length=10_000)]
Table = Annotated[list[Numbers], Field(max_length=10_000)]


def says(meaning: str, default: Any = ..., **rules: Any) -> Any:
    """A field with its meaning, unit included, and its default (required without)."""
    if isinstance(default, dict | list):
        made = type(default)
        return Field(default_factory=lambda: made(default), description=meaning, **rules)
    return Field(default, description=meaning, **rules)
