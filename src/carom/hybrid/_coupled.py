"""All that is held in a world, as one linear system: for those who decide what goes on holding and what gives way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ..quantities import Coordinates, Flags, Real, Reals, Vector
from ._reaction import Row, dot, least, masked, singular
from ._row_arrays import RowArrays, dead_rows, least_of_norm, masked_array
from .automaton import AbstractAutomaton
from .scene import Own, Scene, merge
from .world import World

WAY = 16.0  # roundings of a place, as for a contact's hop


class Coupled(NamedTuple):
    """Rates of all rows' velocities: rise + weights x, where x are their reactions.

    `weights` is a list of rows, or an array in worlds on arrays.
    """

    weights: Any
    rise: Any  # without reactions, (rows)
    sizes: Any  # of its terms, (rows)
    active: Any  # flags, (rows)
    dead: Any  # flags: nothing moves these
    mine: range  # rows of the automaton that asks

    def reactions(self, active: Flags, right: Vector) -> Any:
        """The reactions of these rows alone that bring their rates to `right`."""
        if not isinstance(self.weights, list):
            return least_of_norm(masked_array(self.weights, active), jnp.where(active, right, 0.0), self.dead)
        on = list(active)
        wanted = [jnp.where(a, r, 0.0) for a, r in zip(on, right, strict=True)]
        return jnp.stack(least(masked(self.weights, on), wanted, list(self.dead)))

    def rates(self, forces: Vector) -> tuple[Any, Any]:
        """Rates of all rows under these reactions, and the sizes of their terms."""
        return self.rise + self.matrix @ forces, self.sizes + jnp.abs(self.matrix) @ jnp.abs(forces)

    @property
    def still(self) -> Coupled:
        """The same for decisions, which have no derivatives."""
        return Coupled(*jax.lax.stop_gradient(self[:-1]), self.mine)

    @property
    def matrix(self) -> Any:
        """The weights as an array."""
        return jnp.stack([jnp.stack(row) for row in self.weights]) if isinstance(self.weights, list) else self.weights

    def with_mine(self, values: Vector, own: Vector) -> Any:
        """Numbers of all rows, with these instead of those of the automaton that asks."""
        return jnp.concatenate([values[: self.mine.start], own, values[self.mine.stop :]])


def coupled(rows: list[Row] | RowArrays, free: Coordinates, solve: Callable[[Any], Any], mine: range) -> Coupled:
    """The system; `free` are the accelerations without reactions, `solve` applies the inverse mass matrix."""
    if isinstance(rows, RowArrays):
        free = merge(free) if isinstance(free, tuple) else free
        rise, sizes = rows.across @ free + rows.drift, jnp.abs(rows.across) @ jnp.abs(free) + jnp.abs(rows.drift)
        return Coupled(rows.across @ solve(rows.along.T), rise, sizes, rows.active, dead_rows(rows), mine)
    through = [solve(row.along) for row in rows]
    weights = [[jnp.asarray(dot(row.across, t), dtype=float) for t in through] for row in rows]
    return Coupled(
        weights,
        _stacked([dot(row.across, free) + row.drift for row in rows]),
        _stacked(
            [sum(jnp.abs(x * a) for x, a in zip(row.across, free, strict=True)) + jnp.abs(row.drift) for row in rows]
        ),
        jnp.stack([jnp.asarray(row.active) for row in rows]),
        jnp.stack(singular(rows)),
        mine,
    )


def _stacked(numbers: Reals) -> Any:
    return jnp.stack([jnp.asarray(x, dtype=float) for x in numbers])


def with_own(world: World, each: list[Own], automaton: AbstractAutomaton, own: Own) -> tuple[int, list[Own]]:
    """Number of an automaton, and what belongs to all of them if this belonged to it."""
    i = next(k for k, a in enumerate(world.automata) if a.name == automaton.name)
    return i, [*each[:i], own, *each[i + 1 :]]


def mine_of(world: World, i: int) -> range:
    """Which rows of the world are those of automaton i."""
    first = sum(a.holding.count for a in world.automata[:i])
    return range(first, first + world.automata[i].holding.count)


def farther(speed: Real, weight: Real, giving: Real, place: Real) -> Any:
    """Would what moves so fast get anywhere before friction stops it? A way shorter than rounding is none."""
    return jnp.square(speed) > 2.0 * WAY * place * jnp.maximum(weight, 0.0) * giving


class BoundedRow(NamedTuple):
    """A row that holds up to a limit, and then gives way."""

    row: Row
    most: Any
    giving: Any  # what is left of it then
    place: Any  # rounding of its place
    effort: Any  # what it exerts by a formula, as something that moves


def bounded_rows(pairs: Sequence[tuple[AbstractAutomaton, Own]], at: Scene) -> list[BoundedRow]:
    """Those of all automata, at the velocities of a scene."""
    out: list[BoundedRow] = []
    for automaton, own in pairs:
        holding = automaton.holding
        if holding.bounds is not None:
            rows = holding.rows(at, own)
            assert isinstance(rows, list)
            out += [BoundedRow(row, *both) for row, both in zip(rows, holding.bounds(at, own), strict=True)]
    return out
