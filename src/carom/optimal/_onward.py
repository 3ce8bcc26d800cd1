"""Going on from a carry with another state and other inputs, and the derivatives of where that leads.

A carry may hold a state that no run would reach: an estimator corrects its mean, and puts a ball under the floor that
it has not yet struck, or that it has just left. Such a state lies on the continuation of the flight before the blow, or
of the one after it, beyond the surface. It is taken along that flight, back or forward in time, to where the flight
meets the surface, and the run goes on from there; so it strikes at the instant, and with the velocity, that belong to
it, and the derivative has the whole saltation of that strike.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree

from ..hybrid import outcome
from ..hybrid._carry import Carry
from ..hybrid._flow import derivative
from ..hybrid._run import INSIDE, to_end
from ..hybrid.scene import Continuous, Scene
from ..hybrid.settings import Integration
from ..hybrid.world import World, owns
from ..quantities import Real, Vector
from ._held_inputs import holding
from .stepping import _put as x_put
from .stepping import _x as x_of

FARTHER = (1.01, 1.2, 1.6, 2.5)  # times the way to the surface at the present rate: gravity bends it
BACK = 10.0  # spans that a flight is followed back at most
TINY = 1e-300
PROBE = 1e-6  # of the span: how the rate of a depth is found
SUBSTEPS = 4  # of the classical Runge-Kutta method on the way there: a few per cent of a step


def ready(carry: Carry) -> Carry:
    """To go on after an end that was only a horizon or an awaited event; other ends stay."""
    ends = (outcome.FINISHED, outcome.RUNNING, outcome.EVENT_LIMIT)
    going = (carry.outcome == ends[0]) | (carry.outcome == ends[1]) | (carry.outcome == ends[2])
    return carry._replace(
        fresh=jnp.asarray(True),
        outcome=jnp.where(going, outcome.RUNNING, carry.outcome),
        steps=jnp.zeros_like(carry.steps),
    )


def onward(world: World, integration: Integration, carry: Carry, u: Vector) -> Carry:
    """To the end of the integration under held inputs."""
    return to_end(holding(world, u), integration, ready(carry))


def next_instant(dt: float, carry: Carry) -> Any:
    """The next multiple of dt; a running sum would drift."""
    return (jnp.round(carry.t / dt) + 1.0) * dt


def lifted(world: World, carry: Carry, until: Real) -> tuple[Carry, Any]:
    """The carry, taken along its flight out of rigid surfaces that it is inside of; and whether it is at `until` then.

    How far does not matter, as it stays on the same flight; so the way is a constant for derivatives. One that moves on
    into a surface and has not been outside of it lately (it as good as rests there) is put onto the surface.
    """
    room = jax.lax.stop_gradient(until - carry.t)
    deep = _depth(world, carry, carry.y)
    soon = _along(carry.y, PROBE * room, _rates(world, carry, carry.y))
    closing = jax.lax.stop_gradient((_depth(world, carry, soon) - deep) / (PROBE * room))
    deep = jax.lax.stop_gradient(deep)
    inside = (deep > 0.0) & (closing != 0.0)

    def way() -> Any:
        first = -deep / jnp.where(closing == 0.0, 1.0, closing)
        found = jnp.where(closing < 0.0, room, 0.0)
        for factor in reversed(FARTHER):
            span = factor * first
            near = (span <= room) & (span >= -BACK * room)
            found = jnp.where(near & (_depth(world, carry, flown(world, carry, span)) <= 0.0), span, found)
        return jax.lax.stop_gradient(found)

    span = jax.lax.cond(inside, way, lambda: jnp.zeros_like(deep))
    sunk = inside & (span == 0.0)
    y = jax.lax.cond(span != 0.0, lambda: flown(world, carry, span), lambda: _same(carry.y))
    y = jax.lax.cond(sunk, lambda: _at_surface(world, carry), lambda: y)
    return carry._replace(y=y, t=carry.t + span), span >= room


def _at_surface(world: World, carry: Carry) -> Continuous:
    """The state put onto the surface that it is deepest inside of, along the normal in the space of coordinates."""
    q, shape = ravel_pytree(carry.y.q)
    q = jnp.asarray(q, dtype=float)

    def depth(q: Vector) -> Any:
        return _depth(world, carry, carry.y._replace(q=shape(q)))

    def better(q: Vector) -> Any:
        slope = jax.lax.map(lambda d: jax.jvp(depth, (q,), (d,))[1], jnp.eye(q.shape[0]))
        return q - slope * depth(q) / jnp.maximum(jnp.sum(slope * slope), TINY)

    for _ in range(5):  # surfaces bend, and the engine allows no depth
        q = better(q)
    return _same(carry.y._replace(q=shape(q)))


def flown(world: World, carry: Carry, span: Real) -> Continuous:
    """The state after a span of time [s], which may be negative, in the phases of the carry, whatever it meets."""
    h, y = span / SUBSTEPS, carry.y

    def step(y: Continuous, _: Any) -> tuple[Continuous, None]:
        k1 = _rates(world, carry, y)
        k2 = _rates(world, carry, _along(y, 0.5 * h, k1))
        k3 = _rates(world, carry, _along(y, 0.5 * h, k2))
        k4 = _rates(world, carry, _along(y, h, k3))
        whole = jax.tree.map(lambda a, b, c, d: (a + 2.0 * b + 2.0 * c + d) / 6.0, k1, k2, k3, k4)
        return _along(y, h, whole), None

    return jax.lax.scan(step, _same(y), None, length=SUBSTEPS)[0]


def _same(y: Continuous) -> Continuous:
    return jax.tree.map(lambda a: jnp.asarray(a, dtype=float), y)


def _rates(world: World, carry: Carry, y: Continuous) -> Continuous:
    found = derivative(world, carry.t, y, carry.phases, carry.memory)
    return jax.tree.map(lambda a: jnp.asarray(a, dtype=float), found)


def _along(y: Continuous, h: Real, rate: Continuous) -> Continuous:
    return jax.tree.map(lambda a, b: a + h * b, y, rate)


def _depth(world: World, carry: Carry, y: Continuous) -> Any:
    """How deep [m] the deepest open rigid contact is inside its surface, beyond rounding; negative: none is."""
    memory = carry.memory
    scene = Scene(world.mechanism, carry.t, y.q, y.v)
    scene.length, scene.gravity, scene.automata = world.length, world.gravity, world.automata
    deepest = jnp.asarray(-1.0)
    for automaton, own in zip(world.automata, owns(y, carry.phases, memory), strict=True):
        if automaton.anatomy.impulsive:
            report = automaton.report
            modes = {c.name: mode for c, mode in zip(report.contacts, report.modes(own), strict=True)}
            for name, (depth, rounding) in automaton.bars(scene).overlaps.items():
                excess = jnp.max(jnp.asarray(depth - rounding)) - INSIDE * world.length
                closed = modes.get(name, 0) != 0  # what is held at the surface is not inside
                deepest = jnp.where(closed, deepest, jnp.maximum(deepest, excess))
    return deepest


def piece(memories: bool, world: World, integration: Integration, carry: Carry, u: Vector) -> tuple[Carry, Any]:
    """To the end of an integration, with the derivative by state and inputs."""
    x = x_of(carry, memories)
    n = x.shape[0]

    def moved(both: Vector) -> tuple[Any, Carry]:
        after = onward(world, integration, x_put(carry, both[:n], memories), both[n:])
        return x_of(after, memories), after

    at = jnp.concatenate([x, u])
    columns, after = jax.lax.map(lambda d: jax.jvp(moved, (at,), (d,), has_aux=True)[1:], jnp.eye(at.shape[0]))
    return jax.tree.map(lambda leaf: leaf[0], after), columns.T
