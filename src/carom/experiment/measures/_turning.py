"""A coordinate where it is largest: at the ends of steps, on both sides of events, and where it turns inside a step."""

from __future__ import annotations

import numpy as np

from ...quantities import Columns
from ...result._turns import REFINED, turn
from ...result.result import Result


def extremes(result: Result, index: int) -> tuple[np.ndarray, np.ndarray]:
    """Instants [s] in order, and values of coordinate `index` there, its turning points among them.

    Steps end anywhere: the largest value at their ends moves when they do.
    """
    t, q, v = result.t, result.q[:, index], result.v[:, index]
    last_q, last_v = (column[:, index] for column in last_states(result))
    rows = np.flatnonzero((v[:-1] * last_v < 0.0) & (np.diff(t) > 0.0))
    low, high = (np.stack(x) for x in zip(*_ends(t, q, v, last_q, last_v, rows), strict=True))
    for _ in range(REFINED if len(rows) else 0):
        at = turn([*low], [*high], np)
        now = result.at(at)
        new = np.stack([at, now.q[:, index], now.v[:, index]])
        left = new[2] * low[2] > 0.0
        low, high = np.where(left, new, low), np.where(left, high, new)
    nearer = np.where(np.abs(low[2]) < np.abs(high[2]), low, high)
    times = np.concatenate([t[:-1], t[1:], nearer[0]])
    values = np.concatenate([q[:-1], last_q, nearer[1]])
    order = np.argsort(times, kind="stable")
    return np.append(times[order], t[-1]), np.append(values[order], q[-1])


def last_states(result: Result) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates and velocities at the ends of all steps, before anything happens there."""
    last_q, last_v, marks = result.q[1:].copy(), result.v[1:].copy(), result.marks
    before, rates = table(marks.before.q), table(marks.before.v)
    for r in range(len(marks.t) - 1, -1, -1):  # of several events at one instant the first is the end of the step
        k = int(np.searchsorted(result.t, marks.t[r], side="left")) - 1
        if k >= 0:
            last_q[k], last_v[k] = before[r], rates[r]
    return last_q, last_v


def average(t: np.ndarray, begin: tuple[np.ndarray, np.ndarray], end: tuple[np.ndarray, np.ndarray]) -> float:
    """Mean over time of what has these (values, rates) at both ends of the steps between `t`: by a cubic in each."""
    h = np.diff(t)
    whole = np.sum(0.5 * h * (begin[0] + end[0]) + h * h / 12.0 * (begin[1] - end[1]))
    return float(whole / (t[-1] - t[0]))


def table(columns: Columns) -> np.ndarray:
    """Small mechanisms keep their coordinates as a tuple of columns."""
    return np.stack(columns, axis=1) if isinstance(columns, tuple) else np.asarray(columns)


def _ends(
    t: np.ndarray, q: np.ndarray, v: np.ndarray, last_q: np.ndarray, last_v: np.ndarray, rows: np.ndarray
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Time, value and rate at both ends of some steps."""
    return [(t[rows], t[rows + 1]), (q[rows], last_q[rows]), (v[rows], last_v[rows])]
