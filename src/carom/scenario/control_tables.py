"""Tables of what drives a mechanism: controllers, the trajectories that they follow, what switches them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from .fields import Number, Numbers, Part, Table, Word, says

# -- trajectories ------------------------------------------------------------------------------------------------------


class Ends(Part):
    """From one point to another in a given time."""

    kind: Literal["cubic", "quintic", "minimum-jerk", "parabolic-blends"] = says("which curve between the ends")
    start: Numbers = says("values at the start, one per link [rad, or N m]")
    end: Numbers = says("values at the end")
    duration: Number = says("[s] > 0")
    blend: Number | None = says("of parabolic blends [s]; a tenth of the duration if left out", None)


class Waypoints(Part):
    """A spline through points at given times."""

    kind: Literal["waypoints"] = says("a cubic spline in time")
    times: Numbers = says("rising from 0 [s]")
    points: Table = says("values at these times, one row each")


class Hold(Part):
    """The same values all the time."""

    kind: Literal["hold"] = says("standing still")
    value: Numbers = says("one per link")
    duration: Number = says("[s] > 0", 1.0)


class Polynomials(Part):
    """Pieces given by their coefficients."""

    kind: Literal["polynomials"] = says("polynomials between knots")
    knots: Numbers = says("rising from 0 [s]")
    coefficients: list[Table] = says("piece, power (constant first), value")


Trajectory = Annotated[Ends | Waypoints | Hold | Polynomials, Field(discriminator="kind")]


# -- switches ----------------------------------------------------------------------------------------------------------


class OnStrike(Part):
    """Until a contact closes."""

    until: Literal["strike"] = says("a contact closes")
    contact: Word = says("its name")


class AtHeight(Part):
    """Until a site passes a height."""

    until: Literal["height"] = says("a site passes a height")
    site: Word = says("its name")
    height: Number = says("[m]")
    rising: bool = says("on the way up (true) or down", True)


class AtTime(Part):
    """Until an instant."""

    until: Literal["time"] = says("an instant")
    time: Number = says("[s]")


Switch = Annotated[OnStrike | AtHeight | AtTime, Field(discriminator="until")]


# -- controllers -------------------------------------------------------------------------------------------------------


class Posture(Part):
    """PD, PID or PD with weight compensation about a schedule of postures."""

    kind: Literal["posture"] = says("PD, PID or PD with generalized active forces")
    targets: Table = says("one row of link angles for every phase of the schedule [rad, or degrees]")
    degrees: bool = says("are the targets in degrees?", False)
    kp: Numbers = says("one per link [N m/rad]")
    kd: Numbers = says("one per link [N m s/rad]")
    ki: Numbers | None = says("one per link [N m/(rad s)]", None)
    schedule: Annotated[list[Switch], Field(max_length=64)] = says("what ends each phase; one target if left out", [])
    compensate_weight: bool = says("subtract the generalized active forces of weight", False)
    gravity: Number | Numbers = says("g [m/s^2] downwards, or a vector, for the compensation", 9.81)
    relative: bool = says("angles relative to the parent link?", False)
    limit: Numbers | None = says("largest torque of each joint [N m]", None)
    rate: Number | None = says("sampling rate of a digital controller [Hz]", None)


class ComputedTorque(Part):
    """Feedback linearisation about a motion."""

    kind: Literal["computed-torque"] = says("feedback linearisation")
    motion: Trajectory = says("absolute link angles over time [rad]")
    kp: Numbers = says("one per link [1/s^2]")
    kd: Numbers = says("one per link [1/s]")
    gravity: Number | Numbers = says("of the model: g [m/s^2] downwards, or a vector", 9.81)
    limit: Numbers | None = says("largest torque of each joint [N m]", None)
    rate: Number | None = says("sampling rate of a digital controller [Hz]", None)


class FeedForward(Part):
    """Torques over time, with or without a correction about a motion."""

    kind: Literal["feed-forward"] = says("planned torques with PD")
    torques: Trajectory = says("of every joint over time [N m]")
    reference: Trajectory | None = says("link angles over time [rad]; needed with gains", None)
    kp: Numbers | None = says("one per link [N m/rad]", None)
    kd: Numbers | None = says("one per link [N m s/rad]", None)
    relative: bool = says("angles of the reference relative to the parent link?", False)
    limit: Numbers | None = says("largest torque of each joint [N m]", None)


class HoldPose(Part):
    """Base and joints are brought to a pose; by default to that of the start."""

    kind: Literal["hold-pose"] = says("base and joints are brought to a pose")
    pose: Numbers | None = says("coordinates to hold: bases [m], absolute angles [rad]; the start if left out", None)
    kp: Number | Numbers = says("[1/s^2] with linearisation, else [N/m, N m/rad]", 1.0)
    kd: Number | Numbers | None = says("[1/s] or [N s/m, N m s/rad]; from the damping ratio if left out", None)
    damping_ratio: Number = says("Kd = 2 xi sqrt(Kp)", 1.0)
    base: Word = says("free-flying, attitude-held or free-floating", "free-flying")
    gravity: Number | Numbers = says("to be compensated: g [m/s^2] downwards, or a vector", 0.0)
    linearise: bool = says("feedback linearisation, or PD with feed-forward", True)


Control = Annotated[Posture | ComputedTorque | FeedForward | HoldPose, Field(discriminator="kind")]
