"""A plain step: accepted, with nothing in sight. Most attempts are, and most of what a run carries stays as it is.

`is_plain` must not hold where `_loop` would do anything else than `went_on` does: both lead to the same carry.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from . import outcome
from ._carry import Attempt, Carry, Verdict
from ._ending import LIGHT, NOWHERE, ONE_INSTANT, counted_up, within_bounds
from ._flow import brought_back
from ._growth import is_calm, top_speed
from ._landing import nothing_in_sight
from ._locate import arming, width_of
from ._pace import next_step
from .settings import Integration
from .world import World

NEARLY = 2.0  # times as fast it may yet be when contacts are put back


def is_plain(world: World, integration: Integration, c: Carry, a: Attempt) -> Any:
    """Is the attempt a step of some length with which nothing happens, and nothing ends?"""
    speed = NEARLY * jax.lax.stop_gradient(top_speed(world, a.y))
    usual = (c.outcome == outcome.RUNNING) & ~c.fresh & ~c.unsettled & c.begun & jnp.isinf(c.aim)
    long = (a.span > ONE_INSTANT * width_of(a.t)) & (a.span > NOWHERE * c.h)
    calm = (speed < LIGHT) & is_calm(c.history, a.t, speed, c.steps + 1) & within_bounds(world, c, a)
    goes_on = ~a.arrives & (c.steps + 1 < integration.max_steps) & ~counted_up(c.events)
    return usual & (a.norm <= 1.0) & long & goes_on & calm & nothing_in_sight(c, a)


def went_on(world: World, integration: Integration, c: Carry, a: Attempt) -> tuple[Carry, Verdict]:
    """The carry after a plain step, and that it was one."""
    done, none = jnp.asarray(True), tuple(jnp.zeros_like(on) for on in c.armed)
    h, size = next_step(integration.solver.order, c, a, done)
    zero = jnp.zeros_like(c.tries)
    new = c._replace(
        t=a.t,
        y=brought_back(world, a.t, a.y, c.phases, c.memory, done),
        rate=a.rate,
        guard=a.asked.ends,
        armed=tuple(on | low for on, low in zip(c.armed, arming(a.asked, width_of(a.t)), strict=True)),
        h=h,
        last_size=size,
        tries=zero,
        instant=zero,
        depth=jnp.maximum(c.depth, a.depth[0]),
        steps=c.steps + 1,
        probe=a.probe,
    )
    never = jnp.full_like(a.span, jnp.inf)
    return new, Verdict(done, ~done, none, never, jnp.zeros_like(a.span), never, c.hint)
