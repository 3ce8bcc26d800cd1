"""States at given times, as a pure function: what a recorded signal is compared with."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .. import errors
from ..hybrid import outcome
from ..hybrid._carry import Carry
from ..hybrid._run import start as opened
from ..hybrid._run import to_end
from ..hybrid.scene import merge
from ..hybrid.settings import Settings, settings_or_default
from ..hybrid.world import World
from ..mechanism.state import State, refuse_state
from ..quantities import Real, Times

LEAST = 1e-12  # [s]


def states_at(world: World, start: State, times: Times, *, settings: Settings | None = None) -> tuple[Any, Any]:
    """Coordinates and velocities at `times` [s] (in order, from 0 on), a row each: a pure function, as `final_state`.

    Events are served on the way. Rows after a failure are nan.
    """
    known = errors.known(times)
    if known is not None and (known.ndim != 1 or np.any(np.diff(known) < 0.0) or np.any(known < 0.0)):
        raise errors.CaromError(f"times of states_at are {known.tolist()}; they must be in order, none before 0")
    times = jnp.asarray(times, dtype=float)
    with errors.collecting() as flaws:
        state, settings = refuse_state(start, world.mechanism), settings_or_default(settings)
        # Nothing happens until the first time if that is 0; the horizon itself is set for every time.
        integration = settings.integration(jnp.maximum(times[-1], LEAST))
    carry = opened(world, state, jnp.minimum(1e-3, 0.01 * times[-1] + LEAST), ledger=False)
    bad = functools.reduce(lambda a, b: a | b, flaws, errors.broken(world))
    carry = carry._replace(outcome=jnp.where(bad, outcome.BAD_NUMBER, carry.outcome))

    def one(c: Carry, t: Real) -> Any:
        # To the next time, if the last one was reached.
        c = c._replace(outcome=jnp.where(c.outcome == outcome.FINISHED, outcome.RUNNING, c.outcome))
        c = to_end(world, dataclasses.replace(integration, until=t), c)
        good = c.outcome == outcome.FINISHED
        return c, tuple(jnp.where(good, merge(x), jnp.nan) for x in (c.y.q, c.y.v))

    _, (places, rates) = jax.lax.scan(one, carry, times)
    return places, rates
