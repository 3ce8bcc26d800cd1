"""The flat loop: one attempt at one step of whatever phase the world is in; landing and jump in the same body.

Under vmap every lane is in its own phase, takes its own steps and meets its own events; no lane waits for another
until the end. `attempt` tries a step, `settle` decides what becomes of it, `advance` is the body.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .. import errors
from . import outcome
from .flow import derivative
from .jump import serve
from .locate import (
    ROUNDING,
    Guards,
    at_zero,
    blur,
    clearly_negative,
    crossed,
    first_zero,
    guards,
    hidden_peak,
    time_resolution,
)
from .scene import State
from .solvers import Solver, error_norm, solver_of
from .world import World, any_striking

EVENTS_AT_ONE_INSTANT = 100
ONE_INSTANT = 100.0  # resolutions of time: events no further apart do not get anywhere
TURN = 1.0  # [rad] no link turns further in one step: free flight costs the solver nothing, but guards go round

# Of the step-size controller; exponents in units of 1 / order
SAFETY, INTEGRAL, PROPORTIONAL = 0.95, 0.6, 0.2


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
    guard: Guards  # at (t, y)
    armed: tuple[Any, ...]
    h: Any  # what the step-size controller proposes
    aim: Any  # a shorter step that should land on an event, or infinity
    ceiling: Any  # a guard is known to be non-negative this far ahead, or infinity
    fresh: Any  # rate and guards are not known yet: the next attempt has length zero
    last_norm: Any  # of the last attempt that said something about step lengths; above 1 if it was rejected
    first: tuple[Any, Any]  # length of the first full step of the last flight, and of the last impact, or infinity
    begun: Any  # has there been a full step since an impact began or ended?
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
        first=(jnp.asarray(jnp.inf), jnp.asarray(jnp.inf)),
        begun=jnp.asarray(True),
        instant=integer,
        steps=integer,
        rejected=integer,
        events=integer,
        outcome=jnp.asarray(outcome.RUNNING),
    )


def attempt(world: World, settings: Settings, c: Carry) -> Attempt:
    """Try one step: as long as the controller proposes, shorter to land on an event or on the horizon."""
    left = jnp.maximum(settings.until - c.t, 0.0)
    wanted = jnp.minimum(jnp.minimum(c.h, c.aim), left)
    span = jax.lax.stop_gradient(jnp.where(c.fresh, 0.0, wanted))
    last = ~c.fresh & (span >= left)

    def rhs(t: Any, y: State) -> State:
        return derivative(world, t, y, c.phases, c.memory)

    y, error, rate = settings.solver.step(rhs, c.t, c.y, c.rate, span, world.heavy)
    # The motion and the ledger are each held to the tolerance; neither dilutes the other's mean.
    tolerance = settings.rtol, settings.atol
    norm = error_norm((c.y.q, c.y.v, c.y.extra), (y.q, y.v, y.extra), (error.q, error.v, error.extra), *tolerance)
    if y.work:
        norm = jnp.maximum(norm, error_norm(c.y.work, y.work, error.work, *tolerance))
    t = c.t + span
    guard = guards(world, t, y, rate, c.phases, c.memory)
    if world.events:
        norm = jnp.maximum(norm, (_turned(world, c.y, y) / TURN) ** settings.solver.order)
        norm = jnp.where(jnp.isfinite(sum(guard.value)), norm, jnp.nan)
    return Attempt(t, span, y, rate, jax.lax.stop_gradient(norm), guard, last)


def _turned(world: World, before: State, after: State) -> Any:
    """The largest angle [rad] by which a link turned."""
    top = world.mechanism.topology
    if not isinstance(after.q, tuple):
        return jnp.max(jnp.abs(after.q - before.q)[top.angles])
    angles = [jnp.abs(after.q[top.angle_index(k)] - before.q[top.angle_index(k)]) for k in range(top.links)]
    return functools.reduce(jnp.maximum, angles)


def settle(c: Carry, a: Attempt) -> Verdict:
    """Accept the step, land on an event, or try again with a shorter one."""
    resolution = time_resolution(a.t)
    good = a.norm <= 1.0
    fired = tuple(on & z for on, z in zip(c.armed, at_zero(a.guard, resolution), strict=True))
    past = crossed(c.armed, a.guard, resolution)
    # An event counts at the end of a step; one that lies before it calls for a shorter step, if there is any.
    overshot = good & _any(list(past)) & (a.span > resolution)
    ahead = jax.lax.stop_gradient(first_zero(c.armed, c.guard, a.guard, a.span, past))
    # A guard that rose and fell within the step: look at its peak first.
    peak = jax.lax.stop_gradient(hidden_peak(c.armed, c.guard, a.guard, a.span, resolution))
    peek = good & ~overshot & ~c.fresh & (peak < 1.0)
    accept = good & ~overshot & ~peek
    hit = accept & _any(list(fired))
    # While a crossing is known to lie ahead, go on towards it. (It may not be there any more when a shorter step, whose
    # error is another one, arrives: a graze within the tolerance.)
    rest = c.ceiling - a.span
    known = ~hit & jnp.isfinite(rest) & (rest > resolution)
    closing = jnp.where(known, jnp.where((ahead > 0.0) & (ahead < rest), ahead, 0.5 * rest), jnp.inf)
    aim = jnp.where(accept, closing, c.aim)
    aim = jnp.where(overshot, a.span + ahead, jnp.where(peek, peak * a.span, aim))
    ceiling = jnp.where(overshot, a.span, jnp.where(accept, jnp.where(known, rest, jnp.inf), c.ceiling))
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
    resolution = time_resolution(a.t)
    spent = tuple(c.fresh & z for z in at_zero(c.guard, resolution))
    known = clearly_negative(a.guard, resolution, spent)
    armed = tuple((on | low) & ~done for on, low, done in zip(c.armed, known, _disarmed(world, verdict), strict=True))
    served = served._replace(armed=armed)
    new = jax.tree.map(lambda n, o: jnp.where(accept, n, o), served, c)
    instant = jnp.where(accept & (a.span > ONE_INSTANT * resolution), 0, c.instant) + hit
    h, norm = _next_step(settings.solver.order, c, a, accept)
    h, first, begun = _restart(world, c, new, a, accept, verdict._replace(hit=hit), h)
    new = new._replace(
        h=jnp.where(running, h, c.h),
        aim=jnp.where(running, verdict.aim, c.aim),
        ceiling=jnp.where(running, verdict.ceiling, c.ceiling),
        last_norm=norm,
        first=first,
        begun=begun,
        fresh=jnp.where(accept, hit, c.fresh),
        instant=instant,
        steps=c.steps + running,
        rejected=c.rejected + (running & ~verdict.accept),
        events=c.events + hit,
    )
    return new._replace(outcome=_outcome(world, settings, c, new, a, accept, verdict.fired)), a, verdict


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
    chosen, resolution = jnp.asarray(False), time_resolution(a.t)
    for fired, value, rate in zip(verdict.fired, a.guard.value, a.guard.rate, strict=True):
        # A jump onto a guard (a step of no length, or a value far from zero) has no crossing to correct.
        crossing = (a.span > 0.0) & (jnp.abs(value) <= ROUNDING + blur(rate, resolution))
        usable = fired & (rate > 0.0) & crossing & ~chosen
        guess = -value / jnp.where(usable, rate, 1.0)
        fixed = jax.lax.stop_gradient(guess)
        dt = jnp.where(usable, guess - fixed + jnp.clip(fixed, -4.0 * resolution, 4.0 * resolution), dt)
        chosen = chosen | usable
    y = jax.tree.map(lambda y, r: y + dt * r, a.y, a.rate)
    return a.t + dt, y


def _next_step(order: int, c: Carry, a: Attempt, accept: Any) -> tuple[Any, Any]:
    """Proportional-integral step-size control; a step that was cut short says nothing about the next one's length.

    The gains settle at a norm of SAFETY^(order / INTEGRAL), about 0.5; weaker ones settle at 0.05 and take a
    quarter more steps (measured on the arm paper's 15 strikes).
    """
    norm = jnp.where(jnp.isfinite(a.norm), jnp.maximum(a.norm, 1e-10), 1e10)
    bad, again = norm > 1.0, c.last_norm > 1.0
    last = jnp.clip(c.last_norm, 1e-4, 1.0)
    smooth = SAFETY * norm ** (-(INTEGRAL + PROPORTIONAL) / order) * last ** (PROPORTIONAL / order)
    plain = 0.9 * norm ** (-1.0 / order)
    grown = a.span * jnp.clip(jnp.where(accept, smooth, plain), 0.2, 8.0)
    # A second rejection: the error does not fall as the order promises, as over the first instants of a contact.
    shrunk = a.span * jnp.clip(jnp.where(again, 0.2 * plain, plain), 0.1, 0.9)
    full = a.span >= c.h
    proposed = jnp.where(bad, shrunk, jnp.where(full, grown, jnp.maximum(c.h, grown)))
    h = jnp.where(c.fresh, c.h, proposed)
    return h, jnp.where(c.fresh, 1.0, jnp.where(full | bad, norm, c.last_norm))


def _restart(
    world: World, c: Carry, new: Carry, a: Attempt, accept: Any, verdict: Verdict, h: Any
) -> tuple[Any, Any, Any]:
    """The first step after an event: as long as the one after the last event of its kind, else half as long as before.

    A step that is far too long is not only rejected many times; once in a few hundred impacts its error estimate passes
    through zero, and it is accepted. A blow in no time leaves as smooth a motion behind as there was: no step is cut.
    """
    hit = verdict.hit
    was, now = any_striking(world, c.phases) > 0.0, any_striking(world, new.phases) > 0.0
    turned = hit & (was != now)  # an impact begins or ends
    full = accept & ~c.fresh & ~c.begun & (a.span >= c.h)
    flight = jnp.where(full & ~was, a.span, c.first[0])
    impact = jnp.where(full & was, a.span, c.first[1])
    remembered = jnp.where(now, impact, flight)
    jolted = jnp.where(hit & (a.span > 0.0) & ~_blow(world, verdict), 0.5 * jnp.minimum(h, c.h), h)
    h = jnp.where(turned & jnp.isfinite(remembered), remembered, jolted)
    return h, (flight, impact), jnp.where(turned, False, c.begun | full)


def _blow(world: World, verdict: Verdict) -> Any:
    """Did everything that happened take no time?"""
    soft = [fired for (i, _), fired in zip(world.events, verdict.fired, strict=True) if not world.automata[i].impulsive]
    return ~_any(soft)


def _outcome(
    world: World, settings: Settings, c: Carry, new: Carry, a: Attempt, accept: Any, fired: tuple[Any, ...]
) -> Any:
    smallest = 2.0 * time_resolution(c.t) * 1e-3
    stuck = ~accept & ~c.fresh & (new.h <= smallest)
    broken = ~jnp.isfinite(a.norm) & (c.fresh | stuck)
    lost = _any([jnp.asarray(m.fails(phase)) for m, phase in zip(world.automata, new.phases, strict=True)])
    awaited = _any([f & (settings.stop_at == g) for g, f in enumerate(fired)])
    code = c.outcome
    for when, what in (
        (lost, outcome.NO_MOTION),
        (new.steps >= settings.max_steps, outcome.STEP_LIMIT),
        ((new.events >= settings.max_events) | awaited, outcome.EVENT_LIMIT),
        (new.instant > EVENTS_AT_ONE_INSTANT, outcome.ZENO),
        (stuck, outcome.STEP_TOO_SMALL),
        (broken, outcome.NOT_FINITE),
        (accept & a.last & ~new.fresh, outcome.FINISHED),  # an event at the horizon is served first, and what follows
    ):
        code = jnp.where((c.outcome == outcome.RUNNING) & when, what, code)
    return code


def _any(flags: list[Any]) -> Any:
    total = jnp.asarray(False)
    for flag in flags:
        total = total | flag
    return total
