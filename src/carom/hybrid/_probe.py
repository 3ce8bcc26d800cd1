"""Steps that are short enough for derivatives, too: what they make of a probe is held to the tolerance.

A derivative is carried along by the steps of the motion, whose lengths suit the motion. What rests has no error however
long they are, and what is at rest but for rounding lets stiff directions grow unseen; its neighbours do move. So a run
that is differentiated takes one direction along, in general position, and controls its error relative to its own size.
Every direction passes through the same steps: of each mode it keeps the share that it had of the probe's, whose error
is known. An event excites what had died away, so that the probe begins anew there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import PyTree

from ..quantities import Function, Real
from ._carry import Carry
from ._locate import width_of
from ._pace import units_of_all
from .scene import Continuous
from .settings import Integration
from .solvers import error_norm
from .world import World

GOLDEN = 0.6180339887498949
FINE = 1e5  # widths of an instant: no step is cut below this for a probe, which has a jump where a force has a corner
TINY = 1e-300


class Probe(NamedTuple):
    """A direction of the state, without the ledger, and what the motion makes of it."""

    y: Continuous
    rate: Continuous


def first_probe(world: World, y: Continuous) -> Probe:
    """A direction in general position: every number by about its unit, by no two alike."""
    y = jax.lax.stop_gradient(y._replace(work=()))
    flat, tree = jax.tree.flatten(units_of_all(world, y))
    shares = [1.0 + (GOLDEN * (i + 1)) % 1.0 for i in range(len(flat))]
    like = jax.tree.leaves(y)
    each = [
        s * unit * (1.0 + (GOLDEN * jnp.arange(jnp.size(x))) % 1.0 if jnp.ndim(x) else jnp.asarray(1.0))
        for s, unit, x in zip(shares, flat, like, strict=True)
    ]
    along = jax.tree.unflatten(tree, each)
    return Probe(along, jax.tree.map(jnp.zeros_like, along))


def probed(world: World, integration: Integration, rhs: Function, c: Carry, h: Real) -> tuple[Probe, Any]:
    """What a step of length h makes of the probe, and the error of that in units of the tolerance."""
    t, y, rate = jax.lax.stop_gradient((c.t, c.y._replace(work=()), c.rate._replace(work=())))
    probe = c.probe

    def stepped(y: Continuous, rate: Continuous) -> Any:
        return tuple(x._replace(work=()) for x in integration.solver.step(rhs, t, y, rate, h, world.heavy))

    new, error, after = jax.lax.stop_gradient(jax.jvp(stepped, (y, rate), tuple(probe))[1])
    units = units_of_all(world, y)
    sizes = [
        jnp.maximum(jnp.maximum(_largest(a, u), _largest(b, u)), h * _largest(r, u))
        for a, b, r, u in zip(probe.y, new, probe.rate, units, strict=True)
    ]
    scales = tuple(
        jax.tree.map(lambda u, size=size: integration.rtol * u * jnp.maximum(size, TINY), unit)
        for unit, size in zip(units, sizes, strict=True)
    )
    norm = jnp.where(h > FINE * width_of(t), error_norm(tuple(error), scales), 0.0)
    whole = jnp.maximum(jnp.maximum(sizes[0], sizes[1]), TINY)
    return jax.tree.map(lambda x: x / whole, Probe(new, after)), norm


def _largest(tree: PyTree, units: PyTree) -> Any:
    found: Any = jnp.asarray(0.0)
    for x, unit in zip(jax.tree.leaves(tree), jax.tree.leaves(units), strict=True):
        size = jnp.abs(x) / unit
        found = jnp.maximum(found, jnp.max(size) if jnp.ndim(size) else size)
    return found


def differing(plain: Function, careful: Function, *args: PyTree) -> Any:
    """`plain(*args)`, whose derivative is that of `careful`: forward mode then takes value and derivative from it.

    Numbers that are known stay so: only what is traced is handed on, also what functions of a user's own hold.
    """
    leaves, tree = jax.tree.flatten(args)
    traced = [i for i, x in enumerate(leaves) if isinstance(x, jax.core.Tracer)]
    given = [leaves[i] for i in traced]

    def of(function: Function) -> Function:
        return lambda *some: function(*jax.tree.unflatten(tree, _with(leaves, traced, some)))

    call, held = jax.closure_convert(of(plain), *given)
    # Traced only where it is needed; where a function holds something, that has to be known beforehand.
    other, also = jax.closure_convert(of(careful), *given) if held else (of(careful), [])

    @jax.custom_jvp
    def run(given: PyTree, held: PyTree, also: PyTree) -> Any:
        return call(*given, *held)

    def slopes(values: PyTree, changes: PyTree) -> Any:
        flat, tree = jax.tree.flatten(values)
        moves = jax.tree.leaves(changes)
        which = [i for i, dx in enumerate(moves) if not isinstance(dx, jax.custom_derivatives.SymbolicZero)]

        def moved(*some: PyTree) -> Any:
            given, _, also = jax.tree.unflatten(tree, _with(flat, which, some))
            return other(*given, *also)

        return jax.jvp(moved, tuple(flat[i] for i in which), tuple(moves[i] for i in which))

    run.defjvp(slopes, symbolic_zeros=True)
    return run(tuple(given), tuple(held), tuple(also))


def _with(all_of: list[Any], places: list[int], some: tuple[PyTree, ...]) -> list[Any]:
    """A list with some of its items replaced."""
    new = dict(zip(places, some, strict=True))
    return [new.get(i, x) for i, x in enumerate(all_of)]
