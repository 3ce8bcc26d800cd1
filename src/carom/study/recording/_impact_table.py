"""The first impacts of a lane: the numbers of `carom.Impact`, recorded while the lane runs.

A rigid contact strikes at an instant, and its row is complete there. A compliant one is watched from touch to release;
only then is known whether it was a strike or a stance (result/_spells.py). So rows are complete in another order than
that in which the impacts began: the table keeps those that began first.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ...hybrid._carry import Carry
from ...hybrid._flow import any_holding
from ...hybrid.scene import Continuous, Own
from ...hybrid.world import World
from ...quantities import Flag, Real
from ...result._spells import pressed_at, stands
from ...result._within import forces_at
from ...result.impacts import SHALLOWEST
from ._contact_rows import Place, closed, compliant, places, side, work_of
from .recorder import AbstractRecorder, Sight, peak_within

SIDES = ("normal_velocity", "tangential_velocity", "kinetic_energy")
COLUMNS = (
    "t_start",
    "t_end",
    *(f"{name}_{which}" for name in SIDES for which in ("before", "after")),
    "max_indentation",
    "residual_indentation",
    "max_normal_force",
    "normal_impulse",
    "tangential_impulse",
    "energy_lost",
)
ALWAYS = ("t_start", "order")  # by which the table is kept; `order` is the place of the contact
INSIDE = ("max_indentation", "residual_indentation", "max_normal_force")  # what is looked for between touch and release


class Spell(NamedTuple):
    """A compliant contact that is closed; nothing is known of the beginning of one that was closed from the start."""

    begun: Any
    t: Any
    before: dict[str, Any]
    work: Any
    speed: Any  # of the indentation
    press: Any  # acceleration by weight and motors
    depth: Any  # the largest so far
    push: Any
    ended: tuple[tuple[Any, Any], tuple[Any, Any]]  # indentation and force at the end of the last step, and their rates
    goes_on: Any  # does the next step begin with those?


class Kept(NamedTuple):
    rows: dict[str, Any]
    counts: tuple[Any, ...]
    spells: tuple[Spell, ...]


@dataclasses.dataclass(frozen=True)
class ImpactTable(AbstractRecorder):
    """Columns of the first `rows` impacts, and how many there were: of a contact ("": any), before a time [s]."""

    rows: int = 0
    columns: tuple[str, ...] = ()
    counts: tuple[tuple[str, float], ...] = ()

    @property
    def key(self) -> str:
        return "impacts"

    def joined(self, other: AbstractRecorder) -> ImpactTable:
        assert isinstance(other, ImpactTable)
        columns = tuple(sorted({*self.columns, *other.columns}))
        return ImpactTable(max(self.rows, other.rows), columns, tuple(sorted({*self.counts, *other.counts})))

    @property
    def has(self) -> frozenset[str]:
        """Columns of its rows."""
        return frozenset((*self.columns, *ALWAYS)) if self.rows else frozenset()

    def begin(self, world: World, first: Carry) -> Kept:
        rows = {name: jnp.full(self.rows, jnp.inf if name in ALWAYS else jnp.nan) for name in sorted(self.has)}
        none = (jnp.asarray(0),) * len(self.counts)
        return Kept(rows, none, (self._nothing(),) * len(compliant(world)))

    def _nothing(self) -> Spell:
        zero, never = jnp.asarray(0.0), jnp.asarray(-jnp.inf)
        before = {name: zero for name in sorted(self.has) if "_before" in name}
        ended = ((zero, zero), (zero, zero))
        return Spell(jnp.asarray(False), zero, before, zero, zero, zero, never, never, ended, jnp.asarray(False))

    def see(self, sight: Sight, kept: Kept) -> Kept:
        if self.has & set(INSIDE):
            kept = self._deepened(sight, kept)
        return jax.lax.cond(sight.hit, lambda k: self._at_event(sight, k), lambda k: k, kept)

    def end(self, world: World, last: Carry, kept: Kept) -> dict[str, Any]:
        return kept.rows | {count_name(*each): n for each, n in zip(self.counts, kept.counts, strict=True)}

    # -- between events ------------------------------------------------------------------------------------------------

    def _deepened(self, sight: Sight, kept: Kept) -> Kept:
        """The largest indentation and force so far."""
        world, c, spells = sight.world, sight.old, []
        # What is held is put back after a step: the next one does not begin where it ended.
        stays = jnp.asarray(False) if world.constraints else ~any_holding(world, c.phases)
        for place, spell in zip(compliant(world), kept.spells, strict=True):
            on = sight.step & closed(world, place, c.phases, c.memory)
            depth, push, ended = jax.lax.cond(
                on, lambda s, p=place: self._largest(sight, p, s), lambda s: (s.depth, s.push, s.ended), spell
            )
            goes_on = jnp.where(sight.step, on & stays, spell.goes_on) & ~sight.hit
            spells.append(spell._replace(depth=depth, push=push, ended=ended, goes_on=goes_on))
        return kept._replace(spells=tuple(spells))

    def _largest(self, sight: Sight, place: Place, spell: Spell) -> tuple[Any, Any, Any]:
        """With a step more: at its ends, and where it turns in between; and what it ended with."""
        world, c, a = sight.world, sight.old, sight.tried

        def gauge(t: Real, y: Continuous) -> tuple[Any, Any]:
            depth, _, _, push, _ = forces_at(place.automaton, place.contact, world, t, y, c.phases, c.memory)
            return depth, push

        def moving(t: Real, y: Continuous, rate: Continuous) -> Any:
            return jax.jvp(gauge, (t, y._replace(work=())), (jnp.ones_like(t), rate._replace(work=())))

        # Laws are expensive: what was found where the last step ended is not asked for again.
        begin = jax.lax.cond(spell.goes_on, lambda: spell.ended, lambda: moving(c.t, c.y, c.rate))
        end = moving(a.t, a.y, a.rate)
        out = []
        for k, (wanted, most) in enumerate(((INSIDE[:2], spell.depth), (INSIDE[2:], spell.push))):
            ends = [(value[k], rate[k]) for value, rate in (begin, end)]
            most = jnp.maximum(most, jnp.maximum(ends[0][0], ends[1][0]))
            if self.has & set(wanted):
                most = jnp.maximum(
                    most, peak_within(sight, ends[0], ends[1], lambda *y, k=k: [x[k] for x in moving(*y)])[1]
                )
            out.append(most)
        return out[0], out[1], end

    # -- at events -----------------------------------------------------------------------------------------------------

    def _at_event(self, sight: Sight, kept: Kept) -> Kept:
        world, spells = sight.world, []
        those = iter(kept.spells)
        for place in places(world):
            if place.report.rigid:
                exits = world.automata[place.automaton].anatomy.exit_names
                struck = sight.fired[world.events.index((place.automaton, exits.index(place.report.begins)))]
                kept = self._entered(kept, place, struck, sight.new.t, functools.partial(self._blow, sight, place))
            else:
                spell = next(those)
                before, after = (closed(world, place, c.phases, c.memory) for c in (sight.old, sight.new))
                kept = self._released(sight, kept, place, spell, before & ~after)
                spells.append(self._after(sight, place, spell, ~before & after))
        return kept._replace(spells=tuple(spells))

    def _after(self, sight: Sight, place: Place, spell: Spell, touches: Flag) -> Any:
        return jax.lax.cond(touches, lambda _: self._touched(sight, place), lambda s: s, spell)

    def _blow(self, sight: Sight, place: Place) -> dict[str, Any]:
        """The row of an instantaneous impact; its force is infinite, its impulse is not."""
        world, new = sight.world, sight.new
        before, after = self._sides(sight, place)
        i = place.automaton
        told = world.automata[i].report.blows(Own(new.phases[i], new.memory[i], ()))[place.report.name]
        both = before | after
        normal, along = (
            0.5 * (both[f"{name}_velocity_before"] + both[f"{name}_velocity_after"])
            for name in ("normal", "tangential")
        )
        zero = jnp.asarray(0.0)
        return both | {
            "t_end": new.t,
            "max_indentation": zero,
            "residual_indentation": zero,
            "max_normal_force": jnp.asarray(jnp.inf),
            "normal_impulse": told.normal,
            "tangential_impulse": told.friction,
            "energy_lost": -(told.normal * normal + told.friction * along),
        }

    def _sides(self, sight: Sight, place: Place) -> tuple[dict[str, Any], dict[str, Any]]:
        ends = (sight.tried.y, "before"), (sight.new.y, "after")
        before, after = (side(sight.world, place, sight.new.t, y, which) for y, which in ends)
        return before, after

    def _touched(self, sight: Sight, place: Place) -> Spell:
        """What is known of an impact when it begins."""
        world, a, c = sight.world, sight.tried, sight.old
        found = side(world, place, sight.new.t, a.y, "before")
        speed, press = -found["normal_velocity_before"], jnp.asarray(0.0)
        if not world.pause_in_impact:  # then nothing else acts
            at = (world, sight.new.t, a.y, c.phases, c.memory)
            speed, press = pressed_at(place.automaton, place.contact, *at)
        empty = self._nothing()
        before = {name: found[name] for name in empty.before}
        work = work_of(world, place, a.y)
        return empty._replace(
            begun=jnp.asarray(True), t=sight.new.t, before=before, work=work, speed=speed, press=press
        )

    def _released(self, sight: Sight, kept: Kept, place: Place, spell: Spell, when: Flag) -> Kept:
        """A row, if it was a strike."""
        a, world, t = sight.tried, sight.world, sight.new.t

        def row() -> dict[str, Any]:
            found = side(world, place, t, a.y, "after")
            left = found.pop("depth")
            deep = jnp.maximum(spell.depth, 0.0)
            return (
                spell.before
                | found
                | {
                    "t_end": t,
                    "max_indentation": spell.depth,
                    "residual_indentation": jnp.where(left > SHALLOWEST * deep, left, 0.0),
                    "max_normal_force": spell.push,
                    "energy_lost": spell.work - work_of(world, place, a.y),
                }
            )

        strikes = when & spell.begun
        if not world.pause_in_impact:
            last = -side(world, place, t, a.y, "after")["normal_velocity_after"]
            strikes = strikes & ~stands(spell.press, t - spell.t, jnp.abs(spell.speed) + jnp.abs(last))
        return self._entered(kept, place, strikes, spell.t, row)

    def _entered(self, kept: Kept, place: Place, when: Flag, t: Real, row: Callable[[], dict[str, Any]]) -> Kept:
        """One impact more."""
        counts = tuple(
            n + (when & (t < before)) if contact in ("", place.report.name) else n
            for (contact, before), n in zip(self.counts, kept.counts, strict=True)
        )
        kept = kept._replace(counts=counts)
        if not self.rows:
            return kept

        def put(rows: dict[str, Any]) -> dict[str, Any]:
            # The row that began last makes room; rows that are still empty begin never.
            latest = jnp.max(rows["t_start"])
            order = jnp.where(rows["t_start"] == latest, rows["order"], -1.0)
            slot = jnp.argmax(order)
            sooner = (t < latest) | ((t == latest) & (place.order < order[slot]))
            new = row() | {"t_start": t, "order": jnp.asarray(float(place.order))}
            here = (jnp.arange(self.rows) == slot) & sooner
            return {name: jnp.where(here, new[name], column) for name, column in rows.items()}

        return kept._replace(rows=jax.lax.cond(when, put, lambda rows: rows, kept.rows))


def count_name(contact: str, before: float) -> str:
    return f"count {contact} {before}"
