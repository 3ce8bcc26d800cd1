"""What a measure is, and the statistics that many share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...errors import CaromError
from ...hybrid.world import World
from ...signal._unit import Unit
from ...study.recording import LaneMeasure
from ..experiment import Experiment

STATISTICS: dict[str, Callable[[np.ndarray], Any]] = {
    "least": np.min,
    "most": np.max,
    "size": lambda x: np.max(np.abs(x)),
    "final": lambda x: x[-1],
}
AFTER = r"(\.after\.(?P<after>\d{1,9}(\.\d{1,9})?))?"
STAT = rf"(?P<stat>least|most|size|final){AFTER}"
STAT_OR_MEAN = rf"({STAT}|(?P<mean>mean))"
LINK, SITE = r"(?P<link>.+?)", r"(?P<site>.+?)"


Lane = Callable[[World, dict[str, str], bool], LaneMeasure]


class Measure(NamedTuple):
    """One kind of measure; one of the run's own error has no digits to hold.

    `lane(world, parts, ledger)` says how a lane of a batch records it; None where it cannot. `unit(world, parts)` is
    that of a measure of signals, which refuses what the world does not have.
    """

    form: str  # as people read it
    meaning: str
    pattern: str
    function: Callable[[Experiment, dict[str, str]], float]
    of_error: bool = False
    percent: bool = False  # is it one already?
    lane: Lane | None = None
    unit: Callable[[World, dict[str, str]], Unit] | None = None


def statistic(p: dict[str, str], t: np.ndarray, values: np.ndarray) -> float:
    keep = t >= float(p.get("after", "-inf"))
    if not np.any(keep):
        raise CaromError(f"nothing happens after {p['after']} s; the run ends at {t[-1]:g} s")
    return float(STATISTICS[p["stat"]](values[keep]))
