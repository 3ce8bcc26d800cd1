"""The flat loop: one attempt at one step of whatever phase the world is in; landing and jump in the same body.

Under vmap every lane is in its own phase, takes its own steps and meets its own events; no lane waits for another
until the end. `attempt` tries a step, `settle` decides what becomes of it, `advance` is the body.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp

from . import outcome
from .flow import derivative
from .jump import serve
from .locate import Guards, above_zero, at_zero, clearly_negative, first_zero, guards, hidden_peak, time_resolution
from .scene import State
from .solvers import Solver, error_norm
from .world import World

EVENTS_AT_ONE_INSTANT = 100


class Settings(eqx.Module):
    """How to integrate. Tolerances and limits are traced; the solver is not."""

    solver: Solver = eqx.field(static=True)
    rtol: Any
    atol: Any
    until: Any
    max_steps: Any
    max_events: Any


class Carry(NamedTuple):
    """Everything that one lane carries from attempt to attempt."""

    t: Any
    y: State
    phases: tuple[Any, ...]
    memory: tuple[tuple[Any, ...], ...]
    rate: State  # derivative at (t, y)
    guard: Guards  # at (t, y)
    armed: tuple[Any, ...]
    h: Any  # what the step-size controller proposes
    aim: Any  # a shorter step that should land on an event, or infinity
    ceiling: Any  # a guard is known to be non-negative this far ahead, or infinity
    fresh: Any  # rate and guards are not known yet: the next attempt has length zero
    last_norm: Any
    instant: Any  # events served without time going on
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
    guard: Guards
    last: Any  # does it end at the horizon?


class Verdict(NamedTuple):
    """What becomes of an attempt."""

    accept: Any
    hit: Any
    fired: tuple[Any, ...]
    aim: Any
    ceiling: Any


def begin(world: World, t: Any, y: State, phases: Any, memory: Any, h: Any) -> Carry:
    """The carry before the first attempt."""
    count = len(world.events)
    zero, no = jnp.asarray(0.0), jnp.asarray(False)
    nothing = jax.tree.map(jnp.zeros_like, y)
    integer = jnp.asarray(0)
    return Carry(
        t=t,
        y=y,
        phases=phases,
        memory=memory,
        rate=nothing,
        guard=Guards((zero,) * count, (zero,) * count),
        armed=(no,) * count,
        h=h,
        aim=jnp.asarray(jnp.inf),
        ceiling=jnp.asarray(jnp.inf),
        fresh=jnp.asarray(True),
        last_norm=jnp.asarray(1.0),
        instant=integer,
        steps=integer,
        rejected=integer,
        events=integer,
        outcome=jnp.asarray(outcome.RUNNING),
    )


def attempt(world: World, settings: Settings, c: Carry) -> Attempt:
    """Try one step: as long as the controller proposes, shorter to land on an event or on the horizon."""
    left = settings.until - c.t
    wanted = jnp.minimum(jnp.minimum(c.h, c.aim), left)
    span = jax.lax.stop_gradient(jnp.where(c.fresh, 0.0, wanted))
    last = ~c.fresh & (span >= left)

    def rhs(t: Any, y: State) -> State:
        return derivative(world, t, y, c.phases, c.memory)

    y, error, rate = settings.solver.step(rhs, c.t, c.y, c.rate, span)
    # The ledger follows the motion; it does not decide about the steps.
    norm = error_norm(
        (c.y.q, c.y.v, c.y.extra), (y.q, y.v, y.extra), (error.q, error.v, error.extra), settings.rtol, settings.atol
    )
    t = c.t + span
    return Attempt(t, span, y, rate, norm, guards(world, t, y, rate, c.phases, c.memory), last)


def settle(c: Carry, a: Attempt) -> Verdict:
    """Accept the step, land on an event, or try again with a shorter one."""
    resolution = time_resolution(a.t)
    good = a.norm <= 1.0
    above = _any([on & up for on, up in zip(c.armed, above_zero(a.guard, resolution), strict=True)])
    fired = tuple(on & z for on, z in zip(c.armed, at_zero(a.guard, resolution), strict=True))
    ahead = jax.lax.stop_gradient(first_zero(c.armed, a.guard, a.span))
    # Landed: the first crossing lies within the resolution of the end, or the step cannot be made shorter.
    landed = _any(list(fired)) & (~above | (ahead >= -resolution) & (ahead <= 0.0) | (a.span <= resolution))
    hit = good & landed
    overshot = good & above & ~landed
    back = a.span + ahead
    shorter = jnp.where((back > 0.0) & (back < a.span), back, 0.5 * a.span)
    # A guard that rose and fell within the step: look at its peak first.
    peak = jax.lax.stop_gradient(hidden_peak(c.armed, c.guard, a.guard, a.span))
    peek = good & ~above & ~landed & ~c.fresh & (peak < 1.0)
    accept = good & ~overshot & ~peek
    # While a crossing is known to lie ahead, go on towards it.
    rest = c.ceiling - a.span
    closing = jnp.where((ahead > 0.0) & (ahead < rest), ahead, jnp.where(rest > resolution, 0.5 * rest, rest))
    aim = jnp.where(accept & ~hit & jnp.isfinite(c.ceiling), closing, jnp.inf)
    aim = jnp.where(overshot, shorter, jnp.where(peek, peak * a.span, jnp.where(~good, c.aim, aim)))
    ceiling = jnp.where(overshot, a.span, jnp.where(accept, jnp.where(hit, jnp.inf, rest), c.ceiling))
    return Verdict(accept, hit, tuple(f & hit for f in fired), aim, ceiling)


def advance(world: World, settings: Settings, c: Carry) -> tuple[Carry, Attempt, Verdict]:
    """The body of the loop. Returns also what was tried and decided, for those who keep records."""
    a = attempt(world, settings, c)
    verdict = settle(c, a)
    running = c.outcome == outcome.RUNNING
    accept, hit = verdict.accept & running, verdict.hit & running
    t, y = _exact(settings, c, a, verdict)
    moved = c._replace(t=t, y=y, rate=a.rate, guard=a.guard)
    served = jax.lax.cond(hit, _serve, lambda w, m, f: m, world, moved, verdict.fired)
    known = clearly_negative(a.guard, time_resolution(a.t))
    armed = tuple((on | low) & ~done for on, low, done in zip(c.armed, known, _disarmed(world, verdict), strict=True))
    served = served._replace(armed=armed)
    new = jax.tree.map(lambda n, o: jnp.where(accept, n, o), served, c)
    instant = jnp.where(hit, jnp.where(a.span > 0.0, 1, c.instant + 1), c.instant)
    h, norm = _next_step(settings.solver.order, c, a, accept)
    new = new._replace(
        h=jnp.where(running, h, c.h),
        aim=jnp.where(running, verdict.aim, c.aim),
        ceiling=jnp.where(running, verdict.ceiling, c.ceiling),
        last_norm=jnp.where(accept, norm, c.last_norm),
        fresh=jnp.where(accept, hit, c.fresh),
        instant=instant,
        steps=c.steps + running,
        rejected=c.rejected + (running & ~verdict.accept),
        events=c.events + hit,
    )
    return new._replace(outcome=_outcome(settings, c, new, a, accept)), a, verdict


def _serve(world: World, c: Carry, fired: tuple[Any, ...]) -> Carry:
    y, phases, memory = serve(world, c.t, c.y, c.phases, c.memory, fired)
    return c._replace(y=y, phases=phases, memory=memory)


def _disarmed(world: World, verdict: Verdict) -> list[Any]:
    """All guards of an automaton that jumps must be clearly negative again before they may fire."""
    out: list[Any] = []
    for automaton in world.automata:
        mine = verdict.fired[len(out) : len(out) + len(automaton.exits)]
        out += [_any(list(mine))] * len(mine)
    return out


def _exact(settings: Settings, c: Carry, a: Attempt, verdict: Verdict) -> tuple[Any, State]:
    """One last Newton step onto the event, or onto the horizon.

    Its value is below the resolution of time. Its derivative is not: it is what makes event times, and states at them,
    differentiable (the step length itself is a constant for derivatives).
    """
    dt = jnp.where(a.last & ~verdict.hit, settings.until - a.t, 0.0)
    chosen = jnp.asarray(False)
    for fired, value, rate in zip(verdict.fired, a.guard.value, a.guard.rate, strict=True):
        usable = fired & (rate > 0.0) & ~chosen
        guess = -value / jnp.where(usable, rate, 1.0)
        tiny = jnp.abs(guess) <= 4.0 * time_resolution(a.t)  # a jump onto a guard has no crossing to correct
        dt = jnp.where(usable & tiny, guess, dt)
        chosen = chosen | usable
    y = jax.tree.map(lambda y, r: y + dt * r, a.y, a.rate)
    return a.t + dt, y


def _next_step(order: int, c: Carry, a: Attempt, accept: Any) -> tuple[Any, Any]:
    """Proportional-integral step-size control; a step that was cut short says nothing about the next one's length."""
    norm = jnp.where(jnp.isfinite(a.norm), jnp.maximum(a.norm, 1e-10), 1e10)
    factor = 0.9 * norm ** (-0.7 / order) * c.last_norm ** (0.4 / order)
    plain = 0.9 * norm ** (-1.0 / order)
    grown = a.span * jnp.clip(jnp.where(accept, factor, plain), 0.2, 8.0)
    bad = norm > 1.0
    full = a.span >= c.h
    proposed = jnp.where(bad, a.span * jnp.clip(plain, 0.1, 0.9), jnp.where(full, grown, jnp.maximum(c.h, grown)))
    h = jnp.where(c.fresh, c.h, proposed)
    return h, jnp.where(full, norm, c.last_norm)


def _outcome(settings: Settings, c: Carry, new: Carry, a: Attempt, accept: Any) -> Any:
    smallest = 2.0 * time_resolution(c.t) * 1e-3
    stuck = ~accept & ~c.fresh & (new.h <= smallest)
    broken = ~jnp.isfinite(a.norm) & (c.fresh | stuck)
    code = c.outcome
    for when, what in (
        (new.steps >= settings.max_steps, outcome.STEP_LIMIT),
        (new.events >= settings.max_events, outcome.EVENT_LIMIT),
        (new.instant > EVENTS_AT_ONE_INSTANT, outcome.ZENO),
        (stuck, outcome.STEP_TOO_SMALL),
        (broken, outcome.NOT_FINITE),
        (accept & a.last, outcome.FINISHED),
    ):
        code = jnp.where((c.outcome == outcome.RUNNING) & when, what, code)
    return code


def _any(flags: list[Any]) -> Any:
    total = jnp.asarray(False)
    for flag in flags:
        total = total | flag
    return total
