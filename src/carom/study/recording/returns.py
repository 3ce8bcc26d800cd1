"""Returns of a lane to a section: an event, or where a scalar of the motion passes through zero.

The same rule as `carom.poincare`: what is as small as rounding has no sign and belongs to what comes after it; a blow
that throws the scalar across zero counts, with the state just after it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ... import errors, native
from ..._arguments import PassageLike
from ...hybrid._carry import Carry
from ...hybrid.scene import Continuous, merge
from ...hybrid.world import World
from ...quantities import Flag, Function, Index, Real
from .recorder import AbstractRecorder, Columns, Sight, peak_within

NOISE = 1e-12  # of the largest value so far: what is smaller is zero already
NARROWED = 12  # times; Newton's method, kept within a bracket, needs five


@dataclasses.dataclass(frozen=True)
class Returns:
    """Which returns of a lane are kept: `keep` of them after the first `discard`, with which the lane ends, unless
    something else is recorded of it, too.

    Where nothing is discarded (None) it runs on, and the last ones of the run are kept.

    `section` is an event (automaton, exit), such as ('rigid contacts', 'strike seat'), or a function of (t, q, v) whose
    passage through zero counts, upwards (`direction` 1), downwards (-1) or both (0).

        tops = carom.Returns(lambda t, q, v: v[0], -1, discard=200, keep=8)
        carom.batch(valve, flows, start, until=1e4, returns=tops)
    """

    section: PassageLike
    direction: int = 0
    discard: int | None = 0
    keep: int = 1

    def __post_init__(self) -> None:
        for field, least in (("discard", 0), ("keep", 1)):
            value = getattr(self, field)
            if value is None and field == "discard":
                continue
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise errors.CaromError(f"{field} of Returns is {value!r}; it must be a whole number, at least {least}")
        if self.direction not in (-1, 0, 1):
            raise errors.CaromError(
                f"direction of Returns is {self.direction!r}; it must be 1 (upwards), -1 (downwards) or 0 (both)"
            )
        if not callable(self.section) and not (isinstance(self.section, tuple) and len(self.section) == 2):
            raise errors.CaromError(
                f"section of Returns is {self.section!r}; it must be an event (automaton, exit), or a function of "
                "(t, q, v)"
            )

    def recorder(self, world: World) -> AbstractRecorder:
        """What records them in the lanes of this world."""
        if callable(self.section):
            return Passages(self.discard, self.keep, self.section, self.direction)
        name, exit = self.section
        found = world.automaton(name)
        errors.name_in(f"event of '{name}'", exit, found.anatomy.exit_names)
        i = [a.name for a in world.automata].index(name)
        return EventReturns(self.discard, self.keep, world.events.index((i, found.anatomy.exit_names.index(exit))))


class Rows(NamedTuple):
    """Returns so far, and those that are kept: a row for each, of t, q, v and whether it jumped."""

    count: Any
    table: Any


@dataclasses.dataclass(frozen=True)
class _Returns(AbstractRecorder):
    discard: int | None
    keep: int
    key = "returns"

    def _none(self, world: World) -> Rows:
        return Rows(jnp.asarray(0), native.buffer(jnp.full((self.keep, 2 * world.mechanism.dof + 2), jnp.nan)))

    def _put(self, rows: Rows, when: Flag, jumped: Flag, where: Callable[[], tuple[Any, Continuous]]) -> Rows:
        """One return more, which is kept if it is its turn."""
        turn = rows.count % self.keep if self.discard is None else rows.count - self.discard
        dof = rows.table.shape[1] // 2 - 1

        def put(table: Any) -> Any:
            t, y = where()
            numbers = [t, *(y.q[k] for k in range(dof)), *(y.v[k] for k in range(dof)), jumped]
            row = jnp.stack([jnp.asarray(x, dtype=float) for x in numbers])
            return jax.lax.dynamic_update_slice(table, row[None], (turn, jnp.zeros_like(turn)))

        # In a branch, and at an index: most attempts see no return, and the table stays where it is.
        kept = jax.lax.cond(when & (turn >= 0) & (turn < self.keep), put, lambda table: table, rows.table)
        return Rows(rows.count + when, kept)

    def _full(self, rows: Rows) -> Any:
        return False if self.discard is None else rows.count >= self.discard + self.keep

    def handed(self, columns: Columns) -> Columns:
        """Columns of the table, the oldest return first."""
        count, table = np.asarray(columns["count"]), np.asarray(columns["table"])
        if self.discard is None:  # the oldest of those that are kept stands where the next one would
            first = np.where(count > self.keep, count, 0)
            around = (np.arange(self.keep) + first[..., None]) % self.keep
            table = np.take_along_axis(table, around[..., None], axis=-2)
        dof = table.shape[-1] // 2 - 1
        q, v = table[..., 1 : 1 + dof], table[..., 1 + dof : 1 + 2 * dof]
        return {"count": count, "t": table[..., 0], "q": q, "v": v, "jumped": table[..., -1] == 1.0}


@dataclasses.dataclass(frozen=True)
class EventReturns(_Returns):
    """Returns to an exit, by its number in the world; states are those just after."""

    exit: int

    def begin(self, world: World, first: Carry) -> Rows:
        return self._none(world)

    def see(self, sight: Sight, kept: Rows) -> Rows:
        met = sight.hit & sight.fired[self.exit]
        return self._put(kept, met, jnp.asarray(True), lambda: (sight.new.t, sight.new.y))

    def end(self, world: World, last: Carry, kept: Rows) -> dict[str, Any]:
        return kept._asdict()

    def satisfied(self, kept: Rows) -> Any:
        return self._full(kept)


class Told(NamedTuple):
    """The scalar so far: the last sign that was told, and the largest size."""

    sign: Any
    largest: Any
    rows: Rows


class _Sample(NamedTuple):
    t: Any
    y: Continuous
    value: Any
    slope: Any


@dataclasses.dataclass(frozen=True)
class Passages(_Returns):
    """Where a scalar of (t, q, v) passes through zero."""

    scalar: Function
    direction: int

    def begin(self, world: World, first: Carry) -> Told:
        zero = jnp.asarray(0.0)
        return Told(zero, zero, self._none(world))

    def end(self, world: World, last: Carry, kept: Told) -> dict[str, Any]:
        return kept.rows._asdict()

    def satisfied(self, kept: Told) -> Any:
        return self._full(kept.rows)

    def _look(self, t: Real, y: Continuous, rate: Continuous) -> tuple[Any, Any]:
        at, moving = (t, merge(y.q), merge(y.v)), (jnp.ones_like(t), merge(rate.q), merge(rate.v))
        value, slope = jax.jvp(lambda *x: jnp.asarray(self.scalar(*x), dtype=float), at, moving)
        if value.ndim:
            raise errors.CaromError(f"section of Returns gives shape {value.shape} at an instant; it must be a number")
        return value, slope

    def see(self, sight: Sight, kept: Told) -> Told:
        def stepped(k: Told) -> Told:
            return self._step(sight, k)

        def jumped(k: Told) -> Told:
            a, new = sight.tried, sight.new
            after = self._look(new.t, new.y, a.rate)[0]
            return self._seen(k, after, jnp.asarray(True), lambda: (new.t, new.y))

        kept = jax.lax.cond(sight.step, stepped, lambda k: k, kept)
        return jax.lax.cond(sight.hit, jumped, lambda k: k, kept)

    def _step(self, sight: Sight, kept: Told) -> Told:
        c, a = sight.old, sight.tried
        begin, end = (_Sample(x.t, x.y, *self._look(x.t, x.y, x.rate)) for x in (c, a))
        kept = self._seen(kept, begin.value, jnp.asarray(False), lambda: (c.t, c.y))
        # Nearer to zero and away again: it may have been on the other side meanwhile.
        back = (begin.value * end.value > 0.0) & (begin.value * begin.slope < 0.0) & (end.value * end.slope > 0.0)
        slopes = [(x.value, jnp.where(back, x.slope, 1.0)) for x in (begin, end)]
        at, turned = peak_within(sight, slopes[0], slopes[1], self._look)
        kept = self._narrowed(sight, kept, begin.t, at, jnp.where(back, turned, begin.value))
        return self._narrowed(sight, kept, jnp.where(back, at, begin.t), end.t, end.value)

    def _narrowed(self, sight: Sight, kept: Told, low: Real, high: Real, value: Real) -> Told:
        """A sample at the end of a span, in which the scalar may have changed its sign."""
        way = jnp.sign(value)

        def where() -> tuple[Any, Continuous]:
            def once(_: Index, s: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
                low, high, t = s
                found, slope = self._look(t, *sight.within(t))
                low, high = jnp.where(found * way < 0.0, t, low), jnp.where(found * way < 0.0, high, t)
                aim = t - found / jnp.where(slope == 0.0, 1.0, slope)
                return low, high, jnp.where((aim >= low) & (aim <= high), aim, 0.5 * (low + high))

            t = jax.lax.fori_loop(0, NARROWED, once, (low, high, 0.5 * (low + high)))[2]
            return t, sight.within(t)[0]

        return self._seen(kept, value, jnp.asarray(False), where)

    def _seen(self, kept: Told, value: Real, jumped: Flag, where: Callable[[], tuple[Any, Continuous]]) -> Told:
        """One sample more, in the order of time."""
        largest = jnp.maximum(kept.largest, jnp.abs(value))
        sign = jnp.where(jnp.abs(value) > NOISE * largest, jnp.sign(value), 0.0)
        passes = (sign != 0.0) & (sign == -kept.sign)
        if self.direction:
            passes = passes & (sign == self.direction)
        rows = self._put(kept.rows, passes, jumped, where)
        return Told(jnp.where(sign != 0.0, sign, kept.sign), largest, rows)
