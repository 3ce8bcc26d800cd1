"""Which numbers of a world are zero: gravity to the side, a joint's spring, how far off its axis a link's mass lies.

Programs keep to that: what is multiplied by nothing, or added to it, is left out of them. A world with another number
there is another program.
"""

from __future__ import annotations

import weakref
from typing import Any

import jax
import numpy as np

from .. import native
from ..quantities import Given
from .world import World


def noughts(args: tuple[Any, ...]) -> native.Noughts:
    """For every array among the arguments, which of its numbers are zero, one byte for each; None where it may change.

    Only worlds keep theirs, and only machine code makes use of it.
    """
    if not native.wanted():
        return ()
    out: list[bytes | None] = []
    for arg in args:
        out += _of_world(arg) if isinstance(arg, World) else [None] * len(jax.tree.leaves(arg))
    return tuple(out)


_KNOWN: dict[int, tuple[Any, list[bytes | None]]] = {}  # by where a world lies, as long as it is that one
MOST = 100  # of them are remembered


def _of_world(world: World) -> list[bytes | None]:
    """Worlds do not change: each is looked at once."""
    whose, found = _KNOWN.get(id(world), (lambda: None, []))
    if whose() is not world:
        found = [_zeros(x) for x in jax.tree.leaves(world)]
        _KNOWN[id(world)] = weakref.ref(world), found
        while len(_KNOWN) > MOST:
            _KNOWN.pop(next(iter(_KNOWN)), None)
    return found


def _zeros(x: Given) -> bytes | None:
    numbers = np.asarray(x)
    if numbers.dtype != float:
        return None
    return ((numbers == 0.0) & ~np.signbit(numbers)).tobytes()
