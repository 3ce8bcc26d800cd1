"""States of a lane at given times."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from ...hybrid._carry import Carry
from ...hybrid.scene import Continuous
from ...hybrid.world import World
from ...quantities import Flags, Index
from .recorder import AbstractRecorder, Sight


@dataclasses.dataclass(frozen=True)
class AtTimes(AbstractRecorder):
    """Coordinates and velocities at these instants [s], as `result.at` has them; at an event those after it."""

    times: tuple[float, ...]
    key = "at"

    def begin(self, world: World, first: Carry) -> Any:
        column = jnp.full(len(self.times), jnp.nan)
        return (column,) * (2 * world.mechanism.dof)

    def see(self, sight: Sight, kept: tuple[Any, ...]) -> Any:
        times, c, a = jnp.asarray(self.times), sight.old, sight.tried
        mine = (times >= c.t) & (times < a.t)

        def look(kept: tuple[Any, ...]) -> tuple[Any, ...]:
            def one(k: Index, kept: tuple[Any, ...]) -> tuple[Any, ...]:
                def filled(kept: tuple[Any, ...]) -> tuple[Any, ...]:
                    return _put(kept, jnp.arange(len(self.times)) == k, sight.within(times[k])[0])

                return jax.lax.cond((times[k] >= c.t) & (times[k] < a.t), filled, lambda x: x, kept)

            return jax.lax.fori_loop(0, len(self.times), one, kept)

        return jax.lax.cond(sight.step & jnp.any(mine), look, lambda x: x, kept)

    def end(self, world: World, last: Carry, kept: tuple[Any, ...]) -> dict[str, Any]:
        times = jnp.asarray(self.times)
        kept = _put(kept, (times >= last.t) & (times <= last.t * (1.0 + 1e-12)), last.y)
        dof = world.mechanism.dof
        return {"q": jnp.stack(kept[:dof], axis=-1), "v": jnp.stack(kept[dof:], axis=-1)}


def _put(kept: tuple[Any, ...], here: Flags, y: Continuous) -> tuple[Any, ...]:
    dof = len(kept) // 2
    values = [*(y.q[k] for k in range(dof)), *(y.v[k] for k in range(dof))]
    return tuple(jnp.where(here, value, column) for value, column in zip(values, kept, strict=True))
