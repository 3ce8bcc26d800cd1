"""The flat loop: one attempt at one step of whatever phase the world is in; landing and jump in the same body.

Under vmap every lane is in its own phase, takes its own steps and meets its own events; no lane waits for another
until the end. `attempt` tries a step, `settle` (_landing.py) decides what becomes of it, `advance` is the body.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from .. import native
from ..quantities import Real
from . import outcome
from ._carry import Attempt, Carry, Verdict
from ._ending import NOWHERE, ONE_INSTANT, depths, outcome_of, window_of
from ._flow import any_holding, brought_back, derivative
from ._growth import remembered
from ._jump import serve
from ._landing import exact, settle
from ._locate import arming, ask, width_of
from ._pace import error_of, most_turned, next_step, passed, restart, sunk
from ._probe import first_probe, probed
from ._seen import Before, fastest, unseen, watched
from ._uneventful import is_plain, went_on
from .condition import any_of
from .scene import Continuous, Own
from .settings import Integration
from .solvers import branches_pay
from .world import World, owns

HELD = 3.0  # sqrt(length / gravity), the time of a fall: the longest step while a contact is held
TURN = 1.0  # [rad] no link turns further in one step: free flight costs the solver nothing, but guards go round


def attempt(world: World, integration: Integration, c: Carry) -> Attempt:
    """Try one step: as long as the controller proposes, shorter to land on an event, an instant or the horizon."""
    stop, last_one = _next_stop(world, integration, c)
    left = jnp.maximum(stop - c.t, 0.0)
    # Within a bracket all lengths are below one that was good.
    wanted = jnp.minimum(jnp.where(jnp.isfinite(c.high), c.aim, jnp.minimum(c.h, c.aim)), left)
    for automaton, own in zip(world.automata, owns(c.y, c.phases, c.memory), strict=True):
        longest = automaton.standing.longest(own)
        wanted = wanted if isinstance(longest, float) else jnp.minimum(wanted, longest)
    if world.row_count:  # what is held is put back where steps end: often enough that rounding does not creep
        often = HELD * jnp.sqrt(world.length / jnp.linalg.norm(world.gravity))  # infinite without weight
        wanted = jnp.where(any_holding(world, c.phases), jnp.minimum(wanted, often), wanted)
    span = jax.lax.stop_gradient(jnp.where(c.fresh, 0.0, wanted))
    arrives = ~c.fresh & (span >= left)

    @jax.jit  # traced once and not once per stage; compilers see through it
    def rhs(t: Real, y: Continuous) -> Continuous:
        return derivative(world, t, y, c.phases, c.memory)

    def stepped(t: Real, y: Continuous, rate: Continuous, h: Real) -> Any:
        return integration.solver.step(rhs, t, y, rate, h, world.heavy)

    y, error, rate = native.unrounded(stepped)(c.t, c.y, c.rate, span)
    norm, probe = error_of(world, integration, c.y, y, error), c.probe
    if integration.probed:
        probe, rough = probed(world, integration, rhs, c, span)
        norm = jnp.maximum(norm, rough)
    # Time is set to what was to be reached: a sum would miss it by rounding.
    t, late = jnp.where(arrives, stop, c.t + span), stop - (c.t + span)
    asked = ask(world, t, y, rate, c.phases, c.memory)
    hidden, depth = (jnp.asarray(jnp.inf),) * 2, (jnp.asarray(-jnp.inf), jnp.asarray(-jnp.inf), jnp.asarray(0.0))
    if world.events:
        norm = jnp.maximum(norm, (most_turned(world, c.y, y) / TURN) ** integration.solver.order)
        norm = jnp.where(jnp.isfinite(sum(jnp.sum(x) if jnp.ndim(x) else x for x in asked.ends.value)), norm, jnp.nan)
        # What is looked at has no derivatives.
        still, now, end, start, heard = jax.lax.stop_gradient(
            ((c.t, c.y, c.rate.v, c.memory), t, y, c.guard, asked._replace(edge=()))
        )
        heard, slope = heard._replace(edge=asked.edge), jax.lax.stop_gradient(rate.v)
        before = Before(*still[:3], c.phases, still[3], c.armed)
        speeds = fastest(before.y, end, before.rate, slope, span)
        look = watched(world, now, end, c.phases, before.memory, speeds, span)
        depth = jax.lax.stop_gradient(depths(look, width_of(t), c.fresh))
        norm = jnp.maximum(norm, jnp.where(c.fresh, 0.0, sunk(world, look)))
        met, cut = unseen(world, before, now, end, slope, span, start, heard, look)
        blind = passed(look, span)
        hidden = jax.lax.stop_gradient((jnp.minimum(met, blind), jnp.minimum(cut, blind)))
    norm = jax.lax.stop_gradient(norm)
    return Attempt(t, span, y, rate, norm, asked, arrives & last_one, arrives, late, *hidden, depth, probe)


def _next_stop(world: World, integration: Integration, c: Carry) -> tuple[Any, Any]:
    """The next instant at which a step has to end, and whether it is the horizon."""
    stop = integration.until
    for automaton, phase, memory, states in zip(world.automata, c.phases, c.memory, c.y.extra, strict=True):
        for instant in automaton.standing.instants(Own(phase, memory, states)):
            stop = jnp.where((instant > c.t) & (instant < stop), instant, stop)
    return stop, stop >= integration.until


def advance(world: World, integration: Integration, c: Carry) -> tuple[Carry, Attempt, Verdict]:
    """The body of the loop. Returns also what was tried and decided, for those who keep records."""
    a = attempt(world, integration, c)
    decided = lambda: _decided(world, integration, c, a)  # noqa: E731
    if not branches_pay(integration.solver):
        new, verdict = decided()
        return new, a, verdict
    plain = is_plain(world, integration, c, a)
    new, verdict = jax.lax.cond(plain, lambda: went_on(world, integration, c, a), decided)
    return new, a, verdict


def _decided(world: World, integration: Integration, c: Carry, a: Attempt) -> tuple[Carry, Verdict]:
    """What becomes of an attempt that is no plain step, or may be none."""
    verdict = settle(c, a)
    running = c.outcome == outcome.RUNNING
    accept, hit = verdict.accept & running, verdict.hit & running & ~c.unsettled
    fired = tuple(f & hit for f in verdict.fired)
    verdict = verdict._replace(hit=hit, fired=fired)
    t, y = exact(c, a, verdict)
    y = brought_back(world, t, y, c.phases, c.memory, accept)
    moved = c._replace(t=t, y=y, rate=a.rate, guard=a.asked.ends, probe=a.probe)
    served = jax.lax.cond(hit | c.unsettled, _serve, lambda w, m, f: m, world, moved, fired)
    width = width_of(a.t)
    known = [low & ~c.unsettled for low in arming(a.asked, width)]
    armed = tuple((on | low) & ~done for on, low, done in zip(c.armed, known, _disarmed(world, verdict), strict=True))
    landed = jnp.where(hit, jnp.clip(a.depth[0], 0.0, a.depth[2]), c.landed)
    if integration.probed:
        begun = first_probe(world, served.y)
        served = served._replace(probe=jax.tree.map(lambda new, old: jnp.where(hit, new, old), begun, a.probe))
    served = served._replace(armed=armed, depth=jnp.maximum(c.depth, a.depth[0]), landed=landed)
    new = jax.tree.map(lambda n, o: jnp.where(accept, n, o), served, c)
    instant = jnp.where(accept & (a.span > ONE_INSTANT * width), 0, c.instant) + hit
    h, size = next_step(integration.solver.order, c, a, accept)
    h, first, begun = restart(world, c, new, a, accept, verdict, h)
    events = c.events + hit
    new = new._replace(
        h=jnp.where(running, h, c.h),
        aim=jnp.where(running, verdict.aim, c.aim),
        low=jnp.where(running, verdict.low, c.low),
        high=jnp.where(running, verdict.high, c.high),
        hint=jnp.where(running, verdict.hint, c.hint),
        tries=jnp.where(accept & (hit | c.fresh | (a.span > NOWHERE * c.h)), 0, c.tries + running),
        last_size=size,
        first=first,
        begun=begun,
        fresh=jnp.where(accept, hit | c.unsettled, c.fresh),
        unsettled=c.unsettled & ~accept,
        instant=instant,
        window=window_of(c, a.t, hit, events),
        steps=c.steps + running,
        rejected=c.rejected + (running & ~verdict.accept),
        events=events,
        history=remembered(world, c.history, a.t, a.y, accept),
    )
    return new._replace(outcome=outcome_of(world, integration, c, new, a, accept, fired)), verdict


def _serve(world: World, c: Carry, fired: tuple[Any, ...]) -> Carry:
    y, phases, memory = serve(world, c.t, c.y, c.rate, c.phases, c.memory, fired, c.unsettled)
    return c._replace(y=y, phases=phases, memory=memory)


def _disarmed(world: World, verdict: Verdict) -> list[Any]:
    """All guards of an automaton that jumps must be clearly negative again before they may fire."""
    out: list[Any] = []
    for automaton in world.automata:
        mine = verdict.fired[len(out) : len(out) + len(automaton.anatomy.exits)]
        out += [any_of(mine)] * len(mine)
    return out
