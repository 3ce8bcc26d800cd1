"""Where a function of one number is largest: looked for in many places, then by Newton's method within a bracket."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from ...quantities import Real

SEEDS = 24  # places that are looked at
STEPS = 40  # of Newton's method, or of halving the bracket where Newton leaves it

Slope = Callable[[Any], tuple[Any, Any]]  # first derivative, up to a positive factor, and the derivative of that


def summit(
    value: Callable[[Any], Any],
    slope: Slope,
    seeds: Callable[[Any], tuple[Any, Any, Any]],
    count: int,
    inner: bool = False,
) -> Any:
    """Where `value` is largest; nothing here may carry derivatives.

    `seeds(i)` is a place to look at and what lies to its left and to its right. With `inner`, places between neighbours
    from which it rises come first: an end where something else touches does not hide what touches between the ends.
    """

    def looked(i: Any) -> tuple[Any, ...]:
        place, left, right = seeds(i)
        peak = (slope(left)[0] > 0.0) & (slope(right)[0] < 0.0) if inner else jnp.asarray(True)
        return peak, value(place), place, left, right

    def better(i: Any, best: tuple[Any, ...]) -> tuple[Any, ...]:
        here = looked(i)
        wins = (here[0] & ~best[0]) | ((here[0] == best[0]) & (here[1] > best[1]))
        return tuple(jnp.where(wins, a, b) for a, b in zip(here, best, strict=True))

    _, _, place, left, right = jax.lax.fori_loop(1, count, better, looked(jnp.asarray(0)))
    begin = (place, left, right, right - left)
    return jax.lax.fori_loop(0, STEPS, lambda _, at: _closer(slope, *at), begin)[0]


def _closer(slope: Slope, place: Any, left: Any, right: Any, last: Any) -> tuple[Any, Any, Any, Any]:
    """A step of Newton's method, or to the middle of the bracket, which shrinks to the side where it rises.

    Newton's must be less than half of the one before: at a kink it would go to and fro for ever.
    """
    first, second = slope(place)
    left, right = jnp.where(first > 0.0, place, left), jnp.where(first > 0.0, right, place)
    there, middle = place + newton(first, second), 0.5 * (left + right)
    good = (there >= left) & (there <= right) & (second < 0.0) & (jnp.abs(there - place) <= 0.5 * last)
    there = jnp.where(good, there, middle)
    return there, left, right, jnp.abs(there - place)


def newton(first: Real, second: Real) -> Any:
    """The step uphill to where the slope vanishes."""
    return first / jnp.where(second == 0.0, 1.0, jnp.abs(second))
