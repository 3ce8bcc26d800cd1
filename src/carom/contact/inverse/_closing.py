"""Closing a motion: the joints that must follow so that sliding contacts stay on their surfaces."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...mechanism import Mechanism
from ...quantities import Real, Vector
from .._rows import Rows
from ..pairs import AbstractPair
from ..surfaces.curve import settled
from ._arrays import rows_at, small_solve, stack
from .problem import InverseProblem


def closed_motion(
    problem: InverseProblem, links: tuple[int, ...], relative: bool, q: Vector, v: Vector, a: Vector, t: Real
) -> tuple[tuple[Any, Any, Any], Any, Any]:
    """The motion, the gaps that are left, and the leverage, without any check."""
    m = problem.mechanism
    at = np.asarray([m.topology.angle_index(k) for k in links], dtype=int)
    whole = m.to_absolute if relative else lambda x: x
    basis = jnp.stack([whole(jnp.zeros(m.dof).at[i].set(1.0)) for i in at], axis=1)
    pairs = [c.pair for c in problem.sliding]
    still = jax.lax.stop_gradient((m, pairs, q, t))

    def newton(z: Vector, m: Mechanism, pairs: list[AbstractPair], q: Vector, t: Real) -> Any:
        place = (m.to_absolute if relative else lambda x: x)(q.at[at].set(z))
        each = rows_at(m, pairs, place, jnp.zeros_like(place), t)
        gaps = stack([-r.touch.indentation for r in each])
        return z - small_solve(_normals(each) @ basis, gaps)

    z = settled(lambda z: newton(z, *still), lambda z: newton(z, m, pairs, q, t), q[at])
    q = whole(q.at[at].set(z))
    # Rates and accelerations enter linearly: those of the followers make up for what the others do.
    v = whole(v.at[at].set(0.0))
    each = rows_at(m, pairs, q, v, t)
    matrix = _normals(each) @ basis
    v = v + basis @ small_solve(matrix, -stack([r.separation for r in each]))
    each = rows_at(m, pairs, q, v, t)
    a = whole(a.at[at].set(0.0))
    rise = _normals(each) @ a + stack([r.normal_drift for r in each])
    a = a + basis @ small_solve(matrix, -rise)
    arms = jnp.stack([jnp.hypot(stack(r.normal) @ basis, stack(r.tangential) @ basis) for r in each])
    scaled = matrix / jnp.maximum(jnp.max(arms, axis=0), np.finfo(float).tiny)[None, :]
    leverage = jnp.linalg.svd(jax.lax.stop_gradient(scaled), compute_uv=False)[-1]  # of 1
    gaps = stack([-r.touch.indentation for r in each])
    return (q, v, a), gaps, leverage


def _normals(each: list[Rows]) -> Any:
    return jnp.stack([stack(r.normal) for r in each])
