"""When a run ends: a time, or what control/until.py makes of conditions, which is not loaded for a time alone."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from .. import registry
from .._arguments import UntilLike
from .world import World

LONGEST = 1e5  # [s] of a run that is given no time


def ended(world: World, until: UntilLike) -> tuple[World, Any]:
    """The world with what ends its run, and the time [s] at which it ends at the latest."""
    time = isinstance(until, int | float | np.number | np.ndarray | jax.Array)
    if time and not any(automaton.standing.ends for automaton in world.automata):
        return world, until
    found: tuple[World, Any] = registry.UNTIL.found()(world, until)
    return found
