"""Derivatives beside central differences."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest


def derivative_and_difference(function: Callable[..., jax.Array], point: Any, step: Any) -> tuple[jax.Array, jax.Array]:
    """Derivative along `step` (forward mode; reverse mode must agree to rounding) and central difference."""

    @jax.jit
    def both(point: Any) -> tuple[jax.Array, jax.Array, Any]:
        value, forward = jax.jvp(function, point, step)
        return value, forward, jax.vjp(function, *point)[1](jnp.ones_like(value))

    h = 1e-5
    ahead, behind = (both(jax.tree.map(lambda x, d, h=h: x + h * d, point, step))[0] for h in (h, -h))
    _, forward, backward = both(point)
    along = sum(jnp.vdot(b, d) for b, d in zip(jax.tree.leaves(backward), jax.tree.leaves(step), strict=True))
    assert along == pytest.approx(float(jnp.sum(forward)), rel=1e-9)
    return forward, (ahead - behind) / (2 * h)
