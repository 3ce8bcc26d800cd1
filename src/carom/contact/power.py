"""Powers whose derivatives are finite at touch-down."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ..quantities import Real


def three_halves(d: Real) -> Any:
    """max(d, 0)^1.5, with derivative 0 at d = 0: the argument is selected before the root, not the result after it."""
    positive = d > 0.0
    safe = jnp.where(positive, d, 1.0)
    return jnp.where(positive, safe * jnp.sqrt(safe), 0.0)


def power(d: Real, exponent: Real) -> Any:
    """max(d, 0)^exponent for exponent >= 1, with finite derivatives at d = 0; None stands for Hertz's 3/2."""
    if exponent is None:
        return three_halves(d)  # a root is several times cheaper than a general power
    positive = d > 0.0
    safe = jnp.where(positive, d, 1.0)
    return jnp.where(positive, safe**exponent, 0.0)
