"""What a friction law is."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Any, ClassVar

import equinox as eqx
import jax.numpy as jnp

from ...quantities import Flag, PhaseNumber, Real
from ..card import Card

if TYPE_CHECKING:
    from .dry import AbstractDry


class AbstractFriction(eqx.Module):
    """Tangential force [N] from normal force [N] and sliding velocity [m/s]; it opposes the sliding.

    Laws with states of their own (bristles) give `states` and `flow`; laws that stick exactly are `AbstractDry`.
    """

    card: ClassVar[Card]
    rubs: ClassVar[bool] = True  # is there any?

    @property
    def dry(self) -> AbstractDry | None:
        """Itself, if it sticks exactly; else None."""
        return None

    @abc.abstractmethod
    def force(self, normal: Real, sliding: Real) -> Any:
        """The force in steady sliding."""

    @property
    def states(self) -> tuple[str, ...]:
        """Names of the numbers that it lets flow; all are zero at touch-down."""
        return ()

    def flow(self, states: tuple[Any, ...], normal: Real, sliding: Real) -> tuple[Any, tuple[Any, ...]]:
        """The force, and the rates of the states."""
        return self.force(normal, sliding), ()

    # -- for laws whose formula has corners --------------------------------------------------------------------------

    @property
    def corners(self) -> tuple[Any, ...]:
        """Sliding velocities [m/s], rising, at which the formula changes with another slope; pieces lie between."""
        return ()

    def piecewise(self, piece: PhaseNumber, normal: Real, sliding: Real) -> Any:
        """The force by the formula of one piece, which goes on smoothly beyond its ends."""
        return self.force(normal, sliding)

    def piece_at(self, sliding: Real) -> Any:
        """Number of the piece in which a velocity lies; 0 is below the first corner."""
        return sum((jnp.asarray(sliding >= c, dtype=int) for c in self.corners), jnp.asarray(0))

    def piece_guards(self, piece: PhaseNumber, sliding: Real) -> tuple[Any, Any]:
        """Two guards [m/s]: how far the velocity is above the piece, and below it; -1 where it has no such end."""
        above, below = jnp.asarray(-1.0), jnp.asarray(-1.0)
        for k, corner in enumerate(self.corners):
            above = jnp.where(piece == k, sliding - corner, above)
            below = jnp.where(piece == k + 1, corner - sliding, below)
        return above, below

    def piece_after(self, fired: tuple[Flag, ...], piece: PhaseNumber) -> Any:
        """Number of the piece after an exit upwards or downwards; corners that coincide are passed together."""
        up, down = piece + 1, piece - 1
        for k in range(1, len(self.corners)):  # rising, so that chains of equal corners are passed
            up = jnp.where((up == k) & (self.corners[k] <= self.corners[k - 1]), k + 1, up)
        for k in reversed(range(1, len(self.corners))):
            down = jnp.where((down == k) & (self.corners[k] <= self.corners[k - 1]), k - 1, down)
        return jnp.where(fired[0], up, jnp.where(fired[1], down, piece))


class Frictionless(AbstractFriction):
    """No friction."""

    rubs = False
    card = Card(
        "none", "F_t = 0", (), "", "To see what friction does, by leaving it out; polished or lubricated pairs."
    )

    def force(self, normal: Real, sliding: Real) -> Any:
        return 0.0 * normal
