"""Steps of the plain extended filter: derivatives of the flights between events alone, as if no event had happened."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import numpy as np

from ..hybrid import outcome
from ..hybrid._carry import Carry
from ..hybrid.settings import NO_LIMIT, Integration
from ..hybrid.world import World
from ..quantities import Vector
from ._onward import lifted, next_instant, piece
from .stepping import Stepping
from .stepping import _put as x_put

WIDTH = 1e-12  # [s] how far before an event its flight ends: more than an event's instant is rounded by
MOST = 1000  # pieces of one step; what comes after so many events goes on as one flight


def plain_steps(
    s: Stepping, carries: Carry, x: np.ndarray, u: np.ndarray, after: Carry, both: np.ndarray
) -> np.ndarray:
    """The derivatives `both` of steps, with those that met events replaced by those of their flights."""
    found = np.array(both)
    for run in np.flatnonzero(np.asarray(after.events) != np.asarray(carries.events)):
        carry = jax.tree.map(lambda leaf, run=run: leaf[run], carries)
        found[run] = _flights(s, carry, x[run], u[run])
    return found


def _flights(s: Stepping, carry: Carry, x: np.ndarray, u: np.ndarray) -> np.ndarray:
    n, m = s.size, s.inputs
    end = float(np.round(carry.t / s.dt) + 1.0) * s.dt
    carry = s._run(_lifted, (s.dt, s.memories), s.world, s.integration, carry, x)
    whole = np.concatenate([np.eye(n), np.zeros((n, m))], axis=1)
    for _ in range(MOST):
        events = int(carry.events)
        ahead = dataclasses.replace(s.integration, until=np.asarray(end), max_events=np.asarray(events + 1))
        met = s._run(piece, (s.memories,), s.world, ahead, carry, u)[0]
        happened = int(met.outcome) == outcome.EVENT_LIMIT
        until = float(met.t) - WIDTH * max(1.0, abs(float(met.t))) if happened else end
        if until > float(carry.t):
            flight = dataclasses.replace(s.integration, until=np.asarray(until), max_events=np.asarray(NO_LIMIT))
            slope = np.asarray(s._run(piece, (s.memories,), s.world, flight, carry, u)[1])
            whole = slope[:, :n] @ whole
            whole[:, n:] += slope[:, n:]
        carry = met
        if not happened:
            break
    return whole


def _lifted(dt: float, memories: bool, world: World, integration: Integration, carry: Carry, x: Vector) -> Carry:
    begun: Any = lifted(world, x_put(carry, x, memories), next_instant(dt, carry))[0]
    return begun
