"""PD, PID and PD with generalized active forces about a posture, with a schedule of postures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from .. import errors
from .._arguments import GainsLike, Names
from ..dynamics import explicit
from ..forms import Form, Slot
from ..hybrid._in_words import told
from ..hybrid.automaton import AbstractAutomaton
from ..hybrid.reporting import Drive
from ..hybrid.scene import Own, Scene
from ..mechanism import Mechanism
from ..quantities import PhaseNumber, Real, Rows
from ._anchors import names_of
from ._driven_mechanism import topology_of
from ._stops import refuse_beyond
from .actuator import ANCHORED, LIMITED, AbstractActuator, gains, sampling
from .switch import AbstractSwitch

SOURCE = "PD with generalized active forces: Akhan, Zhao, Tarnita and Marghitu 2023, Machines 11, 773"


class PostureControl(AbstractActuator):
    """Joint torques that drive the links to a posture: T_k = -kd rate - kp (angle - target) - ki integral [- weight].

    - `targets` [rad, or `degrees`]: one posture, or one per phase of the schedule
    - `kp` [N m/rad], `kd` [N m s/rad], `ki` [N m/(rad s)]: one number per link
    - `schedule`: what ends each phase; after the last one the first comes again. Omit it for a single posture
    - `compensate_weight`: subtract the generalized active forces of weight of all that the joint carries
      (the arm paper's Q controller)
    - `relative`: angles relative to the parent instead of absolute ones
    - `limit` [N m]: largest torque of each joint
    - `rate` [Hz]: a digital controller that computes its torques so often and holds them in between
    - `anchored`: names of first links of free bases that are turned against the world; others have no joint there
    """

    form: ClassVar[Form] = Form(
        "posture",
        "PD, PID or PD with generalized active forces",
        (
            Slot("targets", "table", "one row of link angles for every phase of the schedule [rad, or degrees]"),
            Slot("degrees", "flag", "are the targets in degrees?", False),
            Slot("kp", "numbers", "one per link [N m/rad]"),
            Slot("kd", "numbers", "one per link [N m s/rad]"),
            Slot("ki", "numbers", "one per link [N m/(rad s)]", None),
            Slot("schedule", "switches", "what ends each phase; one target if left out", ()),
            Slot("compensate_weight", "flag", "subtract the generalized active forces of weight", False),
            Slot("relative", "flag", "angles relative to the parent link?", False),
            *LIMITED,
            ANCHORED,
        ),
        lambda c, mechanism: _told(c),
    )

    targets: Any
    kp: Any
    kd: Any
    ki: Any
    limit: Any
    rate: Any
    schedule: tuple[AbstractSwitch, ...]
    compensate_weight: bool = eqx.field(static=True)
    relative: bool = eqx.field(static=True)
    integral: bool = eqx.field(static=True)
    links: int = eqx.field(static=True)
    anchored: tuple[str, ...] = eqx.field(static=True)
    name: str = eqx.field(static=True)

    def __init__(
        self,
        mechanism: Mechanism,
        targets: Rows,
        kp: GainsLike,
        kd: GainsLike,
        ki: GainsLike = None,
        *,
        degrees: bool = False,
        schedule: Sequence[AbstractSwitch] = (),
        compensate_weight: bool = False,
        relative: bool = False,
        limit: GainsLike = None,
        rate: Real | None = None,
        anchored: Names = (),
        name: str = "control",
    ) -> None:
        n = self.links = topology_of(name, mechanism).links
        of = errors.library_for(targets)
        rows = of.atleast_2d(of.asarray(targets, dtype=float))
        self.targets = errors.array((np.pi / 180.0 if degrees else 1.0) * rows)
        phases = max(len(schedule), 1)
        if self.targets.shape != (phases, n):
            raise errors.CaromError(
                f"targets of '{name}' has shape {self.targets.shape}; it must be one angle per link for each of the "
                f"{phases} phase(s) of the schedule, shape ({phases}, {n})"
            )
        aims = errors.known(self.targets)
        if aims is not None and not np.all(np.isfinite(aims)):
            raise errors.CaromError(f"targets of '{name}' is {aims.tolist()}; every angle must be a finite number")
        found = gains(name, n, kp=kp, kd=kd, ki=ki, limit=limit)
        self.kp, self.kd, self.limit = found["kp"], found["kd"], found["limit"]
        self.ki = errors.array(np.zeros(n)) if ki is None else found["ki"]
        self.rate = sampling(name, rate)
        self.schedule, self.name, self.anchored = tuple(schedule), name, names_of(name, anchored)
        self.compensate_weight, self.relative, self.integral = compensate_weight, relative, ki is not None

    @property
    def sources(self) -> tuple[str, ...]:
        return (SOURCE,) if self.compensate_weight else ()

    @property
    def words(self) -> str:
        several, on = len(self.schedule), {True: True, False: None}
        return told(
            "PostureControl",
            ("target", None if several else self.targets[0], "rad"),
            ("postures", several or None, ""),
            ("kp", self.kp, "N m/rad"),
            ("kd", self.kd, "N m s/rad"),
            ("ki", self.ki if self.integral else None, "N m/(rad s)"),
            ("compensate_weight", on[self.compensate_weight], ""),
            ("relative", on[self.relative], ""),
            ("limit", self.limit, "N m"),
            ("rate", self.rate, "Hz"),
        )

    @property
    def own_states(self) -> dict[str, Any]:
        return {f"integral {k + 1}": 1.0 for k in range(self.links if self.integral else 0)}

    @property
    def drive(self) -> Drive:
        return Drive(self._efforts, wanted=self._targets, relative=self.relative)

    def check(self, mechanism: Mechanism, others: Sequence[AbstractAutomaton]) -> None:
        """Refuse targets behind a stop of the joint."""
        super().check(mechanism, others)
        refuse_beyond(others, lambda link: self._aims_at(mechanism, link), lambda i: f"target {i + 1} of '{self.name}'")

    def _aims_at(self, mechanism: Mechanism, link: int) -> np.ndarray | None:
        """Angle [rad] of a link relative to its parent in every target; None where nothing drives it there."""
        parent = -1 if self.relative else mechanism.topology.turned_by[link]
        targets, kp, ki = (errors.known(x) for x in (self.targets, self.kp, self.ki))
        if targets is None or kp is None or ki is None:
            return None
        driven = (kp != 0.0) | (ki != 0.0)
        if not driven[link] or (parent >= 0 and not driven[parent]):
            return None
        return targets[:, link] - (targets[:, parent] if parent >= 0 else 0.0)

    def errors_of(self, scene: Scene, phase: PhaseNumber) -> list[Any]:
        """Angle (or displacement) minus target of every link."""
        angle = scene.relative_angle if self.relative else scene.coordinate
        return [angle(k) - target for k, target in enumerate(self._targets_in(phase))]

    def _targets(self, scene: Scene, own: Own) -> list[Any]:
        return self._targets_in(own.phase)

    def _targets_in(self, phase: PhaseNumber) -> list[Any]:
        out = []
        for k in range(self.links):
            target = self.targets[0][k]
            for i in range(1, self.targets.shape[0]):
                target = jnp.where(phase == i, self.targets[i][k], target)
            out.append(target)
        return out

    def asked(self, scene: Scene, own: Own) -> list[Any]:
        rate = scene.relative_rate if self.relative else scene.speed
        asked = []
        weight = self._weight(scene) if self.compensate_weight else [0.0] * self.links
        for k, error in enumerate(self.errors_of(scene, own.phase)):
            torque = -self.kd[k] * rate(k) - self.kp[k] * error - weight[k]
            if self.integral:
                torque = torque - self.ki[k] * own.states[k]
            asked.append(torque)
        return asked

    def rates_of(self, scene: Scene, own: Own) -> tuple[Any, ...]:
        return tuple(self.errors_of(scene, own.phase)) if self.integral else ()

    def _weight(self, scene: Scene) -> list[Any]:
        """Moment of the weight of all that joint k carries, summed over the generalized forces of its subtree."""
        n, top = scene.mechanism.numbers, scene.top
        own: list[Any] = [0] * top.links
        if top.elastic:
            own = explicit.terms(scene.mechanism, scene.q, scene.v, scene.gravity).weight[top.angles]
        for j in range(0 if top.elastic else top.links):  # weight of link j on every angle on the way to it
            x, y, _, _ = scene.point(j, n.com[j][0], n.com[j][1])
            fx, fy = n.mass[j] * scene.gravity[0], n.mass[j] * scene.gravity[1]
            for index, jx, jy in scene.jacobian(j, x, y):
                if index >= top.base_dof:
                    own[index - top.base_dof] = own[index - top.base_dof] + jx * fx + jy * fy
        total = list(own)
        for k in reversed(top.order):
            if top.turned_by[k] >= 0:
                total[top.turned_by[k]] = total[top.turned_by[k]] + total[k]
        return total


def _told(c: PostureControl) -> dict[str, Any]:
    names = ("targets", "kp", "kd", "compensate_weight", "relative", "limit", "rate", "anchored")
    integral = {"ki": c.ki} if c.integral else {}
    return {name: getattr(c, name) for name in names} | integral | ({"schedule": c.schedule} if c.schedule else {})
