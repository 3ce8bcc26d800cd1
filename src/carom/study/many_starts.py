"""Where many starts end: attractors from the last returns of lanes, their basins, how rough the borders are."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from .. import errors
from ..quantities import Given

FAILED, WANDERS = -2, -1  # labels of lanes that have no last returns, and of those that repeat nothing
MOST = 1000  # attractors that are told apart


@dataclasses.dataclass(frozen=True)
class Attractor:
    """A motion that repeats itself after some returns: its points at them (period, size of the state), from the first
    coordinate's largest on, and how many lanes end there."""

    points: np.ndarray
    lanes: int

    @property
    def period(self) -> int:
        return len(self.points)


@dataclasses.dataclass(frozen=True)
class Attractors:
    """What the lanes of a batch end in: a label for each, the number of its attractor; the largest basin is 0.

    -1: it repeats nothing within the returns that are known (chaos, a longer period, not settled yet); -2: it failed.
    """

    labels: np.ndarray
    found: tuple[Attractor, ...]

    def __str__(self) -> str:
        count = max(len(self.labels), 1)
        rows = [f"  {k}: period {a.period}, {a.lanes / count:7.2%} of the starts" for k, a in enumerate(self.found)]
        for label, words in ((WANDERS, "repeat nothing"), (FAILED, "failed")):
            some = int(np.sum(self.labels == label))
            rows += [f"  {words}: {some / count:7.2%}"] if some else []
        return "\n".join([f"{len(self.found)} attractors of {len(self.labels)} starts", *rows])


def attractors(points: Given, *, near: float = 1e-5) -> Attractors:
    """Tell attractors apart by the last returns of lanes: `points` (lanes, returns, size of the state).

    Returns are once per period of what drives the motion (`times=` of `carom.batch`), or to a section (`returns=`,
    without `discard`). A lane repeats itself after the least number of returns, at most half of those that are known,
    after which they come within `near` of the largest value of each coordinate; two lanes are in one attractor where
    the last point of one is as near to a point of the other.

        at = carom.batch(make, rows, start, until=until, times=last).at
        found = carom.attractors(np.concatenate([at["q"], at["v"]], axis=-1))
        carom.figures.basins(x, v, found.labels.reshape(len(v), len(x)))
    """
    table = np.asarray(points, dtype=float)
    if table.ndim != 3 or table.shape[1] < 2:
        raise errors.CaromError(
            f"points of attractors have shape {table.shape}; they must be (lanes, returns, size), two returns at least"
        )
    errors.number("attractors", "near", near, above=0.0)
    labels = np.full(len(table), FAILED)
    there = np.all(np.isfinite(table), axis=(1, 2))
    if not np.any(there):
        return Attractors(labels, ())
    largest = np.max(np.abs(table[there]), axis=(0, 1))
    scaled = table / np.where(largest > 0.0, largest, 1.0)
    periods = _periods(scaled, near)
    labels[there] = WANDERS
    left = there & (periods > 0)
    kinds: list[np.ndarray] = []
    while np.any(left) and len(kinds) < MOST:
        first = int(np.argmax(left))
        orbit = scaled[first, -periods[first] :]
        away = np.min([np.max(np.abs(scaled[left, -1] - point), axis=-1) for point in orbit], axis=0)
        mine = np.flatnonzero(left)[away <= 2.0 * near]
        mine = np.union1d(mine, first)
        labels[mine], left[mine] = len(kinds), False
        kinds.append(table[first, -periods[first] :])
    return _sorted(labels, kinds)


def _periods(table: np.ndarray, near: float) -> np.ndarray:
    """The least number of returns after which lanes repeat; 0: none."""
    found = np.zeros(len(table), dtype=int)
    for period in range(table.shape[1] // 2, 0, -1):
        with np.errstate(invalid="ignore"):
            away = np.max(np.abs(table[:, period:] - table[:, :-period]), axis=(1, 2))
        found[away <= near] = period
    return found


def _sorted(labels: np.ndarray, kinds: list[np.ndarray]) -> Attractors:
    """The largest basin first; the points of every attractor from the first coordinate's largest on."""
    counts = np.array([int(np.sum(labels == k)) for k in range(len(kinds))], dtype=int)
    order = np.argsort(-counts, kind="stable")
    new = np.empty(len(kinds), dtype=int)
    new[order] = np.arange(len(kinds))
    out = labels.copy()
    out[labels >= 0] = new[labels[labels >= 0]]
    rolled = [np.roll(kinds[k], -int(np.argmax(kinds[k][:, 0])), axis=0) for k in order]
    return Attractors(out, tuple(Attractor(p, int(counts[k])) for p, k in zip(rolled, order, strict=True)))


@dataclasses.dataclass(frozen=True)
class BoxDimension:
    """Numbers of boxes on a border, by their size in cells, and the dimension that they give."""

    dimension: float
    error: float  # standard error of the slope
    sizes: np.ndarray
    counts: np.ndarray

    def __str__(self) -> str:
        return f"box-counting dimension {self.dimension:.3f} +- {self.error:.3f}, boxes of {self.sizes.tolist()} cells"


def box_dimension(labels: Given, sizes: Any = None) -> BoxDimension:
    """The box-counting dimension of the borders between basins: `labels` on a grid, rows and columns.

    A box is on a border where its cells, and the next ones to the right and above, have more than one label:

        number of boxes = const / size^dimension

    `sizes` in cells; powers of two up to an eighth of the grid if left out. 1 is a smooth line, 2 a border everywhere.
    Compare two grids of different fineness: a dimension is what they agree on.
    """
    grid = np.asarray(labels)
    if grid.ndim != 2 or min(grid.shape) < 32:
        raise errors.CaromError(f"labels of box_dimension have shape {grid.shape}; give a grid, 32 by 32 at least")
    most = min(grid.shape) // 8
    chosen = 2 ** np.arange(int(np.log2(most)) + 1) if sizes is None else np.asarray(sizes, dtype=int)
    if len(chosen) < 2 or np.min(chosen) < 1 or np.max(chosen) > min(grid.shape):
        raise errors.CaromError(
            f"sizes of box_dimension are {chosen.tolist()}; give two or more, from 1 to {min(grid.shape)} cells"
        )
    counts = np.array([_on_border(grid, int(size)) for size in chosen])
    if np.any(counts == 0):
        return BoxDimension(0.0, 0.0, chosen, counts)
    x, y = np.log(chosen), np.log(counts)
    (slope, _), rest, *_ = np.polyfit(x, y, 1, full=True)
    freedom = max(len(x) - 2, 1)
    error = np.sqrt(float(rest[0]) / freedom / np.sum((x - np.mean(x)) ** 2)) if len(rest) else 0.0
    return BoxDimension(float(-slope), float(error), chosen, counts)


def _on_border(grid: np.ndarray, size: int) -> int:
    """Boxes of so many cells, with those next to them, that hold more than one label."""
    rows, columns = ((n - 1) // size for n in grid.shape)
    used = grid[: rows * size + 1, : columns * size + 1]
    windows = np.lib.stride_tricks.sliding_window_view(used, (size + 1, size + 1))[::size, ::size]
    return int(np.sum(np.any(windows != windows[..., :1, :1], axis=(2, 3))))
