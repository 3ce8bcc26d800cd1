"""Many contacts at one instant: what _several.py writes out on scalars, on arrays; and Lemke's method behind it.

The rule is the same, and so is the way to its answer: decisions that are broken change, all of a kind at first, then
one at a time. Where that does not end soon, Lemke's method (_lemke.py) decides, and changes go on from there. Trying
all decisions in turn is out of the question here: 40 contacts with friction have 6^40 of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from ...hybrid._row_arrays import least_of_norm, masked_array
from ._lemke import Cone, solved

if TYPE_CHECKING:
    from ._several import Decided, Problem

PATIENCE = 12  # rounds before Lemke's method is asked
AFTERWARDS = 8  # rounds per row after it; with 2, one of 10,000 small problems stayed without its answer


def rounds_of(p: Problem) -> int:
    return PATIENCE + AFTERWARDS * len(p.owner) + 8


def array_values(p: Problem, d: Decided) -> tuple[Any, Any, Any]:
    """Impulses and velocities for given decisions."""
    n, at = p.contacts, np.asarray(p.rubs, dtype=int)
    slip = -d.sense * p.mu  # p_i = slip (x_i + o_i)
    b = p.b + p.w @ jnp.concatenate([p.offset, slip * p.offset[at]])
    # A contact that slides pushes along n + slip t.
    columns = p.w.at[:, at].add(slip[None, :] * p.w[:, n:])
    if p.jams is not None:
        free = p.jams == 0.0
        b = b.at[at].set(jnp.where(free, b[at], -p.jams * b[n:]))
        columns = columns.at[at].set(jnp.where(free[:, None], columns[at], -p.jams[:, None] * columns[n:]))
    sticks = p.part[at] & (d.sense == 0.0)
    active = jnp.concatenate([d.pushes, sticks])
    # In units of the inverse inertia, so that the ones that stand for inactive rows are no larger than the others.
    unit = 1.0 / jnp.mean(p.diagonal)
    x = least_of_norm(masked_array(columns * unit, active), jnp.where(active, -b * unit, 0.0))
    after = b + columns @ x
    return x[:n], jnp.where(sticks, x[n:], slip * (x[:n] + p.offset)[at]), after


def by_lemke(p: Problem) -> tuple[Any, Any]:
    """Decisions by Lemke's method: who pushes, and the senses of sliding."""
    root = jnp.sqrt(jnp.where(p.diagonal > 0.0, p.diagonal, 1.0))
    size = jnp.max(jnp.abs(p.b) / root) + jnp.max(jnp.abs(p.offset) * root[: p.contacts], initial=0.0)
    size = jnp.where(size > 0.0, size, 1.0)
    w, b = p.w / (root[:, None] * root[None, :]), p.b / (root * size)
    n, at = p.contacts, np.asarray(p.rubs, dtype=int)
    mu = p.mu * root[n:] / root[at]
    offset = p.offset * root[:n] / size
    pushes, sense, _ = solved(Cone(w, b, mu, offset, p.part, p.fixed, p.rubs))
    return pushes & p.part, sense
