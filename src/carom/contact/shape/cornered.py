"""Shapes with corners: a point or disk has one, a capsule two, a polygon three or more; all may be round."""

from __future__ import annotations

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp

from ... import errors
from ..._arguments import SiteLike
from ...forms import Form, Slot
from ...quantities import Given, Points, Real
from .._hull import SHARP, AbstractHull, point, polygon_of
from .outlined import AbstractShape, owner_of, site_of


class AbstractCornered(AbstractHull, AbstractShape):
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
        self.radius = errors.array(radius)

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

    def __init__(self, site: SiteLike, start: Given, end: Given, radius: Real = 0.0) -> None:
        self.site, owner = site_of("Capsule", site), owner_of("Capsule", site)
        errors.vector(owner, "start", start, 2)
        errors.vector(owner, "end", end, 2)
        errors.number(owner, "radius", radius, least=0.0)
        errors.refuse_if(
            (start[0] == end[0]) & (start[1] == end[1]),
            lambda: f"{owner} begins and ends at one point; it needs two; for a disk use carom.Round",
        )
        self.corners, self.radius = (point(start), point(end)), errors.array(radius)


class Polygon(AbstractCornered):
    """A convex polygon with corners [(x, y), ..], in metres, counter-clockwise, from the site along its link's axes.

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

    def __init__(self, site: SiteLike, corners: Points, rounding: Real = 0.0) -> None:
        self.site, owner = site_of("Polygon", site), owner_of("Polygon", site)
        self.corners = polygon_of(owner, corners, "; for two use carom.Capsule")
        errors.number(owner, "rounding", rounding, least=0.0)
        self.radius = errors.array(rounding)
