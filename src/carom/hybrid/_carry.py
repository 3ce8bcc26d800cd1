"""What a run carries from attempt to attempt, and what an attempt is."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ..quantities import Memories, Phases, Real
from . import outcome
from ._growth import History, first_history
from ._locate import Asked, Ends
from .automaton import blank
from .scene import Continuous
from .world import World


class Carry(NamedTuple):
    """Everything that one lane carries from attempt to attempt."""

    t: Any
    y: Continuous
    phases: tuple[Any, ...]
    memory: tuple[tuple[Any, ...], ...]
    rate: Continuous  # derivative at (t, y)
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
    last_size: Any  # logarithm of the error of the last attempt that said something about lengths; above 0: rejected
    first: tuple[Any, Any]  # length of the first full step of the last flight, and of the last impact, or infinity
    begun: Any  # has there been a full step since an impact began or ended?
    instant: Any  # events served without time going on
    window: tuple[Any, Any]  # instants of the event CHATTER ago (rounded), and half as long ago
    depth: Any  # how far a rigid contact has been inside its surface [m]; negative: never
    landed: Any  # how far one was at the last event: what it moves within the last bits of time
    history: History  # speeds of the past
    steps: Any
    rejected: Any
    events: Any
    outcome: Any
    probe: Any = ()  # a direction that a run which is differentiated takes along (_probe.py)


class Attempt(NamedTuple):
    """A step that was tried, before anyone decided about it."""

    t: Any
    span: Any
    y: Continuous
    rate: Continuous
    norm: Any
    asked: Asked
    last: Any  # does it end at the horizon?
    arrives: Any  # does it end at an instant that was given, or at the horizon?
    late: Any  # by how much it then ends before: zero, up to its derivative
    unseen: Any  # a shorter step to try first, because something may have been met inside; infinity if not
    cut: Any  # a shorter step to try before any other, because this one is too long to tell; infinity if not
    depth: tuple[
        Any, Any, Any
    ]  # how far a rigid contact is inside, an open one beyond its rounding; allowed at landing
    probe: Any = ()


class Verdict(NamedTuple):
    """What becomes of an attempt."""

    accept: Any
    hit: Any
    fired: tuple[Any, ...]
    aim: Any
    low: Any
    high: Any
    hint: Any


def begin(world: World, t: Real, y: Continuous, phases: Phases, memory: Memories, h: Real) -> Carry:
    """The carry before the first attempt."""
    families = [size for automaton in world.automata for size in automaton.anatomy.families]
    zero, no = jnp.asarray(0.0), jnp.asarray(False)
    nothing = jax.tree.map(jnp.zeros_like, y)
    integer, never = jnp.asarray(0), jnp.asarray(jnp.inf)
    return Carry(
        t=t,
        y=y,
        phases=phases,
        memory=memory,
        rate=nothing,
        guard=Ends(blank(families, 0.0), blank(families, 0.0)),
        armed=blank(families, False),
        h=h,
        aim=never,
        low=zero,
        high=never,
        hint=never,
        tries=integer,
        fresh=jnp.asarray(True),
        unsettled=no,
        last_size=zero,
        first=(never, never),
        begun=jnp.asarray(True),
        instant=integer,
        window=(-never, -never),
        depth=-never,
        landed=zero,
        history=first_history(world, y, h),
        steps=integer,
        rejected=integer,
        events=integer,
        outcome=jnp.asarray(outcome.RUNNING),
    )
