"""A clip: one simulated stretch in a time and a frame of the ground that several stretches share.

    clips = [Clip(first), Clip(second, t0=2.0, mirrored=True, shift=(0.5, 0.0))]

So are a crawler's steps shown, each with another foot held, and the motion before and after a capture.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import errors
from .._arguments import ClipsLike
from ..quantities import Times


class Carried(NamedTuple):
    """A disk of a radius [m] that is welded to a link, its centre at (x, y) [m] in the link's frame."""

    link: str
    x: float
    y: float
    radius: float


@dataclasses.dataclass(frozen=True)
class Clip:
    """One run, placed.

    - `t0` [s]: when it begins; `shift` (x, y) [m]: where its origin lies
    - `mirrored`: its x axis points to the left
    - `carried`: round bodies that belong to a link and are to be seen
    """

    result: Any
    t0: float = 0.0
    mirrored: bool = False
    shift: tuple[float, float] = (0.0, 0.0)
    carried: tuple[Carried, ...] = ()

    def __post_init__(self) -> None:
        errors.number("Clip", "t0", self.t0)
        errors.vector("Clip", "shift", self.shift, 2)

    @property
    def begin(self) -> float:
        return self.t0

    @property
    def end(self) -> float:
        return self.t0 + float(self.result.t[-1]) - float(self.result.t[0])

    def local(self, times: Times) -> np.ndarray:
        """The run's own time [s]."""
        first, last = float(self.result.t[0]), float(self.result.t[-1])
        return np.clip(np.asarray(times, dtype=float) - self.t0 + first, first, last)

    def place(self, points: np.ndarray) -> np.ndarray:
        """Points (.., 2) of the run in the common frame."""
        return self.turn(points) + np.asarray(self.shift, dtype=float)

    def turn(self, vectors: np.ndarray) -> np.ndarray:
        """Vectors (.., 2) of the run in the common frame."""
        return vectors * np.array([-1.0 if self.mirrored else 1.0, 1.0])


def clips_of(given: ClipsLike) -> tuple[Clip, ...]:
    """Clips from a result, a clip, or several of either; in the order of time."""
    items = given if isinstance(given, Sequence) else (given,)
    clips = tuple(item if isinstance(item, Clip) else Clip(item) for item in items)
    if not clips:
        raise errors.CaromError("there is nothing to draw: clips is empty; give a result, or a Clip of one")
    for clip in clips:
        if not hasattr(clip.result, "world"):
            raise errors.CaromError(
                f"a clip holds a {type(clip.result).__name__}; it must hold what carom.simulate returned"
            )
    return tuple(sorted(clips, key=lambda clip: clip.t0))
