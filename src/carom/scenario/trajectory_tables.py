"""Tables of trajectories: motions, or torques, over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import jax.numpy as jnp
import numpy as np

from .. import control
from ..errors import CaromError
from .fields import Number, Numbers, Part, Table, says
from .form_tables import choice, plain, told_by


class Ends(Part):
    """From one point to another in a given time."""

    kind: Literal["cubic", "quintic", "minimum-jerk", "parabolic-blends"] = says("which curve between the ends")
    start: Numbers = says("values at the start, one per link [rad, or N m]")
    end: Numbers = says("values at the end")
    duration: Number = says("[s] > 0")
    blend: Number | None = says("of parabolic blends [s]; a tenth of the duration if left out", None)

    def made(self) -> Any:
        if self.kind == "parabolic-blends":
            return control.ParabolicBlends(self.start, self.end, self.duration, self.blend)
        if self.blend is not None:
            raise CaromError(
                f"blend is {self.blend:g}, but a {self.kind} has none; leave it out, or use parabolic-blends"
            )
        kinds = {"cubic": control.Cubic, "quintic": control.Quintic, "minimum-jerk": control.MinimumJerk}
        return kinds[self.kind](self.start, self.end, self.duration)


class Waypoints(Part):
    """A spline through points at given times."""

    kind: Literal["waypoints"] = says("a cubic spline in time")
    times: Numbers = says("rising from 0 [s]")
    points: Table = says("values at these times, one row each")

    def made(self) -> Any:
        return control.Waypoints(self.times, rows_of("points", self.points))


class Hold(Part):
    """The same values all the time."""

    kind: Literal["hold"] = says("standing still")
    value: Numbers = says("one per link")
    duration: Number = says("[s] > 0", 1.0)

    def made(self) -> Any:
        return control.Hold(self.value, self.duration)


class Polynomials(Part):
    """Pieces given by their coefficients."""

    kind: Literal["polynomials"] = says("polynomials between knots")
    knots: Numbers = says("rising from 0 [s]")
    coefficients: list[Table] = says("piece, power (constant first), value")

    def made(self) -> Any:
        shapes = {(len(piece), *{len(row) for row in piece}) for piece in self.coefficients}
        knots = np.asarray(self.knots)
        if len(shapes) != 1 or len(next(iter(shapes))) != 2 or len(self.knots) != len(self.coefficients) + 1:
            raise CaromError("coefficients must be as many pieces as there are spans between knots, all of one shape")
        if knots[0] != 0.0 or np.any(np.diff(knots) <= 0.0):
            raise CaromError("knots must rise from 0")
        return control.Polynomials(jnp.asarray(knots), jnp.asarray(self.coefficients))

    @classmethod
    def told(cls, thing: Any) -> dict[str, Any] | None:
        """Any trajectory that is made of polynomials, whatever it was made from."""
        if not isinstance(thing, control.Polynomials):
            return None
        return {"kind": "polynomials", "knots": plain(thing.bounds), "coefficients": plain(thing.coefficients)}


TRAJECTORIES = (Ends, Waypoints, Hold, Polynomials)

if TYPE_CHECKING:
    from typing import TypeAlias

    Trajectory: TypeAlias = Any
else:
    Trajectory = choice(TRAJECTORIES)


def told_trajectory(motion: Any) -> dict[str, Any]:
    """A trajectory as a table: all that files hold are polynomials."""
    return told_by((Polynomials,), "a trajectory", motion)


def rows_of(field: str, rows: list[list[float]]) -> np.ndarray:
    """Rows of one length."""
    if len({len(row) for row in rows}) != 1:
        raise CaromError(f"{field} has rows of {[len(row) for row in rows]} numbers; every row must have one per link")
    return np.asarray(rows, dtype=float)
