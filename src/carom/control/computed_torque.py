"""Computed torque: the torques that the model needs for the wanted motion, corrected by its error."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, ClassVar

import equinox as eqx
import jax
import numpy as np

from .. import errors
from .._arguments import GainsLike, TrajectoryLike
from ..dynamics import explicit
from ..forms import Form, Slot
from ..hybrid._in_words import told
from ..hybrid.automaton import AbstractAutomaton, Anatomy
from ..hybrid.reporting import Drive
from ..hybrid.scene import Own, Scene
from ..mechanism import Mechanism
from ..mechanism import _walk as walk
from ..quantities import Real
from ._driven_mechanism import topology_of
from ._stops import refuse_motion_beyond
from .actuator import LIMITED, AbstractActuator, gains, sampling
from .switch import AbstractSwitch


class ComputedTorque(AbstractActuator):
    """Feedback linearisation: T = M (a_d - kd (v - v_d) - kp (q - q_d)) + bias - weight, as joint torques.

    The error then obeys e'' + kd e' + kp e = 0 in every joint, whatever the posture, as long as nothing touches.

    - `motion`: has `at(t)`, which gives angles [rad], rates and accelerations, absolute, one per link
    - `kp` [1/s^2], `kd` [1/s]: one number per link
    - `model`: the mechanism as the controller believes it to be; the true one by default
    - `limit` [N m], `rate` [Hz] as for every controller

    It needs a fixed base and rigid links: every coordinate must have its torque.
    """

    form: ClassVar[Form] = Form(
        "computed-torque",
        "feedback linearisation",
        (
            Slot("motion", "trajectory", "absolute link angles over time [rad]"),
            Slot("kp", "numbers", "one per link [1/s^2]"),
            Slot("kd", "numbers", "one per link [1/s]"),
            *LIMITED,
        ),
        lambda c, mechanism: _told(c, mechanism),
    )

    motion: Any
    kp: Any
    kd: Any
    model: Mechanism
    limit: Any
    rate: Any
    schedule: tuple[AbstractSwitch, ...]
    links: int = eqx.field(static=True)
    name: str = eqx.field(static=True)

    def __init__(
        self,
        mechanism: Mechanism,
        motion: TrajectoryLike,
        kp: GainsLike,
        kd: GainsLike,
        *,
        model: Mechanism | None = None,
        limit: GainsLike = None,
        rate: Real | None = None,
        name: str = "control",
    ) -> None:
        top = topology_of(name, mechanism)
        if top.dof != top.links:
            raise errors.CaromError(
                f"ComputedTorque '{name}' drives a mechanism with {top.dof} coordinates by {top.links} torques; it "
                "needs a fixed base and rigid links; use PostureControl, or a controller of your own"
            )
        if not walk.small(top):
            raise errors.CaromError(
                f"ComputedTorque '{name}' drives {top.links} links; this version supports at most {walk.UNROLL}; use "
                "PostureControl"
            )
        if not callable(getattr(motion, "at", None)):
            raise errors.CaromError(
                f"motion of '{name}' is a {type(motion).__name__}; it must be a trajectory with at(t), such as "
                "carom.control.Quintic(...)"
            )
        size = getattr(motion, "size", top.links)
        if size != top.links:
            raise errors.CaromError(f"motion has {size} values over time; the mechanism has {top.links} links")
        found = gains(name, top.links, kp=kp, kd=kd, limit=limit)
        self.kp, self.kd, self.limit = found["kp"], found["kd"], found["limit"]
        self.motion, self.model = motion, mechanism if model is None else model
        self.rate, self.schedule, self.links, self.name = sampling(name, rate), (), top.links, name

    @property
    def words(self) -> str:
        kept = ("limit", self.limit, "N m"), ("rate", self.rate, "Hz")
        return told(
            "ComputedTorque", ("motion", self.motion, ""), ("kp", self.kp, "1/s^2"), ("kd", self.kd, "1/s"), *kept
        )

    @property
    def anatomy(self) -> Anatomy:
        return dataclasses.replace(super().anatomy, phases=("tracking",), clocked=True)

    @property
    def drive(self) -> Drive:
        return Drive(self._efforts, wanted=lambda scene, own: self.motion.at(scene.t).q)

    def check(self, mechanism: Mechanism, others: Sequence[AbstractAutomaton]) -> None:
        """Refuse a motion that passes a stop of a joint."""
        super().check(mechanism, others)
        refuse_motion_beyond(self.name, self.motion, mechanism, others)

    def asked(self, scene: Scene, own: Own) -> list[Any]:
        lower, bias, weight = explicit.terms(self.model, scene.q, scene.v, scene.gravity)
        q, v, a = self.motion.at(scene.t)
        n = range(self.links)
        wanted = [a[k] - self.kd[k] * (scene.v[k] - v[k]) - self.kp[k] * (scene.q[k] - q[k]) for k in n]
        force = [sum(lower[max(i, j)][min(i, j)] * wanted[j] for j in n) + bias[i] - weight[i] for i in n]
        # A joint carries what its whole subtree needs.
        top = self.model.topology
        for k in reversed(top.order):
            if top.turned_by[k] >= 0:
                force[top.turned_by[k]] = force[top.turned_by[k]] + force[k]
        return force


def _told(c: ComputedTorque, mechanism: Mechanism) -> dict[str, Any]:
    if c.model is not mechanism and not _same(c.model, mechanism):
        raise errors.CaromError(f"controller '{c.name}' is built on another mechanism, which a file cannot hold")
    return {name: getattr(c, name) for name in ("motion", "kp", "kd", "limit", "rate")}


def _same(a: Mechanism, b: Mechanism) -> bool:
    pairs = zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=False)
    alike: bool = jax.tree.structure(a) == jax.tree.structure(b)  # type: ignore[operator]
    return alike and all(np.array_equal(x, y) for x, y in pairs)
