"""Which of many contacts are there only at times, and which are not there now."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool

from ...hybrid.scene import Scene
from ..during import absences
from ._crowd import Crowd


def inexact(crowd: Crowd) -> bool:
    """Is the gap of some contact not the distance to the nearest point, however far away?"""
    grounds = [kind.first.pair.ground for kind in crowd.kinds]
    return any(ground is not None and not ground.exact for ground in grounds)


def switched(crowd: Crowd) -> np.ndarray:
    """Which contacts are there only at times."""
    out = np.zeros(crowd.size, dtype=bool)
    for kind in crowd.kinds:
        out[list(kind.members)] = [each is not None for each in kind.during]
    return out


def away(crowd: Crowd, scene: Scene) -> Bool[Array, " contacts"] | None:
    """Which contacts are not there now; None where all always are."""
    if not np.any(switched(crowd)):
        return None
    found = {i: each for kind in crowd.kinds for i, each in zip(kind.members, kind.during, strict=True)}
    absent = absences([found[i] for i in range(crowd.size)], scene)
    return None if absent is None else jnp.stack(absent)
