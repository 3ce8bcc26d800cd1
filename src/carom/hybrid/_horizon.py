"""When a run ends: a time, or what control/until.py makes of conditions, which is not loaded for a time alone."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from .. import registry
from .._arguments import UntilLike
from ._remembered import remembered
from .world import World

LONGEST = 1e5  # [s] of a run that is given no time


def ended(world: World, until: UntilLike) -> tuple[World, Any]:
    """The world with what ends its run, and the time [s] at which it ends at the latest."""
    time = isinstance(until, int | float | np.number | np.ndarray | jax.Array)
    if time and not _ends_itself(world):
        return world, until
    found: tuple[World, Any] = registry.UNTIL.found()(world, until)
    return found


@remembered
def _ends_itself(world: World) -> bool:
    """Has it an automaton that ends runs?"""
    return any(automaton.standing.ends for automaton in world.automata)
