"""Signals of a lane at given times: what was recorded is compared with them."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import PyTree

from ...hybrid._carry import Carry
from ...hybrid._flow import scene_with_motion
from ...hybrid.scene import Own
from ...hybrid.world import World
from ...quantities import Vector
from ._contact_rows import places
from ._impact_table import ImpactTable
from .recorder import AbstractRecorder, Sight
from .running import instant_of
from .signals import Instant, Signal


@dataclasses.dataclass(frozen=True)
class ContactPart:
    """A force of a contact on the mechanism, `normal` or `friction`, or its `indentation`."""

    contact: str
    part: str

    def value(self, world: World, now: Instant) -> Any:
        place = next(each for each in places(world) if each.report.name == self.contact)
        scene = scene_with_motion(world, now.t, now.y, now.phases, now.memory)
        i = place.automaton
        own = Own(now.phases[i], now.memory[i], now.y.extra[i])
        touch = world.automata[i].report.touches(scene, own)[place.contact]
        return touch.motion.indentation if self.part == "indentation" else getattr(touch, self.part)


@dataclasses.dataclass(frozen=True)
class AwaitedImpacts(ImpactTable):
    """A table that a lane need not go on for when its rows are there.

    Where impacts take time they are complete in another order than that in which they began: then it goes on.
    """

    def satisfied(self, kept: PyTree) -> Any:
        return jnp.all(jnp.isfinite(kept.rows["t_start"])) if not kept.spells else False


@dataclasses.dataclass(frozen=True, eq=False)
class Series(AbstractRecorder):
    """These signals at these instants [s], in order; at an event those after it. What is never reached is nan.

    The times may be traced: lanes with other times need no other program.
    """

    times: Any
    signals: tuple[Signal | ContactPart, ...]
    key = "series"

    def begin(self, world: World, first: Carry) -> Any:
        return jnp.asarray(0), tuple(jnp.full(len(self.times), jnp.nan) for _ in self.signals)

    def see(self, sight: Sight, kept: PyTree) -> Any:
        c, a, times = sight.old, sight.tried, jnp.asarray(self.times)
        last = len(self.times)

        def due(s: PyTree) -> Any:
            return (s[0] < last) & (times[jnp.minimum(s[0], last - 1)] < a.t)

        def fill(s: PyTree) -> Any:
            t = times[s[0]]
            y, rate = sight.within(t)
            now = Instant(t, y, c.phases, c.memory, rate)
            return s[0] + 1, self._put(s, self._values(sight.world, now))

        return jax.lax.cond(sight.step, lambda k: jax.lax.while_loop(due, fill, k), lambda k: k, kept)

    def satisfied(self, kept: PyTree) -> Any:
        last = len(self.times)
        return (kept[0] >= last) | jnp.isinf(jnp.asarray(self.times)[jnp.minimum(kept[0], last - 1)])

    def end(self, world: World, last: Carry, kept: PyTree) -> dict[str, Any]:
        values = self._values(world, instant_of(last))
        times = jnp.asarray(self.times)
        here = (times >= last.t) & (times <= last.t * (1.0 + 1e-12))
        columns = [jnp.where(here, value, column) for value, column in zip(values, kept[1], strict=True)]
        return {str(k): column for k, column in enumerate(columns)}

    def _values(self, world: World, now: Instant) -> list[Any]:
        return [signal.value(world, now) for signal in self.signals]

    def _put(self, s: PyTree, values: list[Any]) -> tuple[Vector, ...]:
        return tuple(column.at[s[0]].set(value) for value, column in zip(values, s[1], strict=True))
