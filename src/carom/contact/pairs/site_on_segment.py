"""A round tip on a bar."""

from __future__ import annotations

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp

from ... import errors
from ..._arguments import SiteLike
from ...hybrid.reporting import Shape
from ...hybrid.scene import Load, Scene
from ...mechanism import Mechanism, Site
from ...quantities import Real, Reals
from ..surfaces.surface import direction
from .pair import AbstractPair, Touching, between, centre, in_frame, met


class Segment(eqx.Module):
    """A bar between two sites of one link with round ends (a capsule): all points within `radius` [m] of the segment.

       _________________
    ( o-----------------o )  radius
      start           end

    Sites may be given by their names ('bar.left'); the contact that it belongs to looks them up.
    """

    start: Any = eqx.field(static=True)  # a site; its name until it is placed
    end: Any = eqx.field(static=True)
    radius: Any

    def __init__(self, start: SiteLike, end: SiteLike, radius: Real = 0.0) -> None:
        for field, site in (("start", start), ("end", end)):
            if not isinstance(site, Site | str):
                raise errors.CaromError(
                    f"{field} of Segment is {site!r}; it must be a site of a mechanism, arm.site('...'), or its name"
                )
        if isinstance(start, Site) and isinstance(end, Site):
            self._refuse(start, end)
        errors.number(f"Segment from '{getattr(start, 'name', start)}'", "radius", radius, least=0.0)
        self.start, self.end, self.radius = start, end, errors.array(radius)

    @property
    def unplaced(self) -> bool:
        return any(isinstance(x, str) for x in (self.start, self.end))

    def placed(self, mechanism: Mechanism) -> Segment:
        """The same with sites instead of names."""
        start, end = (mechanism.site(x) if isinstance(x, str) else x for x in (self.start, self.end))
        return Segment(start, end, self.radius)

    def _refuse(self, start: Site, end: Site) -> None:
        if start.link != end.link:
            raise errors.CaromError(
                f"Segment joins sites of two links ('{start.name}', '{end.name}'); both must belong to one; give that "
                "link sites with carom.Link(..., sites={'left': (0, 0), 'right': (1, 0)})"
            )
        if start.index == end.index:
            raise errors.CaromError(
                f"Segment begins and ends at '{start.name}'; it needs two sites; for a round body give the site itself "
                "and other_radius"
            )


class SiteOnSegment(AbstractPair):
    """A site with a round tip against a segment of another link.

    The distance to a bar of no thickness has no sign, so tip and bar together must have some. Overlaps deeper than
    that are not told from the other side. The contact point lies in the middle of the overlap.
    """

    other: ClassVar[str] = "segment"
    site: Site = eqx.field(static=True)
    segment: Segment
    radius: Any

    @property
    def name(self) -> str:
        return f"{self.site.name} on {self.segment.start.name} - {self.segment.end.name}"

    @property
    def shapes(self) -> tuple[Shape, ...]:
        bar = self.segment
        return Shape("tip", self.radius, (self.site,)), Shape("bar", bar.radius, (bar.start, bar.end))

    def touching(self, scene: Scene) -> Touching:
        bar = self.segment
        (px, py), (ax, ay), (bx, by) = (centre(scene, s) for s in (self.site, bar.start, bar.end))
        lx, ly = bx - ax, by - ay
        along = ((px - ax) * lx + (py - ay) * ly) / (lx * lx + ly * ly)
        along = jnp.clip(along, 0.0, 1.0)
        apart, (nx, ny) = direction(px - ax - along * lx, py - ay - along * ly)
        depth = self.radius + bar.radius - apart
        arm = self.radius - 0.5 * depth
        x, y = px - arm * nx, py - arm * ny
        own, other = scene.velocity(self.site, x, y), scene.velocity(bar.start, x, y)
        return met(depth, x, y, (nx, ny), own, other)

    def push(self, scene: Scene, load: Load, k: Touching, normal: Real, drag: Real) -> None:
        between(scene, load, (self.site, self.segment.start), k, normal, drag)

    def check(self, mechanism: Mechanism) -> None:
        start = self.segment.start
        if mechanism.topology.modes[start.link]:
            raise errors.CaromError(
                f"contact '{self.name}' is against a Segment of '{mechanism.topology.names[start.link]}', which is "
                "elastic; a bent link is no straight bar; give it round sites along its length instead"
            )

    def place(self, scene: Scene, k: Touching) -> tuple[Any, Any]:
        return in_frame(scene, self.segment.start.link, k.x, k.y)

    def size(self, scene: Scene, k: Touching) -> Any:
        bar = self.segment
        return sum(scene.extent(s) for s in (self.site, bar.start, bar.end)) + self.radius + bar.radius

    def pace(self, scene: Scene, speeds: Reals) -> Any:
        bar = self.segment
        ends = jnp.maximum(scene.reach(bar.start, speeds), scene.reach(bar.end, speeds))
        return scene.reach(self.site, speeds) + ends

    def bend(self, scene: Scene, swing: Real) -> Any:
        return self.radius + self.segment.radius
