"""Lines to be drawn of a surface: polylines over a view box, directed so that the free side lies to their left."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

GRID = 160  # cells of the zero set's grid along the longer side of the box
SMOOTH = 240  # points of a graph, and at least of a circle's half


class Box(NamedTuple):
    """A rectangle of the world [m]."""

    left: float
    bottom: float
    right: float
    top: float

    @property
    def size(self) -> float:
        """Its diagonal [m]."""
        return float(np.hypot(self.right - self.left, self.top - self.bottom))

    @property
    def centre(self) -> tuple[float, float]:
        return 0.5 * (self.left + self.right), 0.5 * (self.bottom + self.top)

    def grown(self, by: float) -> Box:
        return Box(self.left - by, self.bottom - by, self.right + by, self.top + by)


def box_around(points: np.ndarray) -> Box:
    """The smallest box around points (.., 2)."""
    flat = points.reshape(-1, 2)
    low, high = np.min(flat, axis=0), np.max(flat, axis=0)
    return Box(float(low[0]), float(low[1]), float(high[0]), float(high[1]))


def floats(values: Sequence[Any]) -> np.ndarray:
    return np.asarray([float(v) for v in values])


def finite_runs(line: np.ndarray) -> list[np.ndarray]:
    """The stretches of a polyline whose points are finite."""
    good = np.all(np.isfinite(line), axis=1)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], good, [False]]).astype(int)))
    return [line[a:b] for a, b in edges.reshape(-1, 2) if b - a > 1]


def zero_set(function: Callable[[Any, Any], Any], box: Box) -> list[np.ndarray]:
    """Curves on which a function of (x, y) vanishes; it is positive to their left."""
    return next(zero_sets(lambda x, y, t: function(x, y), box, [0.0]))


def zero_sets(function: Callable[[Any, Any, Any], Any], box: Box, times: Sequence[float]) -> Iterator[list[np.ndarray]]:
    """The same for a function of (x, y, t), at every one of the times."""
    import contourpy  # here, because only drawing needs it

    step = max(box.right - box.left, box.top - box.bottom) / GRID
    xs = np.arange(box.left, box.right + step, step)
    ys = np.arange(box.bottom, box.top + step, step)
    over = jax.jit(jax.vmap(jax.vmap(function, in_axes=(0, None, None)), in_axes=(None, 0, None)))
    for t in times:
        values = np.ma.masked_invalid(np.asarray(over(jnp.asarray(xs), jnp.asarray(ys), jnp.asarray(float(t)))))
        yield [np.asarray(line) for line in contourpy.contour_generator(xs, ys, values).lines(0.0)]


def moving_zero_set(function: Callable[[Any, Any, Any], Any], box: Box, times: np.ndarray) -> list[np.ndarray]:
    """The longest curve on which a function of (x, y, t) vanishes, (times, points, 2); nothing where there is none."""
    lines = []
    for found in zero_sets(function, box, times.tolist()):
        if not found:
            return []
        lines.append(_evenly(max(found, key=_length)))
    return [np.stack(lines)]


def _length(line: np.ndarray) -> float:
    return float(np.sum(np.hypot(*np.diff(line, axis=0).T)))


def _evenly(line: np.ndarray) -> np.ndarray:
    """As many points as all others have, evenly along it."""
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))])
    wanted = np.linspace(0.0, along[-1], SMOOTH + 1)
    return np.stack([np.interp(wanted, along, line[:, k]) for k in range(2)], axis=1)
