"""One period of a motion, from just after its event to just after the next one, in pieces with held inputs.

The pieces end at instants counted from the event, but for the last one, which ends with the event, whenever it comes.
So the derivative of the last piece has the saltation of the event, and its range are states just after it.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from .. import errors
from .._arguments import Names
from ..hybrid import outcome
from ..hybrid._carry import Carry, begin
from ..hybrid._run import executable
from ..hybrid.scene import Continuous
from ..hybrid.settings import NO_LIMIT, Integration
from ..hybrid.world import World
from ..study.return_map import ReturnMap
from ._held_inputs import holding, with_inputs
from ._onward import flown, onward, piece
from .stepping import Rollout, Stepping
from .stepping import _x as x_of

LATE = 10.0  # periods after which an event that has not come does not come


class Cycle(NamedTuple):
    """What is stabilised: a world with inputs, and its motion over one period.

    `guard`: number of the event that ends it, -1 for none. `times` (N) since the event; `after`: the carry at its end.
    Strikes that come late are compared with `late`: the flight before the event, taken on beyond the surface.
    """

    world: World
    joints: tuple[str, ...]
    integration: Integration
    begun: Carry
    guard: int
    period: float
    times: np.ndarray
    u: np.ndarray
    x: np.ndarray
    a: np.ndarray
    b: np.ndarray
    late: np.ndarray  # (E, size) the motion on beyond the event, as if that did not come
    late_times: np.ndarray
    after: Carry
    drifts: tuple[int, ...]


def along(
    world: World,
    joints: tuple[str, ...],
    integration: Integration,
    begun: Carry,
    guard: int,
    period: float,
    times: np.ndarray,
    u: np.ndarray,
    drifts: tuple[int, ...],
) -> Cycle:
    """The motion from the carry just after the event, and its derivatives piece by piece."""
    t, carry = float(begun.t), begun
    xs, slopes = [], []
    for k in range(len(times)):
        last = k == len(times) - 1
        until = t + (period if guard < 0 else LATE * period) if last else t + float(times[k + 1])
        ahead = dataclasses.replace(
            integration,
            until=np.asarray(until),
            max_events=np.asarray(NO_LIMIT),
            stop_at=np.asarray(guard if last else -1),
        )
        held = np.asarray(u[k], dtype=float)
        xs.append(np.asarray(_run(_x, (), world, carry)))
        final = carry
        carry, slope = _run(piece, (False,), world, ahead, carry, held)
        slopes.append(np.asarray(slope))
        wanted = outcome.EVENT_LIMIT if last and guard >= 0 else outcome.FINISHED
        if int(carry.outcome) != wanted:
            raise errors.CaromError(
                f"the motion that stabilise is given ends at t = {float(carry.t):g} s, in piece {k + 1} of "
                f"{len(times)}: {outcome.describe(int(carry.outcome))}; give one that comes back to its event"
            )
    x, both = np.array(xs), np.array(slopes)
    n, length = x.shape[1], float(carry.t) - t
    h = length / len(times)
    late_times = length + h * (0.5 + np.arange(0 if guard < 0 else (len(times) + 1) // 2))
    late = _late(world, final, u[-1], np.diff([times[-1], *late_times]), n)
    a, b = both[:, :, :n], both[:, :, n:]
    return Cycle(world, joints, integration, begun, guard, length, times, u, x, a, b, late, late_times, carry, drifts)


def _late(world: World, carry: Carry, u: np.ndarray, spans: np.ndarray, n: int) -> np.ndarray:
    """States after these spans of time, one after the other, whatever the motion meets."""
    found = []
    for span in spans:
        carry = _run(_flown, (), world, carry, np.asarray(u, dtype=float), np.asarray(span))
        found.append(np.asarray(_run(_x, (), world, carry)))
    return np.array(found).reshape(len(found), n)


def _flown(world: World, carry: Carry, u: Any, span: Any) -> Carry:
    return carry._replace(y=flown(holding(world, u), carry, span))


def of_map(map: ReturnMap, state: np.ndarray, period: float, joints: Names | None, steps: int) -> Cycle:
    """From a fixed point of a return map."""
    if map.swap is not None or map.times != 1:
        raise errors.CaromError(
            "stabilise is given a return map with exchange or times; it takes a period of one return without exchange"
        )
    world, names = with_inputs(map.world, joints)
    q, v, extra, memory = map.state(state)
    carry = _begun(world, 0.0, (q, v, (*extra, ()), (*memory, ())), (*map.phases, 0))
    times = period / steps * np.arange(steps)
    inputs = np.zeros((steps, len(names)))
    return along(world, names, map.integration(map.goal), carry, map.goal, period, times, inputs, tuple(map.drifts))


def of_rollout(stepping: Stepping, rolled: Rollout, guard: int) -> Cycle:
    """From a rollout whose end is its beginning: from its event (the last one of that kind) once round."""
    gap = np.max(np.abs(rolled.x[-1] - rolled.x[0])) / (1.0 + np.max(np.abs(rolled.x)))
    if rolled.outcome != outcome.FINISHED or gap > 1e-4:
        raise errors.CaromError(
            f"the rollout that stabilise is given ends {gap:.2g} of its size away from where it begins; it must be "
            "periodic"
        )
    period, dt, u = stepping.dt * len(rolled.u), stepping.dt, rolled.u
    if guard < 0:
        times = dt * np.arange(len(u))
        whole = (stepping.world, stepping.joints, stepping.integration, rolled.carry(0))
        return along(*whole, guard, period, times, u, ())
    for k in reversed(range(len(u))):
        ahead = dataclasses.replace(
            stepping.integration,
            until=np.asarray((k + 1) * dt),
            stop_at=np.asarray(guard),
            max_events=np.asarray(NO_LIMIT),
        )
        met = _run(onward, (), stepping.world, ahead, rolled.carry(k), np.asarray(u[k]))
        if int(met.outcome) == outcome.EVENT_LIMIT:
            break
    else:
        raise errors.CaromError("the event that stabilise is given never happens in the rollout; choose another one")
    first = (k + 1) * dt - float(met.t)
    begins = np.concatenate([[0.0], first + dt * np.arange(len(u) - 1), [first + dt * (len(u) - 1)]])
    rows = np.concatenate([u[k:], u[: k + 1]])
    keep = np.diff([*begins, period]) > 1e-9 * dt  # an event at the end of a step leaves a row without length
    whole = (stepping.world, stepping.joints, stepping.integration, met)
    return along(*whole, guard, period, np.concatenate([[0.0], begins[keep][1:]]), rows[keep], ())


def _begun(world: World, t: float, state: Any, phases: tuple[Any, ...]) -> Carry:
    q, v, extra, memory = state
    phases = tuple(np.asarray(p, dtype=int) for p in phases)
    carry: Carry = executable(_begin, (), world, np.asarray(t), (q, v, extra, memory), phases)(
        world, np.asarray(t), (q, v, extra, memory), phases
    )
    return carry


def _begin(world: World, t: Any, state: Any, phases: Any) -> Carry:
    q, v, extra, memory = state
    return begin(world, t, Continuous(q, v, extra, ()), phases, memory, jnp.asarray(1e-4))


def _x(world: World, carry: Carry) -> Any:
    return x_of(carry, False)


def _run(function: Any, static: tuple[Any, ...], *args: Any) -> Any:
    return executable(function, static, *args)(*args)


def state_after(carry: Carry) -> tuple[Any, Any, Any, Any]:
    """Coordinates, velocities, states and memories, without those of the inputs."""
    return carry.y.q, carry.y.v, carry.y.extra[:-1], carry.memory[:-1]
