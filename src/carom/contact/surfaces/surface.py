"""What a surface is: a signed distance and its normal."""

from __future__ import annotations

import abc
from typing import Any

import equinox as eqx
import jax.numpy as jnp

# Added under square roots of squared distances: directions stay finite where they are undefined, as at a ring's
# centre, and nothing changes at distances above 1e-20 m.
NOWHERE = 1e-60


class AbstractSurface(eqx.Module):
    """A curve with a free side. Gap positive on the free side, normal pointing into it.

    The gap is a true distance: its gradient is the normal, a unit vector. `t` [s] matters to surfaces that move.
    """

    @abc.abstractmethod
    def gap(self, x: Any, y: Any, t: Any) -> Any:
        """Signed distance [m] of a point."""

    @abc.abstractmethod
    def normal(self, x: Any, y: Any, t: Any) -> tuple[Any, Any]:
        """Unit normal at the foot of the point."""

    def locate(self, x: Any, y: Any, t: Any) -> tuple[Any, tuple[Any, Any]]:
        """Gap and normal together, for surfaces that find both by one search."""
        return self.gap(x, y, t), self.normal(x, y, t)

    def drift(self, x: Any, y: Any, t: Any) -> tuple[Any, Any]:
        """Velocity [m/s] of the surface's material at a point; surfaces are at rest unless they say otherwise."""
        return 0.0, 0.0

    @property
    def moves(self) -> bool:
        """Is its motion prescribed, so that it can do work? Whoever has a `drift` of its own does."""
        return type(self).drift is not AbstractSurface.drift

    def place(self, x: Any, y: Any, t: Any) -> tuple[Any, Any]:
        """The point in the frame of the surface's material; the world's frame for a surface at rest."""
        return x, y


def direction(dx: Any, dy: Any) -> tuple[Any, tuple[Any, Any]]:
    """Length and unit vector of (dx, dy)."""
    size = jnp.sqrt(dx * dx + dy * dy + NOWHERE)
    return size, (dx / size, dy / size)
