"""Spells: stretches of time in which a contact is closed; and which of them are strikes, which are stances.

A strike goes in and out by its own force: weight and motors would change the normal velocity meanwhile by less than a
tenth of what the blow does, so that its restitution means something. In a stance the contact carries: they press on it
for so long that they matter. A rigid contact strikes at an instant; its spells are stances.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from .. import native
from ..hybrid._flow import driven
from ..hybrid.scene import Continuous, Own, Scene, split
from ..hybrid.world import World
from ..quantities import Coordinates, Memories, Phases, Real, Vector
from ._dense import chunked

if TYPE_CHECKING:
    from .result import Result

CARRIES = 0.1  # of the change of the normal velocity: if weight and motors would do more, it is a stance


@dataclasses.dataclass(frozen=True)
class Spell:
    """A contact (number `contact` of automaton number `automaton`) is closed from `begin` to `end` [s].

    `first` and `last` are the rows of the marks at which it closed and opened; -1: it was closed from the start, or
    still is at the end. `bends` are instants between them at which its automaton did something.
    """

    automaton: int
    contact: int
    begin: float
    end: float
    first: int
    last: int
    bends: tuple[float, ...]

    @property
    def begun(self) -> bool:
        return self.first >= 0

    @property
    def ended(self) -> bool:
        return self.last >= 0


def spells_of(result: Result, i: int, j: int) -> list[Spell]:
    """Every spell of contact j of automaton i, in order."""
    marks, report = result.marks, result.world.automata[i].report
    tones = np.array([phase.tone for phase in report.contacts[j].phases])

    def closed(phases: Phases, memory: Memories) -> np.ndarray:
        own = Own(np.asarray(phases[i], dtype=int), memory[i], ())
        return np.atleast_1d(tones[np.asarray(report.modes(own)[j])] != "open")

    start, end, t = float(result.t[0]), float(result.t[-1]), np.asarray(marks.t)
    if not len(t):
        return [Spell(i, j, start, end, -1, -1, ())] if closed(result.final.phases, result.final.memory)[0] else []
    before = closed(marks.phases_before, marks.memory_before)
    after = closed(marks.phases_after, marks.memory_after)
    firsts, lasts = np.flatnonzero(~before & after).tolist(), np.flatnonzero(before & ~after).tolist()
    if before[0]:
        firsts.insert(0, -1)
    if after[-1]:
        lasts.append(-1)
    mine = [k for k, (a, _) in enumerate(result.world.events) if a == i]
    busy = np.any([np.asarray(marks.fired[k], dtype=bool) for k in mine], axis=0) if mine else np.zeros(len(t), bool)
    out = []
    for first, last in zip(firsts, lasts, strict=True):
        begin, until = start if first < 0 else float(t[first]), end if last < 0 else float(t[last])
        rows = slice(first + 1, len(t) if last < 0 else last)
        bends = tuple(t[rows][busy[rows] & (t[rows] > begin) & (t[rows] < until)].tolist())
        out.append(Spell(i, j, begin, until, first, last, bends))
    return out


def stances_among(result: Result, spells: list[Spell]) -> list[bool]:
    """Which of a contact's spells are stances."""
    if not spells:
        return []
    contact = result.world.automata[spells[0].automaton].report.contacts[spells[0].contact]
    if contact.rigid:
        return [True] * len(spells)
    out = [True] * len(spells)
    whole = [k for k, s in enumerate(spells) if s.begun and s.ended]
    if not whole or result.world.pause_in_impact:  # then nothing else acts
        return [not (s.begun and s.ended) for s in spells]
    firsts, lasts = (np.array([getattr(spells[k], end) for k in whole]) for end in ("first", "last"))
    both = np.concatenate([firsts, lasts])
    columns = jax.tree.map(lambda x: np.asarray(x)[both], _touch_states(result))
    speed, press = chunked(_pressed, (spells[0].automaton, spells[0].contact), (result.world,), columns)
    changed = np.abs(speed[: len(whole)]) + np.abs(speed[len(whole) :])
    for n, k in enumerate(whole):
        out[k] = bool(stands(press[n], spells[k].end - spells[k].begin, changed[n]))
    return out


def _touch_states(result: Result) -> tuple[Any, ...]:
    """Everything of the marks' states just before, as columns."""
    marks = result.marks
    return marks.t, marks.before, tuple(np.asarray(p).astype(int) for p in marks.phases_before), marks.memory_before


def _pressed(
    i: int, j: int, world: World, t: Vector, y: Continuous, phases: Phases, memory: Memories
) -> tuple[Any, Any]:
    def one(t: Real, y: Continuous, phases: Phases, memory: Memories) -> tuple[Any, Any]:
        return pressed_at(i, j, world, t, y, phases, memory)

    return tuple(native.rows(one)(t, y, phases, memory))


def pressed_at(
    i: int, j: int, world: World, t: Real, y: Continuous, phases: Phases, memory: Memories
) -> tuple[Any, Any]:
    """Rate of a contact's indentation, and its acceleration under weight and motors alone: how they press it."""
    pair, m = world.automata[i].report.contacts[j].pair, world.mechanism

    def rate(t: Real, q: Coordinates, v: Coordinates) -> Any:
        return jnp.asarray(pair.touching(Scene(m, t, q, v)).rate, dtype=float)

    y = y._replace(work=())
    q, v = (x if isinstance(x, tuple) else split(m, x) for x in (y.q, y.v))
    a = driven(world, t, y, phases, memory)
    a = tuple(jnp.asarray(x, dtype=float) for x in a) if isinstance(v, tuple) else a
    return jax.jvp(rate, (t, q, v), (jnp.ones_like(t), v, a))


def stands(press: Real, duration: Real, changed: Real) -> Any:
    """Would what presses do more than a tenth of what the blow changed?"""
    return jnp.abs(press) * duration > CARRIES * changed
