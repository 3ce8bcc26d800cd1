"""Statistics that need no history: the least, the most, the largest size, and the last value of a signal."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import PyTree

from ...dynamics.energy import kinetic_energy, momentum, potential_energy
from ...hybrid._carry import Carry
from ...hybrid.condition import ROUNDING
from ...hybrid.scene import Continuous, merge
from ...hybrid.world import World
from ...quantities import Flag, Real
from .recorder import AbstractRecorder, Sight, peak_within
from .signals import Instant, Signal

STATISTICS = ("least", "most", "size", "final")


def instant_of(c: Carry) -> Instant:
    return Instant(c.t, c.y, c.phases, c.memory, c.rate)


@dataclasses.dataclass(frozen=True)
class Running(AbstractRecorder):
    """A statistic of a signal from a time [s] on: over accepted steps, both sides of events, and turning points."""

    signal: Signal
    statistic: str
    after: float = -float("inf")

    @property
    def key(self) -> str:
        return repr(self)

    def _of(self, value: Real) -> Any:
        """What is largest."""
        return {"least": -value, "most": value, "size": jnp.abs(value), "final": value}[self.statistic]

    def begin(self, world: World, first: Carry) -> Any:
        return jnp.asarray(-jnp.inf)

    def see(self, sight: Sight, kept: Real) -> Any:
        if self.statistic == "final":
            return kept
        world, c, a, new = sight.world, sight.old, sight.tried, sight.new
        kept = self._met(kept, sight.step, c.t, lambda: self.signal.value(world, instant_of(c)))
        last = instant_of(c)._replace(t=new.t, y=a.y, rate=a.rate)
        return self._met(kept, sight.hit, new.t, lambda: self.signal.value(world, last))

    def _met(self, kept: Real, when: Flag, t: Real, value: Callable[[], Any]) -> Any:
        return jax.lax.cond(when & (t >= self.after), lambda k: jnp.maximum(k, self._of(value())), lambda k: k, kept)

    def end(self, world: World, last: Carry, kept: Real) -> dict[str, Any]:
        final = self._of(self.signal.value(world, instant_of(last)))
        best = final if self.statistic == "final" else jnp.maximum(kept, final)
        best = jnp.where(last.t >= self.after, best, jnp.nan)
        return {"value": -best if self.statistic == "least" else best}


@dataclasses.dataclass(frozen=True)
class RunningTurns(Running):
    """The same, also looked at where it turns inside a step: of what has a rate along the motion."""

    def see(self, sight: Sight, kept: Real) -> Any:
        if self.statistic == "final":
            return kept
        c, a, new, world = sight.old, sight.tried, sight.new, sight.world
        last = jax.tree.map(lambda x, y: jnp.where(sight.hit, x, y), a.y, new.y)
        first = instant_of(c)
        ends = [self.signal.moving(world, at) for at in (first, first._replace(t=new.t, y=last, rate=a.rate))]

        def of(t: Real, y: Continuous, rate: Continuous) -> Any:
            return self.signal.moving(world, first._replace(t=t, y=y, rate=rate))

        at, turned = peak_within(sight, ends[0], ends[1], of)
        for t, value in ((c.t, ends[0][0]), (new.t, ends[1][0]), (at, turned)):
            kept = jnp.where(sight.step & (t >= self.after), jnp.maximum(kept, self._of(value)), kept)
        return kept


@dataclasses.dataclass(frozen=True)
class Mean(AbstractRecorder):
    """The mean over time of a signal, or, `whole`, its integral: by a cubic in each step; a rate by how far it came."""

    signal: Signal
    whole: bool = False

    @property
    def key(self) -> str:
        return repr(self)

    def begin(self, world: World, first: Carry) -> Any:
        return jnp.asarray(0.0)

    def see(self, sight: Sight, kept: Real) -> Any:
        c, a, new = sight.old, sight.tried, sight.new
        last = jax.tree.map(lambda x, y: jnp.where(sight.hit, x, y), a.y, new.y)
        first = instant_of(c)
        # Where a step ends at an instant that depends on the lane's numbers, the rates there do, too: the attempt's own
        # do not know it, those of one more step up to there do.
        cut = sight.step & (sight.hit | a.arrives)
        y, rate = jax.lax.cond(cut, lambda: sight.within(new.t), lambda: (last, a.rate))
        begin, end = (self.signal.moving(sight.world, at) for at in (first, first._replace(t=new.t, y=y, rate=rate)))
        h = new.t - c.t
        part = 0.5 * h * (begin[0] + end[0]) + h * h / 12.0 * (begin[1] - end[1])
        return kept + jnp.where(sight.step, end[0] - begin[0] if self.signal.rate else part, 0.0)

    def end(self, world: World, last: Carry, kept: Real) -> dict[str, Any]:
        return {"value": kept if self.whole else jnp.where(last.t > 0.0, kept / last.t, jnp.nan)}


class Sizes(NamedTuple):
    """Of energies along a run [J]."""

    start: Any
    first: Any  # potential energy where the first step begins
    kinetic: Any
    low: Any  # potential
    high: Any
    size: Any  # of the potential energy
    work: Any
    missed: Any
    total: Any
    count: Any


@dataclasses.dataclass(frozen=True)
class LedgerSizes(AbstractRecorder):
    """How well the energy ledger closes, as `Ledger` tells it."""

    key = "energy"

    def begin(self, world: World, first: Carry) -> Sizes:
        kinetic, potential = _energies(world, first.y)
        zero, never = jnp.asarray(0.0), jnp.asarray(-jnp.inf)
        start = jnp.asarray(kinetic + potential)
        return Sizes(start, jnp.asarray(potential), zero, -never, never, zero, zero, zero, zero, zero)

    def see(self, sight: Sight, kept: Sizes) -> Sizes:
        return jax.lax.cond(sight.step, lambda k: _grown(sight.world, sight.old.y, k), lambda k: k, kept)

    def end(self, world: World, last: Carry, kept: Sizes) -> dict[str, Any]:
        k = _grown(world, last.y, kept)
        play = jnp.maximum(jnp.maximum(k.start - k.first, k.kinetic), jnp.maximum(k.high - k.low, k.work))
        largest = jnp.maximum(jnp.abs(k.start), jnp.maximum(k.kinetic, k.size))
        seen = (play > 0.0) & (k.missed > ROUNDING * largest)
        share = 100.0 / jnp.where(seen, play, 1.0)
        found = {"max_error_percent": k.missed, "mean_error_percent": k.total / k.count}
        return {name: jnp.where(seen, share * value, 0.0) for name, value in found.items()}


def _energies(world: World, y: Continuous) -> tuple[Any, Any]:
    q, v = merge(y.q), merge(y.v)
    return kinetic_energy(world.mechanism, q, v), potential_energy(world.mechanism, q, world.gravity)


def _grown(world: World, y: Continuous, k: Sizes) -> Sizes:
    kinetic, potential = _energies(world, y)
    error = jnp.abs(kinetic + potential - k.start - sum(y.work, start=jnp.asarray(0.0)))
    work = k.work
    for each in y.work:
        work = jnp.maximum(work, jnp.abs(each))
    return Sizes(
        k.start,
        k.first,
        jnp.maximum(k.kinetic, kinetic),
        jnp.minimum(k.low, potential),
        jnp.maximum(k.high, potential),
        jnp.maximum(k.size, jnp.abs(potential)),
        work,
        jnp.maximum(k.missed, error),
        k.total + error,
        k.count + 1.0,
    )


@dataclasses.dataclass(frozen=True)
class MomentumDrift(AbstractRecorder):
    """The largest change of the momentum since the start, as `MomentumRecord` tells it."""

    key = "momentum"

    def begin(self, world: World, first: Carry) -> Any:
        zero = jnp.asarray(0.0)
        linear, angular = momentum(world.mechanism, merge(first.y.q), merge(first.y.v))
        return (linear[0], linear[1], angular), (zero, zero), jnp.asarray(False)

    def see(self, sight: Sight, kept: PyTree) -> Any:
        return jax.lax.cond(sight.step, lambda k: _drifted(sight.world, sight.old.y, k), lambda k: k, kept)

    def end(self, world: World, last: Carry, kept: PyTree) -> dict[str, Any]:
        _, (linear, angular), _ = _drifted(world, last.y, kept)
        return {"linear_drift": linear, "angular_drift": angular}


def _drifted(world: World, y: Continuous, kept: PyTree) -> Any:
    first, (far, turned), known = kept
    linear, angular = momentum(world.mechanism, merge(y.q), merge(y.v))
    now = (linear[0], linear[1], angular)
    first = tuple(jnp.where(known, a, b) for a, b in zip(first, now, strict=True))  # where the first step begins
    moved = [jnp.abs(a - b) for a, b in zip(now, first, strict=True)]
    return first, (jnp.maximum(far, jnp.maximum(moved[0], moved[1])), jnp.maximum(turned, moved[2])), jnp.asarray(True)
