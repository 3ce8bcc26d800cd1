"""Explicit Runge-Kutta steps, written out on scalars, with diffrax's tableaux.

diffrax runs its stages in a loop over buffers; in a batch such a step costs several times one that is written out
(benchmarks/engine.py measures it), so only the coefficients are taken from there. Stages are unrolled for small
worlds and rolled into a loop for large ones, where compile time would explode.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from .. import errors


class Tableau(NamedTuple):
    """Explicit, first-same-as-last: the last stage is the derivative at the end of the step."""

    name: str
    order: int
    a: tuple[tuple[float, ...], ...]  # row i: weights of stages 0..i for stage i + 1
    error: tuple[float, ...]
    c: tuple[float, ...]


def _of(name: str, order: int, solver: Any) -> Tableau:
    t = solver.tableau
    return Tableau(
        name,
        order,
        tuple(tuple(float(x) for x in row) for row in t.a_lower),
        tuple(float(x) for x in t.b_error),
        tuple(float(x) for x in t.c),
    )


SOLVERS: dict[str, Tableau] = {
    "tsit5": _of("tsit5", 5, diffrax.Tsit5),
    "dopri8": _of("dopri8", 8, diffrax.Dopri8),
}


def solver_of(name: str) -> Tableau:
    errors.name_in("solver", name, tuple(SOLVERS))
    return SOLVERS[name]


def add_scaled(y: Any, terms: list[tuple[float, Any]], h: Any) -> Any:
    """y + h sum c k over pytrees, leaving out zero weights."""
    used = [(c, k) for c, k in terms if c != 0.0]
    return jax.tree.map(
        lambda y, *ks: y + h * sum(c * k for (c, _), k in zip(used, ks, strict=True)), y, *(k for _, k in used)
    )


def step(tableau: Tableau, rhs: Callable[[Any, Any], Any], t: Any, y: Any, k0: Any, h: Any) -> tuple[Any, Any, Any]:
    """One step: the new state, the error estimate (a pytree like y), the derivative at the end."""
    ks = [k0]
    new = y
    for row, c in zip(tableau.a, tableau.c, strict=True):
        new = add_scaled(y, list(zip(row, ks, strict=True)), h)
        ks.append(rhs(t + c * h, new))
    zero = jax.tree.map(jnp.zeros_like, y)
    error = add_scaled(zero, list(zip(tableau.error, ks, strict=True)), h)
    return new, error, ks[-1]


def rolled_step(
    tableau: Tableau, rhs: Callable[[Any, Any], Any], t: Any, y: Any, k0: Any, h: Any
) -> tuple[Any, Any, Any]:
    """The same step with the stages in a loop: a seventh of the code to compile."""
    count = len(tableau.error)
    flat, unflatten = ravel_pytree(y)
    rows = np.zeros((count, count))
    for i, row in enumerate(tableau.a):
        rows[i + 1, : len(row)] = row
    weights, times = jnp.asarray(rows), jnp.asarray((0.0, *tableau.c))

    def stage(i: Any, ks: Any) -> Any:
        new = flat + h * jnp.sum(weights[i][:, None] * ks, axis=0)
        return ks.at[i].set(ravel_pytree(rhs(t + times[i] * h, unflatten(new)))[0])

    start = jnp.zeros((count, flat.size)).at[0].set(ravel_pytree(k0)[0])
    ks = jax.lax.fori_loop(1, count, stage, start)
    new = flat + h * jnp.sum(weights[-1][:, None] * ks, axis=0)
    error = h * jnp.sum(jnp.asarray(tableau.error)[:, None] * ks, axis=0)
    return unflatten(new), unflatten(error), unflatten(ks[-1])


def error_norm(y: Any, new: Any, error: Any, rtol: float, atol: float) -> Any:
    """Root mean square of the error in units of the tolerance; 1 is just acceptable. Outside the derivative."""
    y, new, error = jax.lax.stop_gradient((y, new, error))
    parts = jax.tree.map(lambda a, b, e: (e / (atol + rtol * jnp.maximum(jnp.abs(a), jnp.abs(b)))) ** 2, y, new, error)
    leaves = jax.tree.leaves(parts)
    total = sum(jnp.sum(leaf) for leaf in leaves)
    return jnp.sqrt(total / sum(leaf.size for leaf in leaves))
