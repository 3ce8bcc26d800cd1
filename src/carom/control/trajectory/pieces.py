"""A motion in general: pieces between knots, of which any can be continued beyond its ends."""

from __future__ import annotations

import abc
from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp

from ... import native
from ...hybrid.compiling import kept
from ...quantities import Index, Real, Times, Vector


class Motion(NamedTuple):
    """Position, velocity and acceleration at one instant; any of the three is a vector."""

    q: Any
    v: Any
    a: Any


class AbstractTrajectory(eqx.Module):
    """A vector as a function of time."""

    @property
    @abc.abstractmethod
    def knots(self) -> Any:
        """Instants [s] that bound the pieces, rising from 0; one more than there are pieces."""

    @property
    @abc.abstractmethod
    def size(self) -> int:
        """Length of the vector."""

    @abc.abstractmethod
    def smooth(self, i: Index, t: Real) -> Motion:
        """The formula of piece i at any t; i counts from 0 and may be traced."""

    @property
    def pieces(self) -> int:
        return int(self.knots.shape[0]) - 1

    @property
    def duration(self) -> Any:
        """[s]"""
        return self.knots[-1]

    def piece(self, i: Index, t: Real) -> Motion:
        """Piece i at t; -1 stands still where the motion begins, the number of pieces where it ends."""
        last = self.pieces - 1
        inside = (i >= 0) & (i <= last)
        held = jnp.where(i < 0, self.knots[0], self.knots[-1])
        q, v, a = self.smooth(jnp.clip(i, 0, last), jnp.where(inside, t, held))
        return Motion(q, jnp.where(inside, v, 0.0), jnp.where(inside, a, 0.0))

    def index(self, t: Real) -> Any:
        """Number of the piece at t: -1 before the motion, the number of pieces after it; a knot begins a piece."""
        knots, count = self.knots, self.pieces
        i = sum((jnp.where(t >= knots[k], 1, 0) for k in range(count)), start=jnp.asarray(-1))
        return jnp.where(t > knots[count], count, i)

    def at(self, t: Real) -> Motion:
        """Position, velocity and acceleration at t [s]."""
        return self.piece(self.index(t), jnp.asarray(t, dtype=float))

    def over(self, times: Times) -> Motion:
        """The same at many instants, as arrays over them; compiled."""
        return _over(self, jnp.asarray(times, dtype=float))


@kept
def _over(trajectory: AbstractTrajectory, times: Vector) -> Motion:
    found: Motion = native.rows(trajectory.at)(times)
    return found
