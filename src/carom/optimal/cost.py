"""What a path costs: functions of state and inputs, with the derivatives that JAX finds.

J = sum over steps of running(x_k, u_k) dt + terminal(x_N)
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .. import errors
from .._arguments import Count
from ..quantities import Function, Given, Matrix, Real, Vector


class QuadraticCost:
    """Weighted squares: (x - target)^T X (x - target) / 2 + (u - effort)^T U (u - effort) / 2.

    - `x`, `u`: weights, one for each state (coordinates, then velocities, as in `Stepping.x`) and each input, or a
      matrix; nothing of it counts where they are left out
    - `target`, `effort`: where states and inputs cost nothing; zero where they are left out

    As running cost it is per second; as terminal cost it has no `u`.

        cost = carom.QuadraticCost(x=[100.0, 1.0], target=[0.5, 0.0])
        cost([0.6, 0.0])        # 0.5
    """

    def __init__(
        self,
        x: Given | Matrix | None = None,
        u: Given | Matrix | None = None,
        target: Given | None = None,
        effort: Given | None = None,
    ) -> None:
        if x is None and u is None:
            raise errors.CaromError("QuadraticCost has neither x nor u; give weights of at least one of them")
        self.x, self.u = _weights("x", x), _weights("u", u)
        self.target, self.effort = _middle("target", target, "x", self.x), _middle("effort", effort, "u", self.u)

    def __call__(self, x: Vector, u: Vector | None = None) -> Any:
        return _form(self.x, self.target, "states", x) + (0.0 if u is None else _form(self.u, self.effort, "inputs", u))


def _weights(field: str, given: Any) -> np.ndarray | None:
    if given is None:
        return None
    try:
        found = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise errors.CaromError(f"{field} of QuadraticCost is {given!r}; it must be numbers, or a matrix") from None
    found = np.diag(found) if found.ndim == 1 else found
    if found.ndim != 2 or found.shape[0] != found.shape[1] or not len(found):
        raise errors.CaromError(
            f"{field} of QuadraticCost has shape {np.shape(given)}; give one weight for each, or a square matrix"
        )
    if not np.all(np.isfinite(found)):
        raise errors.CaromError(f"{field} of QuadraticCost has a weight that is not finite")
    found = 0.5 * (found + found.T)
    least = float(np.min(np.linalg.eigvalsh(found)))
    if least < -1e-12 * float(np.max(np.abs(found), initial=0.0)):
        raise errors.CaromError(
            f"{field} of QuadraticCost has the eigenvalue {least:.3g}; weights must not be negative, else the cost has "
            "no least value"
        )
    return found


def _middle(field: str, given: Given | None, of: str, weights: np.ndarray | None) -> np.ndarray:
    size = 0 if weights is None else len(weights)
    if given is None:
        return np.zeros(size)
    if weights is None:
        raise errors.CaromError(
            f"{field} of QuadraticCost is given, but no weights {of}; without them it has no effect"
        )
    errors.vector("QuadraticCost", field, given, size)
    return np.asarray(given, dtype=float)


def _form(weights: np.ndarray | None, middle: np.ndarray, what: str, at: Vector) -> Any:
    if weights is None:
        return 0.0
    at = jnp.asarray(at, dtype=float)
    if at.shape != middle.shape:
        raise errors.CaromError(f"QuadraticCost has {len(middle)} weights for {at.shape[0]} {what}; give one for each")
    away = at - middle
    return 0.5 * away @ weights @ away


@dataclasses.dataclass(frozen=True)
class Costs:
    """Running and terminal cost of paths with steps of `dt`, looked at once whether they are what they must be."""

    running: Function | None
    terminal: Function | None
    dt: float

    def checked(self, size: Count, inputs: Count) -> Costs:
        """Refuse what is no function of states and inputs, or gives no number."""
        if self.running is None and self.terminal is None:
            raise errors.CaromError("ilqr has neither a running nor a terminal cost; give at least one of them")
        x, u = (jax.ShapeDtypeStruct((n,), np.float64) for n in (size, inputs))
        for field, cost, given in (("running", self.running, (x, u)), ("terminal", self.terminal, (x,))):
            if cost is not None:
                _check(field, cost, given)
        return self

    def rows(self, x: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, float]:
        """Cost of every step, and that of the end."""
        each, end = _values(self.running, self.terminal, x, u)
        return np.asarray(each) * self.dt, float(end)

    def whole(self, x: np.ndarray, u: np.ndarray) -> float:
        """Cost of a path; infinite where it is no number."""
        each, end = self.rows(x, u)
        found = float(np.sum(each)) + end
        return found if np.isfinite(found) else np.inf

    def bent(self, x: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, ...]:
        """First and second derivatives: lx, lu, lxx, luu, lux, ex, exx; the second without what bends downwards."""
        n = x.shape[1]
        slope, bend, ex, exx = (np.asarray(d) for d in _derivatives(self.running, self.terminal, x, u))
        slope, bend, exx = slope * self.dt, _upwards(bend) * self.dt, _upwards(exx[None])[0]
        return slope[:, :n], slope[:, n:], bend[:, :n, :n], bend[:, n:, n:], bend[:, n:, :n], ex, exx


def _check(field: str, cost: Function, given: tuple[Any, ...]) -> None:
    if not callable(cost):
        raise errors.CaromError(
            f"{field} of ilqr is a {type(cost).__name__}; it must be a function of "
            f"{'x, u' if len(given) == 2 else 'x'}, or carom.QuadraticCost(...)"
        )
    try:
        _refuse_places(cost, given)
        found = jax.eval_shape(lambda *a: jnp.asarray(cost(*a)), *given)
    except errors.CaromError:
        raise
    except Exception as trouble:  # whatever a user's function does with numbers that are traced
        said = str(trouble).splitlines()[0] if str(trouble) else type(trouble).__name__
        raise errors.CaromError(
            f"{field} of ilqr cannot be evaluated: {said}; it is called with arrays of JAX of shapes "
            f"{', '.join(str(a.shape) for a in given)}, and must be made of jax.numpy"
        ) from None
    real = jnp.issubdtype(found.dtype, jnp.floating) or jnp.issubdtype(found.dtype, jnp.integer)
    if found.shape != () or not real:
        raise errors.CaromError(
            f"{field} of ilqr returns {found.dtype} of shape {found.shape}; it must return one number (shape ())"
        )


def _refuse_places(cost: Function, given: tuple[Any, ...]) -> None:
    """Of x[5] of two states JAX takes the second in silence; NumPy says that there is none."""
    try:
        with np.errstate(all="ignore"):
            jax.eval_shape(lambda: jnp.asarray(cost(*(np.zeros(each.shape) for each in given))))
    except IndexError:
        raise
    except Exception:  # JAX's arrays can more than NumPy's (x.at); what is wrong with those is asked next
        return


def _upwards(bend: np.ndarray) -> np.ndarray:
    """The nearest matrices without negative eigenvalues: a step along those would be uphill soon."""
    bend = 0.5 * (bend + np.swapaxes(bend, -1, -2))
    if not np.all(np.isfinite(bend)):
        return bend
    sizes, axes = np.linalg.eigh(bend)
    return np.asarray((axes * np.maximum(sizes, 0.0)[..., None, :]) @ np.swapaxes(axes, -1, -2))


@partial(jax.jit, static_argnums=(0, 1))
def _values(running: Function | None, terminal: Function | None, x: Matrix, u: Matrix) -> Any:
    each = jnp.zeros(len(u)) if running is None else jax.vmap(lambda a, b: _number(running(a, b)))(x[:-1], u)
    return each, jnp.asarray(0.0) if terminal is None else _number(terminal(x[-1]))


@partial(jax.jit, static_argnums=(0, 1))
def _derivatives(running: Function | None, terminal: Function | None, x: Matrix, u: Matrix) -> Any:
    n = x.shape[1]
    both = jnp.concatenate([x[:-1], u], axis=1)

    def step(z: Vector) -> Any:
        return jnp.asarray(0.0) if running is None else _number(running(z[:n], z[n:]))

    def end(z: Vector) -> Any:
        return jnp.asarray(0.0) if terminal is None else _number(terminal(z))

    return (
        jax.vmap(jax.grad(step))(both),
        jax.vmap(jax.hessian(step))(both),
        jax.grad(end)(x[-1]),
        jax.hessian(end)(x[-1]),
    )


def _number(value: Real) -> Any:
    return jnp.asarray(value, dtype=float)
