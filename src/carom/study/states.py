"""States at given times, as a pure function: what a recorded signal is compared with."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .. import errors
from ..hybrid import outcome
from ..hybrid.carry import Settings, settings_of
from ..hybrid.run import start, to_end
from ..hybrid.scene import merge
from ..hybrid.world import World


def states_at(
    world: World,
    q: Any,
    v: Any,
    times: Any,
    *,
    solver: str = "tsit5",
    rtol: Any = 1e-8,
    atol: Any = 1e-10,
    max_steps: int = 1_000_000,
) -> tuple[Any, Any]:
    """Coordinates and velocities at `times` [s] (in order, from 0 on), a row each: a pure function, as `final_state`.

    Events are served on the way. Rows after a failure are nan.
    """
    known = errors.known(times)
    if known is not None and (known.ndim != 1 or np.any(np.diff(known) < 0.0) or np.any(known < 0.0)):
        raise errors.CaromError(f"times of states_at are {known.tolist()}; they must be in order, none before 0")
    times = jnp.asarray(times, dtype=float)
    settings = settings_of(solver, rtol, atol, times[-1], max_steps, None)
    carry = start(world, q, v, jnp.minimum(1e-3, 0.01 * times[-1] + 1e-12), False)

    def one(c: Any, t: Any) -> Any:
        # To the next time, if the last one was reached.
        c = c._replace(outcome=jnp.where(c.outcome == outcome.FINISHED, outcome.RUNNING, c.outcome))
        c = to_end(world, _until(settings, t), c)
        good = c.outcome == outcome.FINISHED
        return c, tuple(jnp.where(good, merge(x), jnp.nan) for x in (c.y.q, c.y.v))

    _, (places, rates) = jax.lax.scan(one, carry, times)
    return places, rates


def _until(s: Settings, t: Any) -> Settings:
    return dataclasses.replace(s, until=t)
