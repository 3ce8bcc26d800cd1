"""Which numbers of a world are zero: gravity to the side, a joint's spring, how far off its axis a link's mass lies.

Programs keep to that: what is multiplied by nothing, or added to it, is left out of them. A world with another number
there is another program.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from .. import native
from ..quantities import Given
from ._remembered import remembered
from .world import World


def noughts(args: tuple[Any, ...]) -> native.Noughts:
    """For every array among the arguments, which of its numbers are zero, one byte for each; None where it may change.

    Only worlds keep theirs, and only machine code makes use of it.
    """
    if not native.wanted():
        return ()
    out: list[bytes | None] = []
    for arg in args:
        out += of_world(arg) if isinstance(arg, World) else [None] * len(jax.tree.leaves(arg))
    return tuple(out)


@remembered
def of_world(world: World) -> list[bytes | None]:
    """The same of a world alone."""
    return [_zeros(x) for x in jax.tree.leaves(world)]


def _zeros(x: Given) -> bytes | None:
    numbers = np.asarray(x)
    if numbers.dtype != float:
        return None
    return ((numbers == 0.0) & ~np.signbit(numbers)).tobytes()
