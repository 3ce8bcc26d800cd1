"""No energy from nothing: impulses are held back, on a straight line, where they would add kinetic energy.

Impulses P add u- . P + P . w P / 2, a quadratic. Between impulses that add nothing and others that are wanted,
P(lambda) = P_safe + lambda (P_wanted - P_safe), it has a closed form in lambda, and the largest lambda <= 1 at which it
is not positive is taken. What both ends fulfil, P_n >= 0, |P_t| <= mu_s P_n and u_n >= 0, every point between them
does.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ...hybrid.condition import ROUNDING
from ...quantities import Matrix, Real, Vector


def held_back(safe: Vector, wanted: Vector, speed: Real, w: Matrix, group: Matrix) -> Any:
    """`wanted`, or as much of it beyond `safe` as adds no energy; `group` (rows, rows) says which rows go together."""
    change = wanted - safe
    base = jnp.minimum(group @ (safe * (speed + 0.5 * (w @ safe))), 0.0)
    slope = group @ (change * (speed + w @ safe))
    curve = group @ (change * (w @ change))
    whole = group @ (jnp.abs(wanted * speed) + jnp.abs(wanted * (w @ wanted)))
    over = base + slope + 0.5 * curve > ROUNDING * whole
    square = slope**2 - 2.0 * curve * base
    inside = over & (square > 0.0)
    root = jnp.where(inside, jnp.sqrt(jnp.where(inside, square, 1.0)), 0.0)
    # The positive zero of base + slope x + curve x^2 / 2, in the form that does not cancel.
    rising = slope > 0.0
    below = jnp.where(rising, slope + root, curve)
    above = jnp.where(rising, -2.0 * base, root - slope)
    usable = over & (below > 0.0)
    share = jnp.where(over, jnp.where(usable, above / jnp.where(usable, below, 1.0), 0.0), 1.0)
    return safe + jnp.minimum(share, 1.0) * change
