"""Tables of trajectories: motions, or torques, over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import registry
from .form_tables import form_tables, told_by
from .one_of import choice

TRAJECTORIES = form_tables(registry.TRAJECTORIES)

if TYPE_CHECKING:
    from typing import TypeAlias

    Trajectory: TypeAlias = Any
else:
    Trajectory = choice(TRAJECTORIES)


def told_trajectory(motion: object) -> dict[str, Any]:
    """A trajectory as a table: all that files hold are polynomials."""
    return told_by(TRAJECTORIES, "a trajectory", motion)
