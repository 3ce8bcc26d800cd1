"""Motions whose pieces are polynomials in time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np

from ... import errors
from ...forms import Form, Slot, Spelled
from ...quantities import Index, Real
from .pieces import AbstractTrajectory, Motion


class Polynomials(AbstractTrajectory):
    """Polynomials in the time since the knot at which they begin; rows of `coefficients[i]` rise in power."""

    form: ClassVar[Form] = Form(
        "polynomials",
        "polynomials between knots",
        (
            Slot("knots", "numbers", "rising from 0 [s]"),
            Slot("coefficients", "tables", "piece, power (constant first), value"),
        ),
    )
    bounds: Any  # (pieces + 1,)
    coefficients: Any  # (pieces, powers, size)

    @property
    def knots(self) -> Any:
        return self.bounds

    @property
    def size(self) -> int:
        return int(self.coefficients.shape[2])

    def smooth(self, i: Index, t: Real) -> Motion:
        c, s = self.coefficients[i], t - self.bounds[i]
        powers = self.coefficients.shape[1]
        q = v = a = jnp.zeros_like(c[0])
        for k in reversed(range(powers)):  # Horner, for the value and two derivatives at once
            a = a * s + 2.0 * v
            v = v * s + q
            q = q * s + c[k]
        return Motion(q, v, a)


def polynomials(knots: list[Any], rows: list[tuple[Any, ...]]) -> Polynomials:
    """From knots and, for every piece, its coefficients by rising power."""
    return Polynomials(jnp.stack([jnp.asarray(k, dtype=float) for k in knots]), jnp.stack([jnp.stack(r) for r in rows]))


def hermite(q0: Real, q1: Real, v0: Real, v1: Real, h: Real) -> tuple[Any, ...]:
    """Coefficients of the cubic with these positions and velocities at its ends."""
    mean = (q1 - q0) / h
    return q0, v0, (3.0 * mean - 2.0 * v0 - v1) / h, (v0 + v1 - 2.0 * mean) / h**2


def from_coefficients(knots: Sequence[float], coefficients: Sequence[Sequence[Sequence[float]]]) -> Polynomials:
    """Pieces given by their coefficients: piece, power (constant first), value."""
    shapes = {(len(piece), *{len(row) for row in piece}) for piece in coefficients}
    at = np.asarray(knots)
    if len(shapes) != 1 or len(next(iter(shapes))) != 2 or len(knots) != len(coefficients) + 1:
        raise errors.CaromError(
            "coefficients must be as many pieces as there are spans between knots, all of one shape"
        )
    if at[0] != 0.0 or np.any(np.diff(at) <= 0.0):
        raise errors.CaromError("knots must increase from 0")
    return Polynomials(jnp.asarray(at), jnp.asarray(coefficients))


POLYNOMIALS = Spelled(from_coefficients, Polynomials.form)
