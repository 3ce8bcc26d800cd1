"""What is rounding: numbers that are far smaller than the largest of their unit in a run are told as 0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..result._clip import Clip
from ..result._columns import IMPACTS, STANCES
from ..result._drawing import standing
from ..result.impacts import Impact

NOISE = 1e-9  # of the largest value of a unit: what is smaller is shown as 0


def sizes(clips: Sequence[Clip], impacts: Sequence[Impact]) -> dict[str, float]:
    """The largest value of every unit in a run; of lengths that of what is seen, of angles a radian."""
    out = {"-": 1.0, "rad": 1.0, "J": max(clip.result.energy.in_play for clip in clips)}
    out["m"] = max(_extent(clip) for clip in clips)
    tables = ((IMPACTS, impacts), (STANCES, [s for clip in clips for s in clip.result.stances]))
    for columns, rows in tables:
        for c in (c for c in columns if c.unit):
            found = (abs(v) for v in map(c.read, rows) if np.isfinite(v))
            out[c.unit] = max((out.get(c.unit, 0.0), *found))
    out["rad/s"] = out.get("m/s", 0.0)  # at a joint's stop, the columns have radians for metres
    return out


def without_rounding(value: float, unit: str, largest: Mapping[str, float]) -> float:
    """The value, or 0 where it is rounding.

    >>> without_rounding(4e-16, "m/s", {"m/s": 2.97}), without_rounding(4e-6, "m/s", {"m/s": 2.97})
    (0.0, 4e-06)
    """
    return 0.0 if abs(value) <= NOISE * largest[unit] else float(value)


def _extent(clip: Clip) -> float:
    """Of the mechanism at its start and its end, and of the way between them [m]."""
    boxes = [standing(clip.result.world, np.asarray(clip.result.q[k])).box for k in (0, -1)]
    left, bottom = (min(b[k] for b in boxes) for k in (0, 1))
    right, top = (max(b[k] for b in boxes) for k in (2, 3))
    return float(max(right - left, top - bottom))
