"""Tables of shapes: what collides of a body."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..forms import named
from .form_tables import choice, form_table, told_by

# A shape of a class with a form joins here.
KINDS = (
    "contact.shape.cornered.Round",
    "contact.shape.cornered.Capsule",
    "contact.shape.cornered.Polygon",
    "contact.shape.smooth.Ellipse",
)
SHAPES = tuple(form_table(named(kind)) for kind in KINDS)

if TYPE_CHECKING:
    from typing import TypeAlias

    Shape: TypeAlias = Any
else:
    Shape = choice(SHAPES)


def told_shape(shape: Any) -> dict[str, Any]:
    """A shape as a table."""
    return told_by(SHAPES, "a shape", shape)
