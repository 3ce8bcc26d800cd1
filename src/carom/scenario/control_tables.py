"""Tables of controllers: what drives a mechanism."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import jax
import numpy as np
from pydantic import Field

from .. import captures, control
from ..captures.capture_blow import BASES
from ..captures.hold import actuated_by
from ..control.feedforward import Tabled
from ..errors import CaromError
from ..hybrid.world import World
from ..mechanism import Mechanism
from .fields import Number, Numbers, Part, Table, Word, says
from .form_tables import choice, plain, plain_fields, plain_gravity, told_by
from .switch_tables import Switch, told_switch
from .trajectory_tables import Trajectory, rows_of, told_trajectory


class Around(NamedTuple):
    """What a controller is made for: the mechanism, its contacts by name, and the pose to hold if it has none."""

    whole: Mechanism
    contacts: dict[str, Any]
    pose: Callable[[], Any]


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

    def made(self, name: str, around: Around) -> control.PostureControl:
        given = self.model_dump(exclude={"kind", "targets", "degrees", "schedule", "gravity"})
        targets = (np.pi / 180.0 if self.degrees else 1.0) * rows_of("targets", self.targets)
        schedule = [switch.made(around.whole, around.contacts) for switch in self.schedule]
        return control.PostureControl(
            around.whole, targets, schedule=schedule, gravity=_vector(self.gravity), name=name, **given
        )

    @classmethod
    def told(cls, c: Any, world: World) -> dict[str, Any] | None:
        if type(c) is not control.PostureControl:
            return None
        names = ("targets", "kp", "kd", "compensate_weight", "relative", "limit", "rate")
        integral = {"ki": plain(c.ki)} if c.integral else {}
        schedule = {"schedule": [told_switch(s) for s in c.schedule]} if c.schedule else {}
        return {"kind": "posture", "gravity": plain_gravity(c.gravity)} | plain_fields(c, names) | integral | schedule


class ComputedTorque(Part):
    """Feedback linearisation about a motion."""

    kind: Literal["computed-torque"] = says("feedback linearisation")
    motion: Trajectory = says("absolute link angles over time [rad]")
    kp: Numbers = says("one per link [1/s^2]")
    kd: Numbers = says("one per link [1/s]")
    gravity: Number | Numbers = says("of the model: g [m/s^2] downwards, or a vector", 9.81)
    limit: Numbers | None = says("largest torque of each joint [N m]", None)
    rate: Number | None = says("sampling rate of a digital controller [Hz]", None)

    def made(self, name: str, around: Around) -> control.ComputedTorque:
        motion, links = self.motion.made(), around.whole.topology.links
        if motion.size != links:
            raise CaromError(f"motion has {motion.size} values over time; the mechanism has {links} links")
        given = self.model_dump(exclude={"kind", "motion", "gravity"})
        return control.ComputedTorque(around.whole, motion=motion, gravity=_vector(self.gravity), name=name, **given)

    @classmethod
    def told(cls, c: Any, world: World) -> dict[str, Any] | None:
        if type(c) is not control.ComputedTorque:
            return None
        if c.model is not world.mechanism and not _same(c.model, world.mechanism):
            raise CaromError(f"controller '{c.name}' believes in another mechanism, which a file cannot hold")
        gains = plain_fields(c, ("kp", "kd", "limit", "rate"))
        table = {"kind": "computed-torque", "motion": told_trajectory(c.motion), "gravity": plain_gravity(c.gravity)}
        return table | gains


class FeedForward(Part):
    """Torques over time, with or without a correction about a motion."""

    kind: Literal["feed-forward"] = says("planned torques with PD")
    torques: Trajectory = says("of every joint over time [N m]")
    reference: Trajectory | None = says("link angles over time [rad]; needed with gains", None)
    kp: Numbers | None = says("one per link [N m/rad]", None)
    kd: Numbers | None = says("one per link [N m s/rad]", None)
    relative: bool = says("angles of the reference relative to the parent link?", False)
    limit: Numbers | None = says("largest torque of each joint [N m]", None)

    def made(self, name: str, around: Around) -> control.FeedForward:
        given = self.model_dump(exclude={"kind", "torques", "reference"})
        reference = None if self.reference is None else self.reference.made()
        return control.FeedForward(around.whole, torques=self.torques.made(), reference=reference, name=name, **given)

    @classmethod
    def told(cls, c: Any, world: World) -> dict[str, Any] | None:
        if type(c) is not control.FeedForward or type(c.plan) is not Tabled:
            return None
        reference = {} if c.reference is None else {"reference": told_trajectory(c.reference)}
        gains = plain_fields(c, ("kp", "kd", "limit", "relative"))
        return {"kind": "feed-forward", "torques": told_trajectory(c.plan.table)} | reference | gains


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

    def made(self, name: str, around: Around) -> captures.HoldPose:
        given = self.model_dump(exclude={"kind", "pose"})
        pose = self.pose if self.pose is not None else around.pose()
        return captures.HoldPose(around.whole, np.asarray(pose, dtype=float), name=name, **given)

    @classmethod
    def told(cls, c: Any, world: World) -> dict[str, Any] | None:
        if type(c) is not captures.HoldPose:
            return None
        base = next(b for b in BASES if actuated_by(world.mechanism, b) == c.actuated)
        pose = plain(world.mechanism.to_absolute(c.target))
        gains = plain_fields(c, ("kp", "kd", "linearise"))
        return {"kind": "hold-pose", "pose": pose, "base": base, "gravity": plain_gravity(c.gravity)} | gains


CONTROLLERS = (Posture, ComputedTorque, FeedForward, HoldPose)

if TYPE_CHECKING:
    from typing import TypeAlias

    Control: TypeAlias = Any
else:
    Control = choice(CONTROLLERS)


def told_controller(c: Any, world: World) -> dict[str, Any]:
    """A controller as a table."""
    return told_by(CONTROLLERS, f"'{getattr(c, 'name', c)}'", c, world)


def _vector(gravity: Any) -> Any:
    return tuple(gravity) if isinstance(gravity, list) else gravity


def _same(a: Any, b: Any) -> bool:
    pairs = zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=False)
    alike: bool = jax.tree.structure(a) == jax.tree.structure(b)  # type: ignore[operator]
    return alike and all(np.array_equal(x, y) for x, y in pairs)
