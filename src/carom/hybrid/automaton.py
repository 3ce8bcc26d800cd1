"""Everything discrete is a small automaton: contacts, friction, controllers, schedules. A world is their product.

An automaton has a phase (one of a few words), a memory (a few numbers that only jumps change), states of its own (a few
numbers that flow) and channels of the energy ledger. It says

    force   what it does while it flows: efforts on the mechanism, rates of its states, powers of its channels
    guard   one condition per exit; an event is the instant at which it becomes true (condition.py)
    jump    the new phase and memory and, for impulsive laws, the new velocity

docs/events.md states the rule as mathematics.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp

from ..mechanism import Mechanism
from .condition import NEVER as NEVER
from .condition import Watch
from .reaction import Row
from .scene import Load, Scene


class Flow(NamedTuple):
    """What a force evaluation returns besides the load: rates of own states, powers by channel [W]."""

    rates: tuple[Any, ...] = ()
    powers: tuple[Any, ...] = ()


class Own(NamedTuple):
    """What belongs to one automaton at one instant."""

    phase: Any
    memory: tuple[Any, ...]
    states: tuple[Any, ...]


class Landing(NamedTuple):
    """What a jump leaves behind; `velocity` is None for automata that never change it.

    `driven` [J] is what surfaces with prescribed motion did in a blow: it enters the last channel, the rest the first.
    """

    phase: Any
    memory: tuple[Any, ...]
    states: tuple[Any, ...]
    velocity: Any = None
    driven: Any = None


class AbstractAutomaton(eqx.Module):
    """Base of everything that has phases."""

    name: eqx.AbstractVar[str]

    @property
    @abc.abstractmethod
    def phases(self) -> tuple[str, ...]:
        """Names of the phases; the first one is number 0."""

    @property
    @abc.abstractmethod
    def exits(self) -> tuple[str, ...]:
        """Names of the events it can raise."""

    @property
    def memory(self) -> tuple[str, ...]:
        """Names of the numbers it remembers."""
        return ()

    @property
    def states(self) -> tuple[str, ...]:
        """Names of the numbers that it lets flow."""
        return ()

    @property
    def channels(self) -> tuple[str, ...]:
        """Names of its entries in the energy ledger."""
        return ()

    @property
    def summary(self) -> tuple[tuple[str, str], ...]:
        """(name, what it is in a few words), a line each, for `print(world)`."""
        return ((self.name, type(self).__name__),)

    @property
    def pairs(self) -> tuple[tuple[str, Any], ...]:
        """Contacts that it holds: name, and who meets whom. What has some is drawn, tabled and looked at closely."""
        return ()

    @property
    def cited(self) -> tuple[str, ...]:
        """References of the laws and methods that it uses."""
        return ()

    @property
    def pausable(self) -> bool:
        """Does a world with `pause_in_impact` neglect it during compliant impacts?"""
        return False

    @property
    def clocked(self) -> bool:
        """Does it depend on time itself?"""
        return False

    @property
    def impulsive(self) -> bool:
        """Can its jumps change velocities? Their energy then enters its first channel."""
        return False

    @property
    def row_count(self) -> int:
        """How many rows `rows` returns: relative velocities that it may hold (see reaction.py)."""
        return 0

    def rows(self, scene: Scene, own: Own) -> list[Row]:
        """What it holds in its present phase; rows of other phases are there but not active."""
        return []

    def holds(self, phase: Any) -> Any:
        """Is any of its rows active in this phase? Where none is, reactions are not computed."""
        return self.row_count > 0

    def shares(self, scene: Scene, own: Own, forces: list[Any]) -> tuple[Any, ...]:
        """Powers of its reactions, by channel, to be added to those of `force`."""
        return (0.0,) * len(self.channels)

    def fails(self, phase: Any) -> Any:
        """Is this a phase in which no motion is possible, or more than one? The run ends there."""
        return False

    def check(self, mechanism: Mechanism) -> None:
        """Refuse a mechanism that this automaton cannot serve."""

    def check_with(self, mechanism: Mechanism, others: Sequence[AbstractAutomaton]) -> None:
        """Refuse a world whose other automata contradict this one; called when the world is built."""

    @property
    def stops(self) -> tuple[Any, ...]:
        """Stops of joints that this automaton guards: link, link_name, angle, sign."""
        return ()

    def overlaps(self, scene: Scene) -> dict[str, Any]:
        """How deep [m] each of its contacts is inside a surface, and its rounding; a run must not start deeper."""
        return {}

    def unit(self, contact: str) -> str:
        """Unit of that contact's overlap: 'm', or 'rad' for a joint's stop."""
        return "m"

    def refuses(self, scene: Scene) -> str | None:
        """Why a run cannot start from here; None if it can."""
        return None

    def barred(self, scene: Scene) -> Any:
        """The same in a lane: can no run start from here?"""
        return False

    def longest(self, own: Own) -> Any:
        """The longest step [s] that does not pass over what it feels in its present phase."""
        return jnp.inf

    @abc.abstractmethod
    def start(self, scene: Scene) -> Own:
        """Phase, memory and states at the beginning."""

    @property
    def looks_again(self) -> bool:
        """Is `jump` also called with no exit fired: at the beginning, when the phases of all automata are known, and
        after a blow of another automaton, when what stuck may slide?"""
        return False

    @abc.abstractmethod
    def force(self, scene: Scene, own: Own, load: Load) -> Flow:
        """Add efforts to the load; return rates and powers."""

    @abc.abstractmethod
    def guard(self, scene: Scene, own: Own) -> Sequence[Any]:
        """One condition per exit; a plain number is an `edge`: true when it has risen from negative to non-negative."""

    def watch(self, scene: Scene, own: Own) -> Sequence[Watch | None]:
        """Of every exit that depends on time and coordinates alone: what is needed to see it inside a step."""
        return (None,) * len(self.exits)

    def instants(self, own: Own) -> Sequence[Any]:
        """Times [s] at which something of its own happens; a step ends at each exactly. Past ones do not matter."""
        return ()

    @abc.abstractmethod
    def jump(self, scene: Scene, own: Own, fired: tuple[Any, ...]) -> Landing:
        """New phase, memory, states (and velocity) where an exit fired; called with `fired` traced booleans."""

    def strikes(self, own: Own) -> dict[str, Any]:
        """By the names of its contacts: when [s] an instantaneous blow last struck each; -1: never."""
        return {}

    def striking(self, phase: Any) -> Any:
        """Is an impact of finite duration in progress? (Worlds may neglect control and weight meanwhile.)"""
        return False
