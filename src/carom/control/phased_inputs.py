"""Efforts from a table over the time since an event that comes again and again, with gains about a reference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from .. import errors
from .._arguments import AgainLike, Name, Names
from ..hybrid.automaton import AbstractAutomaton, Anatomy, Flow, Landing, Standing
from ..hybrid.condition import Condition, level, unless
from ..hybrid.reporting import Channel, Drive, Efforts, Report
from ..hybrid.scene import Load, Own, Scene, merge
from ..mechanism import Mechanism
from ..quantities import Flag, Real, Rows
from ._conditions import switch_of, words_of
from ._driven_mechanism import topology_of
from .switch import AbstractSwitch

BEFORE = -1.0  # row of the table before the first sample of a run, which is taken at once


class PhasedInputs(AbstractAutomaton):
    """Efforts u_k + gains_k (x - about_k) at some joints, taken at `times` since the last event and held in between.

    The clock starts at the beginning of the run and again at every event, so that after a strike that comes early or
    late the state is compared with what the reference does after its strike.

    - `joints`: names of links whose joints are driven: torque of the parent [N m], force of a slider [N]
    - `again`: the event, as state machines write it: "strike foot", "release hand", "hip.y < 0.4 m"; or the period [s]
      after which the clock starts again
    - `times` (N) [s] since the event, rising from 0; the last row is held until the event, whenever it comes
    - `inputs` (N, joints) [N m], [N]; cut at the limits of the joints (effort_limit)
    - `gains` (N, joints, size) and `about` (N, size), or none of them: x is coordinates, velocities, and the states of
      all other parts of the world, in the order in which the world lists them

        carom.PhasedInputs(robot, "leg", "strike foot", [0.0, 0.1], [[150.0], [0.0]])
    """

    table: Any
    gains: Any
    about: Any
    times: Any
    period: Any  # None: an event
    switch: AbstractSwitch | None
    joints: tuple[str, ...] = eqx.field(static=True)
    links: tuple[int, ...] = eqx.field(static=True)
    name: str = eqx.field(static=True)

    def __init__(
        self,
        mechanism: Mechanism,
        joints: Names,
        again: AgainLike,
        times: Rows,
        inputs: Rows,
        gains: Rows | None = None,
        about: Rows | None = None,
        *,
        name: str = "control",
    ) -> None:
        self.name, top = name, topology_of(name, mechanism)
        self.joints = errors.listed(f"joints of '{name}'", joints)
        errors.names(f"joints of '{name}'", list(self.joints), "name each once")
        for joint in self.joints:
            errors.name_in(f"joint (joints of '{name}')", joint, top.names)
        self.links = tuple(top.names.index(joint) for joint in self.joints)
        for k, joint in zip(self.links, self.joints, strict=True):
            if k in top.loose:
                raise errors.CaromError(f"joints of '{name}' names '{joint}', the first link of a free base: no joint")
        self.times = _rows(name, "times", times, (None,))
        rows, m = len(self.times), len(self.joints)
        if self.times[0] != 0.0 or np.any(np.diff(self.times) <= 0.0):
            raise errors.CaromError(f"times of '{name}' are {self.times.tolist()}; they must rise from 0")
        self.table = _rows(name, "inputs", inputs, (rows, m))
        if (gains is None) != (about is None):
            raise errors.CaromError(f"'{name}' needs gains and about, the states that they act about; or none of them")
        self.gains = None if gains is None else _rows(name, "gains", gains, (rows, m, None))
        size = 0 if self.gains is None else self.gains.shape[2]
        self.about = None if about is None else _rows(name, "about", about, (rows, size))
        self.switch, self.period = _again(name, again, float(self.times[-1]))

    def check(self, mechanism: Mechanism, others: Sequence[AbstractAutomaton]) -> None:
        """Refuse events that the world does not have, and gains for a state of another size."""
        if self.switch is not None:
            self.switch.check(mechanism, others)
        states = sum(len(other.anatomy.states) for other in others if other.name != self.name)
        size = 2 * mechanism.dof + states
        if self.gains is not None and self.gains.shape[2] != size:
            raise errors.CaromError(
                f"gains of '{self.name}' act on {self.gains.shape[2]} numbers, but the state of this world has {size}"
            )

    @property
    def words(self) -> str:
        period = None if self.period is None else errors.known(self.period)
        every = "periodic" if period is None else f"every {float(period):g} s"
        when = every if self.switch is None else f"since '{words_of(self.switch)}'"
        held = "" if self.gains is None else ", with gains"
        return f"{len(self.times)} rows of efforts at {', '.join(self.joints)}, {when}{held}"

    @property
    def anatomy(self) -> Anatomy:
        return Anatomy(
            exits=("again", "sample"),
            memory=("entered", "row", *(f"effort {joint}" for joint in self.joints)),
            instants=("entered",),
            channels=(Channel("inputs", "driven"),),
            pausable=True,
        )

    @property
    def report(self) -> Report:
        return Report(words=((self.name, self.words),), drive=Drive(self._efforts))

    def start(self, scene: Scene) -> Own:
        zeros = (jnp.asarray(0.0),) * len(self.joints)
        return Own(jnp.asarray(0), (scene.t, jnp.asarray(BEFORE), *zeros), ())

    def force(self, scene: Scene, own: Own, load: Load) -> Flow:
        power: Any = 0.0
        for link, effort in zip(self.links, own.memory[2:], strict=True):
            scene.turn(load, link, effort)
            power = power + effort * scene.relative_rate(link)
        return Flow((), (jnp.asarray(power, dtype=float),))

    def guard(self, scene: Scene, own: Own) -> Sequence[Any]:
        entered, row = own.memory[0], own.memory[1]
        again = unless(scene.t <= entered, self._again(scene, entered))
        sample = unless(row >= len(self.times) - 1.0, level(scene.t - self._due(own)))
        return [again, sample]

    def _again(self, scene: Scene, entered: Real) -> Condition:
        if self.switch is None:
            return level(scene.t - entered - self.period)
        return self.switch.since(scene, entered)

    def _due(self, own: Own) -> Any:
        """When the next row comes [s]."""
        rows = len(self.times)
        after = jnp.clip(own.memory[1] + 1.0, 0.0, rows - 1.0)
        return own.memory[0] + self._row(self.times, after)

    def _row(self, table: Any, row: Real) -> Any:
        """Row by row, as scalar code is shortest that way."""
        found = table[0]
        for k in range(1, len(self.times)):
            found = jnp.where(row == k, table[k], found)
        return found

    @property
    def standing(self) -> Standing:
        return Standing(instants=self._instants)

    def _instants(self, own: Own) -> Sequence[Any]:
        known = [jnp.where(own.memory[1] >= len(self.times) - 1.0, jnp.inf, self._due(own))]
        return known if self.switch is not None else [*known, own.memory[0] + self.period]

    def jump(self, scene: Scene, own: Own, fired: tuple[Flag, ...]) -> Landing:
        again, sample = fired
        row = jnp.where(again, 0.0, jnp.where(sample, own.memory[1] + 1.0, own.memory[1]))
        entered = jnp.where(again, scene.t, own.memory[0])
        fresh = self._taken(scene, row)
        held = [jnp.where(again | sample, new, old) for new, old in zip(fresh, own.memory[2:], strict=True)]
        return Landing(own.phase, (entered, row, *held), own.states)

    def _taken(self, scene: Scene, row: Real) -> list[Any]:
        """Efforts at this row of the table, cut at the joints' limits."""
        asked = self._row(self.table, row)
        if self.gains is not None:
            x = self._state(scene) - self._row(self.about, row)
            asked = asked + jnp.sum(self._row(self.gains, row) * x[None, :], axis=1)
        top, most = scene.top, scene.mechanism.numbers.effort
        return [
            jnp.clip(asked[k], -most[link], most[link]) if top.limited[link] else asked[k]
            for k, link in enumerate(self.links)
        ]

    def _state(self, scene: Scene) -> Any:
        others = [own for a, own in zip(scene.automata, scene.owns, strict=True) if a.name != self.name]
        extra = [jnp.asarray(x, dtype=float) for own in others for x in own.states]
        return jnp.concatenate([merge(scene.q), merge(scene.v), jnp.stack(extra) if extra else jnp.zeros(0)])

    def _efforts(self, scene: Scene, own: Own) -> Efforts:
        out: list[Any] = [jnp.asarray(0.0)] * scene.top.links
        for link, effort in zip(self.links, own.memory[2:], strict=True):
            out[link] = effort
        return Efforts(out)


def _again(name: Name, given: AgainLike, last: float) -> tuple[AbstractSwitch | None, Any]:
    """The event that starts the clock again, or the period."""
    if isinstance(given, str | AbstractSwitch):
        switch = switch_of(given)
        if switch.waits is not None:
            return _again(name, float(switch.waits), last)
        if switch.instant is not None:
            raise errors.CaromError(f"again of '{name}' is an instant, which comes once; give an event or a period [s]")
        return switch, None
    errors.number(f"'{name}'", "again", given, above=0.0)
    if not float(given) > last or not math.isfinite(float(given)):
        raise errors.CaromError(
            f"again of '{name}' is {float(given):g} s, not after its last row at {last:g} s; give a longer period"
        )
    return None, jnp.asarray(float(given))


def _rows(name: Name, field: str, given: Rows, shape: tuple[int | None, ...]) -> np.ndarray:
    try:
        found = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise errors.CaromError(f"{field} of '{name}' must be rows of numbers of one length") from None
    fits = found.ndim == len(shape) and all(b in (None, a) for a, b in zip(found.shape, shape, strict=True))
    if not fits or not found.size:
        wanted = ", ".join("N" if n is None else str(n) for n in shape)
        raise errors.CaromError(f"{field} of '{name}' has shape {found.shape}; it must have shape ({wanted})")
    if not np.all(np.isfinite(found)):
        raise errors.CaromError(f"{field} of '{name}' has an entry that is not finite")
    return found
