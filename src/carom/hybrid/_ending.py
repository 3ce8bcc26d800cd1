"""How a run ends: at its horizon, at a limit, or because it leads nowhere, by name."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ..quantities import Flag, Index, Real
from . import outcome
from ._carry import Attempt, Carry
from ._growth import diverges, top_speed
from .condition import NEVER, SHALLOW, Watch, any_of, most_of
from .settings import Integration
from .world import World, first_exits

EVENTS_AT_ONE_INSTANT = 100
ONE_INSTANT = 100.0  # widths of time: events no further apart do not get anywhere
TRIES = 1_000  # attempts in a row without an accepted step of some length: landing takes at most 3 x 52 + 6 of them
CHATTER, RAPID, EVEN = 10_000, 1e-3, 0.9  # so many events, each within this share of a step, coming no faster
HARDLY = 1e-5  # of the world's length is how far things move from one such event to the next
NOWHERE = 1e-9  # of the proposed step: one so short is no progress
LANDING = 4.0  # widths of time within which an event is landed on
LIGHT = 299_792_458.0  # [m/s] nothing moves faster


def outcome_of(
    world: World, integration: Integration, c: Carry, new: Carry, a: Attempt, accept: Flag, fired: tuple[Any, ...]
) -> Any:
    stuck = ~accept & ~c.fresh & ((c.t + new.h <= c.t) | (new.h <= 1e-200)) & ~(a.norm <= 1.0)
    broken = ~jnp.isfinite(a.norm) & (c.fresh | stuck)
    phases = zip(world.automata, c.phases, new.phases, strict=True)  # a run may start where no motion is possible
    lost = any_of([jnp.asarray(m.standing.fails(old) | m.standing.fails(phase)) for m, old, phase in phases])
    firsts = first_exits(world)
    awaited = any_of([f & _is_number(integration.stop_at, g, f) for g, f in zip(firsts, fired, strict=True)])
    crowded = any_of(
        [jnp.asarray(m.standing.crowded(phase)) for m, phase in zip(world.automata, new.phases, strict=True)]
    )
    asked = [m.standing.ends(p) for m, p in zip(world.automata, new.phases, strict=True) if m.standing.ends is not None]
    early, late = new.window
    window = (new.t - early) / CHATTER  # from event to event
    speed = top_speed(world, new.y)
    dense = (window < RAPID * new.h) & (window * speed < HARDLY * world.length)
    dense = dense & (new.t - late > EVEN * (late - early))
    code = c.outcome
    # The last one that holds counts: no failure is hidden by an end that was reached at the same time.
    for when, what in (
        (accept & a.last & ~new.fresh, outcome.FINISHED),  # an event at the horizon is served first, and what follows
        (accept & ~new.fresh & any_of([jnp.asarray(end) for end in asked]), outcome.STOPPED),
        ((new.events >= integration.max_events) | awaited, outcome.EVENT_LIMIT),
        (new.steps >= integration.max_steps, outcome.STEP_LIMIT),
        (dense & counted_up(new.events), outcome.CHATTER),
        (new.tries > TRIES, outcome.STALLED),
        (new.instant > EVENTS_AT_ONE_INSTANT, outcome.ZENO),
        (stuck, outcome.STEP_TOO_SMALL),
        (lost, outcome.NO_MOTION),
        (crowded, outcome.CROWDED),
        ((speed > LIGHT) | diverges(new.history, speed, new.steps), outcome.RUNAWAY),
        (accept & ~new.fresh & ~within_bounds(world, c, a), outcome.INSIDE),
        (broken, outcome.NOT_FINITE),
    ):
        code = jnp.where((c.outcome == outcome.RUNNING) & when, what, code)
    return code


def counted_up(events: Index) -> Any:
    """Is it now asked how densely events came?"""
    return events % (CHATTER // 2) == CHATTER // 2 - 1


def within_bounds(world: World, c: Carry, a: Attempt) -> Any:
    """Is no open contact inside by more than counts as none?"""
    return ~(a.depth[1] > SHALLOW * world.length + 2.0 * c.landed)


def _is_number(wanted: Any, first: int, fired: Any) -> Any:
    """Which exits of an entry have the number that is wanted?"""
    return wanted == (first + jnp.arange(len(fired)) if jnp.ndim(fired) else first)


def depths(look: list[Watch | None], width: Real, fresh: Flag) -> tuple[Any, Any, Any]:
    """How far [its own unit] a rigid contact is inside, and an open one beyond its rounding; none is: negative.

    The last number is how far one may be where it lands: what moves within a few widths of time, and rounding. In the
    step of no length after a jump (`fresh`) what has just closed is put where it is held.
    """
    deep: Any = jnp.asarray(-jnp.inf)
    beyond, allowed = deep, jnp.asarray(0.0)
    for w in look:
        if w is not None and w.room is not None:
            room = w.room + w.slight
            put = fresh & (w.value == NEVER)
            deep = jnp.maximum(deep, most_of(jnp.where(put, -jnp.inf, w.depth)))
            beyond = jnp.maximum(beyond, most_of(w.value - room))
            allowed = jnp.maximum(allowed, most_of(room + LANDING * width * (w.sweep + w.swing * w.beat)))
    return deep, beyond, allowed


def window_of(c: Carry, t: Real, hit: Flag, events: Index) -> tuple[Any, Any]:
    """Instants of two events, half a window apart: how densely events come."""
    turn = hit & (events % (CHATTER // 2) == 0)
    return jnp.where(turn, c.window[1], c.window[0]), jnp.where(turn, t, c.window[1])
