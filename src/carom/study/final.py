"""The end of a run as a pure function: jit, vmap, forward and reverse mode go through it."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from .. import errors
from ..hybrid import outcome
from ..hybrid.carry import Carry, settings_of
from ..hybrid.run import named, start, to_end
from ..hybrid.world import World


def final_state(
    world: World,
    q: Any,
    v: Any,
    until: Any,
    *,
    solver: str = "tsit5",
    rtol: Any = 1e-8,
    atol: Any = 1e-10,
    max_steps: int = 1_000_000,
    max_events: Any = None,
    ledger: bool = False,
    reverse_steps: int | None = None,
) -> Carry:
    """Run from coordinates `q` and velocities `v` until a time, or until a number of events; nothing is recorded.

    The carry that is returned has `t`, `y.q`, `y.v`, `y.work`, `phases`, `memory`, `steps`, `events` and `outcome`.
    Derivatives go through flows, event times and jumps: the step length is held constant, and every landing ends with
    a Newton step that carries the derivative of the instant. Forward mode works as it is; for reverse mode give
    `reverse_steps`, an upper bound of the number of attempted steps (memory grows with its square root).

    A pure function cannot raise: look at `outcome` (`carom.hybrid.outcome` has its words). A start inside a surface, or
    a number that a law does not allow, has an outcome of its own.
    """
    settings = settings_of(solver, rtol, atol, until, max_steps, max_events)
    first = jnp.minimum(1e-3, 0.01 * settings.until)
    begun = start(world, q, v, first, ledger)
    # A world that was made under jit or vmap has numbers that nobody has looked at yet.
    begun = begun._replace(outcome=jnp.where(errors.broken(world), outcome.BAD_NUMBER, begun.outcome))
    return named(world, begun, to_end(world, settings, begun, reverse_steps))
