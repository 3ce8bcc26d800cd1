"""Distances of shapes by brute force, in NumPy alone: corners with every edge, or many directions and a closer look.

An outline is a hull of corners with a radius (a point, a disk, a bar, a polygon) or a smooth curve by its support
function; a hundred poses or thousands at a time. Two bounds prove a distance of smooth outlines: no direction n parts
them by more than their distance, and no two of their points are nearer than it.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

LOOKS = 120  # directions, or places of a curve, that are looked at
KEPT = 3  # of which so many local extremes are looked at closer
PARTS = np.linspace(-1.0, 1.0, 7)


class Hull(NamedTuple):
    """All points within a radius of the convex hull of corners (k, 2), counter-clockwise."""

    corners: np.ndarray
    radius: float

    @property
    def thin(self) -> float:
        """The least distance between two parallel lines that hold it between them."""
        turn = np.linspace(0.0, np.pi, 400)
        heights = self.corners @ np.stack([np.cos(turn), np.sin(turn)])
        return float(np.min(np.ptp(heights, axis=0))) + 2.0 * self.radius


class Smooth(NamedTuple):
    """A convex curve: how far it reaches in a direction, and the first two derivatives."""

    support: Callable[[Any], tuple[Any, Any, Any]]

    @property
    def thin(self) -> float:
        h = self.support(np.linspace(0.0, 2.0 * np.pi, 401))[0]
        return float(np.min(h[:200] + h[200:400]))


class Pose(NamedTuple):
    """Places (n, 2) and angles (n,)."""

    at: np.ndarray
    angle: np.ndarray

    def out(self, points: np.ndarray) -> np.ndarray:
        """Points (k, 2) of what stands there, in the world: (n, k, 2)."""
        c, s = np.cos(self.angle)[:, None], np.sin(self.angle)[:, None]
        x, y = points[..., 0], points[..., 1]
        return self.at[:, None] + np.stack([c * x - s * y, s * x + c * y], axis=-1)

    def seen_from(self, other: "Pose") -> "Pose":
        """The same in the frame of another."""
        c, s = np.cos(other.angle), np.sin(other.angle)
        x, y = (self.at - other.at).T
        return Pose(np.stack([c * x + s * y, c * y - s * x], axis=-1), self.angle - other.angle)


def wings(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of edges (n, k, 2) -> directions, outer normals, lengths; a bar has two, there and back."""
    edge = np.roll(corners, -1, axis=-2) - corners
    size = np.hypot(edge[..., 0], edge[..., 1])
    t = edge / size[..., None]
    return t, np.stack([t[..., 1], -t[..., 0]], axis=-1), size


def from_hull(points: np.ndarray, corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Signed distances (n, m) of points from hulls of corners (n, k, 2), and unit vectors that lead to the points."""
    if corners.shape[-2] == 1:
        way = points - corners
        far = np.hypot(way[..., 0], way[..., 1])
        return far, way / np.maximum(far, 1e-300)[..., None]
    t, normal, size = wings(corners)
    way = points[..., :, None, :] - corners[..., None, :, :]
    along = np.sum(way * t[..., None, :, :], axis=-1)
    high = np.sum(way * normal[..., None, :, :], axis=-1)
    over = (along > 0.0) & (along < size[..., None, :])
    to = way - np.where(along > 0.0, size[..., None, :], 0.0)[..., None] * t[..., None, :, :]
    far = np.where(over, np.abs(high), np.hypot(to[..., 0], to[..., 1]))
    which = np.argmin(far, axis=-1)[..., None]
    side = np.sign(high)[..., None] * normal[..., None, :, :]
    unit = np.where(over[..., None], side, to / np.maximum(far, 1e-300)[..., None])
    best, unit = _take(far, which), np.take_along_axis(unit, which[..., None], -2)[..., 0, :]
    if corners.shape[-2] == 2:
        return best, unit
    which = np.argmax(high, axis=-1)[..., None]
    deep = _take(high, which)
    inside = np.take_along_axis(np.broadcast_to(normal[..., None, :, :], way.shape), which[..., None], -2)[..., 0, :]
    return np.where(deep <= 0.0, deep, best), np.where((deep <= 0.0)[..., None], inside, unit)


def _take(values: np.ndarray, which: np.ndarray) -> np.ndarray:
    return np.take_along_axis(values, which, -1)[..., 0]


def hulls_apart(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Signed distance (n,) of the cores of two hulls, and the direction from the first to the second.

    Where they overlap: the least shift along a normal of any edge that parts them.
    """
    there, way = from_hull(b, a)
    back, yaw = from_hull(a, b)
    far, unit = np.concatenate([there, back], axis=1), np.concatenate([way, -yaw], axis=1)
    if min(a.shape[1], b.shape[1]) == 1:  # a point: its own distance has the right sign
        only = slice(0, 1) if b.shape[1] == 1 else slice(b.shape[1], None)
        return far[:, only][:, 0], unit[:, only][:, 0]
    which, rows = np.argmin(np.abs(far), axis=1), np.arange(len(a))
    normals = np.concatenate([wings(a)[1], -wings(b)[1]], axis=1)
    parted = np.min(normals @ np.swapaxes(b, 1, 2), axis=2) - np.max(normals @ np.swapaxes(a, 1, 2), axis=2)
    best = np.argmax(parted, axis=1)
    inside = parted[rows, best] <= 0.0
    return (
        np.where(inside, parted[rows, best], np.abs(far[rows, which])),
        np.where(inside[:, None], normals[rows, best], unit[rows, which]),
    )


def extremes(value: Callable[[Any], Any], grid: np.ndarray, rounds: int) -> np.ndarray:
    """Places (n, kept) of the largest local maxima of a function of places (n, m), looked at closer and closer."""
    looked = value(grid)
    peak = (looked >= np.roll(looked, 1, axis=1)) & (looked >= np.roll(looked, -1, axis=1))
    which = np.argsort(np.where(peak, looked, -np.inf), axis=1)[:, -KEPT:]
    best, wide = np.take_along_axis(grid, which, 1), float(np.max(np.diff(grid[0])))
    for _ in range(rounds):
        near = best[..., None] + wide * PARTS
        seen = value(near.reshape(len(near), -1)).reshape(near.shape)
        best = np.take_along_axis(near, np.argmax(seen, axis=-1)[..., None], -1)[..., 0]
        wide *= 0.4
    return best


def unit_of(phi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A direction and the one to its left."""
    c, s = np.cos(phi), np.sin(phi)
    return np.stack([c, s], axis=-1), np.stack([-s, c], axis=-1)


def point_of(curve: Smooth, pose: Pose, phi: np.ndarray) -> np.ndarray:
    """The point whose outer normal has the direction phi (n, m) of the world."""
    (n, t), (h, slope, _) = unit_of(phi), curve.support(phi - pose.angle[:, None])
    return pose.at[:, None] + h[..., None] * n + slope[..., None] * t


def smooth_apart(a: Smooth, b: Smooth | Hull, one: Pose, two: Pose, rounds: int) -> tuple[Any, Any, Any]:
    """Signed distance (n,), the direction from the first to the second, and what its proof leaves open where > 0."""
    cores = two.out(b.corners) if isinstance(b, Hull) else None

    def far(phi: np.ndarray) -> np.ndarray:
        """How far a direction parts them."""
        n, h = unit_of(phi)[0], a.support(phi - one.angle[:, None])[0]
        if cores is None:
            return np.sum((two.at - one.at)[:, None] * n, axis=-1) - h - b.support(phi + np.pi - two.angle[:, None])[0]
        return np.min(n @ np.swapaxes(cores - one.at[:, None], 1, 2), axis=-1) - h - b.radius

    def parted(phi: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The same, and its derivatives."""
        n, t = unit_of(phi)
        h, first, second = a.support(phi - one.angle[:, None])
        if cores is None:
            way = (two.at - one.at)[:, None]
            other = b.support(phi + np.pi - two.angle[:, None])
            h, first, second = h + other[0], first + other[1], second + other[2]
        else:
            heights = n @ np.swapaxes(cores, 1, 2)
            corner = np.argmin(heights, axis=-1)
            way, h = np.take_along_axis(cores, corner[..., None], 1) - one.at[:, None], h + b.radius
        along, across = np.sum(way * n, axis=-1), np.sum(way * t, axis=-1)
        return along - h, across - first, -along - second

    phi = extremes(far, np.tile(np.arange(LOOKS) * (2.0 * np.pi / LOOKS), (len(one.at), 1)), rounds)
    tried = [phi]
    for _ in range(4):  # Newton's method leaves nothing of the direction's error
        _, first, second = parted(tried[-1])
        step = np.where(second < 0.0, -first / np.minimum(second, -1e-300), 0.0)
        tried.append(tried[-1] + np.clip(step, -1e-2, 1e-2))
    if cores is not None and len(b.corners) > 1:
        normal = wings(cores)[1]
        tried.append(np.arctan2(-normal[..., 1], -normal[..., 0]))
    phi = np.concatenate(tried, axis=1)
    found = parted(phi)[0]
    best = np.argmax(found, axis=1)[:, None]
    near, gap = point_of(a, one, phi), _take(found, best)
    if cores is None:
        way = near - point_of(b, two, phi + np.pi)
        above = np.hypot(way[..., 0], way[..., 1])
    else:
        above = from_hull(near, cores)[0] - b.radius
    return (
        gap,
        unit_of(np.take_along_axis(phi, best, 1))[0][:, 0],
        np.where(gap > 0.0, np.min(above, axis=1) - gap, 0.0),
    )


def apart(a: Any, b: Any, one: Pose, two: Pose, rounds: int = 14) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same of any two outlines."""
    if isinstance(a, Smooth):
        return smooth_apart(a, b, one, two, rounds)
    if isinstance(b, Smooth):
        gap, n, left = smooth_apart(b, a, two, one, rounds)
        return gap, -n, left
    gap, n = hulls_apart(one.out(a.corners), two.out(b.corners))
    return gap - a.radius - b.radius, n, np.zeros_like(gap)


class Curve(NamedTuple):
    """Places (x, y) by a parameter, and their derivatives; the free side lies to the left."""

    place: Callable[[Any], tuple[Any, Any]]
    slope: Callable[[Any], tuple[Any, Any]]
    low: float
    high: float

    def at(self, s: np.ndarray) -> np.ndarray:
        return np.stack(self.place(s), axis=-1)

    def tangent(self, s: np.ndarray) -> np.ndarray:
        slope = np.stack(self.slope(s), axis=-1)
        return slope / np.hypot(slope[..., 0], slope[..., 1])[..., None]


def left_of(t: np.ndarray) -> np.ndarray:
    return np.stack([-t[..., 1], t[..., 0]], axis=-1)


def crossings(beside: Callable[[Any], Any], curve: Curve) -> np.ndarray:
    """Parameters (rows, m) at which a function of (rows, m) of them changes its sign; NaN where a row has fewer."""
    grid = np.linspace(curve.low, curve.high, LOOKS)
    looked = beside(grid[None])
    turns = looked[:, 1:] * looked[:, :-1] <= 0.0
    which = np.argsort(~turns, axis=1, kind="stable")[:, : max(1, int(np.max(np.sum(turns, axis=1))))]
    low, high, begin = grid[which], grid[which + 1], np.sign(np.take_along_axis(looked, which, 1))
    for _ in range(12):
        middle = 0.5 * (low + high)
        same = np.sign(beside(middle)) == begin
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    left, right, b = beside(low), beside(high), low
    for _ in range(8):  # regula falsi; the side that stays counts half, so that it does not stay for ever (Illinois)
        steep = right - left
        b = np.where(steep == 0.0, low, low - left * (high - low) / np.where(steep == 0.0, 1.0, steep))
        value = beside(b)
        same = np.sign(value) == begin
        low, high = np.where(same, b, low), np.where(same, high, b)
        left, right = np.where(same, value, 0.5 * left), np.where(same, 0.5 * right, value)
    return np.where(np.take_along_axis(turns, which, 1), b, np.nan)


def hull_from_curve(shape: Hull, curve: Curve, pose: Pose) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The nearest of all corners at their feet, and of all places of the curve that are parallel to an edge."""
    cores = pose.out(shape.corners)
    n, k = cores.shape[:2]
    corner = cores.reshape(-1, 1, 2)
    s = crossings(lambda s: np.sum((corner - curve.at(s)) * curve.tangent(s), axis=-1), curve)
    way = corner - curve.at(s)
    far = np.hypot(way[..., 0], way[..., 1])
    high = np.sum(way * left_of(curve.tangent(s)), axis=-1)
    above = _take(high, np.nanargmin(far, axis=1)[:, None]).reshape(n, k)
    unit = (way * (np.sign(high) / far)[..., None]).reshape(n, -1, 2)
    far = far.reshape(n, -1)
    if k > 1:
        edge = wings(cores)[0].reshape(-1, 1, 2)
        s = crossings(lambda s: np.sum(edge * left_of(curve.tangent(s)), axis=-1), curve).reshape(n, -1)
        beyond, to = from_hull(curve.at(s), cores)
        far, unit = np.concatenate([far, beyond], axis=1), np.concatenate([unit, -to], axis=1)
    best = np.nanargmin(far, axis=1)[:, None]
    gap, clear = _take(far, best), np.all(above > 0.0, axis=1)
    unit = np.take_along_axis(unit, best[..., None], 1)[:, 0]
    return gap - shape.radius, unit, np.where(clear & (gap > 0.0), 0.0, np.nan)


def from_curve(shape: Hull | Smooth, curve: Curve, pose: Pose) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distance (n,) of an outline on the free side of a curve, the direction that leads to it, and 0, or NaN if inside.

    Of a smooth one: of all places at which the two are parallel and face each other, the nearest.
    """
    if isinstance(shape, Hull):
        return hull_from_curve(shape, curve, pose)

    def faced(s: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """How far beside and how far above a place is the point that faces it, and the normal there."""
        t = curve.tangent(s)
        n = left_of(t)
        way = point_of(shape, pose, np.arctan2(-n[..., 1], -n[..., 0])) - curve.at(s)
        return np.sum(way * t, axis=-1), np.sum(way * n, axis=-1), n

    _, above, n = faced(crossings(lambda s: faced(s)[0], curve))
    best = np.nanargmin(np.abs(above), axis=1)[:, None]
    gap = _take(above, best)
    return gap, np.take_along_axis(n, best[..., None], 1)[:, 0], np.zeros_like(gap)


def from_line(shape: Hull | Smooth, pose: Pose) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Height above the x axis."""
    hull = isinstance(shape, Hull)
    reach = None if hull else shape.support(-0.5 * np.pi - pose.angle)[0]
    gap = np.min(pose.out(shape.corners)[..., 1], axis=1) - shape.radius if hull else pose.at[:, 1] - reach
    return gap, np.broadcast_to([0.0, 1.0], pose.at.shape), np.zeros_like(gap)
