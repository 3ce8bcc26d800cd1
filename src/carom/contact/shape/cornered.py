"""Shapes with corners: a point or disk has one, a capsule two, a polygon three or more; all may be round."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ... import errors
from ...forms import Form, Slot
from ...quantities import Given, Real
from ..surfaces.surface import direction
from .outlined import AbstractShape, arc, owner_of, site_of

SHARP = 0.05  # of its size: over this way a sharp corner is taken to turn
POINTS = 9  # of a round corner, as it is drawn
FLAT = 1e-12  # of the size squared: less is no turn to the left


class AbstractCornered(AbstractShape):
    """All points within `radius` [m] of the convex hull of its corners, which run counter-clockwise."""

    site: eqx.AbstractVar[Any]
    corners: eqx.AbstractVar[tuple[tuple[Any, Any], ...]]
    radius: eqx.AbstractVar[Any]

    @property
    def outer(self) -> Any:
        return jnp.max(jnp.stack([jnp.hypot(x, y) for x, y in self.corners])) + self.radius

    @property
    def blunt(self) -> Any:
        return self.radius + (SHARP * self.outer if self.edges > 1 else 0.0)

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

    def locate(self, x: Real, y: Real) -> tuple[Any, tuple[Any, Any]]:
        """Signed distance [m] of a point of its frame from its corners' hull, and the direction from there to it."""
        if self.edges == 1:
            ((cx, cy),) = self.corners
            return direction(x - cx, y - cy)
        outside: Any = None
        inside: Any = None
        for (px, py), (ex, ey, nx, ny) in zip(self.corners, self.sides, strict=True):
            along = jnp.clip(((x - px) * ex + (y - py) * ey) / (ex * ex + ey * ey), 0.0, 1.0)
            apart, unit = direction(x - px - along * ex, y - py - along * ey)
            height = (x - px) * nx + (y - py) * ny
            # On an edge its own normal is exact, however near; beyond its ends the direction to the corner.
            on = (along > 0.0) & (along < 1.0) & (height > 0.0)
            near = tuple(jnp.where(on, a, b) for a, b in zip((height, nx, ny), (apart, *unit), strict=True))
            outside = near if outside is None else _lesser(near, outside)
            deep = (-height, nx, ny)
            inside = deep if inside is None else _lesser(deep, inside)
        within = (inside[0] >= 0.0) & (self.edges > 2)
        gap, nx, ny = (jnp.where(within, a, b) for a, b in zip((-inside[0], *inside[1:]), outside, strict=True))
        return gap, (nx, ny)

    def outline(self) -> np.ndarray:
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


def _lesser(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(jnp.where(a[0] < b[0], x, y) for x, y in zip(a, b, strict=True))


def _not_convex(owner: str, corner: int) -> str:
    return (
        f"corners[{corner}] of {owner} does not turn to the left; a polygon must be convex, without corners on a "
        "straight edge; leave that corner out, or make two polygons of it"
    )


def _point(given: Any) -> tuple[Any, Any]:
    return jnp.asarray(given[0], dtype=float), jnp.asarray(given[1], dtype=float)


class Round(AbstractCornered):
    """A disk of a radius [m] about a site; zero is a point."""

    form: ClassVar[Form] = Form(
        "round",
        "a disk about a site, or a point",
        (Slot("site", "site", "its centre"), Slot("radius", "number", "[m] >= 0", 0.0)),
        lambda shape: {"site": shape.site.name, "radius": shape.radius},
    )
    site: Any = eqx.field(static=True)
    corners: tuple[tuple[Any, Any], ...]
    radius: Any

    def __init__(self, site: Any, radius: Real = 0.0) -> None:
        self.site, self.corners = site_of("Round", site), ((jnp.asarray(0.0), jnp.asarray(0.0)),)
        errors.number(owner_of("Round", site), "radius", radius, least=0.0)
        self.radius = jnp.asarray(radius, dtype=float)

    @property
    def outer(self) -> Any:
        return self.radius


class Capsule(AbstractCornered):
    """A bar with round ends: all points within `radius` [m] of the line from `start` to `end` (x, y) [m].

    Both are given from the site, along the axes of its link.
    """

    form: ClassVar[Form] = Form(
        "capsule",
        "a bar with round ends",
        (
            Slot("site", "site", "from which its ends are given"),
            Slot("start", "point", "one end (x, y) [m]"),
            Slot("end", "point", "the other end (x, y) [m]"),
            Slot("radius", "number", "half its thickness [m] >= 0", 0.0),
        ),
        lambda shape: {
            "site": shape.site.name,
            "start": shape.corners[0],
            "end": shape.corners[1],
            "radius": shape.radius,
        },
    )
    site: Any = eqx.field(static=True)
    corners: tuple[tuple[Any, Any], ...]
    radius: Any

    def __init__(self, site: Any, start: Given, end: Given, radius: Real = 0.0) -> None:
        self.site, owner = site_of("Capsule", site), owner_of("Capsule", site)
        errors.vector(owner, "start", start, 2)
        errors.vector(owner, "end", end, 2)
        errors.number(owner, "radius", radius, least=0.0)
        errors.refuse_if(
            (start[0] == end[0]) & (start[1] == end[1]),
            lambda: f"{owner} begins and ends at one point; it needs two; for a disk use carom.Round",
        )
        self.corners, self.radius = (_point(start), _point(end)), jnp.asarray(radius, dtype=float)


class Polygon(AbstractCornered):
    """A convex polygon with corners [(x, y), ..] [m], counter-clockwise, given from the site along its link's axes.

    `rounding` [m] >= 0 is the radius of its corners: the polygon is grown by it on all sides.

        carom.Polygon("box.tip", [(-0.1, -0.05), (0.1, -0.05), (0.1, 0.05), (-0.1, 0.05)])
    """

    form: ClassVar[Form] = Form(
        "polygon",
        "a convex polygon",
        (
            Slot("site", "site", "from which its corners are given"),
            Slot("corners", "table", "(x, y) of every corner, counter-clockwise [m]"),
            Slot("rounding", "number", "radius of its corners, by which it is grown [m] >= 0", 0.0),
        ),
        lambda shape: {"site": shape.site.name, "corners": shape.corners, "rounding": shape.radius},
    )
    site: Any = eqx.field(static=True)
    corners: tuple[tuple[Any, Any], ...]
    radius: Any

    def __init__(self, site: Any, corners: Any, rounding: Real = 0.0) -> None:
        self.site, owner = site_of("Polygon", site), owner_of("Polygon", site)
        if len(corners) < 3:
            raise errors.CaromError(
                f"corners of {owner} are {len(corners)}; a polygon has at least 3; for two use carom.Capsule"
            )
        for i, corner in enumerate(corners):
            errors.vector(owner, f"corners[{i}]", corner, 2)
        errors.number(owner, "rounding", rounding, least=0.0)
        self.corners = tuple(_point(corner) for corner in corners)
        self.radius = jnp.asarray(rounding, dtype=float)
        self._refuse(owner)

    def _refuse(self, owner: str) -> None:
        p, n = self.corners, len(self.corners)
        area = sum(p[i - 1][0] * p[i][1] - p[i][0] * p[i - 1][1] for i in range(n))
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
