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
from .automaton import Own
from .condition import any_of
from .flow import any_holding, brought_back, derivative
from .jump import serve
from .locate import Asked, Ends, ahead, arming, ask, holding, just_now, together, turned, width_of
from .scene import State
from .seen import depths, fastest, unseen, watched
from .solvers import Solver, error_norm, solver_of
from .world import World, any_striking

EVENTS_AT_ONE_INSTANT = 100
ONE_INSTANT = 100.0  # widths of time: events no further apart do not get anywhere
TRIES = 1_000  # attempts in a row without an accepted step of some length: landing takes at most 3 x 52 + 6 of them
CHATTER, RAPID, EVEN = 10_000, 1e-3, 0.9  # so many events, each within this share of a step, coming no faster
HARDLY = 1e-5  # of the world's length is how far things move from one such event to the next
NOWHERE = 1e-9  # of the proposed step: one so short is no progress
SHALLOW = 1e-9  # of the world's length: deeper inside, an open contact is an error
HELD = 0.25  # [s] longest step while a contact is held
LIGHT = 299_792_458.0  # [m/s] nothing moves faster
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


def attempt(world: World, settings: Settings, c: Carry) -> Attempt:
    """Try one step: as long as the controller proposes, shorter to land on an event, an instant or the horizon."""
    stop, last_one = _next_stop(world, settings, c)
    left = jnp.maximum(stop - c.t, 0.0)
    # Within a bracket all lengths are below one that was good.
    wanted = jnp.minimum(jnp.where(jnp.isfinite(c.high), c.aim, jnp.minimum(c.h, c.aim)), left)
    if world.row_count:  # what is held is put back where steps end: often enough that rounding does not creep
        wanted = jnp.where(any_holding(world, c.phases), jnp.minimum(wanted, HELD), wanted)
    span = jax.lax.stop_gradient(jnp.where(c.fresh, 0.0, wanted))
    arrives = ~c.fresh & (span >= left)

    def rhs(t: Any, y: State) -> State:
        return derivative(world, t, y, c.phases, c.memory)

    y, error, rate = settings.solver.step(rhs, c.t, c.y, c.rate, span, world.heavy)
    norm = _norm(world, settings, c.y, y, error)
    # Time is set to what was to be reached: a sum would miss it by rounding.
    t, late = jnp.where(arrives, stop, c.t + span), stop - (c.t + span)
    asked = ask(world, t, y, rate, c.phases, c.memory)
    hidden, depth = (jnp.asarray(jnp.inf),) * 2, (jnp.asarray(-jnp.inf),) * 2
    if world.events:
        norm = jnp.maximum(norm, (_turned(world, c.y, y) / TURN) ** settings.solver.order)
        norm = jnp.where(jnp.isfinite(sum(asked.ends.value)), norm, jnp.nan)
        quiet = jax.lax.stop_gradient((c, t, y, rate, c.guard, asked._replace(edge=())))
        still, now, end, slope, start, heard = quiet
        heard = heard._replace(edge=asked.edge)
        look = watched(world, now, end, c.phases, c.memory, fastest(still.y, end, still.rate.v, slope.v, span))
        depth = jax.lax.stop_gradient(depths(look))
        hidden = jax.lax.stop_gradient(unseen(world, still, now, end, slope, span, start, heard, look))
    norm = jax.lax.stop_gradient(norm)
    return Attempt(t, span, y, rate, norm, asked, arrives & last_one, arrives, late, *hidden, depth)


def _next_stop(world: World, settings: Settings, c: Carry) -> tuple[Any, Any]:
    """The next instant at which a step has to end, and whether it is the horizon."""
    stop = settings.until
    for automaton, phase, memory, states in zip(world.automata, c.phases, c.memory, c.y.extra, strict=True):
        for instant in automaton.instants(Own(phase, memory, states)):
            stop = jnp.where((instant > c.t) & (instant < stop), instant, stop)
    return stop, stop >= settings.until


def _norm(world: World, settings: Settings, before: State, after: State, error: State) -> Any:
    """Error of a step in units of the tolerance. Motion and ledger are each held to it; neither dilutes the other."""
    rtol, atol = settings.rtol, settings.atol
    before, after, error = jax.lax.stop_gradient((before, after, error))
    units, places = _units(world, after)

    def moving(unit: Any, a: Any, b: Any) -> Any:
        return atol * unit + rtol * jnp.maximum(jnp.abs(a), jnp.abs(b))

    scales = (
        jax.tree.map(
            lambda place, unit, a, b: jnp.where(place, (atol + rtol) * unit, moving(unit, a, b)),
            places,
            units,
            before.q,
            after.q,
        ),
        jax.tree.map(moving, units, before.v, after.v),
        jax.tree.map(lambda a, b: moving(1.0, a, b), before.extra, after.extra),
    )
    norm = error_norm((error.q, error.v, error.extra), scales)
    if after.work:
        unit = world.mass * world.length**2
        works = jax.tree.map(lambda a, b: moving(unit, a, b), before.work, after.work)
        norm = jnp.maximum(norm, error_norm(error.work, works))
    return norm


def _units(world: World, like: State) -> tuple[Any, Any]:
    """What errors of the coordinates are measured by, and which of them are places or angles.

    Those are measured by the world's length and by a radian, not by their distance from an origin: a robot that stands
    a kilometre away, or has turned a hundred times, is integrated as one at home. What bends is measured by itself too.
    """
    top = world.mechanism.topology
    turns = range(top.base_dof, top.base_dof + top.links)
    units = [jnp.asarray(1.0) if i in turns else world.length for i in range(top.dof)]
    places = [np.asarray(i < turns.stop) for i in range(top.dof)]
    if isinstance(like.q, tuple):
        return tuple(units), tuple(places)
    return jnp.stack(units), np.stack(places)


def _turned(world: World, before: State, after: State) -> Any:
    """The largest angle [rad] by which a link turned."""
    top = world.mechanism.topology
    if not isinstance(after.q, tuple):
        return jnp.max(jnp.abs(after.q - before.q)[top.angles])
    angles = [jnp.abs(after.q[top.angle_index(k)] - before.q[top.angle_index(k)]) for k in range(top.links)]
    return functools.reduce(jnp.maximum, angles)


def settle(c: Carry, a: Attempt) -> Verdict:
    """Accept the step, land on an event, or try again with another length."""
    width = width_of(a.t)
    good = a.norm <= 1.0
    true = holding(a.asked, c.armed, width)
    near = together(a.asked, c.armed, true, width)
    true = tuple(jnp.where(a.last, n, h) for n, h in zip(near, true, strict=True))  # nothing comes after the horizon
    met = good & any_of(true)
    bracket = jnp.isfinite(c.high) & (a.span < c.high)
    low = jnp.where(good & ~met & bracket, a.span, jnp.where(good, c.low, 0.0))
    high = jnp.where(met, a.span, jnp.where(good, c.high, jnp.inf))
    # An event counts at the end of a step that begins where nothing had happened: one width before, nothing has.
    landed = met & (c.fresh | just_now(a.asked, true, width) | (a.span - c.low <= width))
    clear = good & ~met & ~bracket
    # What may have come and gone inside is looked at first.
    done = landed | clear
    blind = good & ~c.fresh & jnp.isinf(c.high) & (a.cut < a.span - width) & (a.cut > width)
    peek = (done & ~c.fresh & (a.unseen < a.span - width) & (a.unseen > width)) | blind
    look = jnp.where(blind, a.cut, a.unseen)
    accept, hit = done & ~peek, landed & ~peek
    aim, hint = _aim(c, a, true, met, low, high, width)
    aim = jnp.where(accept | ~good, jnp.inf, jnp.where(peek, look, aim))
    low = jnp.where(accept | peek, 0.0, low)
    high = jnp.where(accept | peek, jnp.inf, high)
    return Verdict(accept, hit, tuple(f & hit for f in near), aim, low, high, hint)


def _aim(c: Carry, a: Attempt, true: Any, met: Any, low: Any, high: Any, width: Any) -> tuple[Any, Any]:
    """Where to try next: half a width behind the estimate, so that it lands; every third time in the middle.

    The bracket is halved at least every third attempt, so that landing takes at most 3 log2(h / width) + 6 of them.
    Also returns the estimate from the far end, which is used again after an attempt that says nothing.
    """
    quiet = jax.lax.stop_gradient((c.guard, a.asked.ends))
    asked = a.asked._replace(ends=quiet[1])
    hint = jnp.where(met, turned(quiet[0], asked, true, a.span, low) + 0.5 * width, c.hint)
    coming = ahead(asked, a.span, high) + 0.5 * width
    guess = jnp.where(~met & (coming < high), coming, hint)
    middle = 0.5 * (low + high)
    usable = (guess > low) & (guess < high) & ((c.tries % 3 != 0) | (c.tries == 0))
    # What is left is one width: the end of it, where the condition is known to hold.
    return jnp.where(high - low <= width, high, jnp.where(usable, guess, middle)), hint


def advance(world: World, settings: Settings, c: Carry) -> tuple[Carry, Attempt, Verdict]:
    """The body of the loop. Returns also what was tried and decided, for those who keep records."""
    a = attempt(world, settings, c)
    verdict = settle(c, a)
    running = c.outcome == outcome.RUNNING
    accept, hit = verdict.accept & running, verdict.hit & running & ~c.unsettled
    fired = tuple(f & hit for f in verdict.fired)
    verdict = verdict._replace(hit=hit, fired=fired)
    t, y = _exact(a, verdict)
    y = brought_back(world, t, y, c.phases, c.memory, accept)
    moved = c._replace(t=t, y=y, rate=a.rate, guard=a.asked.ends)
    served = jax.lax.cond(hit | c.unsettled, _serve, lambda w, m, f: m, world, moved, fired)
    width = width_of(a.t)
    known = [low & ~c.unsettled for low in arming(a.asked, width)]
    armed = tuple((on | low) & ~done for on, low, done in zip(c.armed, known, _disarmed(world, verdict), strict=True))
    landed = jnp.where(hit, jnp.maximum(a.depth[0], 0.0), c.landed)
    served = served._replace(armed=armed, depth=jnp.maximum(c.depth, a.depth[0]), landed=landed)
    new = jax.tree.map(lambda n, o: jnp.where(accept, n, o), served, c)
    instant = jnp.where(accept & (a.span > ONE_INSTANT * width), 0, c.instant) + hit
    h, norm = _next_step(settings.solver.order, c, a, accept)
    h, first, begun = _restart(world, c, new, a, accept, verdict, h)
    events = c.events + hit
    new = new._replace(
        h=jnp.where(running, h, c.h),
        aim=jnp.where(running, verdict.aim, c.aim),
        low=jnp.where(running, verdict.low, c.low),
        high=jnp.where(running, verdict.high, c.high),
        hint=jnp.where(running, verdict.hint, c.hint),
        tries=jnp.where(accept & (hit | c.fresh | (a.span > NOWHERE * c.h)), 0, c.tries + running),
        last_norm=norm,
        first=first,
        begun=begun,
        fresh=jnp.where(accept, hit | c.unsettled, c.fresh),
        unsettled=c.unsettled & ~accept,
        instant=instant,
        window=_window(c, a.t, hit, events),
        steps=c.steps + running,
        rejected=c.rejected + (running & ~verdict.accept),
        events=events,
    )
    return new._replace(outcome=_outcome(world, settings, c, new, a, accept, fired)), a, verdict


def _window(c: Carry, t: Any, hit: Any, events: Any) -> tuple[Any, Any]:
    """Instants of two events, half a window apart: how densely events come."""
    turn = hit & (events % (CHATTER // 2) == 0)
    return jnp.where(turn, c.window[1], c.window[0]), jnp.where(turn, t, c.window[1])


def _serve(world: World, c: Carry, fired: tuple[Any, ...]) -> Carry:
    y, phases, memory = serve(world, c.t, c.y, c.rate, c.phases, c.memory, fired, c.unsettled)
    return c._replace(y=y, phases=phases, memory=memory)


def _disarmed(world: World, verdict: Verdict) -> list[Any]:
    """All guards of an automaton that jumps must be clearly negative again before they may fire."""
    out: list[Any] = []
    for automaton in world.automata:
        mine = verdict.fired[len(out) : len(out) + len(automaton.exits)]
        out += [any_of(mine)] * len(mine)
    return out


def _exact(a: Attempt, verdict: Verdict) -> tuple[Any, State]:
    """One last Newton step onto the event, or onto the instant to arrive at, whose value is zero.

    Its derivative is not: it is what makes event times, and states at them, differentiable (the step length itself is a
    constant for derivatives). Of several conditions met at one instant, the first in the list counts.
    """
    dt = jnp.where(a.arrives, a.late - jax.lax.stop_gradient(a.late), 0.0)
    found = a.arrives
    for fired, value, rate, rounding in zip(verdict.fired, *a.asked.ends, a.asked.rounding, strict=True):
        # A jump onto a condition (a step of no length, or a value far from zero) has no crossing to correct.
        crossing = (a.span > 0.0) & (jnp.abs(value) <= 2.0 * rounding + 8.0 * width_of(a.t) * jnp.abs(rate))
        usable = fired & (rate > 0.0) & crossing
        guess = -value / jnp.where(usable, rate, 1.0)
        dt = jnp.where(usable & ~found, guess - jax.lax.stop_gradient(guess), dt)
        found = found | usable
    y = jax.tree.map(lambda y, r: y + dt * r, a.y, a.rate)
    return jnp.where(a.arrives, a.t, a.t + dt), y


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
    return ~any_of(soft)


def _outcome(
    world: World, settings: Settings, c: Carry, new: Carry, a: Attempt, accept: Any, fired: tuple[Any, ...]
) -> Any:
    stuck = ~accept & ~c.fresh & ((c.t + new.h <= c.t) | (new.h <= 1e-200)) & ~(a.norm <= 1.0)
    broken = ~jnp.isfinite(a.norm) & (c.fresh | stuck)
    phases = zip(world.automata, c.phases, new.phases, strict=True)  # a run may start where no motion is possible
    lost = any_of([jnp.asarray(m.fails(old) | m.fails(phase)) for m, old, phase in phases])
    awaited = any_of([f & (settings.stop_at == g) for g, f in enumerate(fired)])
    early, late = new.window
    window = (new.t - early) / CHATTER  # from event to event
    dense = (window < RAPID * new.h) & (window * _fastest(world, new.y) < HARDLY * world.length)
    dense = dense & (new.t - late > EVEN * (late - early))
    code = c.outcome
    # The last one that holds counts: no failure is hidden by an end that was reached at the same time.
    for when, what in (
        (accept & a.last & ~new.fresh, outcome.FINISHED),  # an event at the horizon is served first, and what follows
        ((new.events >= settings.max_events) | awaited, outcome.EVENT_LIMIT),
        (new.steps >= settings.max_steps, outcome.STEP_LIMIT),
        (dense & (new.events % (CHATTER // 2) == CHATTER // 2 - 1), outcome.CHATTER),
        (new.tries > TRIES, outcome.STALLED),
        (new.instant > EVENTS_AT_ONE_INSTANT, outcome.ZENO),
        (stuck, outcome.STEP_TOO_SMALL),
        (lost, outcome.NO_MOTION),
        (_fastest(world, new.y) > LIGHT, outcome.RUNAWAY),
        (accept & ~new.fresh & (a.depth[1] > SHALLOW * world.length + 2.0 * c.landed), outcome.INSIDE),
        (broken, outcome.NOT_FINITE),
    ):
        code = jnp.where((c.outcome == outcome.RUNNING) & when, what, code)
    return code


def _fastest(world: World, y: State) -> Any:
    """Speed [m/s] of the fastest base, or end of a link. What diverges is faster than light before numbers overflow."""
    top = world.mechanism.topology
    speeds = [jnp.abs(y.v[i]) for i in range(top.base_dof)]
    if isinstance(y.v, tuple):
        speeds += [jnp.abs(y.v[top.angle_index(k)]) * world.length for k in range(top.links)]
    else:
        speeds.append(jnp.max(jnp.abs(y.v[top.angles])) * world.length)
    return functools.reduce(jnp.maximum, speeds)
