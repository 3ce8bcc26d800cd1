"""A recorder stands beside the loop of a lane: it sees every attempt, and keeps a few numbers.

Recorders are frozen and can be compared: they are part of what a batch is compiled for.
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from ...hybrid._carry import Attempt, Carry, Verdict
from ...hybrid._flow import derivative
from ...hybrid._landing import exact
from ...hybrid.scene import Continuous
from ...hybrid.settings import Integration
from ...hybrid.world import World
from ...quantities import Flag, Function, Index, Real
from ...result._turns import REFINED, turn

Columns = Mapping[str, np.ndarray]  # what a recorder kept, over the lanes


class Sight(NamedTuple):
    """One attempt, as recorders see it.

    - `old`, `tried`, `new`: the carry before it, what was tried, the carry after it
    - `step`: was it an accepted step of some length? `hit`: did it end at an event?
    - `fired`: the exits that did, one by one, in the order of `world.events`
    """

    world: World
    integration: Integration
    old: Carry
    tried: Attempt
    new: Carry
    step: Any
    hit: Any
    fired: tuple[Any, ...]

    def within(self, t: Real) -> tuple[Continuous, Continuous]:
        """State and its rate at an instant within the step: one shorter step of the same solver, as single runs do."""
        c = self.old

        def rhs(t: Real, y: Continuous) -> Continuous:
            return derivative(self.world, t, y, c.phases, c.memory)

        y, _, rate = self.integration.solver.step(rhs, c.t, c.y, c.rate, t - c.t, self.world.heavy)
        return y, rate


def sight_of(world: World, integration: Integration, old: Carry, new: Carry, tried: Attempt, verdict: Verdict) -> Sight:
    """An attempt in the loop of a lane."""
    running = old.steps != new.steps  # a lane that has ended stands still
    fired: list[Any] = []
    for each in verdict.fired:
        fired += [each[k] for k in range(each.shape[0])] if jnp.ndim(each) else [each]
    step = verdict.accept & running & (tried.span > 0.0)
    # The value stays as it is; states at events get the derivative of their instant.
    tried = tried._replace(y=exact(old, tried, verdict)[1])
    return Sight(world, integration, old, tried, new, step, verdict.hit & running, tuple(fired))


class AbstractRecorder(abc.ABC):
    """Keeps numbers of a lane. `key` is its name among the recorders of a batch; those of one key are joined."""

    @property
    @abc.abstractmethod
    def key(self) -> str: ...

    @abc.abstractmethod
    def begin(self, world: World, first: Carry) -> Any:
        """What is kept before the first attempt: a tree of arrays."""

    @abc.abstractmethod
    def see(self, sight: Sight, kept: PyTree) -> Any:
        """What is kept after an attempt."""

    @abc.abstractmethod
    def end(self, world: World, last: Carry, kept: PyTree) -> dict[str, Any]:
        """What is handed out of the lane, by name."""

    def handed(self, columns: Columns) -> Columns:
        """What was handed out of all lanes, as it is read."""
        return columns

    def joined(self, other: AbstractRecorder) -> AbstractRecorder:
        """One recorder for both of a key."""
        return self

    def satisfied(self, kept: PyTree) -> Any:
        """Need the lane not go on for this one?"""
        return False


@dataclasses.dataclass(frozen=True)
class LaneMeasure:
    """How a lane records a measure: the recorder, and how the number is read from its columns, over all lanes."""

    recorder: AbstractRecorder
    read: Callable[[Columns], np.ndarray]
    unit: str = "-"


def joined(recorders: list[AbstractRecorder]) -> tuple[AbstractRecorder, ...]:
    """One recorder for each key."""
    found: dict[str, AbstractRecorder] = {}
    for each in recorders:
        found[each.key] = found[each.key].joined(each) if each.key in found else each
    return tuple(found[key] for key in sorted(found))


def peak_within(sight: Sight, begin: tuple[Any, Any], end: tuple[Any, Any], of: Function) -> Any:
    """Instant and value of a signal where it turns within a step: (value, rate) at both ends, and `of(t, y, y')`.

    Where it does not turn there, the beginning.
    """
    turns = sight.step & (begin[1] * end[1] < 0.0)

    def look(_: None) -> Any:
        def once(_: Index, known: tuple[Any, ...]) -> tuple[Any, ...]:
            low, high, seen_low, seen_high = known
            at = turn(low, high, jnp)
            # Steps are expensive: an instant that was looked at before looks the same.
            same_low, same_high = seen_low & (at == low[0]), seen_high & (at == high[0])
            new = jax.lax.cond(
                same_low | same_high,
                lambda: (at, *_either(same_low, low[1:], high[1:])),
                lambda: (at, *of(at, *sight.within(at))),
            )
            left = new[2] * low[2] > 0.0
            return _either(left, new, low), _either(left, high, new), left | seen_low, ~left | seen_high

        never = jnp.asarray(False)
        ends = (sight.old.t, *begin), (sight.tried.t, *end)
        low, high, _, _ = jax.lax.fori_loop(0, REFINED, once, (*ends, never, never))
        return _either(jnp.abs(low[2]) < jnp.abs(high[2]), low[:2], high[:2])

    return jax.lax.cond(turns, look, lambda _: (sight.old.t, begin[0]), None)


def _either(first: Flag, a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(jnp.where(first, x, y) for x, y in zip(a, b, strict=True))
