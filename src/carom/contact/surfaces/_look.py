"""How sharply a curve bends of which only a function is known: looked at in many places, and closer where it sharpens.

No number of places proves what lies between them. But a smooth function shows from afar that it is about to bend:
curvature that grows from one place to the next by a large factor, however small it still is, leads to where it is
large. So the places between which it changes most, and those towards which it grows, are looked at again, closer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ... import errors, native
from ...quantities import Function, Index, Library, Matrix, Real, Reals, Vector

PARTS = 16  # into which a row of places, and a cell that is looked at again, is divided
PICKED = 16  # cells that are, by each of two measures
ROUNDS = 4  # of looking again
FLOOR = 1e-10  # [rad] turned over the whole width: below this curvature is rounding
TURNED = 0.2  # [rad] between two places on a curve that is followed
SUDDEN = 4.0  # a curvature that grows by more than this from one place to the next has not been resolved
FAINT = 1e-12  # [rad] turned in a step: below this growth is rounding
FINEST = 1e-6  # of the longest step along a curve is the shortest


def largest(measure: Callable[[Any], Any], middle: Real, reach: Real, rows: int) -> Any:
    """The largest values (k,) of a function s -> (k,) within `reach` of `middle`; its first is sought for.

    Evaluates `rows` times `PARTS` + 1 places, and 2 `PICKED` times as many in each of the rounds.
    """
    lib, measured = (np, _in_blocks(measure)) if native.idle() else (jnp, jax.vmap(jax.vmap(measure)))
    middle, ends = lib.asarray(middle), lib.linspace(-1.0, 1.0, rows + 1)
    at, most = _divided(middle + reach * ends[:-1], reach * lib.asarray(ends[1:] - ends[:-1])), lib.zeros(())
    for left in reversed(range(ROUNDS + 1)):
        found = lib.abs(measured(at))
        found = lib.where(lib.isfinite(found), found, 0.0)  # elsewhere it is outside its domain
        most = lib.maximum(most, lib.max(found, axis=(0, 1)))
        if left:
            at = _closer(lib, at, found[..., 0], FLOOR / reach)
    return most


def _in_blocks(measure: Callable[[Any], Any]) -> Callable[[np.ndarray], np.ndarray]:
    """The measure at known places, in blocks of as many as are looked at again, so that one program serves all."""
    size = 2 * PICKED * (PARTS + 1)
    many = native.made_for(native.rows(measure), np.zeros(size))

    def at_all(at: np.ndarray) -> np.ndarray:
        places = np.resize(at, -(-at.size // size) * size).reshape(-1, size)
        found = np.concatenate([np.asarray(many(block)) for block in places])
        return found[: at.size].reshape(*at.shape, *found.shape[1:])

    return at_all


def _divided(left: Vector, width: Vector) -> Any:
    return left[:, None] + width[:, None] * np.linspace(0.0, 1.0, PARTS + 1)[None, :]


def _closer(lib: Library, at: Matrix, found: Matrix, low: Real) -> Any:
    """Rows of places inside of the cells that are worth it.

    That is what a cell may reach if it grows on as it does outside, or how much it changes there. Neighbours are taken
    together, for where a curve bends the other way its curvature passes through zero.
    """
    wide = lib.pad(found, ((0, 0), (2, 2)), mode="edge")
    size = lib.log(lib.maximum(lib.maximum(wide[:, :-2], wide[:, 1:-1]), wide[:, 2:]) + low)
    before, first, last, after = size[:, :-3], size[:, 1:-2], size[:, 2:-1], size[:, 3:]
    reached = lib.maximum(first + lib.maximum(first - before, 0.0), last + lib.maximum(last - after, 0.0))
    change = lib.abs(first - before) + lib.abs(last - first) + lib.abs(after - last)
    chosen = lib.concatenate([lib.lexsort((-score.ravel(),))[:PICKED] for score in (reached, change)])
    return _divided(at[:, :-1].ravel()[chosen], (at[:, 1:] - at[:, :-1]).ravel()[chosen])


class Along(NamedTuple):
    """A place on a curve: its direction, its curvature, and whether it is on the curve at all."""

    x: Any
    y: Any
    tx: Any
    ty: Any
    curvature: Any
    on: Any


def followed(
    put: Callable[[Real, Real], Along], x: Reals, y: Reals, within: Function, longest: Real, steps: int
) -> Any:
    """Sharpest curvature along a curve, followed both ways from given points for so many steps.

    `put` brings a point onto the curve; `within` says which places count. A step that turns by more than `TURNED`, or
    over which the curvature grows suddenly, is taken again, shorter.
    """

    def walk(x: Real, y: Real, way: Real) -> Any:
        def step(_: Index, c: tuple[Along, Any, Any]) -> tuple[Along, Any, Any]:
            here, h, most = c
            there = put(here.x + way * h * here.tx, here.y + way * h * here.ty)
            grown = (there.curvature > SUDDEN * here.curvature) & (there.curvature * h > FAINT)
            fine = there.on & (here.tx * there.tx + here.ty * there.ty > jnp.cos(TURNED)) & ~grown
            good = there.on & (fine | (h <= FINEST * longest))
            here = jax.tree.map(lambda new, old: jnp.where(good, new, old), there, here)
            most = jnp.where(good & within(here.x, here.y), jnp.maximum(most, here.curvature), most)
            return here, jnp.clip(jnp.where(fine, 2.0 * h, 0.25 * h), FINEST * longest, longest), most

        here = put(x, y)
        most = jnp.where(here.on & within(here.x, here.y), here.curvature, 0.0)
        most = jax.lax.fori_loop(0, steps, step, (here, jnp.asarray(longest / 64.0), most))[2]
        return jnp.where(jnp.isfinite(most), most, 0.0)

    ways = jnp.asarray(np.repeat([-1.0, 1.0], len(x)))
    return jnp.max(native.rows(walk)(jnp.tile(jnp.asarray(x), 2), jnp.tile(jnp.asarray(y), 2), ways))


def radius_of(curvature: Real) -> Any:
    """Infinite where it is straight."""
    lib = errors.library_for(curvature)
    straight = curvature <= 0.0
    return lib.where(straight, lib.inf, 1.0 / lib.where(straight, 1.0, curvature))
