"""How large a mechanism is."""

from __future__ import annotations

import functools
from typing import Any

import jax.numpy as jnp

from .tree import Mechanism


def length_of(mechanism: Mechanism) -> Any:
    """Of the largest link [m], wherever the world stands; 1 m where nothing has a size."""
    n = mechanism.numbers
    points = [jnp.sqrt(jnp.sum(x * x, axis=-1)) for x in (n.hang, n.tip, n.com, n.site)]
    bodies = jnp.sqrt(n.inertia / jnp.where(n.mass > 0.0, n.mass, 1.0))
    largest = functools.reduce(jnp.maximum, [jnp.max(x, initial=0.0) for x in (*points, bodies)])
    return jnp.where(largest > 0.0, largest, 1.0)
