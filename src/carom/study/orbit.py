"""Periodic motion: the map from one event to the next of its kind, its fixed points, and their stability.

The state at an event is everything that the future depends on: coordinates, velocities, the automata's own states and
memories. The map P runs from just after one event (a strike, a switch of the controller) to just after the next one of
that kind. Newton's method on x - P(x), with exact derivatives through everything in between, finds its fixed points;
the eigenvalues of dP/dx are their multipliers. One of them is zero, because the event itself fixes one combination of
the state, and further ones for memories.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import PyTree

from .. import errors
from .._arguments import Name, StartLike
from .._simulation import simulate
from ..hybrid import outcome
from ..hybrid._carry import begin
from ..hybrid._run import executable, to_end
from ..hybrid.scene import Continuous, merge
from ..hybrid.settings import Integration, Settings, settings_or_default
from ..hybrid.world import World
from ..mechanism import State
from ..quantities import Function, Given, Phases, Vector
from ..result.result import Result
from .batch import batch
from .poincare_section import Section
from .recording import Returns

EXACT = Settings(solver="dopri8", rtol=1e-11, atol=1e-13)  # Newton's method needs derivatives with some digits
NEUTRAL = 1e-8  # multipliers so near to 1 neither grow nor die out


@dataclasses.dataclass(frozen=True)
class Orbit:
    """A periodic motion that returns to an event."""

    event: tuple[str, str]  # automaton and exit
    q: np.ndarray  # just after the event
    v: np.ndarray
    period: float  # [s]
    residual: float  # largest |P(x) - x|
    iterations: int
    multipliers: np.ndarray  # eigenvalues of dP/dx, largest first
    derivative: np.ndarray  # dP/dx over (q, v, states, memories)

    @property
    def stable(self) -> bool:
        """Do small disturbances die out?"""
        return bool(np.abs(self.multipliers[0]) < 1.0 - NEUTRAL)

    def __str__(self) -> str:
        sizes = ", ".join(f"{abs(m):.3g}" for m in self.multipliers[:4])
        most = float(np.abs(self.multipliers[0]))
        word = "stable" if self.stable else "neutral" if most <= 1.0 + NEUTRAL else "unstable"
        return (
            f"{word} orbit through '{self.event[1]}' of '{self.event[0]}': period {self.period:.9g} s, "
            f"|multipliers| {sizes}, residual {self.residual:.1e} after {self.iterations} Newton steps"
        )


class ReturnMap:
    """From just after one event to just after the next one of its kind; at most `until` [s] later.

    Integrated with `dopri8` at rtol 1e-11 unless `settings` say otherwise. Made from a run that has been through the
    event at least once, which shows in which phases the automata are there.
    """

    def __init__(
        self,
        result: Result,
        automaton: str,
        exit: str,
        *,
        until: float = 1e3,
        settings: Settings | None = None,
    ) -> None:
        world = result.world
        guard = _guard_of(world, automaton, exit)
        _refuse_clocks(world)
        rows = np.flatnonzero(np.asarray(result.marks.fired[guard]) > 0.0)
        if not len(rows):
            raise errors.CaromError(
                f"event '{exit}' of '{automaton}' never happened in the run; a return map needs a run that meets it; "
                "run longer, or choose another event"
            )
        # What answers the event at the same instant (a switch on strike) belongs to it: the map ends with that.
        row, times = int(rows[-1]), np.asarray(result.marks.t)
        while row + 1 < len(times) and times[row + 1] - times[row] < 1e-12:
            row += 1
        guard = next(g for g, fired in enumerate(result.marks.fired) if fired[row])
        last = jax.tree.map(lambda column: jnp.asarray(column[row]), result.marks)
        phases = tuple(p.astype(int) for p in last.phases_after)
        state = (last.after.q, last.after.v, last.after.extra, last.memory_after)
        self._put(world, (automaton, exit), guard, phases, state, until, settings)

    @classmethod
    def through(
        cls,
        world: World,
        event: tuple[str, str],
        phases: tuple[Any, ...],
        state: PyTree,
        until: float = 1e3,
        settings: Settings | None = None,
    ) -> ReturnMap:
        """The map of a world through an event at which its automata are in these phases; `state` just after it is
        (q, v, extra, memory) as the engine carries them."""
        made = cls.__new__(cls)
        made._put(world, event, _guard_of(world, *event), phases, state, until, settings)
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
    ) -> None:
        self.world, self.event, self.phases = world, event, phases
        self.start, self._shape = ravel_pytree(state)
        chosen = EXACT if settings is None else settings_or_default(settings)
        self._integration = dataclasses.replace(chosen.integration(until), stop_at=jnp.asarray(guard))

    def _given(self, x: Vector) -> tuple[Any, ...]:
        return self.world, self._integration, self.phases, self._shape(x)

    def __call__(self, x: Given) -> tuple[np.ndarray, float]:
        """State after the next event, and the time until then [s]."""
        given = self._given(jnp.asarray(x, dtype=float))
        new, time, code = executable(_returned, (), *given)(*given)
        if int(code) != outcome.EVENT_LIMIT:
            raise errors.CaromError(
                f"the motion does not return to '{self.event[1]}' of '{self.event[0]}': {outcome.describe(int(code))}"
            )
        return np.asarray(ravel_pytree(new)[0]), float(time)

    def derivative(self, x: Given) -> np.ndarray:
        """dP/dx, direction after direction."""
        given = self._given(jnp.asarray(x, dtype=float))
        directions = [self._shape(e) for e in jnp.eye(len(self.start))]
        push = executable(_pushed_on, (), *given, directions[0])
        return np.stack([np.asarray(ravel_pytree(push(*given, e))[0]) for e in directions], axis=1)

    def coordinates(self, x: Given) -> tuple[np.ndarray, np.ndarray]:
        """q and v of a state of the map."""
        q, v, _, _ = self._shape(jnp.asarray(x))
        return np.asarray(merge(q)), np.asarray(merge(v))

    def orbit(self, start: Given | None = None, tolerance: float = 1e-11, most: int = 30) -> Orbit:
        """The fixed point near `start` (by default the last event of the run), by Newton's method."""
        x = np.asarray(self.start if start is None else start, dtype=float)
        for count in range(1, most + 1):
            iteration = count
            new, time = self(x)
            slope = self.derivative(x)
            # A direction that the map only shifts (a place on a level floor) has many answers: the nearest is taken.
            step = np.linalg.lstsq(np.eye(len(x)) - slope, new - x, rcond=NEUTRAL)[0]
            x = x + step
            if np.max(np.abs(step)) <= tolerance * (1.0 + np.max(np.abs(x))):
                break
        else:
            raise errors.CaromError(
                f"no periodic motion was found in {most} Newton steps (last step {np.max(np.abs(step)):.1e}); start "
                "nearer to it: let the simulation run longer first"
            )
        new, time = self(x)
        gap = float(np.max(np.abs(new - x)))
        if gap > NEUTRAL * (1.0 + np.max(np.abs(x))):
            raise errors.CaromError(
                f"the motion comes back to '{self.event[1]}' of '{self.event[0]}' always shifted by {gap:.3g}, "
                "whatever the state there; it is not periodic; look for what drifts (a coordinate that nothing holds)"
            )
        slope = self.derivative(x)
        roots = np.linalg.eigvals(slope)
        q, v = self.coordinates(x)
        return Orbit(self.event, q, v, time, gap, iteration, roots[np.argsort(-np.abs(roots))], slope)


def _returned(world: World, integration: Integration, phases: Phases, state: PyTree) -> tuple[Any, Any, Any]:
    """State after the next event, the time it took, and the outcome."""
    q, v, extra, memory = state
    carry = begin(world, jnp.asarray(0.0), Continuous(q, v, extra, ()), phases, memory, jnp.asarray(1e-4))
    end = to_end(world, integration, carry)
    return (end.y.q, end.y.v, end.y.extra, end.memory), end.t, end.outcome


def _pushed_on(world: World, integration: Integration, phases: Phases, state: PyTree, along: PyTree) -> Any:
    """What the map makes of a direction."""
    return jax.jvp(lambda s: _returned(world, integration, phases, s)[0], (state,), (along,))[1]


def _guard_of(world: World, automaton: Name, exit: Name) -> int:
    found = world.automaton(automaton)
    errors.name_in(f"event of '{automaton}'", exit, found.anatomy.exit_names)
    which = [a.name for a in world.automata].index(automaton)
    return world.events.index((which, found.anatomy.exit_names.index(exit)))


def _refuse_clocks(world: World) -> None:
    """A world that depends on time itself does not return to its state at an event."""
    for automaton in world.automata:
        if automaton.anatomy.clocked:
            raise errors.CaromError(
                f"'{automaton.name}' depends on time itself (a sampled controller, a switch at a time, a moving "
                "surface), so that a state at an event does not determine the future; make it continuous"
            )


def find_orbit(
    world: World, event: tuple[str, str], start: State, *, until: float, settings: Settings | None = None
) -> Orbit:
    """Run from a rough guess until `until` [s], then find the periodic motion through the event by Newton's method.

    `event` is (automaton, exit), such as ('hand', 'touch'). `settings` are those of the run from the guess and of the
    return map; without them the run has the defaults of every run, the map those of `ReturnMap`.

    A ball that loses nothing comes back after 2 v / g, whatever its speed v; so it is neutral, not stable:

    >>> import carom
    >>> ball = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
    >>> floor = carom.Contact(ball.tip, carom.Plane(height=0.0), carom.Newton(1.0), radius=0.1, name="floor")
    >>> world = carom.World(ball, contacts=floor, gravity=9.81)
    >>> orbit = carom.find_orbit(world, ("rigid contacts", "strike floor"), world.state(base=(0.0, 1.1)), until=2.0)
    >>> print(round(9.81 * orbit.period / (2 * orbit.v[1]), 9), round(abs(orbit.multipliers[0]), 6), orbit.stable)
    1.0 1.0 False
    """
    result = simulate(world, start, until=until, settings=settings)
    return ReturnMap(result, *event, settings=settings).orbit()


def bifurcation(
    make: Function,
    values: PyTree,
    event: tuple[str, str] | Function,
    start: StartLike,
    *,
    until: float,
    keep: int = 8,
    discard: int | None = None,
    direction: int = 0,
    settings: Settings | None = None,
) -> list[Section]:
    """Returns to an event, for every value of a parameter: what a bifurcation diagram shows. All values are one batch.

    The last `keep` before `until` [s]; or, with `discard`, as many after the first `discard`, whenever they come, with
    which each run ends. `event` is (automaton, exit), or a function of (t, q, v) whose passage through zero counts,
    upwards (`direction` 1), downwards (-1) or both (0). `make(value)` makes the world; only its numbers may depend on
    the value, so that it is compiled once.

    >>> import carom
    >>> ball = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
    >>> def world(restitution):
    ...     law = carom.Newton(restitution)
    ...     floor = carom.Contact(ball.tip, carom.Plane(height=0.0), law, radius=0.1, name="floor")
    ...     return carom.World(ball, contacts=floor, gravity=9.81)
    >>> start, strike = world(1.0).state(base=(0.0, 1.1)), ("rigid contacts", "strike floor")
    >>> for section in carom.bifurcation(world, [0.5, 1.0], strike, start, until=1.4, keep=2, discard=0):
    ...     print(section.v[:, 1].round(6))  # half as fast after every strike, and ever the same
    [2.214723 1.107362]
    [4.429447 4.429447]
    """
    if keep < 1:
        raise errors.CaromError(f"keep of bifurcation is {keep}; it must be at least 1")
    section = event if callable(event) else (event[0], event[1])
    asked = Returns(section, direction, discard, keep)
    found = batch(make, jnp.asarray(values, dtype=float), start, until=until, settings=settings, returns=asked).returns
    there = np.isfinite(found["t"])
    return [
        Section(*(found[name][lane][rows] for name in ("t", "q", "v", "jumped"))) for lane, rows in enumerate(there)
    ]
