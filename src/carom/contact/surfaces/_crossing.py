"""Where a curve of cubic pieces crosses itself, if anywhere.

The curve is cut into short chords, and boxes are put around chords, pairs of chords, and so on. Two stretches whose
boxes are apart do not cross; others are halved until single chords are left. Of a curve that keeps away from itself
only neighbours' boxes meet, so the work grows with the number of pieces, times the depth of the halving. Chords that
cross are only a hint: what counts is that the curve itself is at one place twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

BLOCK = 500_000  # pairs that are looked at together
CHORDS = 16  # of each piece
FAR = 1e6  # times its size: how far an open curve's straight ends are followed
SAME = 1e-9  # of its size: nearer than this is one place
LEAST = 1e-12  # added to what would be singular, relative to it
NEWTON = 12  # steps from where two chords cross to where the curve does


class Crossing(NamedTuple):
    """A place that a curve passes twice, and the parameters at which it does."""

    x: float
    y: float
    first: float
    second: float


def crossing(pieces: np.ndarray, closed: bool) -> Crossing | None:
    """A place at which a curve crosses itself, the first as a rule.

    Pieces (n, 8) are cubics in 0 .. 1, of x and then of y. The first and last piece of an open curve are straight, and
    go on for ever.
    """
    u = np.arange(CHORDS * len(pieces) + 1) / CHORDS
    if not closed:
        u = np.concatenate([u[:1], u[CHORDS : -CHORDS or None], u[-1:]])  # straight ends are one chord each
    inner = np.asarray([np.ptp(_at(pieces, u if closed else u[1:-1])[..., k]) for k in range(2)])
    size = float(np.max(inner))
    if not closed:
        speed = np.hypot(pieces[[0, -1], 1], pieces[[0, -1], 5])
        u[0], u[-1] = u[0] - FAR * size / speed[0], u[-1] + FAR * size / speed[1]
    at = _at(pieces, u)
    for a, b in _meeting(at[:-1], at[1:], closed):
        first, second, hit = _crossed(at, u, a, b)
        found = _first(pieces, *_settled(pieces, first[hit], second[hit]), size, closed)
        if found is not None:
            return found
    return None


def _first(pieces: np.ndarray, first: np.ndarray, second: np.ndarray, size: float, closed: bool) -> Crossing | None:
    """The first of those parameters at which the curve is at one place."""
    apart = np.abs(first - second)
    apart = np.minimum(apart, len(pieces) - apart) if closed else apart
    places = _at(pieces, first)
    once = np.hypot(*(places - _at(pieces, second)).T) <= SAME * (size + np.max(np.abs(places), axis=1, initial=0.0))
    found = np.flatnonzero(once & (apart > 0.5 / CHORDS))
    if not found.size:
        return None
    k = found[np.argmin(np.minimum(first, second)[found])]
    low, high = sorted((float(first[k]), float(second[k])))
    return Crossing(float(places[k, 0]), float(places[k, 1]), low, high)


def _at(pieces: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Places (m, 2) at parameters; beyond its ends the first and the last piece go on."""
    k = np.clip(np.floor(u).astype(int), 0, len(pieces) - 1)
    w, c = (u - k)[:, None], pieces[k].reshape(-1, 2, 4)
    return c[..., 0] + w * (c[..., 1] + w * (c[..., 2] + w * c[..., 3]))


def _slope(pieces: np.ndarray, u: np.ndarray) -> np.ndarray:
    k = np.clip(np.floor(u).astype(int), 0, len(pieces) - 1)
    w, c = (u - k)[:, None], pieces[k].reshape(-1, 2, 4)
    return c[..., 1] + w * (2.0 * c[..., 2] + 3.0 * w * c[..., 3])


def _meeting(start: np.ndarray, end: np.ndarray, closed: bool) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Pairs of chords, not neighbours, whose boxes meet; so many at a time, for a tangle has more than memory holds."""
    count = len(start)
    depth = int(np.ceil(np.log2(count)))
    low, high = (np.full((2**depth, 2), v) for v in (np.inf, -np.inf))
    low[:count], high[:count] = np.minimum(start, end), np.maximum(start, end)
    levels = [(low, high)]
    for _ in range(depth):
        low, high = np.minimum(low[::2], low[1::2]), np.maximum(high[::2], high[1::2])
        levels.append((low, high))
    waiting = [(depth, np.zeros(1, dtype=int), np.zeros(1, dtype=int))]
    while waiting:
        level, a, b = waiting.pop()
        if len(a) > BLOCK:
            waiting += [(level, a[BLOCK:], b[BLOCK:]), (level, a[:BLOCK], b[:BLOCK])]
        elif level == 0:
            distinct = (b > a + 1) & ~(closed & (a == 0) & (b == count - 1))
            yield a[distinct], b[distinct]
        else:
            low, high = levels[level - 1]
            a, b = (np.concatenate([2 * x + i for i in way]) for x, way in ((a, (0, 0, 1, 1)), (b, (0, 1, 0, 1))))
            meet = (a <= b) & np.all((low[a] <= high[b]) & (low[b] <= high[a]), axis=1)
            waiting.append((level - 1, a[meet], b[meet]))


def _crossed(at: np.ndarray, u: np.ndarray, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Parameters at which two chords cross, and whether they do; chords that lie on each other share a middle."""
    p, r, q, s = at[a], at[a + 1] - at[a], at[b], at[b + 1] - at[b]
    turn, long, wide = _cross(r, s), np.sum(r * r, axis=1), np.sum(s * s, axis=1)
    along = np.abs(turn) <= SAME * np.sqrt(long * wide)
    safe = np.where(along, 1.0, turn)
    ends = np.stack([np.sum((q - p) * r, axis=1), np.sum((q + s - p) * r, axis=1)]) / long
    middle = 0.5 * (np.maximum(ends.min(axis=0), 0.0) + np.minimum(ends.max(axis=0), 1.0))
    x = np.where(along, middle, _cross(q - p, s) / safe)
    y = np.where(along, np.sum((p + x[:, None] * r - q) * s, axis=1) / wide, _cross(q - p, r) / safe)
    hit = (x >= -SAME) & (x <= 1.0 + SAME) & (y >= -SAME) & (y <= 1.0 + SAME)
    return u[a] + x * (u[a + 1] - u[a]), u[b] + y * (u[b + 1] - u[b]), hit


def _cross(v: np.ndarray, w: np.ndarray) -> np.ndarray:
    return v[:, 0] * w[:, 1] - v[:, 1] * w[:, 0]


def _settled(pieces: np.ndarray, first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Newton's iteration to where the curve is at one place for both parameters, by no more than a chord at a time.

    Its steps are the shortest that close the gap, so that there are some where the curve runs along itself.
    """
    for _ in range(NEWTON):
        gap, v, w = _at(pieces, second) - _at(pieces, first), _slope(pieces, first), _slope(pieces, second)
        square = v[:, :, None] * v[:, None, :] + w[:, :, None] * w[:, None, :]
        square += LEAST * np.trace(square, axis1=1, axis2=2)[:, None, None] * np.eye(2)
        pull = np.linalg.solve(square, gap[..., None])[..., 0]
        one, two = np.sum(v * pull, axis=1), -np.sum(w * pull, axis=1)
        first, second = (x + np.clip(d, -1.0 / CHORDS, 1.0 / CHORDS) for x, d in ((first, one), (second, two)))
    return first, second
