"""Any function of time as a motion: Chebyshev series, which give velocity and acceleration as well."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ... import errors, native
from ...hybrid.compiling import kept
from ...quantities import Function, Given, Index, Matrix, Real, Vector
from ._knots import length_of, refuse_times
from .pieces import AbstractTrajectory, Motion


class Fitted(AbstractTrajectory):
    """Any motion, smooth between its knots, as Chebyshev series: quick where its formula is long.

    - `function`: (i, t) -> vector, of piece i at t, written with jax.numpy
    - `knots` [s]: rising from 0
    - `parts` of equal length into which every piece is cut, with a series each; `nodes`: how many values of every part
      are taken, exponentially more exact with each
    - `tolerance`: share of the largest value that the last coefficients may have left over
    """

    bounds: Any  # (pieces + 1,)
    # of value, velocity and acceleration, in the time of a part scaled to [-1, 1]: (pieces, parts, nodes, size) each
    series: tuple[Any, Any, Any]

    def __init__(
        self, function: Function, knots: Given, nodes: int = 16, parts: int = 8, tolerance: float = 1e-9
    ) -> None:
        if not callable(function):
            raise errors.CaromError(
                f"function of Fitted is a {type(function).__name__}; it must be a function (i, t) -> vector"
            )
        if not isinstance(nodes, int) or nodes < 4:
            raise errors.CaromError(f"nodes of Fitted is {nodes!r}; it must be a whole number of at least 4")
        if not isinstance(parts, int) or parts < 1:
            raise errors.CaromError(f"parts of Fitted is {parts!r}; it must be a whole number of at least 1")
        length_of("Fitted", "knots", knots)
        refuse_times("knots of Fitted", errors.known(knots))
        self.bounds = jnp.asarray(knots, dtype=float)
        grid = np.cos(np.pi * (np.arange(nodes) + 0.5) / nodes)
        within = (np.arange(parts)[:, None] + 0.5 * (1.0 + grid)) / parts  # shares of a piece
        values = jnp.einsum("jk,pqkn->pqjn", _to_series(nodes), _on_grid(function, self.bounds, within))
        _refuse_rough(values, tolerance)
        slope = jnp.asarray(_slope_of_series(nodes))
        first = jnp.einsum("jk,pqkn->pqjn", slope, values)
        self.series = (values, first, jnp.einsum("jk,pqkn->pqjn", slope, first))

    @property
    def knots(self) -> Any:
        return self.bounds

    @property
    def size(self) -> int:
        return int(self.series[0].shape[3])

    def smooth(self, i: Index, t: Real) -> Motion:
        parts = self.series[0].shape[1]
        half = 0.5 * (self.bounds[i + 1] - self.bounds[i]) / parts
        along = (t - self.bounds[i]) / half
        part = jnp.clip(jnp.floor(0.5 * along), 0, parts - 1)
        q, v, a = (_clenshaw(c[i, part.astype(int)], along - 2.0 * part - 1.0) for c in self.series)
        return Motion(q, v / half, a / half**2)


def _on_grid(function: Function, bounds: Vector, within: np.ndarray) -> Any:
    """Values (pieces, parts, nodes, size) of a function of (piece, time), at shares of every piece."""
    count = bounds.shape[0] - 1
    found = _at(function, bounds, np.repeat(np.arange(count), within.size), np.tile(within.ravel(), count))
    return found.reshape(count, *within.shape, -1)


@kept
def _at(function: Function, bounds: Vector, pieces: Vector, shares: Vector) -> Any:
    """Values of the function at shares of its pieces, a row each."""

    def one(i: Index, share: Real) -> Any:
        value = jnp.asarray(function(i, bounds[i] + share * (bounds[i + 1] - bounds[i])), dtype=float)
        if value.ndim != 1:
            raise errors.CaromError(f"function of Fitted returns shape {value.shape}; it must be a vector")
        return value

    return native.rows(one)(pieces, shares)


def _to_series(nodes: int) -> np.ndarray:
    """Chebyshev coefficients from values at the nodes: a discrete cosine transform."""
    j, k = np.arange(nodes)[:, None], np.arange(nodes)[None, :]
    matrix = 2.0 / nodes * np.cos(j * np.pi * (k + 0.5) / nodes)
    matrix[0] *= 0.5
    return matrix


def _slope_of_series(nodes: int) -> np.ndarray:
    """Coefficients of the derivative from those of a series: c'_j = 2 / (1 + [j = 0]) sum_{k = j+1, j+3, ..} k c_k."""
    j, k = np.arange(nodes)[:, None], np.arange(nodes)[None, :]
    matrix = np.where((k > j) & ((k - j) % 2 == 1), 2.0 * k, 0.0)
    matrix[0] *= 0.5
    return matrix


def _clenshaw(series: Matrix, x: Real) -> Any:
    """Sum of a Chebyshev series."""
    one = two = jnp.zeros_like(series[0])
    for k in reversed(range(1, series.shape[0])):
        one, two = series[k] + 2.0 * x * one - two, one
    return series[0] + x * one - two


def _refuse_rough(series: Matrix, tolerance: float) -> None:
    """A series whose last terms are not small has not converged: something breaks within a piece."""
    given = errors.known(series)
    if given is None:
        return
    tail, most = np.max(np.abs(given[:, :, -2:]), axis=(1, 2, 3)), np.max(np.abs(given))
    rough = np.flatnonzero(~(tail <= tolerance * most))
    if rough.size:
        i = int(rough[0])
        raise errors.CaromError(
            f"function of Fitted is not smooth enough in piece {i + 1}: its series ends with {tail[i] / most:.1e} of "
            f"its largest value, more than the tolerance {tolerance:g}; put a knot at its kinks, or take more parts"
        )
