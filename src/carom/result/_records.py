"""Small records that a result is made of."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from ..hybrid.settings import Integration


@dataclasses.dataclass(frozen=True)
class Event:
    """Something discrete that happened."""

    t: float
    automaton: str
    exit: str
    phase_before: str
    phase_after: str
    memory: dict[str, float]
    q: np.ndarray  # just before
    v: np.ndarray
    q_after: np.ndarray
    v_after: np.ndarray


class States(NamedTuple):
    """Values at requested times; arrays over the times."""

    t: Any
    q: Any
    v: Any
    extra: Any
    work: Any
    phases: Any
    memory: Any


@dataclasses.dataclass(frozen=True)
class MomentumRecord:
    """Momentum of the whole: linear [kg m/s], angular about the world's origin [kg m^2/s]."""

    t: np.ndarray
    linear: np.ndarray
    angular: np.ndarray

    @property
    def linear_drift(self) -> float:
        """Largest change of the linear momentum since the start [kg m/s]."""
        return float(np.max(np.abs(self.linear - self.linear[0])))

    @property
    def angular_drift(self) -> float:
        """Largest change of the angular momentum since the start [kg m^2/s]."""
        return float(np.max(np.abs(self.angular - self.angular[0])))


class Statistics(NamedTuple):
    """What the run cost."""

    steps: int
    rejected: int
    events: int
    compile_seconds: float
    run_seconds: float
    back_end: str


class Made(NamedTuple):
    """What computed a result, and with which settings."""

    version: str  # of carom
    back_end: str  # native machine code, XLA on cpu or gpu, CUDA
    solver: str
    rtol: float
    atol: float

    def __str__(self) -> str:
        return f"carom {self.version}, {self.back_end}, {self.solver}, rtol {self.rtol:g}, atol {self.atol:g}"


def made_by(back_end: str, integration: Integration) -> Made:
    from .. import __version__

    settings = (float(integration.rtol), float(integration.atol))
    return Made(__version__, back_end, integration.solver.name, *settings)
