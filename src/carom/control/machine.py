"""Controllers as state machines: states with targets, gains, torques, trajectories, and what leads from one to another.

    [control.hopper]
    kind = "state-machine"
    kp = { leg = 2000.0 }
    [control.hopper.states.flight]
    targets = { leg = 0.0 }
    to = { stance = "strike foot" }
    [control.hopper.states.stance]
    torques = { leg = "200 N - 10 * leg.slide_rate" }
    to = { flight = ["release foot", "after 0.5 s"] }

Python says the same by the same names: carom.StateMachine(mechanism, {"flight": carom.Mode(...), ...}).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp

from .. import errors
from .._arguments import JointValues, ModesLike, Name, Names
from ..forms import Form, Slot
from ..hybrid.automaton import AbstractAutomaton, Anatomy, Landing
from ..hybrid.condition import level
from ..hybrid.scene import Own, Scene
from ..mechanism import Mechanism
from ..quantities import Flag, Real
from ._anchors import names_of
from ._conditions import text_of, words_of
from ._driven_mechanism import topology_of
from ._limits import least_limits
from .actuator import ANCHORED, AbstractActuator, sampling
from .mode import Drive, Mode, by_joint, drive_of, told
from .switch import AbstractSwitch

ENTERED = "entered"  # [s] when the present state was; signals call what has passed since then clock.NAME


class StateMachine(AbstractActuator):
    """Joint torques by states: in each T = torque - kp (joint - target) - kd (rate - target's rate), of some joints.

    - `states`: {name: carom.Mode(...)}; the run begins in the first of them, or in `first`
    - `kp`, `kd`: {joint: gain} for all states that do not give their own
    - `limit`: {joint: largest torque [N m], or force [N]}; `lag`: {joint: time constant of its actuator [s]}
    - `rate` [Hz]: a digital controller, which computes its torques so often and holds them in between
    - `anchored`: links of free bases that something outside of the robot turns

    A condition on signals is looked at as soon as its state is entered: where it holds already, the machine goes on at
    once. A strike is an event; a contact that is closed when the state is entered has to strike again.
    """

    form: ClassVar[Form] = Form(
        "state-machine",
        "states with targets, gains and torques, and what leads from one to another",
        (
            Slot("states", "states", "by name: targets, kp, kd, torques, trajectory, follows, to"),
            Slot("first", "word", "the state in which it begins; the first one if left out", None),
            Slot("kp", "joints", "gains by joint, for states without their own [N m/rad], [N/m]", {}),
            Slot("kd", "joints", "likewise [N m s/rad], [N s/m]", {}),
            Slot("limit", "joints", "largest effort by joint [N m], [N]", {}),
            Slot("lag", "joints", "time constants of the actuators by joint [s]", {}),
            Slot("rate", "number", "sampling rate of a digital controller [Hz]", None),
            ANCHORED,
        ),
        lambda c, mechanism: _told(c, mechanism),
    )

    drives: tuple[Drive, ...]
    switches: tuple[AbstractSwitch, ...]
    ways: tuple[tuple[int, int], ...] = eqx.field(static=True)  # from and to, of every switch
    names: tuple[str, ...] = eqx.field(static=True)
    first: int = eqx.field(static=True)
    limited: tuple[bool, ...] = eqx.field(static=True)

    def __init__(
        self,
        mechanism: Mechanism,
        states: ModesLike,
        *,
        first: Name | None = None,
        kp: JointValues | None = None,
        kd: JointValues | None = None,
        limit: JointValues | None = None,
        lag: JointValues | None = None,
        rate: Real | None = None,
        anchored: Names = (),
        name: str = "control",
    ) -> None:
        joints = topology_of(name, mechanism).names
        self.name, self.links, self.names = name, len(joints), _checked(name, states)
        shared = {"kp": by_joint(name, "kp", kp, joints), "kd": by_joint(name, "kd", kd, joints)}
        self.drives = tuple(drive_of(f"state '{s}' of '{name}'", m, mechanism, shared) for s, m in states.items())
        self.ways, self.switches = _ways(name, states)
        if first is not None:
            errors.name_in(f"state (first of '{name}')", first, self.names)
        self.first = 0 if first is None else self.names.index(first)
        _refuse_islands(name, self.names, self.ways, self.first)
        limits, lags = by_joint(name, "limit", limit, joints, 0.0), by_joint(name, "lag", lag, joints, 0.0)
        self.limited = tuple(joint in limits for joint in joints)
        self.limit = [limits.get(joint, 0.0) for joint in joints] if limits else None
        self.lag = [lags.get(joint, 0.0) for joint in joints] if lags else None
        self.rate, self.anchored = sampling(name, rate), names_of(name, anchored)

    def check(self, mechanism: Mechanism, others: Sequence[AbstractAutomaton]) -> None:
        """Refuse signals and contacts that the world does not have."""
        for state, drive in zip(self.names, self.drives, strict=True):
            drive.check(f"state '{state}' of '{self.name}'", mechanism, others)
        super().check(mechanism, others)

    @property
    def words(self) -> str:
        ways = zip(self.ways, self.switches, strict=True)
        return (
            "StateMachine("
            + "; ".join(f"{self.names[i]} -> {self.names[j]}: {words_of(s)}" for (i, j), s in ways)
            + ")"
        )

    @property
    def transitions(self) -> tuple[tuple[int, int, AbstractSwitch], ...]:
        return tuple((i, j, switch) for (i, j), switch in zip(self.ways, self.switches, strict=True))

    @property
    def _most(self) -> tuple[Any, ...]:
        mine = (
            None if self.limit is None else [m if on else None for m, on in zip(self.limit, self.limited, strict=True)]
        )
        return least_limits(self.links, mine, self.effort)

    @property
    def anatomy(self) -> Anatomy:
        has, count = super().anatomy, len(self.ways)
        exits = [f"{self.names[i]} -> {self.names[j]}: {words_of(s)}" for i, j, s in self.transitions]
        # Sides of limits are the last numbers of a memory, and samples its first.
        memory = (ENTERED, *has.memory) if self.rate is None else (*has.memory, ENTERED)
        waits = any(s.waits is not None for s in self.switches) or any(d.motion is not None for d in self.drives)
        return dataclasses.replace(
            has,
            phases=self.names,
            exits=(*exits, *has.exits[count:]),
            memory=memory,
            instants=(ENTERED,),
            clocked=has.clocked or waits,
        )

    def clock(self, scene: Scene, own: Own) -> Any:
        """How long it has been in its state [s]."""
        return scene.t - (own.memory[0] if self.rate is None else own.memory[-1])

    def asked(self, scene: Scene, own: Own) -> list[Any]:
        clock = self.clock(scene, own)
        out = self.drives[0].torque(scene, clock)
        for i, drive in enumerate(self.drives[1:], start=1):
            out = [jnp.where(own.phase == i, x, y) for x, y in zip(drive.torque(scene, clock), out, strict=True)]
        return out

    def start(self, scene: Scene) -> Own:
        own = Own(jnp.asarray(self.first), (scene.t,) * len(self.anatomy.memory), ())
        states = (jnp.asarray(0.0),) * len(self.anatomy.states)
        if self.rate is None:
            sides = self.limits.sides(lambda: self.on_joints(scene, own))
            return Own(own.phase, (scene.t, *sides), states)
        return Own(own.phase, (1.0 / self.rate, *self.torques(scene, own), scene.t), states)

    def opening(self, switch: AbstractSwitch, scene: Scene, own: Own) -> Any:
        if switch.waits is not None:
            return level(self.clock(scene, own) - switch.waits)
        return switch.guard(scene)

    def _instants(self, own: Own) -> Sequence[Any]:
        entered = own.memory[0] if self.rate is None else own.memory[-1]
        waits = [(i, s.waits) for i, _, s in self.transitions if s.waits is not None]
        knots = [(i, t) for i, d in enumerate(self.drives) if d.motion is not None for t in d.motion.knots]
        own_ones = [jnp.where(own.phase == i, entered + span, jnp.inf) for i, span in (*waits, *knots)]
        return [*super()._instants(own), *own_ones]

    def jump(self, scene: Scene, own: Own, fired: tuple[Flag, ...]) -> Landing:
        count = len(self.ways)
        moved = jnp.any(jnp.stack(fired[:count])) if count else jnp.asarray(False)
        entered = jnp.where(moved, scene.t, scene.t - self.clock(scene, own))
        fresh = (entered, *own.memory[1:]) if self.rate is None else (*own.memory[:-1], entered)
        landed = super().jump(scene, own._replace(memory=fresh), fired)
        memory = (entered, *landed.memory) if self.rate is None else (*landed.memory, entered)
        return landed._replace(memory=memory)


def _checked(name: str, states: ModesLike) -> tuple[str, ...]:
    if not isinstance(states, Mapping) or not states:
        raise errors.CaromError(f"states of '{name}' is {states!r}; it must be {{name: carom.Mode(...)}}, one at least")
    errors.names(f"states of '{name}'", list(states))
    for state, mode in states.items():
        if not isinstance(mode, Mode):
            raise errors.CaromError(
                f"state '{state}' of '{name}' is a {type(mode).__name__}; it must be a carom.Mode(...)"
            )
    return tuple(states)


def _ways(name: str, states: ModesLike) -> tuple[tuple[tuple[int, int], ...], tuple[AbstractSwitch, ...]]:
    names, ways, switches = list(states), list[tuple[int, int]](), list[AbstractSwitch]()
    for i, (state, mode) in enumerate(states.items()):
        for to, switch in mode.ways(f"state '{state}' of '{name}'"):
            errors.name_in(f"state (to of state '{state}' of '{name}')", to, names)
            ways.append((i, names.index(to)))
            switches.append(switch)
    return tuple(ways), tuple(switches)


def _refuse_islands(name: str, names: tuple[str, ...], ways: tuple[tuple[int, int], ...], first: int) -> None:
    """Every state can be reached from the first one."""
    reached, fresh = {first}, [first]
    while fresh:
        fresh = [j for i, j in ways if i in fresh and j not in reached]
        reached |= set(fresh)
    if len(names) > 1 and reached == {first}:
        raise errors.CaromError(
            f"'{name}' begins in state '{names[first]}', which it can never leave; give it to={{state: condition}}"
        )
    lost = [state for k, state in enumerate(names) if k not in reached]
    if lost:
        raise errors.CaromError(
            f"no way leads from state '{names[first]}' of '{name}' to state '{lost[0]}'; give one of the others "
            f"to={{'{lost[0]}': condition}}, or leave it out"
        )


def _told(c: StateMachine, mechanism: Mechanism) -> dict[str, Any]:
    """As files have it: gains stand in the states."""
    joints = mechanism.topology.names
    states = {}
    for k, (state, drive) in enumerate(zip(c.names, c.drives, strict=True)):
        ways = [(c.names[j], switch) for i, j, switch in c.transitions if i == k]
        states[state] = told(drive, joints, ways, text_of)
    limit = {} if c.limit is None else {n: float(x) for n, x, on in zip(joints, c.limit, c.limited, strict=True) if on}
    lag = {} if c.lag is None else {n: float(x) for n, x in zip(joints, c.lag, strict=True) if float(x) > 0.0}
    out: dict[str, Any] = {"states": states, "first": c.names[c.first] if c.first else None}
    out |= {field: value for field, value in (("limit", limit), ("lag", lag)) if value}
    return out | {"rate": c.rate, "anchored": c.anchored}
