"""PD, PID and PD with generalized active forces about a posture, with a schedule of postures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from .. import errors
from ..dynamics import explicit
from ..hybrid.automaton import NEVER, AbstractAutomaton, Flow, Landing, Own
from ..hybrid.scene import Load, Scene
from ..mechanism import Mechanism
from .switch import AbstractSwitch, AtTime


class PostureControl(AbstractAutomaton):
    """Joint torques that drive the links to a posture: T_k = -kd rate - kp (angle - target) - ki integral [- weight].

    - `targets` [rad]: one posture, or one per phase of the schedule
    - `kp` [N m/rad], `kd` [N m s/rad], `ki` [N m/(rad s)]: one number per link
    - `schedule`: what ends each phase; after the last one the first comes again. Omit it for a single posture
    - `compensate_weight`: subtract the generalized active forces of weight of all that the joint carries
      (the arm paper's Q controller), for this `gravity` vector
    - `relative`: angles relative to the parent instead of absolute ones
    - `limit` [N m]: largest torque of each joint
    - `rate` [Hz]: a digital controller that computes its torques so often and holds them in between
    """

    targets: Any
    kp: Any
    kd: Any
    ki: Any
    limit: Any
    gravity: Any
    rate: Any
    schedule: tuple[AbstractSwitch, ...]
    compensate_weight: bool = eqx.field(static=True)
    relative: bool = eqx.field(static=True)
    integral: bool = eqx.field(static=True)
    links: int = eqx.field(static=True)
    name: str = eqx.field(static=True)

    def __init__(
        self,
        mechanism: Mechanism,
        targets: Any,
        kp: Any,
        kd: Any,
        ki: Any = None,
        *,
        schedule: Sequence[AbstractSwitch] = (),
        compensate_weight: bool = False,
        gravity: Any = 9.81,
        relative: bool = False,
        limit: Any = None,
        rate: Any = None,
        name: str = "control",
    ) -> None:
        n = self.links = mechanism.topology.links
        self.targets = jnp.atleast_2d(jnp.asarray(targets, dtype=float))
        phases = max(len(schedule), 1)
        if self.targets.shape != (phases, n):
            raise errors.CaromError(
                f"targets of '{name}' has shape {self.targets.shape}; it must be one angle per link for each of the "
                f"{phases} phase(s) of the schedule, shape ({phases}, {n})"
            )
        for field, gain in (("kp", kp), ("kd", kd), ("ki", ki), ("limit", limit)):
            if gain is not None:
                errors.vector(f"'{name}'", field, gain, n)
        self.kp, self.kd = jnp.asarray(kp, dtype=float), jnp.asarray(kd, dtype=float)
        self.ki = jnp.zeros(n) if ki is None else jnp.asarray(ki, dtype=float)
        self.limit = None if limit is None else jnp.asarray(limit, dtype=float)
        if rate is not None:
            errors.number(f"'{name}'", "rate", rate, above=0.0)
        self.rate = None if rate is None else jnp.asarray(rate, dtype=float)
        gravity = (0.0, -gravity) if np.shape(gravity) == () else gravity
        errors.vector(f"'{name}'", "gravity", gravity, 2)
        self.gravity = jnp.asarray(gravity, dtype=float)
        self.schedule, self.name = tuple(schedule), name
        self.compensate_weight, self.relative, self.integral = compensate_weight, relative, ki is not None

    @property
    def phases(self) -> tuple[str, ...]:
        return tuple(f"posture {i + 1}" for i in range(max(len(self.schedule), 1)))

    @property
    def exits(self) -> tuple[str, ...]:
        switches = tuple(f"end of posture {i + 1}" for i in range(len(self.schedule)))
        return switches if self.rate is None else (*switches, "sample")

    @property
    def memory(self) -> tuple[str, ...]:
        return () if self.rate is None else ("next sample", *(f"torque {k + 1}" for k in range(self.links)))

    @property
    def states(self) -> tuple[str, ...]:
        return tuple(f"integral {k + 1}" for k in range(self.links)) if self.integral else ()

    @property
    def channels(self) -> tuple[str, ...]:
        return ("actuators",)

    @property
    def pausable(self) -> bool:
        return True

    def errors_of(self, scene: Scene, phase: Any) -> list[Any]:
        """Angle minus target of every link."""
        angle = scene.relative_angle if self.relative else scene.angle
        out = []
        for k in range(self.links):
            target = self.targets[0][k]
            for i in range(1, self.targets.shape[0]):
                target = jnp.where(phase == i, self.targets[i][k], target)
            out.append(angle(k) - target)
        return out

    @property
    def clocked(self) -> bool:
        return self.rate is not None or any(isinstance(switch, AtTime) for switch in self.schedule)

    def torques(self, scene: Scene, own: Own) -> list[Any]:
        """What the controller asks for now, limited; continuous in time."""
        rate = scene.relative_rate if self.relative else scene.rate
        asked = []
        weight = self._weight(scene) if self.compensate_weight else [0.0] * self.links
        for k, error in enumerate(self.errors_of(scene, own.phase)):
            torque = -self.kd[k] * rate(k) - self.kp[k] * error - weight[k]
            if self.integral:
                torque = torque - self.ki[k] * own.states[k]
            asked.append(torque if self.limit is None else jnp.clip(torque, -self.limit[k], self.limit[k]))
        return asked

    def _weight(self, scene: Scene) -> list[Any]:
        """Moment of the weight of all that joint k carries, summed over the generalized forces of its subtree."""
        n, top = scene.mechanism.numbers, scene.top
        own = [0.0] * top.links
        if top.elastic:
            own = explicit.terms(scene.mechanism, scene.q, scene.v, self.gravity).weight[top.angles]
        for j in range(0 if top.elastic else top.links):  # weight of link j on every angle on the way to it
            x, y, _, _ = scene.point(j, n.com[j][0], n.com[j][1])
            fx, fy = n.mass[j] * self.gravity[0], n.mass[j] * self.gravity[1]
            for index, jx, jy in scene.jacobian(j, x, y):
                if index >= top.base_dof:
                    own[index - top.base_dof] = own[index - top.base_dof] + jx * fx + jy * fy
        total = list(own)
        for k in reversed(top.order):
            if top.parents[k] >= 0:
                total[top.parents[k]] = total[top.parents[k]] + total[k]
        return total

    def start(self, scene: Scene) -> Own:
        zero = jnp.asarray(0.0)
        own = Own(jnp.asarray(0), (), (zero,) * len(self.states))
        if self.rate is not None:  # the first sample is taken at the start: no guard can fire there
            own = own._replace(memory=(1.0 / self.rate, *self.torques(scene, own)))
        return own

    def force(self, scene: Scene, own: Own, load: Load) -> Flow:
        torques = self.torques(scene, own) if self.rate is None else list(own.memory[1:])
        power = 0.0
        for k, torque in enumerate(torques):
            scene.turn(load, k, torque)
            power = power + torque * scene.relative_rate(k)
        rates = tuple(self.errors_of(scene, own.phase)) if self.integral else ()
        return Flow(rates, (power,))

    def guard(self, scene: Scene, own: Own) -> Sequence[Any]:
        out = [jnp.where(own.phase == i, s.guard(scene), NEVER) for i, s in enumerate(self.schedule)]
        return out if self.rate is None else [*out, scene.t - own.memory[0]]

    def jump(self, scene: Scene, own: Own, fired: tuple[Any, ...]) -> Landing:
        count = len(self.schedule)
        phase = own.phase
        for i in range(count):
            phase = jnp.where(fired[i], (i + 1) % count, phase)
        memory = own.memory
        if self.rate is not None:
            sample = fired[-1]
            due = (jnp.round(own.memory[0] * self.rate) + 1.0) / self.rate  # a running sum would drift
            fresh = (due, *self.torques(scene, own._replace(phase=phase)))
            memory = tuple(jnp.where(sample, f, m) for f, m in zip(fresh, own.memory, strict=True))
        return Landing(phase, memory, own.states)
