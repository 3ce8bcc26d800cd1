"""A coordinate where it is largest: at the ends of steps, on both sides of events, and where it turns inside a step."""

from __future__ import annotations

import numpy as np

from ...result.result import Result

REFINED = 3  # times; the error of an instant goes down with its fourth power, that of the value with its square


def extremes(result: Result, index: int) -> tuple[np.ndarray, np.ndarray]:
    """Instants [s] in order, and values of coordinate `index` there, its turning points among them.

    Steps end anywhere: the largest value at their ends moves when they do.
    """
    t, q, v = result.t, result.q[:, index], result.v[:, index]
    last_q, last_v = q[1:].copy(), v[1:].copy()
    marks = result.marks
    before, rate = (np.asarray(_column(x, index)) for x in (marks.before.q, marks.before.v))
    for r in range(len(marks.t) - 1, -1, -1):  # of several events at one instant the first is the end of the step
        k = int(np.searchsorted(t, marks.t[r], side="left")) - 1
        if k >= 0:
            last_q[k], last_v[k] = before[r], rate[r]
    rows = np.flatnonzero((v[:-1] * last_v < 0.0) & (np.diff(t) > 0.0))
    low, high = (np.stack(x) for x in zip(*_ends(t, q, v, last_q, last_v, rows), strict=True))
    for _ in range(REFINED if len(rows) else 0):
        at = _turn(low, high)
        now = result.at(at)
        new = np.stack([at, now.q[:, index], now.v[:, index]])
        left = new[2] * low[2] > 0.0
        low, high = np.where(left, new, low), np.where(left, high, new)
    nearer = np.where(np.abs(low[2]) < np.abs(high[2]), low, high)
    times = np.concatenate([t[:-1], t[1:], nearer[0]])
    values = np.concatenate([q[:-1], last_q, nearer[1]])
    order = np.argsort(times, kind="stable")
    return np.append(times[order], t[-1]), np.append(values[order], q[-1])


def _column(columns: object, index: int) -> np.ndarray:
    """Small mechanisms keep their coordinates as a tuple of columns."""
    return np.asarray(columns[index]) if isinstance(columns, tuple) else np.asarray(columns)[:, index]


def _ends(
    t: np.ndarray, q: np.ndarray, v: np.ndarray, last_q: np.ndarray, last_v: np.ndarray, rows: np.ndarray
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Time, value and rate at both ends of some steps."""
    return [(t[rows], t[rows + 1]), (q[rows], last_q[rows]), (v[rows], last_v[rows])]


def _turn(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Where the cubic through both ends turns; the signs of their rates differ."""
    span = high[0] - low[0]
    mean, begin, end = (high[1] - low[1]) / np.where(span > 0.0, span, 1.0), low[2], high[2]
    a, b, c = 3.0 * (begin + end - 2.0 * mean), 2.0 * (3.0 * mean - 2.0 * begin - end), begin
    root = np.sqrt(np.maximum(b * b - 4.0 * a * c, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        both = 2.0 * c / (-b + root), 2.0 * c / (-b - root)
    inside = [np.where(np.isfinite(x) & (x > 0.0) & (x < 1.0), x, np.nan) for x in both]
    part = np.where(np.isnan(inside[0]), inside[1], inside[0])
    return np.asarray(low[0] + span * np.where(np.isnan(part), begin / (begin - end), part))
