"""What ends a run: a time, a condition that becomes true, a number of impacts, a strike, a release, a slip.

    carom.simulate(world, start, until=6.0)
    carom.simulate(world, start, until="hip.y < 0.4 m")                # located as every event is
    carom.simulate(world, start, until=[6.0, "100 impacts of foot", "release hand"])      # whatever comes first

It is an automaton that is added to the world. It counts strikes, and remembers which contacts have touched; its last
phase says what was met, and so does the outcome. A condition counts when it *becomes* true.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Sequence
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import PyTree

from .. import errors
from .._arguments import UntilLike
from ..hybrid._horizon import LONGEST
from ..hybrid.automaton import AbstractAutomaton, Anatomy, Flow, Landing, Standing
from ..hybrid.condition import condition_of, edge, level, unless
from ..hybrid.reporting import Report
from ..hybrid.scene import Load, Own, Scene
from ..hybrid.world import World
from ..mechanism import Mechanism
from ..quantities import Flag, Function, Real
from ._conditions import Happening, switch_of, text_of, words_of
from .switch import AbstractSwitch

_COUNT = re.compile(r"\s*(\d{1,9})\s+impacts?(?:\s+of\s+(.+?))?\s*$")


@dataclasses.dataclass(frozen=True)
class Impacts:
    """So many strikes of a contact, or of all together: Impacts(3), Impacts(100, "foot")."""

    count: int
    contact: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.count, int) or isinstance(self.count, bool) or not 1 <= self.count < 10**9:
            raise errors.CaromError(f"count of Impacts is {self.count!r}; it must be a whole number, at least 1")

    def __str__(self) -> str:
        of = f" of {self.contact}" if self.contact else ""
        return f"{self.count} impact{'s' * (self.count != 1)}{of}"


class Until(AbstractAutomaton):
    """Ends the run at the first of its conditions; see the module's text."""

    table: ClassVar[str] = "until"  # of files: [run] has it
    counts: tuple[tuple[int, Impacts], ...] = eqx.field(static=True)  # with its place among all
    switches: tuple[AbstractSwitch, ...]
    places: tuple[int, ...] = eqx.field(static=True)  # of the switches
    releases: tuple[tuple[int, str], ...] = eqx.field(static=True)  # of a contact, or '' of any
    said: tuple[str, ...] = eqx.field(static=True)  # all of them in words
    contacts: tuple[str, ...] = eqx.field(static=True)  # which are watched
    name: str = eqx.field(static=True, default="until", kw_only=True)

    @property
    def anatomy(self) -> Anatomy:
        strikes = tuple(f"strike {name}" for name in self.contacts)
        holds = tuple(f"hold {name}" for name in self.contacts)
        return Anatomy(
            phases=("going on", *self.said),
            exits=(*strikes, *holds, *(f"met: {words}" for words in self.said)),
            memory=(*(f"strikes of {c}" for c in self.contacts), *(f"touched {c}" for c in self.contacts)),
            clocked=any(switch.instant is not None for switch in self.switches),
        )

    @property
    def report(self) -> Report:
        return Report(words=((self.name, ", or ".join(self.said)),))

    def check(self, mechanism: Mechanism, others: Sequence[AbstractAutomaton]) -> None:
        """Refuse contacts that are not there, and signals that the world does not have."""
        there = [contact.name for other in others for contact in other.report.contacts]
        for name in [each.contact for _, each in self.counts] + [name for _, name in self.releases]:
            if name or not there:
                errors.name_in("contact", name, there)
        for switch in self.switches:
            switch.check(mechanism, others)

    @property
    def standing(self) -> Standing:
        times = [switch.instant for switch in self.switches if switch.instant is not None]
        return Standing(ends=lambda phase: phase > 0, instants=lambda own: times)

    def force(self, scene: Scene, own: Own, load: Load) -> Flow:
        return Flow()

    def guard(self, scene: Scene, own: Own) -> Sequence[Any]:
        n, over = len(self.contacts), own.phase > 0
        strikes, touched = own.memory[:n], own.memory[n:]
        struck, held = scene.strikes, [self._closed(scene, name) for name in self.contacts]
        hits = []
        for name, closed in zip(self.contacts, held, strict=True):
            now = jnp.where(struck[name] == scene.t, 1.0, -1.0) if name in struck else closed - 0.5
            hits.append(edge(now))
        holds = [level(closed - 0.5 - known) for closed, known in zip(held, touched, strict=True)]
        found: dict[int, Any] = {}
        for k, impacts in self.counts:
            total = sum((c for c, m in zip(strikes, self.contacts, strict=True) if impacts.contact in ("", m)), 0.0)
            found[k] = level(total - impacts.count)
        for k, name in self.releases:
            away = [t - c for t, c, m in zip(touched, held, self.contacts, strict=True) if name in ("", m)]
            found[k] = level(functools.reduce(jnp.maximum, away) - 0.5)
        for k, switch in zip(self.places, self.switches, strict=True):
            found[k] = condition_of(switch.crossing(scene))
        return [unless(over, each) for each in (*hits, *holds, *(found[k] for k in range(len(self.said))))]

    def _closed(self, scene: Scene, name: str) -> Any:
        return Happening("closed", name).value(scene)

    def jump(self, scene: Scene, own: Own, fired: tuple[Flag, ...]) -> Landing:
        n = len(self.contacts)
        strikes = [c + jnp.where(hit, 1.0, 0.0) for c, hit in zip(own.memory[:n], fired[:n], strict=True)]
        either = zip(own.memory[n:], fired[:n], fired[n : 2 * n], strict=True)
        touched = [jnp.where(a | b, 1.0, old) for old, a, b in either]
        phase = own.phase
        for k in reversed(range(len(self.said))):  # of several that are met at once the first one is named
            phase = jnp.where(fired[2 * n + k], k + 1, phase)
        return Landing(phase, (*strikes, *touched), own.states)


def ended_by(world: World, until: UntilLike) -> tuple[World, Any]:
    """The world with what ends its run, and the time [s] at which it ends at the latest."""
    given = list(until) if isinstance(until, list | tuple) else [until]
    times: list[Any] = [each for each in given if not isinstance(each, str | Impacts | AbstractSwitch)]
    for time in times:
        errors.number("run", "until", time, above=0.0)
    others = [each for each in given if isinstance(each, str | Impacts | AbstractSwitch)]
    if not others and not times:
        raise errors.CaromError("until is empty; give a time [s], a condition such as 'tip.y < 0.1', or several")
    kept = tuple(automaton for automaton in world.automata if not isinstance(automaton, Until))
    if not others:
        return (world if len(kept) == len(world.automata) else _with(world, kept)), _earliest(times)
    automaton = _made(others, kept)
    automaton.check(world.mechanism, kept)
    return _with(world, (*kept, automaton)), _earliest(times) if times else LONGEST


@dataclasses.dataclass(frozen=True)
class Ended:
    """A function that makes worlds, with what ends their runs; equal to another of the same: programs are kept."""

    make: Function
    until: tuple[Any, ...]

    def __call__(self, parameters: PyTree) -> World:
        return ended_by(self.make(parameters), self.until)[0]


def ended_worlds(make: Function, until: UntilLike) -> tuple[Function, Any]:
    """The same for worlds that are yet to be made."""
    given = tuple(until) if isinstance(until, list | tuple) else (until,)
    if not any(isinstance(each, str | Impacts | AbstractSwitch) for each in given):
        return make, _earliest(list(given))
    times = [each for each in given if not isinstance(each, str | Impacts | AbstractSwitch)]
    return Ended(make, given), _earliest(times) if times else LONGEST


def words_of_ends(until: UntilLike) -> tuple[str, ...]:
    """The conditions of it, one by one."""
    given = until if isinstance(until, list | tuple) else (until,)
    return tuple(_words(each) for each in given if isinstance(each, str | Impacts | AbstractSwitch))


def _words(given: str | Impacts | AbstractSwitch) -> str:
    return given if isinstance(given, str) else str(given) if isinstance(given, Impacts) else words_of(given)


def told_until(until: UntilLike) -> Any:
    """As files have it; switches that are objects are for Python alone."""
    each = [_told(one) for one in (until if isinstance(until, list | tuple) else [until])]
    return each if isinstance(until, list | tuple) else each[0]


def _told(given: str | Impacts | AbstractSwitch | Real) -> Any:
    if isinstance(given, AbstractSwitch):
        return text_of(given)
    return _words(given) if isinstance(given, str | Impacts) else float(given)


def _earliest(times: list[Any]) -> Any:
    first: Real = times[0]
    for other in times[1:]:
        first = errors.library_for(first, other).minimum(first, other)
    return first


def _with(world: World, automata: tuple[AbstractAutomaton, ...]) -> World:
    """The same world with other automata, which have been checked."""
    made = object.__new__(World)
    for field in dataclasses.fields(World):
        object.__setattr__(made, field.name, automata if field.name == "automata" else getattr(world, field.name))
    return made


def _made(given: Sequence[str | Impacts | AbstractSwitch], automata: Sequence[AbstractAutomaton]) -> Until:
    there = tuple(contact.name for automaton in automata for contact in automaton.report.contacts)
    counts, releases, switches, said = list[Any](), list[Any](), list[Any](), list[str]()
    for k, each in enumerate(given):
        found = _read(each)
        if isinstance(found, Impacts):
            counts.append((k, found))
        elif isinstance(found, Happening):
            releases.append((k, found.contact))
        else:
            switches.append((k, found))
        said.append(_words(each))
    watched = there if counts or releases else ()
    return Until(
        tuple(counts),
        tuple(s for _, s in switches),
        tuple(k for k, _ in switches),
        tuple(releases),
        tuple(said),
        watched,
    )


def _read(given: str | Impacts | AbstractSwitch) -> Any:
    """Impacts, a release, or a switch."""
    if isinstance(given, Impacts):
        return given
    count = _COUNT.match(given) if isinstance(given, str) else None
    if count:
        return Impacts(int(count.group(1)), count.group(2) or "")
    found = switch_of(given, anywhere=True)
    if isinstance(found, Happening) and found.kind == "strike":
        return Impacts(1, found.contact)
    return found
