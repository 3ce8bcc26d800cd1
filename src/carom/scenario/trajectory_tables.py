"""Tables of trajectories: motions, or torques, over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..forms import named
from .form_tables import choice, form_table, told_by

# A trajectory with a form joins here.
KINDS = (
    "point_to_point.CUBIC",
    "point_to_point.QUINTIC",
    "point_to_point.MINIMUM_JERK",
    "point_to_point.PARABOLIC_BLENDS",
    "waypoints.WAYPOINTS",
    "point_to_point.HOLD",
    "polynomials.POLYNOMIALS",
)
TRAJECTORIES = tuple(form_table(named(f"control.trajectory.{kind}")) for kind in KINDS)

if TYPE_CHECKING:
    from typing import TypeAlias

    Trajectory: TypeAlias = Any
else:
    Trajectory = choice(TRAJECTORIES)


def told_trajectory(motion: object) -> dict[str, Any]:
    """A trajectory as a table: all that files hold are polynomials."""
    return told_by(TRAJECTORIES, "a trajectory", motion)
