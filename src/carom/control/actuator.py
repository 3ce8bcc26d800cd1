"""What all controllers share: torques at the joints, limits, sampling with hold, and the work of the actuators."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from .. import errors
from .._arguments import GainsLike
from ..forms import Slot
from ..hybrid._in_words import spelled
from ..hybrid._member import AbstractUnplaced
from ..hybrid.automaton import AbstractAutomaton, Anatomy, Flow, Landing, Standing
from ..hybrid.condition import NEVER, Watch, condition_of, level, turning, unless
from ..hybrid.reporting import Channel, Drive, Efforts, Report
from ..hybrid.scene import Load, Own, Scene
from ..mechanism import Mechanism
from ..quantities import Flag, Real
from ._anchors import refuse_anchors, without_joint
from ._limits import Limits, least_limits
from .switch import AbstractSwitch

# What scenario files may say of every controller.
LIMITED = (
    Slot("limit", "numbers", "largest torque of each joint [N m]", None),
    Slot("rate", "number", "sampling rate of a digital controller [Hz]", None),
)
ANCHORED = Slot("anchored", "words", "links of free bases that something outside of the robot turns", ())


def _numbers(given: GainsLike) -> Any:
    return None if given is None else errors.array(given)


class AbstractActuator(AbstractAutomaton, AbstractUnplaced):
    """Joint torques by some rule, which `asked` gives.

    - `name`, 'control' by default; `links`: how many links the mechanism has, by default 1
    - `limit` [N m]: largest torque of each joint, or None. A continuous controller remembers for each joint on which
      side of its limits it is, -1, 0 or 1; exit "limit k" changes it, so that no step straddles the corner
    - `effort`: the limits of the joints themselves (`Joint.effort_limit`), one per link or None; the world gives them
    - `rate` [Hz]: a digital controller that computes its torques so often and holds them in between, or None
    - `lag` [s]: time constant of each joint's actuator, or None: efforts follow what is asked for (and limited) like
      tau' = (asked - tau) / lag, from nothing at the start; 0 is none
    - `schedule`: what ends each phase; after the last one the first comes again
    - `anchored`: names of links of free bases that something outside of the robot turns

    A torque acts between a link and its parent, or the pivot of a fixed base. The first link of a free base has no
    joint: what a rule asks for there is not applied unless the link is anchored, and a rule that asks is refused.
    """

    name: str = eqx.field(static=True, default="control", kw_only=True)
    links: int = eqx.field(static=True, default=1, kw_only=True)
    limit: Any = eqx.field(default=None, kw_only=True, converter=_numbers)
    rate: Any = eqx.field(default=None, kw_only=True, converter=_numbers)
    lag: Any = eqx.field(default=None, kw_only=True, converter=_numbers)
    effort: Any = eqx.field(default=None, kw_only=True)
    schedule: tuple[AbstractSwitch, ...] = eqx.field(default=(), kw_only=True)
    anchored: tuple[str, ...] = eqx.field(static=True, default=(), kw_only=True)

    @abc.abstractmethod
    def asked(self, scene: Scene, own: Own) -> list[Any]:
        """The torque of every joint that the rule asks for now [N m], without limits."""

    def check(self, mechanism: Mechanism, others: Sequence[AbstractAutomaton]) -> None:
        """Refuse another number of links, torques that have nothing to act against, and anchors that are not needed."""
        if self.links != mechanism.topology.links:
            raise errors.CaromError(
                f"links of '{self.name}' is {self.links}, but the mechanism has {mechanism.topology.links}; build it "
                "for this mechanism"
            )
        refuse_anchors(self, mechanism, others)
        for _, _, switch in self.transitions:
            switch.check(mechanism, others)

    def placed(self, mechanism: Mechanism) -> AbstractActuator:
        """The same, with the limits of the mechanism's joints."""
        top, effort = mechanism.topology, mechanism.numbers.effort
        if self.links != top.links or not any(top.limited):
            return self
        each = tuple(effort[k] if limited else None for k, limited in enumerate(top.limited))
        made = object.__new__(type(self))  # past constructors, which differ
        for field in dataclasses.fields(self):
            object.__setattr__(made, field.name, each if field.name == "effort" else getattr(self, field.name))
        return made

    def on_joints(self, scene: Scene, own: Own) -> list[Any]:
        """What is asked for, of joints that exist."""
        asked, loose = list(self.asked(scene, own)), without_joint(scene.mechanism, self.anchored)
        return [jnp.zeros_like(jnp.asarray(x, dtype=float)) if k in loose else x for k, x in enumerate(asked)]

    @property
    def transitions(self) -> tuple[tuple[int, int, AbstractSwitch], ...]:
        """Ways from one phase to another, and what opens each: those of the schedule, round and round."""
        count = len(self.schedule)
        return tuple((i, (i + 1) % count, switch) for i, switch in enumerate(self.schedule))

    @property
    def own_states(self) -> dict[str, Any]:
        """States of the rule itself, by name, with the sizes that their tolerance is measured by."""
        return {}

    @property
    def anatomy(self) -> Anatomy:
        postures = tuple(f"posture {i + 1}" for i in range(max(len(self.schedule), 1)))
        switches = tuple(f"end of posture {i + 1}" for i, _, _ in self.transitions)
        exits, memory = self.limits.exits, self.limits.memory
        if self.rate is not None:
            exits, memory = ("sample",), ("next sample", *(f"torque {k + 1}" for k in range(self.links)))
        return Anatomy(
            phases=postures,
            exits=(*switches, *exits),
            memory=memory,
            states=self.own_states | {f"lagging {k + 1}": 1.0 for k in range(0 if self.lag is None else self.links)},
            channels=(Channel("actuators", "driven"),),
            pausable=True,
            clocked=self.rate is not None or any(switch.instant is not None for _, _, switch in self.transitions),
        )

    @property
    def limits(self) -> Limits:
        """What finds the corners of limited torques; torques that are held between samples have none."""
        return Limits(self._most if self.rate is None else (None,) * self.links)

    @property
    def _most(self) -> tuple[Any, ...]:
        """The largest effort of every joint; None: any."""
        return least_limits(self.links, self.limit, self.effort)

    @property
    def report(self) -> Report:
        return Report(words=((self.name, self.words),), cited=self.sources, drive=self.drive)

    @property
    def words(self) -> str:
        """What it is, in a line: its numbers with their units."""
        return spelled(
            self,
            {"limit": "N m", "rate": "Hz", "lag": "s"},
            without=("name", "links", "effort", "schedule", "anchored"),
        )

    @property
    def sources(self) -> tuple[str, ...]:
        """References of the rule."""
        return ()

    @property
    def drive(self) -> Drive:
        """What it exerts, and where it drives to if it says so."""
        return Drive(self._efforts)

    def _efforts(self, scene: Scene, own: Own) -> Efforts:
        return Efforts(self._behind(self._command(scene, own), own))

    def _command(self, scene: Scene, own: Own) -> list[Any]:
        """What actuators without a lag would exert."""
        return self.torques(scene, own) if self.rate is None else list(own.memory[1 : 1 + self.links])

    def _behind(self, command: list[Any], own: Own) -> list[Any]:
        """What they exert."""
        if self.lag is None:
            return command
        late = own.states[len(own.states) - self.links :]
        return [jnp.where(self.lag[k] > 0.0, x, now) for k, (x, now) in enumerate(zip(late, command, strict=True))]

    def _catching_up(self, command: list[Any], own: Own) -> tuple[Any, ...]:
        """Rates of the efforts of actuators with a lag."""
        if self.lag is None:
            return ()
        late = own.states[len(own.states) - self.links :]
        spans = [jnp.where(self.lag[k] > 0.0, self.lag[k], 1.0) for k in range(self.links)]
        return tuple(
            jnp.where(self.lag[k] > 0.0, (now - x) / spans[k], 0.0)
            for k, (x, now) in enumerate(zip(late, command, strict=True))
        )

    def torques(self, scene: Scene, own: Own) -> list[Any]:
        """What the controller asks for now, limited; continuous in time."""
        asked = self.on_joints(scene, own)
        return self.limits.torques(asked, own.memory) if self.rate is None else Limits(self._most).clipped(asked)

    def rates_of(self, scene: Scene, own: Own) -> tuple[Any, ...]:
        """Rates of the controller's own states."""
        return ()

    def start(self, scene: Scene) -> Own:
        zero = jnp.asarray(0.0)
        own = Own(jnp.asarray(0), (), (zero,) * len(self.anatomy.states))
        if self.rate is None:
            return own._replace(memory=self.limits.sides(lambda: self.on_joints(scene, own)))
        # The first sample is taken at the start: no guard can fire there.
        return own._replace(memory=(1.0 / self.rate, *self.torques(scene, own)))

    def force(self, scene: Scene, own: Own, load: Load) -> Flow:
        power, command = 0.0, self._command(scene, own)
        for k, torque in enumerate(self._behind(command, own)):
            scene.turn(load, k, torque)
            power = power + torque * scene.relative_rate(k)
        return Flow((*self.rates_of(scene, own), *self._catching_up(command, own)), (power,))

    def guard(self, scene: Scene, own: Own) -> Sequence[Any]:
        out = [unless(own.phase != i, condition_of(self.opening(s, scene, own))) for i, _, s in self.transitions]
        if self.rate is None:
            corners = self.limits.guards(lambda: self.on_joints(scene, own), own.memory)
            return [*out, *(turning(corner, 0.0) for corner in corners)]
        return [*out, level(scene.t - own.memory[0])]

    def opening(self, switch: AbstractSwitch, scene: Scene, own: Own) -> Any:
        """The condition of a transition."""
        return switch.guard(scene)

    def watch(self, scene: Scene, own: Own) -> Sequence[Watch | None]:
        out: list[Watch | None] = []
        for i, _, switch in self.transitions:
            sweep, on = switch.sweep(scene), own.phase == i
            value = None if sweep is None else jnp.where(on, condition_of(switch.guard(scene)).value, NEVER)
            out.append(None if sweep is None else Watch(value, jnp.where(on, sweep, 0.0)))
        return [*out, *[None] * (len(self.anatomy.exits) - len(out))]

    @property
    def standing(self) -> Standing:
        return Standing(instants=self._instants)

    def _instants(self, own: Own) -> Sequence[Any]:
        known = [(i, switch.instant) for i, _, switch in self.transitions if switch.instant is not None]
        times = [jnp.where(own.phase == i, time, jnp.inf) for i, time in known]
        return times if self.rate is None else [*times, own.memory[0]]

    def jump(self, scene: Scene, own: Own, fired: tuple[Flag, ...]) -> Landing:
        count, phase = len(self.transitions), own.phase
        for i in reversed(range(count)):  # of several that open at once the first is taken
            phase = jnp.where(fired[i], self.transitions[i][1], phase)
        after = own._replace(phase=phase)
        if self.rate is None:
            switched = jnp.any(jnp.stack(fired[:count])) if count else jnp.asarray(False)
            memory = self.limits.jump(lambda: self.on_joints(scene, after), own.memory, fired[count:], switched)
            return Landing(phase, memory, own.states)
        sample = fired[-1]
        due = (jnp.round(own.memory[0] * self.rate) + 1.0) / self.rate  # a running sum would drift
        fresh = (due, *self.torques(scene, after))
        held = own.memory[: len(fresh)]  # a machine remembers more, after these
        memory = tuple(jnp.where(sample, f, m) for f, m in zip(fresh, held, strict=True))
        return Landing(phase, memory, own.states)


def gains(name: str, links: int, **given: Any) -> dict[str, Any]:
    """Gains and limits as arrays, refused if there is not one per link."""
    for field, value in given.items():
        if value is not None:
            errors.vector(f"'{name}'", field, value, links)
    refuse_negative(name, "limit", given.get("limit"))
    return {field: None if value is None else errors.array(value) for field, value in given.items()}


def refuse_negative(name: str, field: str, numbers: GainsLike) -> None:
    if numbers is not None:
        errors.refuse_if(
            jnp.any(jnp.asarray(numbers) < 0.0),
            lambda: f"{field} of '{name}' is {np.asarray(numbers).tolist()}; no entry may be negative",
        )


def sampling(name: str, rate: Real | None) -> Any:
    """A sampling rate [Hz], or None for a continuous controller."""
    if rate is None:
        return None
    errors.number(f"'{name}'", "rate", rate, above=0.0)
    return jnp.asarray(rate, dtype=float)
