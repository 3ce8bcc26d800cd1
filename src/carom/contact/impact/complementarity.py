"""Linear complementarity: W P + b >= 0, P >= 0, and their product zero. Contacts push, never pull."""

from __future__ import annotations

from itertools import product
from typing import Any

import jax
import jax.numpy as jnp

from ...dynamics.linear import ldl_factor

DEPENDENT = 1e-11  # a pivot below this fraction marks a row that other rows already express


def complementarity(matrix: list[list[Any]], b: list[Any]) -> list[Any]:
    """Solve for P by trying every set of contacts that push, and taking the one that violates the conditions least.

    `matrix` is symmetric positive semidefinite, given in full. With n contacts there are 2^n sets: exact, free of
    iteration counts, and cheap for the few contacts that a planar robot has. (Dropping all pulling contacts at once,
    the popular short-cut, is wrong in general.)
    """
    n = len(b)
    best: list[Any] = [jnp.zeros_like(jnp.asarray(x, dtype=float)) for x in b]
    least = jnp.asarray(jnp.inf)
    scale = sum(jnp.abs(x) for x in b) + jnp.finfo(float).tiny
    for pushing in product((False, True), repeat=n):
        chosen = [i for i in range(n) if pushing[i]]
        trial: list[Any] = [jnp.zeros_like(x) for x in best]
        if chosen:
            inner = [[matrix[i][j] for j in chosen[: k + 1]] for k, i in enumerate(chosen)]
            for i, p in zip(chosen, ldl_factor(inner, DEPENDENT)([-b[i] for i in chosen]), strict=True):
                trial[i] = p
        violation = jax.lax.stop_gradient(_violation(matrix, b, trial, chosen, scale))
        # A later set must be clearly better, so that rounding does not decide between equals.
        better = violation < least - 1e-12
        best = [jnp.where(better, t, o) for t, o in zip(trial, best, strict=True)]
        least = jnp.where(better, violation, least)
    return best


def _violation(matrix: list[list[Any]], b: list[Any], trial: list[Any], chosen: list[int], scale: Any) -> Any:
    """By how much a candidate breaks the conditions, relative to the data: pulling, or approaching."""
    worst = jnp.asarray(0.0)
    for i in range(len(b)):
        after = b[i] + sum(matrix[i][j] * trial[j] for j in range(len(b)))
        worst = jnp.maximum(worst, -after / scale)
        if i in chosen:
            worst = jnp.maximum(worst, -trial[i] * matrix[i][i] / scale)
    return worst
