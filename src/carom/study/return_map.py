"""The map from just after one event to just after the next of its kind, with its exact derivatives."""

from __future__ import annotations

import dataclasses
import math
import types
from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from .. import errors
from .._arguments import DriftsLike
from ..hybrid import outcome
from ..hybrid._carry import begin
from ..hybrid._run import executable, to_end
from ..hybrid.scene import Continuous, merge
from ..hybrid.settings import Integration, Settings, settings_or_default
from ..hybrid.world import World
from ..quantities import Given, Index, Phases, Real
from ..result.result import Result
from ._fixed_point import Orbit, solved
from ._map_events import guard_of, refuse_clocks
from ._relabelling import Entry, Relabelling, drifting, entries

MOST = 10_000  # returns in a period
EXACT = Settings(solver="dopri8", rtol=1e-11, atol=1e-13)  # Newton's method needs derivatives with some digits


class Passed(NamedTuple):
    """One return, before anything gets another name."""

    x: np.ndarray
    time: float
    phases: Phases
    renewed: np.ndarray  # (n,): instants that were set on the way


class Slopes(NamedTuple):
    """The map at a state, and how its image and its time change with the state, and with a parameter of the world."""

    x: np.ndarray
    time: float
    dx: np.ndarray  # (n, n)
    dtime: np.ndarray  # (n,)
    along: np.ndarray  # (n,), zeros where no parameter is asked for
    dtime_along: float


class ReturnMap:
    """From just after one event to just after the next one of its kind; at most `until` [s] later.

    Integrated with `dopri8` at rtol 1e-11 unless `settings` say otherwise. Made from a run that has been through the
    event at least once, which shows in which phases the automata are there.

    - `drifts`: coordinates and extra states that may shift by a constant from period to period, by their names in
      signals: ["base.x"], or {"angle": 2 * pi}, where it is known by how much
    - `exchange`: names that are exchanged after every return, {"left": "right"}: of links, contacts, controllers and
      their phases. The next event is then that of the counterpart
    - `times`: so many returns are one application of the map
    """

    drifts: Mapping[int, float | None] = types.MappingProxyType({})
    times = 1
    swap: Relabelling | None = None
    names: tuple[Entry, ...] = ()
    back: Any = 0.0  # what is taken off between the returns of a period: names are exchanged, and places with them

    def __init__(
        self,
        result: Result,
        automaton: str,
        exit: str,
        *,
        until: float = 1e3,
        settings: Settings | None = None,
        drifts: DriftsLike = (),
        exchange: Mapping[str, str] | None = None,
        times: int = 1,
    ) -> None:
        world = result.world
        guard = guard_of(world, automaton, exit)
        refuse_clocks(world)
        rows = np.flatnonzero(np.asarray(result.marks.fired[guard]) > 0.0)
        if not len(rows):
            raise errors.CaromError(
                f"event '{exit}' of '{automaton}' never happened in the run; a return map needs a run that meets it; "
                "run longer, or choose another event"
            )
        # What answers the event at the same instant (a switch on strike) belongs to it: the map ends with that.
        row, instants = int(rows[-1]), np.asarray(result.marks.t)
        while row + 1 < len(instants) and instants[row + 1] - instants[row] < 1e-12:
            row += 1
        guard = next(g for g, fired in enumerate(result.marks.fired) if fired[row])
        last = jax.tree.map(lambda column: jnp.asarray(column[row]), result.marks)
        phases = tuple(p.astype(int) for p in last.phases_after)
        state = (last.after.q, last.after.v, last.after.extra, last.memory_after)
        self._put(world, (automaton, exit), guard, phases, state, until, settings, float(instants[row]))
        if not isinstance(times, int | np.integer) or isinstance(times, bool) or not 1 <= times <= MOST:
            raise errors.CaromError(f"times of a return map is {times!r}; it must be a whole number from 1 to {MOST}")
        self.times, self.drifts = int(times), drifting(world, drifts)
        if exchange is not None:
            self.swap = Relabelling(world, exchange)
            self.goal = self.swap.before(guard)

    @classmethod
    def through(
        cls,
        world: World,
        event: tuple[str, str],
        phases: tuple[Any, ...],
        state: PyTree,
        until: float = 1e3,
        settings: Settings | None = None,
        at: float = 0.0,
    ) -> ReturnMap:
        """The map of a world through an event at which its automata are in these phases; `state` just after it is
        (q, v, extra, memory) as the engine carries them at the time `at` [s]."""
        made = cls.__new__(cls)
        made._put(world, event, guard_of(world, *event), phases, state, until, settings, at)
        return made

    def _put(
        self,
        world: World,
        event: tuple[str, str],
        guard: int,
        phases: tuple[Any, ...],
        state: PyTree,
        until: float,
        settings: Settings | None,
        at: float,
    ) -> None:
        self.world, self.event, self.phases, self.goal = world, event, phases, guard
        leaves, self._tree = jax.tree.flatten(state)
        self._shapes = tuple(np.shape(leaf) for leaf in leaves)
        self.names = tuple(entries(world))
        times = {(a.name, name) for a in world.automata for name in a.anatomy.instants}
        self._instants = np.array([e.kind == "memory" and (e.owner, e.name) in times for e in self.names])
        self.start = _flat(state) - at * self._instants
        chosen = EXACT if settings is None else settings_or_default(settings)
        self._integration = chosen.integration(until)

    def of(self, world: World) -> ReturnMap:
        """The same map of a world with other numbers."""
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__, world=world)
        return made

    def going_back(self, shift: np.ndarray) -> ReturnMap:
        """The same map, which takes the shift of a return off before the next one, where names are exchanged."""
        made = self.of(self.world)
        made.back = shift if self.swap is not None else 0.0
        return made

    def twice(self) -> ReturnMap:
        """The map of two applications of this one."""
        made = self.of(self.world)
        made.times = 2 * self.times
        made.drifts = {k: None if by is None else 2.0 * by for k, by in self.drifts.items()}
        return made

    def integration(self, goal: Index) -> Integration:
        """How one return is integrated."""
        return dataclasses.replace(self._integration, stop_at=jnp.asarray(goal))

    def state(self, x: Given) -> Any:
        """(q, v, extra, memory) of a state of the map, as the engine carries them."""
        numbers, leaves, k = np.asarray(x, dtype=float), list[np.ndarray](), 0
        for shape in self._shapes:
            size = math.prod(shape)
            leaves.append(np.asarray(numbers[k : k + size].reshape(shape)))
            k += size
        return jax.tree.unflatten(self._tree, leaves)

    def _given(self, x: Given, phases: Phases, goal: Index) -> tuple[Any, ...]:
        return self.world, self.integration(goal), phases, self.state(x)

    def passed(self, x: Given, phases: Phases, goal: Index) -> Passed:
        """On to the event of this number. Instants that were set on the way are counted from its end."""
        given = self._given(x, phases, goal)
        new, time, code, phases = executable(_returned, (), *given)(*given)
        if int(code) != outcome.EVENT_LIMIT:
            raise errors.CaromError(
                f"the motion does not return to '{self.event[1]}' of '{self.event[0]}': {outcome.describe(int(code))}"
            )
        raw = _flat(new)
        renewed = self._instants & (raw != np.asarray(x))  # others keep their numbers: nothing follows from them
        return Passed(raw - renewed * float(time), float(time), phases, renewed)

    def renamed(self, x: np.ndarray) -> np.ndarray:
        """The state under the names that things have after the exchange."""
        return x if self.swap is None else x[self.swap.order]

    def returns(self, x: Given) -> list[Passed]:
        """Every single return of one application; each begins where the one before ended, under the names it has."""
        found, phases = list[Passed](), self.phases
        at = np.asarray(x, dtype=float)
        for _ in range(self.times):
            one = self.passed(at, phases, self.goal)
            found.append(one._replace(x=self.renamed(one.x)))
            at, phases = found[-1].x - self.back, one.phases if self.swap is None else self.phases
        return found

    def __call__(self, x: Given) -> tuple[np.ndarray, float]:
        """State after the next event, and the time until then [s]."""
        found = self.returns(x)
        return found[-1].x + (self.times - 1) * self.back, sum(one.time for one in found)

    def derivative(self, x: Given) -> np.ndarray:
        """dP/dx, direction after direction."""
        return self.slopes(x).dx

    def slopes(self, x: Given, along: PyTree = None) -> Slopes:
        """The map with its derivatives; `along`: how the numbers of the world change with a parameter."""
        at, n = np.asarray(x, dtype=float), len(self.start)
        whole = Slopes(at, 0.0, np.eye(n), np.zeros(n), np.zeros(n), 0.0)
        phases = self.phases
        for number in range(self.times):
            whole = whole._replace(x=whole.x - self.back) if number else whole
            one = self.passed(whole.x, phases, self.goal)
            dx, dtime = self._pushed(whole.x, one, phases, np.eye(n), None)
            move = np.zeros((n, 1)), np.zeros(1)
            if along is not None:
                move = self._pushed(whole.x, one, phases, np.zeros((n, 1)), along)
            whole = Slopes(
                self.renamed(one.x),
                whole.time + one.time,
                self.renamed(dx @ whole.dx),
                whole.dtime + dtime @ whole.dx,
                self.renamed(dx @ whole.along + move[0][:, 0]),
                float(whole.dtime_along + dtime @ whole.along + move[1][0]),
            )
            phases = one.phases if self.swap is None else self.phases
        return whole._replace(x=whole.x + (self.times - 1) * self.back)

    def _pushed(
        self, x: Given, one: Passed, phases: Phases, directions: Any, along: PyTree
    ) -> tuple[np.ndarray, np.ndarray]:
        """What becomes of directions of the state (columns); with them the world changes along `along`."""
        given = self._given(x, phases, self.goal)
        still = jax.tree.map(np.zeros_like, floats_of(self.world, self.world)) if along is None else along
        columns, times = [], []
        push = executable(_pushed_on, (), *given, still, self.state(directions[:, 0]))
        for direction in directions.T:
            new, time = push(*given, still, self.state(direction))
            columns.append(_flat(new))
            times.append(float(time))
        return np.stack(columns, axis=1) - np.outer(one.renewed, times), np.array(times)

    def coordinates(self, x: Given) -> tuple[np.ndarray, np.ndarray]:
        """q and v of a state of the map."""
        q, v, _, _ = self.state(x)
        return np.asarray(merge(q)), np.asarray(merge(v))

    def orbit(self, start: Given | None = None, tolerance: float = 1e-11, most: int = 30) -> Orbit:
        """The fixed point near `start` (by default the last event of the run), by Newton's method."""
        return solved(self, self.start if start is None else start, tolerance, most)


def _returned(world: World, integration: Integration, phases: Phases, state: PyTree) -> tuple[Any, ...]:
    """State after the next event, the time it took, the outcome and the phases."""
    q, v, extra, memory = state
    carry = begin(world, jnp.asarray(0.0), Continuous(q, v, extra, ()), phases, memory, jnp.asarray(1e-4))
    end = to_end(world, integration, carry)
    return (end.y.q, end.y.v, end.y.extra, end.memory), end.t, end.outcome, end.phases


def _pushed_on(
    world: World, integration: Integration, phases: Phases, state: PyTree, move: PyTree, along: PyTree
) -> Any:
    """What the map makes of a direction of the state and of the world's numbers; and by how much its time changes."""

    def run(numbers: PyTree, s: PyTree) -> Any:
        return _returned(_with_floats(world, numbers), integration, phases, s)[:2]

    return jax.jvp(run, (floats_of(world, world), state), (move, along))[1]


def floats_of(tree: PyTree, other: PyTree) -> tuple[Any, ...]:
    """The leaves of another tree of this shape that stand where this one has real numbers."""
    pairs = zip(jax.tree.leaves(tree), jax.tree.leaves(other), strict=True)
    return tuple(y for x, y in pairs if jnp.issubdtype(jnp.result_type(x), jnp.floating))


def _with_floats(tree: PyTree, numbers: tuple[Real, ...]) -> Any:
    """The tree with other real numbers."""
    leaves, shape = jax.tree.flatten(tree)
    fresh = iter(numbers)
    new = [next(fresh) if jnp.issubdtype(jnp.result_type(x), jnp.floating) else x for x in leaves]
    return jax.tree.unflatten(shape, new)


def _flat(state: PyTree) -> np.ndarray:
    """All numbers of a state, one after the other."""
    return np.concatenate([np.ravel(np.asarray(leaf, dtype=float)) for leaf in jax.tree.leaves(state)])
