"""Torques planned as functions of time, with or without a correction about the planned motion."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from .. import errors
from .._arguments import GainsLike, Names, TorquesLike, TrajectoryLike
from ..forms import Form, Slot
from ..hybrid._in_words import told
from ..hybrid.automaton import AbstractAutomaton, Anatomy, Landing, Standing
from ..hybrid.condition import NEVER, level, turning
from ..hybrid.reporting import Drive
from ..hybrid.scene import Own, Scene
from ..mechanism import Mechanism
from ..quantities import Flag, Real, Vector
from ._anchors import names_of
from ._driven_mechanism import topology_of
from ._stops import refuse_motion_beyond
from .actuator import ANCHORED, LIMITED, AbstractActuator, gains, refuse_negative, sampling
from .planned_torques import AbstractTorques, Tabled
from .switch import AbstractSwitch
from .trajectory import AbstractTrajectory
from .trajectory.pieces import Motion

ON_TIME = 1e-9  # of a sampling period: a sample that rounding puts before a knot belongs to the piece behind it


class FeedForward(AbstractActuator):
    """Joint torques T_k = planned_k(t) - kp (angle - reference) - kd (rate - reference rate), limited.

    - `torques`: a plan (such as `carom.crawl.SlidingPlan`), or a trajectory whose values are the torques [N m] of all
      links, parent on link
    - `reference`: trajectory of the link angles [rad] or of all coordinates; needed with `kp` [N m/rad] or
      `kd` [N m s/rad], one number per link (0 for a passive joint)
    - `relative`: angles of the reference are relative to the parent, and so are the errors
    - `limit` [N m]: largest torque of each joint
    - `rate` [Hz]: a digital controller that computes its torques so often and holds them in between
    - `anchored`: names of first links of free bases that are turned against the world; others have no joint there

    Without `rate` every knot is an event: a step of the integration ends there, so that kinks and jumps in the torques
    cost no accuracy. After the last one a plan goes on with what it gives for standing still at its end.
    """

    form: ClassVar[Form] = Form(
        "feed-forward",
        "planned torques with PD",
        (
            Slot("torques", "trajectory", "of every joint over time [N m]"),
            Slot("reference", "trajectory", "link angles over time [rad]; needed with gains", None),
            Slot("kp", "numbers", "one per link [N m/rad]", None),
            Slot("kd", "numbers", "one per link [N m s/rad]", None),
            Slot("relative", "flag", "angles of the reference relative to the parent link?", False),
            *LIMITED,
            ANCHORED,
        ),
        lambda c, mechanism: _told(c),
    )

    plan: AbstractTorques
    reference: AbstractTrajectory | None
    kp: Any
    kd: Any
    limit: Any
    rate: Any
    schedule: tuple[AbstractSwitch, ...]
    relative: bool = eqx.field(static=True)
    links: int = eqx.field(static=True)
    anchored: tuple[str, ...] = eqx.field(static=True)
    offset: int = eqx.field(static=True)  # where the angles stand in the reference
    shared: bool = eqx.field(static=True)  # the reference has the knots of the plan
    name: str = eqx.field(static=True)

    def __init__(
        self,
        mechanism: Mechanism,
        torques: TorquesLike,
        reference: TrajectoryLike | None = None,
        kp: GainsLike = None,
        kd: GainsLike = None,
        *,
        relative: bool = False,
        limit: GainsLike = None,
        rate: Real | None = None,
        anchored: Names = (),
        name: str = "control",
    ) -> None:
        n = self.links = topology_of(name, mechanism).links
        self.plan = _plan_of(name, torques, n)
        self.reference, self.offset = _reference_of(name, reference, mechanism, kp is not None or kd is not None)
        self.shared = self.reference is None or _equal(self.plan.knots, self.reference.knots)
        found = gains(name, n, kp=kp, kd=kd, limit=limit)
        for field, value in found.items():
            refuse_negative(name, field, value)
        self.kp, self.kd, self.limit = found["kp"], found["kd"], found["limit"]
        self.rate, self.schedule = sampling(name, rate), ()
        self.relative, self.name, self.anchored = relative, name, names_of(name, anchored)

    @property
    def _knots(self) -> Any:
        """Of the plan; those of the reference count as well if it is another motion."""
        if self.shared or self.reference is None:
            return self.plan.knots
        return jnp.concatenate([self.plan.knots, self.reference.knots[1:]])

    @property
    def _count(self) -> int:
        return int(self._knots.shape[0]) - 1

    @property
    def words(self) -> str:
        kept = ("limit", self.limit, "N m"), ("rate", self.rate, "Hz")
        gains = ("kp", self.kp, "N m/rad"), ("kd", self.kd, "N m s/rad")
        return told("FeedForward", ("torques", self.plan, ""), ("reference", self.reference, ""), *gains, *kept)

    @property
    def anatomy(self) -> Anatomy:
        has = dataclasses.replace(super().anatomy, phases=("on",), clocked=True)
        if self.rate is not None:  # torques that are held do not break at knots
            return has
        # Pieces in force are remembered: only a jump changes them, so that no step sees two.
        pieces = ("piece",) if self.shared else ("piece", "reference piece")
        knots = (f"knot {k + 1}" for k in range(self._count))
        return dataclasses.replace(has, exits=(*knots, *has.exits), memory=(*pieces, *has.memory))

    @property
    def drive(self) -> Drive:
        return Drive(self._efforts, wanted=self._wanted if self.reference is not None else None, relative=self.relative)

    def _wanted(self, scene: Scene, own: Own) -> Any:
        assert self.reference is not None
        return self.reference.at(scene.t).q[self.offset : self.offset + self.links]

    def check(self, mechanism: Mechanism, others: Sequence[AbstractAutomaton]) -> None:
        """Refuse a reference that passes a stop of a joint which is corrected towards it."""
        super().check(mechanism, others)
        kp = None if self.kp is None else errors.known(self.kp)
        if kp is not None:
            refuse_motion_beyond(
                self.name,
                self.reference,
                mechanism,
                others,
                offset=self.offset,
                relative=self.relative,
                driven=lambda link: bool(kp[link] > 0.0),
            )

    def asked(self, scene: Scene, own: Own) -> list[Any]:
        planned = self.plan.torques(self._piece(scene, own, 0, self.plan.knots), scene.t)
        asked = [planned[k] for k in range(self.links)]
        if self.reference is None:
            return asked
        wanted = self.reference.piece(self._piece(scene, own, 0 if self.shared else 1, self.reference.knots), scene.t)
        return self._corrected(scene, wanted, asked)

    def _piece(self, scene: Scene, own: Own, entry: int, knots: Vector) -> Any:
        """Number of the piece in force: remembered, or, at a sample, looked up."""
        if self.rate is None:
            return own.memory[entry].astype(int)
        return jnp.sum(scene.t + ON_TIME / self.rate >= knots[1:])

    def _corrected(self, scene: Scene, wanted: Motion, asked: list[Any]) -> list[Any]:
        angle, rate = (scene.relative_angle, scene.relative_rate) if self.relative else (scene.coordinate, scene.speed)
        out = []
        for k, torque in enumerate(asked):
            if self.kp is not None:
                torque = torque - self.kp[k] * (angle(k) - wanted.q[self.offset + k])
            if self.kd is not None:
                torque = torque - self.kd[k] * (rate(k) - wanted.v[self.offset + k])
            out.append(torque)
        return out

    def start(self, scene: Scene) -> Own:
        if self.rate is not None:
            return super().start(scene)
        own = Own(jnp.asarray(0), (jnp.asarray(0.0),) * (1 if self.shared else 2), ())
        return own._replace(memory=(*own.memory, *self.limits.sides(lambda: self.asked(scene, own))))

    def guard(self, scene: Scene, own: Own) -> Sequence[Any]:
        if self.rate is not None:
            return super().guard(scene, own)
        # A knot that is behind cannot come again; one ahead is as far as its time.
        knots, first = self._knots[1:], int(self.plan.knots.shape[0]) - 1
        out = []
        for k in range(self._count):
            current, number = (own.memory[0], k) if k < first else (own.memory[1], k - first)
            out.append(level(jnp.where(current > number, NEVER, scene.t - knots[k])))
        return [
            *out,
            *(turning(corner, 0.0) for corner in self.limits.guards(lambda: self.asked(scene, own), own.memory)),
        ]

    @property
    def standing(self) -> Standing:
        return super().standing if self.rate is not None else Standing(instants=lambda own: [*self._knots[1:]])

    def jump(self, scene: Scene, own: Own, fired: tuple[Flag, ...]) -> Landing:
        if self.rate is not None:
            return super().jump(scene, own, fired)
        first = int(self.plan.knots.shape[0]) - 1
        memory = list(own.memory)
        for k, hit in enumerate(fired[: self._count]):
            which, number = (0, k) if k < first else (1, k - first)
            memory[which] = jnp.where(hit, jnp.maximum(memory[which], number + 1.0), memory[which])
        # Torques may leap at a knot.
        after, switched = own._replace(memory=tuple(memory)), jnp.any(jnp.stack(fired[: self._count]))
        sides = self.limits.jump(lambda: self.asked(scene, after), own.memory, fired[self._count :], switched)
        return Landing(own.phase, (*memory[: len(memory) - len(sides)], *sides), own.states)


def _plan_of(name: str, torques: TorquesLike, links: int) -> AbstractTorques:
    if isinstance(torques, AbstractTrajectory):
        torques = Tabled(torques)
    if not isinstance(torques, AbstractTorques):
        raise errors.CaromError(
            f"torques of '{name}' is a {type(torques).__name__}; it must be a plan, or a trajectory of the torques "
            "such as carom.control.Waypoints(times, torques)"
        )
    if torques.links != links:
        raise errors.CaromError(
            f"torques of '{name}' has {torques.links} values; the mechanism has {links} links; give one for each, 0 "
            "for a passive joint"
        )
    return torques


def _reference_of(
    name: str, reference: TrajectoryLike | None, mechanism: Mechanism, needed: bool
) -> tuple[AbstractTrajectory | None, int]:
    top = mechanism.topology
    if not needed:
        return None, 0  # without gains there is nothing to compare with
    if not isinstance(reference, AbstractTrajectory):
        found = "missing" if reference is None else f"a {type(reference).__name__}"
        raise errors.CaromError(
            f"reference of '{name}' is {found}; kp and kd "
            "correct towards a motion; give a trajectory of the link angles"
        )
    if reference.size not in (top.links, top.dof):
        raise errors.CaromError(
            f"reference of '{name}' moves {reference.size} numbers; it must move the {top.links} link angles, or all "
            f"{top.dof} coordinates"
        )
    return reference, top.base_dof if reference.size == top.dof else 0


def _equal(one: Vector, two: Vector) -> bool:
    known = errors.known(one), errors.known(two)
    return known[0] is not None and known[1] is not None and np.array_equal(known[0], known[1])


def _told(c: FeedForward) -> dict[str, Any] | None:
    """None for torques of a plan, which is code."""
    torques = c.plan.as_table()
    if torques is None:
        return None
    values = {name: getattr(c, name) for name in ("reference", "kp", "kd", "limit", "relative", "rate", "anchored")}
    return {"torques": torques} | values
