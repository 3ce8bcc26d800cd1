"""Everything discrete is a small automaton: contacts, friction, controllers, schedules. A world is their product.

An automaton has a phase (one of a few words), a memory (a few numbers that only jumps change), states of its own (a few
numbers that flow) and channels of the energy ledger. It says

    anatomy  what it has: names of phases, exits, memory, states and channels
    force    what it does while it flows: efforts on the mechanism, rates of its states, powers of its channels
    guard    one condition per exit; an event is the instant at which it becomes true (condition.py)
    jump     the new phase and memory and, for impulsive laws, the new velocity
    report   what it is and does, for results, tables, figures and pages (reporting.py)

Only `force` must be given; docs/extending.md has examples. docs/events.md states the rule of events as mathematics.
"""

from __future__ import annotations

import abc
import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp

from .. import errors
from .._arguments import ExitsInOrder, NamesInOrder
from ..mechanism import Mechanism
from ..quantities import Flag, Memory, PhaseNumber
from ._reaction import Row
from ._row_arrays import RowArrays
from .condition import NEVER as NEVER
from .condition import Watch
from .reporting import Channel, Report, Touch
from .scene import Load, Own, Scene


class Flow(NamedTuple):
    """What a force evaluation returns besides the load: rates of own states, powers by channel [W]."""

    rates: tuple[Any, ...] = ()
    powers: tuple[Any, ...] = ()


class Landing(NamedTuple):
    """What a jump leaves behind; `velocity` is None for automata that never change it.

    `driven` [J] is what surfaces with prescribed motion did in a blow: it enters the last channel, the rest the first.
    """

    phase: Any
    memory: Memory
    states: tuple[Any, ...]
    velocity: Any = None
    driven: Any = None


@dataclasses.dataclass(frozen=True)
class Anatomy:
    """What an automaton has, and what the engine must know of it before it runs.

    - `phases`: their names; the first one is number 0
    - `exits`: names of the events it can raise, in the order of `guard` and `watch`. A tuple of names is a family: one
      entry of `guard`, whose numbers are arrays
    - `memory`: names of the numbers it remembers, one after the other also where it remembers arrays of them
    - `instants`: those of them that are times [s]: a return map counts them from its own beginning
    - `states`: numbers that it lets flow, by name: what their absolute tolerance is measured by, in their unit
    - `channels`: its entries in the energy ledger
    - `pausable`: a world with `pause_in_impact` neglects it during compliant impacts
    - `clocked`: it depends on time itself
    - `impulsive`: its jumps can change velocities; their energy enters its first channel
    - `looks_again`: `jump` is also called with no exit fired: at the beginning, when the phases of all are known, and
      after a blow of another automaton, when what stuck may slide
    - `arrays`: its rows are arrays, and so are those of the whole world (_row_arrays.py)
    """

    phases: NamesInOrder = ("acting",)
    exits: ExitsInOrder = ()
    memory: NamesInOrder = ()
    instants: NamesInOrder = ()
    states: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    channels: tuple[Channel, ...] = ()
    pausable: bool = False
    clocked: bool = False
    impulsive: bool = False
    looks_again: bool = False
    arrays: bool = False

    def __post_init__(self) -> None:
        for field in ("phases", "exits", "memory"):
            given = getattr(self, field)
            if isinstance(given, str):
                raise errors.CaromError(f"{field} of Anatomy is '{given}'; it must hold names: ('{given}',)")

    @functools.cached_property
    def exit_names(self) -> tuple[str, ...]:
        """Every exit, those of families one after the other."""
        return tuple(name for entry in self.exits for name in ((entry,) if isinstance(entry, str) else entry))

    @functools.cached_property
    def families(self) -> tuple[int | None, ...]:
        """Of every entry of `guard`: None for one exit alone, k for a family of k."""
        return tuple(None if isinstance(entry, str) else len(entry) for entry in self.exits)


@dataclasses.dataclass(frozen=True)
class Bars:
    """What keeps a run from starting.

    - `overlaps`: how deep [m] each of its contacts is inside a surface, and its rounding; a run must not start deeper.
      By name; or arrays, by the tuple of the names of many
    - `refusals`: other reasons: whether that is so, and how to say it
    """

    overlaps: dict[Any, tuple[Any, Any]] = dataclasses.field(default_factory=dict)
    refusals: Sequence[tuple[Any, Callable[[], str]]] = ()


def _no_rows(scene: Scene, own: Own) -> list[Row]:
    return []


@dataclasses.dataclass(frozen=True)
class Holding:
    """Relative velocities that an automaton may hold by reactions (see _reaction.py).

    - `count`: how many rows `rows(scene, own)` returns, one by one or as arrays; those of other phases are there but
      not active
    - `active(phase)`: is any of them active? Where none is, reactions are not computed
    - `powers(scene, own, forces)`: of its reactions, by channel, to be added to those of `force`
    - `bounds(scene, own)`: per row the most that it holds, what is left of that when it gives way, how far counts as
      not moved, what `force` has it exert now; others that decide about motion take it into account. None: they do not
    """

    count: int = 0
    rows: Callable[[Scene, Own], list[Row] | RowArrays] = _no_rows
    active: Callable[[Any], Any] = lambda phase: False
    powers: Callable[[Scene, Own, Any], tuple[Any, ...]] = lambda scene, own, forces: ()
    bounds: Callable[[Scene, Own], list[tuple[Any, Any, Any, Any]]] | None = None


def _no(phase: PhaseNumber) -> Any:
    return False


@dataclasses.dataclass(frozen=True)
class Standing:
    """What the loop asks of the phase an automaton is in; functions, so that nothing is computed that nobody needs.

    - `longest(own)`: the longest step [s] that does not pass over what it feels
    - `instants(own)`: times [s] at which something of its own happens; a step ends at each exactly. Past ones do not
      matter
    - `striking(phase)`: is an impact of finite duration in progress? (Worlds may neglect control and weight meanwhile.)
    - `fails(phase)`: is no motion possible here, or more than one? The run ends
    - `crowded(phase)`: does more happen at once than it can hold? The run ends
    - `ends(phase)`: does the run end here, as it was asked to? None: it never does
    """

    longest: Callable[[Own], Any] = lambda own: jnp.inf
    instants: Callable[[Own], Sequence[Any]] = lambda own: ()
    striking: Callable[[PhaseNumber], Any] = _no
    fails: Callable[[PhaseNumber], Any] = _no
    crowded: Callable[[PhaseNumber], Any] = _no
    ends: Callable[[PhaseNumber], Any] | None = None


def blank(families: Sequence[int | None], value: Any) -> tuple[Any, ...]:
    """The same value for every exit, families as arrays."""
    return tuple(jnp.asarray(value) if size is None else jnp.full(size, value) for size in families)


class AbstractAutomaton(eqx.Module):
    """Base of everything that has phases."""

    name: eqx.AbstractVar[str]

    # -- when the world is built -------------------------------------------------------------------------------------

    @property
    def anatomy(self) -> Anatomy:
        """What it has; the same for as long as it exists."""
        return Anatomy()

    def check(self, mechanism: Mechanism, others: Sequence[AbstractAutomaton]) -> None:
        """Refuse a mechanism that this automaton cannot serve, and others that contradict it."""

    # -- the start: before the first step ----------------------------------------------------------------------------

    def start(self, scene: Scene) -> Own:
        """Phase, memory and states at the beginning."""
        zero, has = jnp.asarray(0.0), self.anatomy
        return Own(jnp.asarray(0), (zero,) * len(has.memory), (zero,) * len(has.states))

    def bars(self, scene: Scene) -> Bars:
        """Why no run can start from here."""
        return Bars()

    # -- the flow: at every stage of every step ----------------------------------------------------------------------

    @abc.abstractmethod
    def force(self, scene: Scene, own: Own, load: Load) -> Flow:
        """Add efforts to the load; return rates and powers."""

    @property
    def holding(self) -> Holding:
        """What it holds by reactions."""
        return Holding()

    # -- the loop: once in every step --------------------------------------------------------------------------------

    @property
    def standing(self) -> Standing:
        """What its present phase means for the step and for the run."""
        return Standing()

    # -- events: at both ends of every step, and inside it -----------------------------------------------------------

    def guard(self, scene: Scene, own: Own) -> Sequence[Any]:
        """One condition per exit; a plain number is an `edge`: true when it has risen from negative to non-negative."""
        return ()

    def watch(self, scene: Scene, own: Own) -> Sequence[Watch | None]:
        """Of every exit that depends on time and coordinates alone: what is needed to see it inside a step."""
        return (None,) * len(self.anatomy.exits)

    def jump(self, scene: Scene, own: Own, fired: tuple[Flag, ...]) -> Landing:
        """New phase, memory, states (and velocity) where an exit fired; called with `fired` traced booleans."""
        return Landing(own.phase, own.memory, own.states)

    # -- afterwards --------------------------------------------------------------------------------------------------

    @property
    def report(self) -> Report:
        """What it tells about itself."""
        return Report(words=((self.name, type(self).__name__),))


def touch_of(automata: Sequence[AbstractAutomaton], scene: Scene, own: Callable[[int], Own], name: str) -> Touch:
    """A contact at an instant, for the rates and forces of others; `own(i)` belongs to automaton i.

    What holds by reactions is refused: those are known only when all forces are.
    """
    places = {c.name: (i, k) for i, a in enumerate(automata) for k, c in enumerate(a.report.contacts)}
    errors.name_in("contact", name, list(places))
    i, k = places[name]
    if automata[i].holding.count:
        raise errors.CaromError(
            f"the force of contact '{name}' was asked for while forces are computed, but it is a reaction (a rigid "
            "law, or friction that sticks), which follows from them; take a compliant law with smooth friction"
        )
    return automata[i].report.touches(scene, own(i))[k]
