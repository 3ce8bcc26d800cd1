"""What a run carries from attempt to attempt, how it is told to integrate, and what an attempt is."""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .. import errors
from . import outcome
from .locate import Asked, Ends
from .scene import State
from .solvers import Solver, solver_of
from .world import World


class Settings(eqx.Module):
    """How to integrate. Tolerances and limits are traced; the solver is not."""

    solver: Solver = eqx.field(static=True)
    rtol: Any
    atol: Any
    until: Any
    max_steps: Any
    max_events: Any
    stop_at: Any = -1  # the run ends when this guard (counted through the world's events) fires; -1: none


def settings_of(solver: str, rtol: Any, atol: Any, until: Any, max_steps: Any, max_events: Any) -> Settings:
    """Settings from what a user gives; no limit of events is None."""
    return Settings(
        solver_of(solver),
        _number(rtol),
        _number(atol),
        _number(until),
        _limit("max_steps", max_steps),
        _limit("max_events", max_events),
    )


def _number(value: Any) -> Any:
    """NumPy's where it can be: JAX takes a tenth of a millisecond for each, which short runs feel."""
    return value.astype(float) if isinstance(value, jax.Array) else np.asarray(value, dtype=float)


def _limit(field: str, value: Any) -> Any:
    """A count of at least one; None and infinity are no limit."""
    if isinstance(value, jax.Array):
        return value.astype(int)
    if value is None or value == np.inf:
        return np.asarray(2**62)
    errors.number("run", field, value, least=1.0)
    return np.asarray(int(np.ceil(min(value, 2.0**62))))


class Carry(NamedTuple):
    """Everything that one lane carries from attempt to attempt."""

    t: Any
    y: State
    phases: tuple[Any, ...]
    memory: tuple[tuple[Any, ...], ...]
    rate: State  # derivative at (t, y)
    guard: Ends  # values and rates of all exits at (t, y)
    armed: tuple[Any, ...]  # edges that have been negative since the last jump of their automaton
    h: Any  # what the step-size controller proposes
    aim: Any  # a shorter step that should land on an event, or infinity
    low: Any  # no condition holds at the end of a step of this length
    high: Any  # one does at the end of this, or infinity
    hint: Any  # where in between it became true, as the last step of length `high` said
    tries: Any  # attempts since the last event, or accepted step of some length
    fresh: Any  # rate and conditions are not known yet: the next attempt has length zero
    unsettled: Any  # at the beginning: automata have not looked at each other yet
    last_norm: Any  # of the last attempt that said something about step lengths; above 1 if it was rejected
    first: tuple[Any, Any]  # length of the first full step of the last flight, and of the last impact, or infinity
    begun: Any  # has there been a full step since an impact began or ended?
    instant: Any  # events served without time going on
    window: tuple[Any, Any]  # instants of the event CHATTER ago (rounded), and half as long ago
    depth: Any  # how far a rigid contact has been inside its surface [m]; negative: never
    landed: Any  # how far one was at the last event: what it moves within the last bits of time
    steps: Any
    rejected: Any
    events: Any
    outcome: Any


class Attempt(NamedTuple):
    """A step that was tried, before anyone decided about it."""

    t: Any
    span: Any
    y: State
    rate: State
    norm: Any
    asked: Asked
    last: Any  # does it end at the horizon?
    arrives: Any  # does it end at an instant that was given, or at the horizon?
    late: Any  # by how much it then ends before: zero, up to its derivative
    unseen: Any  # a shorter step to try first, because something may have been met inside; infinity if not
    cut: Any  # a shorter step to try before any other, because this one is too long to tell; infinity if not
    depth: tuple[Any, Any]  # how far a rigid contact is inside, and an open one beyond its rounding


class Verdict(NamedTuple):
    """What becomes of an attempt."""

    accept: Any
    hit: Any
    fired: tuple[Any, ...]
    aim: Any
    low: Any
    high: Any
    hint: Any


def begin(world: World, t: Any, y: State, phases: Any, memory: Any, h: Any) -> Carry:
    """The carry before the first attempt."""
    count = len(world.events)
    zero, no = jnp.asarray(0.0), jnp.asarray(False)
    nothing = jax.tree.map(jnp.zeros_like, y)
    integer, never = jnp.asarray(0), jnp.asarray(jnp.inf)
    return Carry(
        t=t,
        y=y,
        phases=phases,
        memory=memory,
        rate=nothing,
        guard=Ends((zero,) * count, (zero,) * count),
        armed=(no,) * count,
        h=h,
        aim=never,
        low=zero,
        high=never,
        hint=never,
        tries=integer,
        fresh=jnp.asarray(True),
        unsettled=no,
        last_norm=jnp.asarray(1.0),
        first=(never, never),
        begun=jnp.asarray(True),
        instant=integer,
        window=(-never, -never),
        depth=-never,
        landed=zero,
        steps=integer,
        rejected=integer,
        events=integer,
        outcome=jnp.asarray(outcome.RUNNING),
    )
