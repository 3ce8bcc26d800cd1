"""Surfaces as lines to be drawn: polylines over a view box, directed so that the free side lies to their left."""

from __future__ import annotations

from functools import singledispatch
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..contact.surfaces import AbstractSurface, Circle, Graph, Implicit, Moving, Plane, Spline

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


@singledispatch
def outline(surface: AbstractSurface, box: Box, times: np.ndarray) -> list[np.ndarray]:
    """Polylines (points, 2) of a surface at rest, or (times, points, 2) of one that moves.

    A surface that this file does not know is drawn where its gap is zero.
    """
    return zero_set(lambda x, y: surface.gap(x, y, jnp.asarray(float(times[0]))), box)


@outline.register
def _plane(surface: Plane, box: Box, times: np.ndarray) -> list[np.ndarray]:
    point, normal = _floats(surface.point), _floats(surface.unit)
    along = np.array([normal[1], -normal[0]])
    # From the foot of the box's centre half a diagonal to both sides: nothing of it inside the box is missing.
    centre = np.asarray(box.centre)
    foot = centre - ((centre - point) @ normal) * normal
    return [np.stack([foot - 0.6 * box.size * along, foot + 0.6 * box.size * along])]


@outline.register
def _circle(surface: Circle, box: Box, times: np.ndarray) -> list[np.ndarray]:
    turn = np.linspace(0.0, 2.0 * np.pi, SMOOTH // 2 + 1) * (1.0 if surface.inside else -1.0)
    return [_floats(surface.centre) + float(surface.radius) * np.stack([np.cos(turn), np.sin(turn)], axis=1)]


@outline.register
def _graph(surface: Graph, box: Box, times: np.ndarray) -> list[np.ndarray]:
    x = np.linspace(box.left, box.right, SMOOTH + 1)
    y = np.asarray(jax.vmap(lambda x: jnp.asarray(surface.height(x, *surface.parameters), dtype=float))(jnp.asarray(x)))
    line = np.stack([x, y], axis=1)[:: -1 if surface.below else 1]
    return _runs(line, np.isfinite(line[:, 1]))


@outline.register
def _spline(surface: Spline, box: Box, times: np.ndarray) -> list[np.ndarray]:
    every = np.asarray(surface.pieces)
    pieces = every if surface.closed else every[1:-1]  # without the straight lines beyond the ends
    powers = np.linspace(0.0, 1.0, 13)[:, None] ** np.arange(4)
    parts = [np.stack([powers @ p[:4], powers @ p[4:]], axis=1) for p in pieces]
    line = np.concatenate([parts[0][:1], *(p[1:] for p in parts)])
    if surface.closed:
        return [line]
    reach = box.size + float(np.hypot(*(np.asarray(box.centre) - line[0])))
    first, last = -every[0][[1, 5]], every[-1][[1, 5]]
    ends = line[0] + reach * first / np.hypot(*first), line[-1] + reach * last / np.hypot(*last)
    return [np.concatenate([ends[0][None], line, ends[1][None]])]


@outline.register
def _implicit(surface: Implicit, box: Box, times: np.ndarray) -> list[np.ndarray]:
    return zero_set(lambda x, y: jnp.asarray(surface.function(x, y, *surface.parameters), dtype=float), box)


@outline.register
def _moving(surface: Moving, box: Box, times: np.ndarray) -> list[np.ndarray]:
    def placed(t: Any) -> Any:
        return jnp.stack([jnp.asarray(p, dtype=float) for p in surface.motion(t, *surface.parameters)])

    pose = np.asarray(jax.vmap(placed)(jnp.asarray(times)))
    about = _floats(surface.about)
    cos, sin = np.cos(pose[:, 2])[:, None], np.sin(pose[:, 2])[:, None]
    # What the box sees of the surface over the whole time, in the surface's own frame.
    corners = np.array([[box.left, box.bottom], [box.right, box.bottom], [box.right, box.top], [box.left, box.top]])
    back = corners[None] - about - pose[:, None, :2]
    seen = about + np.stack([cos * back[..., 0] + sin * back[..., 1], cos * back[..., 1] - sin * back[..., 0]], axis=2)
    out = []
    for line in outline(surface.surface, box_around(seen), times):
        own = np.broadcast_to(line, (len(times), *line.shape[-2:])) - about
        turned = np.stack([cos * own[..., 0] - sin * own[..., 1], sin * own[..., 0] + cos * own[..., 1]], axis=2)
        out.append(turned + about + pose[:, None, :2])
    return out


def _floats(values: Any) -> np.ndarray:
    return np.asarray([float(v) for v in values])


def _runs(line: np.ndarray, good: np.ndarray) -> list[np.ndarray]:
    """The stretches of a polyline whose points are good."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], good, [False]]).astype(int)))
    return [line[a:b] for a, b in edges.reshape(-1, 2) if b - a > 1]


def zero_set(function: Any, box: Box) -> list[np.ndarray]:
    """Curves on which a function of (x, y) vanishes, by marching squares; the function is positive to their left."""
    step = max(box.right - box.left, box.top - box.bottom) / GRID
    xs = np.arange(box.left, box.right + step, step)
    ys = np.arange(box.bottom, box.top + step, step)
    over = jax.jit(jax.vmap(jax.vmap(function, in_axes=(None, 0)), in_axes=(0, None)))
    values = np.asarray(over(jnp.asarray(xs), jnp.asarray(ys)))
    follows = _crossings(values)
    places = {edge: _place(edge, xs, ys, values) for edge in {*follows, *follows.values()}}
    heads = [edge for edge in follows if edge not in set(follows.values())]
    lines = []
    while follows:
        edge = heads.pop() if heads else next(iter(follows))
        chain = [places[edge]]
        while edge in follows:
            edge = follows.pop(edge)
            chain.append(places[edge])
        lines.append(np.asarray(chain))
    return lines


Edge = tuple[int, int, int]  # cell and axis: 0 from (i, j) to (i + 1, j), 1 from (i, j) to (i, j + 1)


def _crossings(values: np.ndarray) -> dict[Edge, Edge]:
    """In every cell that is crossed: from the edge where the sign falls, counter-clockwise, to where it rises."""
    free = values > 0.0
    total = free[:-1, :-1].astype(int) + free[1:, :-1] + free[1:, 1:] + free[:-1, 1:]
    sound = np.isfinite(values)
    sound = sound[:-1, :-1] & sound[1:, :-1] & sound[1:, 1:] & sound[:-1, 1:]
    found: dict[Edge, Edge] = {}
    for i, j in np.argwhere((total % 4 != 0) & sound).tolist():
        corners = [free[i, j], free[i + 1, j], free[i + 1, j + 1], free[i, j + 1]]
        edges: list[Edge] = [(i, j, 0), (i + 1, j, 1), (i, j + 1, 0), (i, j, 1)]
        falls = [k for k in range(4) if corners[k] and not corners[(k + 1) % 4]]
        for k in falls:
            rise = next(r % 4 for r in range(k + 1, k + 4) if not corners[r % 4] and corners[(r + 1) % 4])
            found[edges[k]] = edges[rise]
    return found


def _place(edge: Edge, xs: np.ndarray, ys: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    i, j, axis = edge
    a, b = values[i, j], values[i + 1 - axis, j + axis]
    share = a / (a - b)
    return (
        float(xs[i] + (share * (xs[i + 1] - xs[i]) if axis == 0 else 0.0)),
        float(ys[j] + (share * (ys[j + 1] - ys[j]) if axis == 1 else 0.0)),
    )
