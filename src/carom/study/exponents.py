"""Lyapunov exponents: how fast neighbouring motions part or meet, from the flow's own derivatives.

Directions are carried along with the motion, through flights, event times and jumps (the saltation at every event is
the derivative of the landing), and made orthogonal again after every stretch:

    J Q = Q' R,    exponent k = mean of ln R_kk / stretch

(G. Benettin, L. Galgani, A. Giorgilli and J.-M. Strelcyn, Meccanica 1980, 15, 9-30.) Their sum is the mean rate of
volume: what dampers take per second, and 2 ln e for every rigid blow of a single mass with restitution e.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from .. import errors
from .._arguments import Count
from ..hybrid import outcome
from ..hybrid._carry import Carry
from ..hybrid._run import executable, start, to_end
from ..hybrid.settings import Integration, Settings, settings_or_default
from ..hybrid.world import World
from ..mechanism import State
from ..mechanism.state import refuse_state
from ..quantities import Real, Vector
from ._fixed_point import NEUTRAL
from .return_map import EXACT

LOST = 1e-30  # of the largest growth: a direction that a blow has annihilated


@dataclasses.dataclass(frozen=True)
class Lyapunov:
    """Exponents of a motion [1/s], largest first, and how their means settled."""

    exponents: np.ndarray
    t: np.ndarray  # [s] ends of the stretches
    running: np.ndarray  # (stretches, exponents): means up to there [1/s]

    @property
    def spread(self) -> np.ndarray:
        """Of every exponent, how far its mean still moved in the second half of the time [1/s]."""
        return np.asarray(np.ptp(self.running[len(self.running) // 2 :], axis=0))

    @property
    def dimension(self) -> float:
        """The Kaplan-Yorke dimension of the attractor."""
        own = np.where(np.abs(self.exponents) < NEUTRAL, 0.0, self.exponents)
        sums = np.cumsum(own)
        count = int(np.argmin(sums >= 0.0)) if sums[-1] < 0.0 else len(sums)
        return float(count) if count in (0, len(sums)) else float(count + sums[count - 1] / abs(own[count]))

    def __str__(self) -> str:
        each = ", ".join(
            f"{value:.4g} ({spread:.1g})" for value, spread in zip(self.exponents, self.spread, strict=True)
        )
        return f"Lyapunov exponents [1/s] (moved by): {each}; over {self.t[-1] - self.t[0]:.4g} s"


def lyapunov(
    world: World,
    start: State,
    *,
    until: float,
    every: float,
    discard: float = 0.0,
    count: Count | None = None,
    settings: Settings | None = None,
) -> Lyapunov:
    """Lyapunov exponents of the motion from a state until a time [s], after the first `discard` seconds.

    - `every`: length of a stretch [s], after which directions are made orthogonal again: short enough that the fastest
      of them does not swallow the others (a growth of 1e6 is fine)
    - `count`: how many exponents; all of coordinates, velocities and extra states if left out. Directions that a blow
      annihilates (a contact that stays closed) have the exponent -inf

    Integrated with `dopri8` at rtol 1e-11 unless `settings` say otherwise. A driven system has an exponent 0 along its
    time if the drive is an extra state; where it is a function of the time, that direction is not counted.

        carom.lyapunov(world, world.state(slides=[0.2]), until=2000.0, every=5.0, discard=200.0)
    """
    state = refuse_state(start, world.mechanism)
    chosen = EXACT if settings is None else settings_or_default(settings)
    for field, value, least in (("until", until, 0.0), ("every", every, 0.0)):
        errors.number("lyapunov", field, value, above=least)
    errors.number("lyapunov", "discard", discard, least=0.0)
    stretches = int(np.floor(float(until) / float(every) * (1.0 + 1e-12)))
    left_out = int(np.ceil(float(discard) / float(every) * (1.0 - 1e-12)))
    if stretches < left_out + 2:
        raise errors.CaromError(
            f"until of lyapunov is {until:g} s; after discard = {discard:g} s there must be room for two stretches of "
            f"every = {every:g} s"
        )
    size = 2 * world.mechanism.dof + len(world.extra)
    if count is not None and not 1 <= count <= size:
        raise errors.CaromError(f"count of lyapunov is {count}; it must be from 1 to {size}, the size of the state")
    ends = float(every) * np.arange(1, stretches + 1)
    logs = _followed(world, state, chosen.integration(float(ends[-1])), ends, count or size)
    running = np.cumsum(logs[left_out:], axis=0) / (ends[left_out:] - float(every) * left_out)[:, None]
    order = np.argsort(-running[-1], kind="stable")
    return Lyapunov(running[-1][order], ends[left_out:], running[:, order])


def _followed(world: World, state: State, integration: Integration, ends: np.ndarray, count: Count) -> np.ndarray:
    """ln R_kk of every stretch."""
    h = np.asarray(min(1e-3, 0.01 * float(ends[0])))
    carry = executable(_begun, (), world, state, h)(world, state, h)
    own = sum(np.size(leaf) for leaf in jax.tree.leaves(_kept(carry)[0]))
    directions, logs = _first_directions(carry, own, count), []
    push = executable(_pushed, (), world, integration, carry, directions[:, 0])
    for until in ends:
        integration = dataclasses.replace(integration, until=np.asarray(until))
        columns = [push(world, integration, carry, np.ascontiguousarray(d)) for d in directions.T]
        carry = columns[0][1]
        code = int(carry.outcome)
        if code != outcome.FINISHED:
            raise errors.CaromError(f"the motion ended at t = {float(carry.t):g} s, early: {outcome.describe(code)}")
        directions, grown = _straightened(np.stack([np.asarray(moved) for moved, _ in columns], axis=1), own)
        logs.append(grown)
    return np.array(logs)


def _begun(world: World, state: State, h: Real) -> Carry:
    return start(world, state, h, False)


def _pushed(world: World, integration: Integration, carry: Carry, direction: Vector) -> tuple[Any, Carry]:
    """A direction at the end of a stretch, and the carry there."""
    x, shape = ravel_pytree(_kept(carry))
    going = (carry.outcome == outcome.FINISHED) | (carry.outcome == outcome.RUNNING)

    def moved(x: Vector) -> tuple[Any, Carry]:
        (q, v, extra), memory = shape(x)
        again = carry._replace(
            y=carry.y._replace(q=q, v=v, extra=extra),
            memory=memory,
            fresh=jnp.asarray(True),
            outcome=jnp.where(going, outcome.RUNNING, carry.outcome),
            steps=jnp.zeros_like(carry.steps),
        )
        end = to_end(world, integration, again)
        return ravel_pytree(_kept(end))[0], end

    _, along, end = jax.jvp(moved, (x,), (direction,), has_aux=True)
    return along, end


def _kept(carry: Carry) -> tuple[Any, Any]:
    """What the future depends on: coordinates, velocities and extra states, then memories."""
    return (carry.y.q, carry.y.v, carry.y.extra), carry.memory


def _first_directions(carry: Carry, own: Count, count: Count) -> np.ndarray:
    """Orthogonal ones in general position; memories begin as they are."""
    whole = sum(np.size(leaf) for leaf in jax.tree.leaves(_kept(carry)))
    directions = np.zeros((whole, count))
    directions[:own] = np.linalg.qr(np.random.default_rng(0).normal(size=(own, count)))[0]
    return directions


def _straightened(moved: np.ndarray, own: Count) -> tuple[np.ndarray, np.ndarray]:
    """Directions made orthogonal among coordinates, velocities and extra states; memories come along."""
    basis, grown = np.linalg.qr(moved[:own])
    sizes = np.abs(np.diag(grown))
    gone = sizes <= LOST * np.max(sizes)  # annihilated: what is left of them is rounding
    upper = np.where(gone[None, :], np.eye(len(sizes)), grown)
    along = np.linalg.solve(upper.T, moved[own:].T).T
    logs = np.log(np.where(gone, 1.0, sizes))
    return np.concatenate([basis, np.where(gone[None, :], 0.0, along)]), np.where(gone, -np.inf, logs)
