"""Numbers that a state has: what running statistics are taken of."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ... import signal
from ...dynamics import site_position
from ...hybrid._flow import scene_with_motion
from ...hybrid.scene import Continuous, merge
from ...hybrid.world import World
from ...quantities import Real, Vector


class Instant(NamedTuple):
    """All that a world is at one instant, and how it changes."""

    t: Any
    y: Continuous
    phases: tuple[Any, ...]
    memory: tuple[tuple[Any, ...], ...]
    rate: Continuous


@dataclasses.dataclass(frozen=True)
class Coordinate:
    """A coordinate, or its rate."""

    index: int
    rate: bool = False

    def moving(self, world: World, at: Instant) -> tuple[Any, Any]:
        """Its place and rate."""
        return at.y.q[self.index], at.y.v[self.index]

    def value(self, world: World, at: Instant) -> Any:
        return self.moving(world, at)[1 if self.rate else 0]


@dataclasses.dataclass(frozen=True)
class SitePart:
    """A component of the position of a site, or of its velocity."""

    site: str
    axis: int
    rate: bool = False

    def moving(self, world: World, at: Instant) -> tuple[Any, Any]:
        """Its place and rate."""
        m = world.mechanism

        def place(q: Vector) -> Any:
            return site_position(m, q, self.site)

        where, rate = jax.jvp(place, (merge(at.y.q),), (merge(at.y.v),))
        return where[self.axis], rate[self.axis]

    def value(self, world: World, at: Instant) -> Any:
        return self.moving(world, at)[1 if self.rate else 0]


@dataclasses.dataclass(frozen=True)
class Written:
    """A signal as people write it (carom.signal)."""

    text: str
    rate = False

    def moving(self, world: World, at: Instant) -> tuple[Any, Any]:
        """Its value, and its rate along the motion."""

        def of(t: Real, y: Continuous) -> Any:
            scene = scene_with_motion(world, t, y, at.phases, at.memory)
            scene.work = y.work
            return jnp.asarray(signal.Signal(self.text).value(scene), dtype=float)

        return jax.jvp(of, (at.t, at.y), (jnp.ones_like(at.t), at.rate))

    def value(self, world: World, at: Instant) -> Any:
        return self.moving(world, at)[0]


Signal = Coordinate | SitePart | Written
