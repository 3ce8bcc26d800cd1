"""Tables of trajectories: motions, or torques, over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..control.trajectory.point_to_point import CUBIC, HOLD, MINIMUM_JERK, PARABOLIC_BLENDS, QUINTIC
from ..control.trajectory.polynomials import POLYNOMIALS
from ..control.trajectory.waypoints import WAYPOINTS
from .form_tables import choice, form_table, told_by

# A trajectory with a form joins here.
TRAJECTORIES = tuple(map(form_table, (CUBIC, QUINTIC, MINIMUM_JERK, PARABOLIC_BLENDS, WAYPOINTS, HOLD, POLYNOMIALS)))

if TYPE_CHECKING:
    from typing import TypeAlias

    Trajectory: TypeAlias = Any
else:
    Trajectory = choice(TRAJECTORIES)


def told_trajectory(motion: Any) -> dict[str, Any]:
    """A trajectory as a table: all that files hold are polynomials."""
    return told_by(TRAJECTORIES, "a trajectory", motion)
