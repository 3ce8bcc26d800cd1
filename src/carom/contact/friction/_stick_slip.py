"""What a contact with dry friction does, as a number: open, sticking, or sliding one way or the other."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ...quantities import PhaseNumber, Real

OPEN, STICKING, RIGHT, LEFT = range(4)
WORDS = ("open", "sticking", "sliding right", "sliding left")
CLOSED = len(WORDS) - 1  # how many modes a closed contact has


def sense_of(mode: PhaseNumber) -> Any:
    """+1 sliding right, -1 sliding left, 0 where it does not slide."""
    return jnp.where(mode == RIGHT, 1.0, jnp.where(mode == LEFT, -1.0, 0.0))


def mode_of(sense: Real) -> Any:
    """Mode of a closed contact that slides this way, or sticks."""
    return jnp.where(sense > 0.0, RIGHT, jnp.where(sense < 0.0, LEFT, STICKING))
