"""Tables of shapes: what collides of a body."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import registry
from .form_tables import form_tables, told_by
from .one_of import choice

SHAPES = form_tables(registry.SHAPES)

if TYPE_CHECKING:
    from typing import TypeAlias

    Shape: TypeAlias = Any
else:
    Shape = choice(SHAPES)


def told_shape(shape: Any) -> dict[str, Any]:
    """A shape as a table."""
    return told_by(SHAPES, "a shape", shape)
