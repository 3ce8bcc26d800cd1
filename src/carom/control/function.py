"""A plain function as a controller: torque(t, state, phase).

    def swing_up(t, state, phase):
        return {"arm": 4.0 * jnp.sign(state.rate("arm"))}            # or one number for every joint, in their order

    carom.TorqueFunction(arm, swing_up, limit={"arm": 2.0})

It is traced by JAX like the rest of the world, at every stage of every step; so it is written with jax.numpy, and with
jnp.where instead of `if`. With a sampling `rate` it is called so often, and its torques are held in between; then it
may be any Python, at the price of a call from the compiled loop for each sample.
"""

from __future__ import annotations

import dataclasses
import inspect
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .. import errors
from .._arguments import JointValues, Name, Names
from ..hybrid.automaton import AbstractAutomaton
from ..hybrid.scene import Own, Scene, merge
from ..mechanism import Mechanism
from ..quantities import Function, Real
from ..signal import Signal, known_names
from ._anchors import names_of
from ._driven_mechanism import topology_of
from ._limits import least_limits
from .actuator import AbstractActuator, sampling
from .mode import by_joint

CANNOT = (
    jax.errors.TracerArrayConversionError,
    jax.errors.ConcretizationTypeError,
    jax.errors.TracerBoolConversionError,
)

ASKED = ("q", "v", "angle(link)", "rate(link)", "joint(link)", "joint_rate(link)")
# What went wrong in sampled functions while a program ran, which has no way to say it: a sentence for each function.
_SAID: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()


class Moving:
    """The state as a function sees it: `q`, `v`, `angle(link)`, `rate(link)`, `joint(link)`, `joint_rate(link)`.

    `state["com.vx"]` is any signal (in functions that are traced).
    """

    def __init__(self, mechanism: Mechanism, q: Any, v: Any, scene: Scene | None) -> None:
        self.q, self.v, self._mechanism, self._scene = q, v, mechanism, scene

    def __getattr__(self, name: str) -> Any:
        if name[:1] == "_":
            raise AttributeError(name)
        raise errors.CaromError(
            f"a state has no '{name}'; it has {', '.join(ASKED)}, and signals, such as state['com.vx']"
        )

    def __getitem__(self, text: Name) -> Any:
        if self._scene is None:
            raise errors.CaromError(f"state['{text}'] is known to functions that JAX can trace; take q, v, angle, rate")
        Signal(text).check(self._mechanism, self._scene.automata)
        return Signal(text).value(self._scene)

    def angle(self, link: Name) -> Any:
        return self._turned(link, self.q)

    def rate(self, link: Name) -> Any:
        return self._turned(link, self.v)

    def joint(self, link: Name) -> Any:
        return self._of_joint(link, self.q)

    def joint_rate(self, link: Name) -> Any:
        return self._of_joint(link, self.v)

    def _turned(self, link: Name, values: Any) -> Any:
        top = self._mechanism.topology
        index = top.turn_index(top.link(link))
        return 0.0 if index is None else values[index]

    def _of_joint(self, link: Name, values: Any) -> Any:
        top = self._mechanism.topology
        k = top.link(link)
        above = top.turned_by[k]
        return values[top.angle_index(k)] - (values[top.angle_index(above)] if above >= 0 else 0.0)


class TorqueFunction(AbstractActuator):
    """Joint torques by a function torque(t, state, phase), traced, or sampled with a `rate` [Hz].

    - it returns {joint: torque [N m], or force on a slider [N]}, or one number for every link
    - `phase["foot"]`: is that contact closed (1 or 0)? `phase["machine"]`: number of another controller's phase
    - `limit`, `lag`: {joint: number}, as of a state machine; `anchored`
    """

    function: Function = eqx.field(static=True)
    joints: tuple[str, ...] = eqx.field(static=True)
    limited: tuple[bool, ...] = eqx.field(static=True)
    mechanism: Mechanism

    def __init__(
        self,
        mechanism: Mechanism,
        function: Function,
        *,
        limit: JointValues | None = None,
        lag: JointValues | None = None,
        rate: Real | None = None,
        anchored: Names = (),
        name: str = "control",
    ) -> None:
        if not callable(function):
            raise errors.CaromError(f"function of '{name}' is {function!r}; it must be a function of (t, state, phase)")
        _refuse_other_arguments(name, function)
        self.function, self.name, self.mechanism = function, name, mechanism
        self.joints = joints = topology_of(name, mechanism).names
        self.links = len(joints)
        limits, lags = by_joint(name, "limit", limit, joints, 0.0), by_joint(name, "lag", lag, joints, 0.0)
        self.limited = tuple(joint in limits for joint in joints)
        self.limit = [limits.get(joint, 0.0) for joint in joints] if limits else None
        self.lag = [lags.get(joint, 0.0) for joint in joints] if lags else None
        self.rate, self.anchored = sampling(name, rate), names_of(name, anchored)

    @property
    def words(self) -> str:
        how = "traced" if self.rate is None else "sampled"
        return f"TorqueFunction({getattr(self.function, '__name__', 'a function')}, {how})"

    @property
    def _most(self) -> tuple[Any, ...]:
        mine = (
            None if self.limit is None else [m if on else None for m, on in zip(self.limit, self.limited, strict=True)]
        )
        return least_limits(self.links, mine, self.effort)

    def check(self, mechanism: Mechanism, others: Sequence[AbstractAutomaton]) -> None:
        """Refuse a function that cannot be traced and is not sampled, and one that returns too little or too much."""

        def tried(q: Any, v: Any) -> Any:
            scene = Scene(mechanism, jnp.asarray(0.0), tuple(q), tuple(v))
            scene.gravity, scene.automata = jnp.zeros(2), tuple(others)
            return self._traced(scene, None)

        zeros = [jnp.asarray(0.0)] * mechanism.dof
        try:
            jax.eval_shape(tried, zeros, zeros)
        except CANNOT as why:
            if self.rate is None:
                raise errors.CaromError(
                    f"function of '{self.name}' cannot be traced by JAX ({type(why).__name__}); write it with "
                    "jax.numpy, and jnp.where instead of if; or give it a sampling rate, such as rate=1000, and it may "
                    "be any Python"
                ) from None
            still, there = np.zeros(mechanism.dof), dict.fromkeys(_phase_names(others), 0.0)
            self._numbers(self.function(0.0, Moving(mechanism, still, still, None), _Phases(there)))
        super().check(mechanism, others)

    @property
    def trouble(self) -> str:
        """What went wrong in the function when it was last sampled in vain."""
        return _SAID.get(self.function, "")

    def asked(self, scene: Scene, own: Own) -> list[Any]:
        try:
            return self._traced(scene, own)
        except CANNOT:
            return self._called(scene)

    def _traced(self, scene: Scene, own: Own | None) -> list[Any]:
        state = Moving(scene.mechanism, merge(scene.q), merge(scene.v), scene)
        return self._numbers(self.function(scene.t, state, _Phases(_phases(scene))))

    def _called(self, scene: Scene) -> list[Any]:
        """By a call from the compiled loop, with plain numbers."""
        phases, m = _phases(scene), self.mechanism

        def host(t: Any, q: Any, v: Any, numbers: Any) -> np.ndarray:
            state = Moving(m, np.asarray(q), np.asarray(v), None)
            named = dict(zip(phases, [float(x) for x in numbers], strict=True))
            try:
                return np.asarray(self._numbers(self.function(float(t), state, _Phases(named))), dtype=float)
            except Exception as why:  # whatever it is, the program goes on with nan, which ends the run
                said = str(why) if isinstance(why, errors.CaromError) else f"it raised {type(why).__name__}: {why}"
                _SAID[self.function] = f"at t = {float(t):.9g} s {said}"
                return np.full(self.links, np.nan)

        like = jax.ShapeDtypeStruct((self.links,), float)
        out = jax.pure_callback(host, like, scene.t, merge(scene.q), merge(scene.v), list(phases.values()))
        return [out[k] for k in range(self.links)]

    def _numbers(self, found: Any) -> list[Any]:
        """One for each joint, whatever it returned."""
        if isinstance(found, Mapping):
            for joint in found:
                errors.name_in(f"joint (returned by the function of '{self.name}')", joint, self.joints)
            found = [found.get(joint, 0.0) for joint in self.joints]
        try:
            each = [jnp.asarray(x, dtype=float) if errors.traced(x) else np.asarray(x, dtype=float) for x in found]
        except (TypeError, ValueError):
            each = []
        if len(each) != self.links or any(np.shape(x) for x in each):
            count = f"{len(each)} torques" if each else f"a {type(found).__name__}"
            raise errors.CaromError(
                f"function of '{self.name}' returns {count}; it must return one number for each of the {self.links} "
                f"links ({', '.join(self.joints)}), or {{joint: torque}}"
            )
        if not errors.traced(*each) and not np.all(np.isfinite(each)):
            raise errors.CaromError(f"function of '{self.name}' returns {[float(x) for x in each]}; torques are finite")
        return [jnp.asarray(x, dtype=float) for x in each]


@dataclasses.dataclass(frozen=True)
class _Phases:
    """What is closed, and in which phases others are, by name."""

    numbers: dict[str, Any]

    def __getitem__(self, name: Name) -> Any:
        errors.name_in("contact or controller", name, list(self.numbers))
        return self.numbers[name]


def _refuse_other_arguments(name: str, function: Function) -> None:
    try:
        shape = inspect.signature(function)
    except (TypeError, ValueError):  # of some that are not written in Python nothing is known
        return
    try:
        shape.bind(0.0, None, None)
    except TypeError:
        raise errors.CaromError(
            f"function of '{name}' takes {shape}; it must take (t, state, phase), in this order"
        ) from None


def _phase_names(automata: Sequence[AbstractAutomaton]) -> list[str]:
    """Contacts, and whatever has several phases."""
    contacts = [contact.name for automaton in automata for contact in automaton.report.contacts]
    others = [a.name for a in automata if len(a.anatomy.phases) > 1 and not a.report.contacts]
    return [*contacts, *others]


def _phases(scene: Scene) -> dict[str, Any]:
    known, out = known_names(scene.mechanism, scene.automata), dict[str, Any]()
    for automaton in scene.automata:
        for contact in automaton.report.contacts:
            out[contact.name] = known[f"contact.{contact.name}.closed"].value(scene)
        if f"phase.{automaton.name}" in known:
            out[automaton.name] = known[f"phase.{automaton.name}"].value(scene)
    return out
