"""Hulls of corners, grown by a radius: the geometry that shapes with corners and blocks share."""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from .. import errors
from ..quantities import Given, Point, Points, Real
from ._vectors import arc, direction

SHARP = 0.05  # of its size: over this way a sharp corner is taken to turn
POINTS = 9  # of a round corner, as it is drawn
FLAT = 1e-12  # of the size squared: less is no turn to the left


class AbstractHull(eqx.Module):
    """All points within `radius` [m] of the convex hull of its corners, which run counter-clockwise."""

    corners: eqx.AbstractVar[tuple[tuple[Any, Any], ...]]
    radius: eqx.AbstractVar[Any]

    @property
    def edges(self) -> int:
        return len(self.corners)

    @property
    def sides(self) -> tuple[tuple[Any, Any, Any, Any], ...]:
        """Of every edge, from corner i to the next: the edge's vector, and the direction of its outer normal."""
        out, n = [], len(self.corners)
        for i, (x, y) in enumerate(self.corners):
            ex, ey = self.corners[(i + 1) % n][0] - x, self.corners[(i + 1) % n][1] - y
            _, (tx, ty) = direction(ex, ey)
            out.append((ex, ey, ty, -tx))
        return tuple(out)

    def support(self, phi: Real) -> tuple[Any, Any, Any]:
        """How far it reaches [m] in a direction [rad], and the first two derivatives: those of the farthest corner."""
        c, s = jnp.cos(phi), jnp.sin(phi)
        best: Any = None
        for x, y in self.corners:
            here = (c * x + s * y, c * y - s * x, -(c * x + s * y))
            best = (
                here
                if best is None
                else tuple(jnp.where(here[0] > best[0], a, b) for a, b in zip(here, best, strict=True))
            )
        return best[0] + self.radius, best[1], best[2]

    def farthest(self, phi: Real) -> tuple[Any, Any, Any, Any]:
        """The corner (x, y) that is farthest in a direction, and between which directions it is."""
        c, s = jnp.cos(phi), jnp.sin(phi)
        best: Any = None
        for i, (x, y) in enumerate(self.corners):
            _, _, ax, ay = self.sides[i - 1]
            _, _, bx, by = self.sides[i]
            limits = (jnp.arctan2(ay, ax), jnp.arctan2(by, bx)) if self.edges > 1 else (-jnp.inf, jnp.inf)
            here = (c * x + s * y, x, y, *limits)
            best = (
                here
                if best is None
                else tuple(jnp.where(here[0] > best[0], a, b) for a, b in zip(here, best, strict=True))
            )
        return best[1], best[2], best[3], best[4]

    @property
    def lines(self) -> Lines:
        """All edges side by side, as arrays: what is asked of each is then written once."""
        px, py = (jnp.stack([jnp.asarray(corner[k], dtype=float) for corner in self.corners]) for k in (0, 1))
        ex, ey = jnp.roll(px, -1) - px, jnp.roll(py, -1) - py
        length, (tx, ty) = direction(ex, ey)
        return Lines(px, py, tx, ty, length)

    def locate(self, x: Real, y: Real) -> tuple[Any, tuple[Any, Any]]:
        """Signed distance [m] of a point of its frame from its corners' hull, and the direction from there to it."""
        if self.edges == 1:
            ((cx, cy),) = self.corners
            return direction(x - cx, y - cy)
        return located(self.lines, x, y)

    def outline(self) -> np.ndarray:
        """Points (n, 2) [m] around it, counter-clockwise and closed, as it is drawn."""
        corners, r = np.asarray([[float(x), float(y)] for x, y in self.corners]), float(self.radius)
        if self.edges == 1:
            return arc(corners[0], r, 0.0, 2.0 * np.pi, 4 * POINTS)
        sides = [(float(a), float(b)) for _, _, a, b in self.sides]
        parts = []
        for i, corner in enumerate(corners):
            begin, end = (float(np.arctan2(b, a)) for a, b in (sides[i - 1], sides[i]))
            turn = float(np.remainder(end - begin, 2.0 * np.pi))
            parts.append(arc(corner, r, begin, begin + turn, POINTS) if r > 0.0 else corner[None])
        line = np.concatenate(parts)
        return np.concatenate([line, line[:1]])


class Lines(NamedTuple):
    """Edges of a hull as arrays: first corner, direction (the outer normal is (ty, -tx)), length."""

    px: Any
    py: Any
    tx: Any
    ty: Any
    length: Any


def located(lines: Lines, x: Real, y: Real) -> tuple[Any, tuple[Any, Any]]:
    """Signed distance of a point from the hull with these edges, and the direction from there to it."""
    px, py, tx, ty, length = lines
    nx, ny, count = ty, -tx, len(px)
    reach = (x - px) * tx + (y - py) * ty
    along = jnp.clip(reach, 0.0, length)
    dx, dy = x - px - along * tx, y - py - along * ty
    height = (x - px) * nx + (y - py) * ny
    # On an edge its own normal is exact, however near; beyond its ends the direction to the corner.
    on = (reach > 0.0) & (reach < length) & (height > 0.0)
    square = jnp.where(on, height * height, dx * dx + dy * dy)
    _, on, height, mx, my, dx, dy = least(square, on, height, nx, ny, dx, dy)
    apart, unit = direction(dx, dy)
    gap, ox, oy = (jnp.where(on, a, b) for a, b in zip((height, mx, my), (apart, *unit), strict=True))
    if count < 3:
        return gap, (ox, oy)
    highest, ix, iy = least(-((x - px) * nx + (y - py) * ny), nx, ny)
    gap, ox, oy = (jnp.where(highest >= 0.0, a, b) for a, b in zip((-highest, ix, iy), (gap, ox, oy), strict=True))
    return gap, (ox, oy)


def least(key: Any, *others: Any) -> tuple[Any, ...]:
    """The smallest number of a short array, the first of equals, and what stands beside it in others."""
    columns = (key, *others)
    while len(columns[0]) > 1:
        half = (len(columns[0]) + 1) // 2
        low = tuple(c[:half] for c in columns)
        high = tuple(jnp.concatenate([c[half:], c[half - 1 : half]]) if len(c) % 2 else c[half:] for c in columns)
        columns = tuple(jnp.where(high[0] < low[0], b, a) for a, b in zip(low, high, strict=True))
    return tuple(c[0] for c in columns)


def point(given: Point | Given) -> tuple[Any, Any]:
    return jnp.asarray(given[0], dtype=float), jnp.asarray(given[1], dtype=float)


def polygon_of(owner: str, corners: Points, instead: str = "") -> tuple[tuple[Any, Any], ...]:
    """Corners of a convex polygon; any other is refused."""
    if len(corners) < 3:
        raise errors.CaromError(f"corners of {owner} are {len(corners)}; a polygon has at least 3{instead}")
    for i, corner in enumerate(corners):
        errors.vector(owner, f"corners[{i}]", corner, 2)
    p, n = tuple(point(corner) for corner in corners), len(corners)
    from_first = [(x - p[0][0], y - p[0][1]) for x, y in p]
    area = sum(a * d - b * c for (a, b), (c, d) in itertools.pairwise(from_first))
    errors.refuse_if(
        area < 0.0,
        lambda: f"corners of {owner} run clockwise; they must run counter-clockwise; reverse their order",
    )
    angles = jnp.asarray(0.0)
    for i in range(n):
        (ax, ay), (bx, by), (cx, cy) = p[i - 2], p[i - 1], p[i]
        turn = (bx - ax) * (cy - by) - (by - ay) * (cx - bx)
        least = FLAT * (jnp.hypot(bx - ax, by - ay) + jnp.hypot(cx - bx, cy - by)) ** 2
        errors.refuse_if(turn <= least, partial(_not_convex, owner, (i - 1) % n))
        angles = angles + jnp.arctan2(turn, (bx - ax) * (cx - bx) + (by - ay) * (cy - by))
    errors.refuse_if(
        angles > 3.0 * jnp.pi,
        lambda: f"edges of {owner} cross each other; a polygon goes round once; check the order of its corners",
    )
    return p


def _not_convex(owner: str, corner: int) -> str:
    return (
        f"corners[{corner}] of {owner} does not turn to the left; a polygon must be convex, without corners on a "
        "straight edge; leave that corner out, or make two polygons of it"
    )
