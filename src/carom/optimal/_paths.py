"""Paths: what inputs lead to, what that costs, and the derivatives along it."""

from __future__ import annotations

import dataclasses
import time

import numpy as np

from .._progress import Line
from ..hybrid import outcome
from ..hybrid._carry import Carry
from ._backward import Local
from .cost import Costs
from .stepping import Rollout, Stepping


@dataclasses.dataclass(frozen=True)
class Task:
    """What is to be made cheap, and within what."""

    stepping: Stepping
    begun: Carry
    costs: Costs
    limits: tuple[np.ndarray, np.ndarray]  # (N, inputs) each
    iterations: int
    tolerance: float


@dataclasses.dataclass(frozen=True)
class Path:
    """A rollout with its cost."""

    rollout: Rollout
    cost: float

    @property
    def events(self) -> int:
        """How many events happen on it."""
        return int(self.rollout.events[-1] - self.rollout.events[0])


class Clock:
    """How long the whole may go on, and what is shown meanwhile."""

    def __init__(self, seconds: float | None, progress: bool | None, whole: float) -> None:
        self.ends = None if seconds is None else time.monotonic() + seconds
        self.line, self.done, self.now = Line(progress, whole, 2.0), 0.0, ""

    def look(self, words: str) -> bool:
        """Show these words; is there time left?"""
        self.line.update(f"{self.now}{words}", self.done)
        return self.ends is None or time.monotonic() < self.ends


def rolled(task: Task, u: np.ndarray, gains: np.ndarray | None = None, about: Rollout | None = None) -> Path:
    """The path under these inputs, and what it costs; infinitely much where it ends early."""
    found = task.stepping.rollout(task.begun, u, gains, about, task.limits)
    good = found.outcome in outcome.GOOD and bool(np.all(np.isfinite(found.x)))
    return Path(found, task.costs.whole(found.x, found.u) if good else np.inf)


def local_of(task: Task, path: Path) -> Local:
    """Derivatives along a path."""
    A, B = task.stepping.linear_along(path.rollout)
    lx, lu, lxx, luu, lux, ex, exx = task.costs.bent(path.rollout.x, path.rollout.u)
    return Local(A, B, lx, lu, lxx, luu, lux, ex, exx)
