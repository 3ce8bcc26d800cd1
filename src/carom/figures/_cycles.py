"""What repeats in a run: its last cycle, and how fast it swings."""

from __future__ import annotations

from collections import Counter

import numpy as np

from ..result.result import Result

LEAST = 4  # strikes from which a cycle can be told
ALIKE = 0.02  # of the period: intervals that differ by less are the same
PER_HALF = 8  # samples of half a swing
CLOSE = 24  # half swings in a close-up
FEW = 5  # cycles in one


def last_cycle(result: Result) -> tuple[float, float] | None:
    """From strike to strike [s], where the last three intervals between the strikes of a contact are the same.

    Instants that are spread evenly over many such cycles would show a motion that never was: a strobe's.
    """
    return cycle_of([(i.contact, i.t_start) for i in result.impacts if i.struck])


def cycle_of(strikes: list[tuple[str, float]]) -> tuple[float, float] | None:
    """The same from the strikes: who, and when [s]."""
    if len(strikes) < LEAST:
        return None
    name, count = Counter(contact for contact, _ in strikes).most_common(1)[0]
    t = np.array([t for contact, t in strikes if contact == name])[-LEAST:]
    gaps = np.diff(t)
    period = float(np.mean(gaps))
    if count < LEAST or period <= 0.0 or np.ptp(gaps) > ALIKE * period:
        return None
    return float(t[-2]), float(t[-1])


def swings(result: Result) -> int:
    """Half periods of the fastest coordinate: how often its velocity changes its sign."""
    signs = np.sign(np.where(np.abs(result.v) > 1e-9 * np.max(np.abs(result.v), axis=0, initial=1e-300), result.v, 0.0))
    changes = np.sum(signs[1:] * signs[:-1] < 0.0, axis=0)
    return int(np.max(changes, initial=0))


def enough(result: Result, least: int = 2000, most: int = 16000) -> int:
    """How many even instants show every swing: too few would draw a slower one that is not there."""
    return int(np.clip(PER_HALF * swings(result), least, most))


def close_up(result: Result) -> tuple[float, str]:
    """From when [s] the end of a run can be told swing by swing, and what is seen from there."""
    first, last = float(result.t[0]), float(result.t[-1])
    cycle = last_cycle(result)
    if cycle is not None and last - FEW * (cycle[1] - cycle[0]) > first:
        return last - FEW * (cycle[1] - cycle[0]), f"the last {FEW} cycles"
    return last - CLOSE * (last - first) / max(swings(result), CLOSE), "the last swings"
