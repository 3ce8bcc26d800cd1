"""A state of a state machine: what its joints are driven to, and where it leads."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from .. import errors
from .._arguments import JointValues, Names, TrajectoryLike, WaysLike
from ..hybrid.automaton import AbstractAutomaton
from ..hybrid.scene import Scene
from ..mechanism import Mechanism
from ..quantities import Real
from ..signal import Signal
from ._conditions import switch_of
from .switch import AbstractSwitch
from .trajectory import AbstractTrajectory

UNITS = {"targets": ("rad", "m"), "torques": ("N m", "N")}  # on hinges and on sliders


@dataclasses.dataclass(frozen=True)
class Mode:
    """A state of a `StateMachine`. Joints are called by their links; those that are not named are free.

    - `targets`: {joint: angle to the parent [rad], or displacement on a slider [m]}, a number or any signal as a text
    - `kp`, `kd`: {joint: gain}, [N m/rad] and [N m s/rad], or [N/m] and [N s/m]: a spring whose rest is the target
    - `torques`: {joint: torque [N m], or force on a slider [N]}, added; numbers or signals
    - `trajectory`: a motion of the joints that `follows` names (all that kp names, in their order), which begins when
      the state is entered and stays where it ends
    - `to`: {state: condition, or several}, as texts ("strike foot", "release foot", "slip foot", "after 0.2 s", any
      condition on signals such as "leg.slide_rate > 0") or switches

        carom.Mode(targets={"leg": 0.1}, kp={"leg": 2e3}, to={"flight": "release foot"})
    """

    targets: JointValues = dataclasses.field(default_factory=dict)
    kp: JointValues = dataclasses.field(default_factory=dict)
    kd: JointValues = dataclasses.field(default_factory=dict)
    torques: JointValues = dataclasses.field(default_factory=dict)
    trajectory: TrajectoryLike | None = None
    follows: Names = ()
    to: WaysLike = dataclasses.field(default_factory=dict)

    def ways(self, owner: str) -> list[tuple[str, Any]]:
        """(state, switch) of every way out."""
        if not isinstance(self.to, Mapping):
            raise errors.CaromError(f"to of {owner} is {self.to!r}; it must be {{state: condition}}")
        out = []
        for state, given in self.to.items():
            each = given if isinstance(given, list | tuple) else (given,)
            if not each:
                raise errors.CaromError(f"to of {owner} leads to '{state}' by no condition; give one, or leave it out")
            out += [(state, switch_of(one)) for one in each]
        return out


class Drive(eqx.Module):
    """A state as it is computed: per link, 0 where nothing is given; texts stand for numbers."""

    targets: tuple[Any, ...]
    kp: tuple[Any, ...]
    kd: tuple[Any, ...]
    torques: tuple[Any, ...]
    motion: AbstractTrajectory | None
    follows: tuple[int, ...] = eqx.field(static=True)
    aims: tuple[str | None, ...] = eqx.field(static=True)  # targets that are signals
    pushes: tuple[str | None, ...] = eqx.field(static=True)  # torques that are

    def check(self, owner: str, mechanism: Mechanism, others: Sequence[AbstractAutomaton]) -> None:
        """Refuse signals that the world does not have, or of another unit than what they are for."""
        top = mechanism.topology
        for field, texts in (("targets", self.aims), ("torques", self.pushes)):
            for k, text in enumerate(texts):
                if text is not None:
                    unit = UNITS[field][1 if top.slides[k] else 0]
                    Signal(text).fits(mechanism, others, unit, f"{field}.{top.names[k]} of {owner}")

    def torque(self, scene: Scene, clock: Real) -> list[Any]:
        """Of every joint, before limits."""
        moved = None if self.motion is None else self.motion.at(clock)
        out = []
        for k in range(len(self.kp)):
            aim = self.targets[k] if self.aims[k] is None else Signal(str(self.aims[k])).value(scene)
            push = self.torques[k] if self.pushes[k] is None else Signal(str(self.pushes[k])).value(scene)
            rate = jnp.asarray(0.0)
            if moved is not None and k in self.follows:
                at = self.follows.index(k)
                aim, rate = aim + moved.q[at], moved.v[at]
            away, speed = scene.relative_angle(k) - aim, scene.relative_rate(k) - rate
            out.append(push - self.kp[k] * away - self.kd[k] * speed)
        return out


def drive_of(owner: str, mode: Mode, mechanism: Mechanism, defaults: Mapping[str, Mapping[str, Any]]) -> Drive:
    """A state made for a mechanism; gains that it does not give are those of the machine."""
    top = mechanism.topology
    given = {field: _named(f"{field} of {owner}", getattr(mode, field), top.names) for field in ("targets", "torques")}
    gains = {f: {**defaults[f], **_named(f"{f} of {owner}", getattr(mode, f), top.names)} for f in ("kp", "kd")}
    for field, values in gains.items():
        for joint, value in values.items():
            errors.number(owner, f"{field}.{joint}", value)
    follows = (mode.follows,) if isinstance(mode.follows, str) else tuple(mode.follows)
    follows = follows or tuple(gains["kp"]) if mode.trajectory is not None else ()
    for joint in follows:
        errors.name_in(f"joint (follows of {owner})", joint, top.names)
    _refuse_motion(owner, mode.trajectory, follows)
    for joint in (*given["targets"], *follows):
        if joint not in gains["kp"]:
            raise errors.CaromError(
                f"targets of {owner} has '{joint}', which no gain drives there; give kp for '{joint}' in the state, or "
                "for the whole machine"
            )
    targets, aims = _apart(owner, "targets", given["targets"], top.names)
    torques, pushes = _apart(owner, "torques", given["torques"], top.names)
    driven = {*given["targets"], *follows}
    kp = tuple(errors.array(gains["kp"].get(n, 0.0) if n in driven else 0.0) for n in top.names)
    kd = tuple(errors.array(gains["kd"].get(n, 0.0) if n in driven or n in mode.kd else 0.0) for n in top.names)
    where = tuple(top.names.index(joint) for joint in follows)
    return Drive(targets, kp, kd, torques, mode.trajectory, where, aims, pushes)


def _refuse_motion(owner: str, motion: TrajectoryLike | None, follows: tuple[str, ...]) -> None:
    if motion is None:
        return
    if not isinstance(motion, AbstractTrajectory):
        raise errors.CaromError(
            f"trajectory of {owner} is a {type(motion).__name__}; it must be one, carom.control.Cubic"
        )
    if motion.size != len(follows):
        raise errors.CaromError(
            f"trajectory of {owner} moves {motion.size} joints, and follows names {len(follows)} "
            f"({', '.join(follows)}); they must agree"
        )


def _named(what: str, given: JointValues, names: tuple[str, ...]) -> dict[str, Any]:
    """Values by joint."""
    if not isinstance(given, Mapping):
        raise errors.CaromError(f"{what} is {given!r}; it must be {{joint: value}}, such as {{'{names[-1]}': 0.0}}")
    for joint in given:
        errors.name_in(f"joint ({what})", joint, names)
    return dict(given)


def _apart(
    owner: str, field: str, given: dict[str, Any], names: tuple[str, ...]
) -> tuple[tuple[Any, ...], tuple[str | None, ...]]:
    """Numbers of every joint, and the texts that stand for some of them."""
    texts = tuple(Signal(given[n]).text if isinstance(given.get(n), str) else None for n in names)
    for name, value in given.items():
        if not isinstance(value, str):
            errors.number(owner, f"{field}.{name}", value)
    numbers = [0.0 if text is not None else given.get(n, 0.0) for n, text in zip(names, texts, strict=True)]
    return tuple(errors.array(np.float64(x) if isinstance(x, int | float) else x) for x in numbers), texts


def told(drive: Drive, names: tuple[str, ...], ways: list[tuple[str, AbstractSwitch]], words: Any) -> dict[str, Any]:
    """A state as files have it."""
    out: dict[str, Any] = {}
    fields = {
        "targets": (drive.targets, drive.aims),
        "torques": (drive.torques, drive.pushes),
        "kp": (drive.kp, (None,) * len(names)),
        "kd": (drive.kd, (None,) * len(names)),
    }
    for field, (numbers, texts) in fields.items():
        driven = {k for k in range(len(names)) if float(drive.kp[k]) != 0.0 and k not in drive.follows}
        kept = {
            name: float(x) if text is None else text
            for k, (name, x, text) in enumerate(zip(names, numbers, texts, strict=True))
            if text is not None or float(x) != 0.0 or (field == "targets" and k in driven)
        }
        if kept:
            out[field] = kept
    if drive.motion is not None:
        out |= {"trajectory": drive.motion, "follows": [names[k] for k in drive.follows]}
    to: dict[str, list[str]] = {}
    for state, switch in ways:
        to.setdefault(state, []).append(words(switch))
    return out | ({"to": {state: each[0] if len(each) == 1 else each for state, each in to.items()}} if to else {})


def by_joint(
    name: str, field: str, given: JointValues | None, joints: tuple[str, ...], above: float | None = None
) -> dict[str, Any]:
    """Numbers by joint."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise errors.CaromError(
            f"{field} of '{name}' is {given!r}; it must be {{joint: number}}, of some of its joints"
        )
    for joint, value in given.items():
        errors.name_in(f"joint ({field} of '{name}')", joint, joints)
        errors.number(f"'{name}'", f"{field}.{joint}", value, above=above)
    return dict(given)
