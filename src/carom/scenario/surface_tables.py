"""Tables of surfaces, at rest or carried along."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import registry
from ..contact import Moving
from ..contact.surfaces.moving import is_ready
from ..errors import CaromError
from ..forms import stated
from .fields import Number, Part, Point, says
from .form_tables import form_tables, plain, told_by
from .one_of import choice


class SurfaceMotion(Part):
    """How a surface is carried along."""

    velocity: Point | None = says("uniform motion (x, y) [m/s]", None)
    turning: Number | None = says("uniform rotation [rad/s]", None)
    about: Point = says("centre of the rotation (x, y) [m]", [0.0, 0.0])
    amplitude: Point | None = says("of a shaker (x, y) [m]", None)
    frequency: Number | None = says("of a shaker [Hz]", None)
    phase: Number | None = says("of a shaker [rad]", None)

    @classmethod
    def told(cls, moving: Moving) -> dict[str, Any]:
        if not is_ready(moving):
            raise CaromError("a Moving surface with a motion of its own is code, which a file cannot hold")
        vx, vy, turning, ax, ay, frequency, phase = (plain(p) for p in moving.parameters)
        motion = {"velocity": [vx, vy], "turning": turning, "about": plain(moving.about)}
        return motion | ({"amplitude": [ax, ay], "frequency": frequency, "phase": phase} if frequency else {})


SURFACES = form_tables(
    registry.SURFACES, motion=(SurfaceMotion | None, says("how it moves; at rest if left out", None))
)

if TYPE_CHECKING:
    from typing import TypeAlias

    Surface: TypeAlias = Any
else:
    Surface = choice(SURFACES)


def made_surface(table: Any) -> Any:
    """The surface, carried along if its table says so."""
    made = table.made()
    return made if table.motion is None else Moving(made, **table.motion.model_dump())


def told_surface(surface: Any) -> dict[str, Any]:
    """A surface as a table."""
    if stated(surface, "carries_another"):
        return told_by(SURFACES, "a surface", surface.surface) | {"motion": SurfaceMotion.told(surface)}
    return told_by(SURFACES, "a surface", surface)
