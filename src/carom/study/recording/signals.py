"""Numbers that a state has: what running statistics are taken of."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax

from ...dynamics import site_position
from ...hybrid.scene import Continuous, merge
from ...hybrid.world import World
from ...quantities import Real, Vector


@dataclasses.dataclass(frozen=True)
class Coordinate:
    """A coordinate, or its rate."""

    index: int
    rate: bool = False

    def moving(self, world: World, y: Continuous) -> tuple[Any, Any]:
        """Its place and rate."""
        return y.q[self.index], y.v[self.index]

    def value(self, world: World, t: Real, y: Continuous) -> Any:
        return self.moving(world, y)[1 if self.rate else 0]


@dataclasses.dataclass(frozen=True)
class SitePart:
    """A component of the position of a site, or of its velocity."""

    site: str
    axis: int
    rate: bool = False

    def moving(self, world: World, y: Continuous) -> tuple[Any, Any]:
        """Its place and rate."""
        m = world.mechanism

        def place(q: Vector) -> Any:
            return site_position(m, q, self.site)

        where, rate = jax.jvp(place, (merge(y.q),), (merge(y.v),))
        return where[self.axis], rate[self.axis]

    def value(self, world: World, t: Real, y: Continuous) -> Any:
        return self.moving(world, y)[1 if self.rate else 0]


Signal = Coordinate | SitePart
