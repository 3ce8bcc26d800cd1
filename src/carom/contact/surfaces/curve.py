"""What curves share: the distance to the nearest point, the foot, which a Newton iteration finds."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from ... import errors, native
from ...quantities import Function, Real, Reals
from .surface import AbstractSurface

STEPS = 8  # of Newton's iteration; near a surface three are enough
BENT = 0.1  # share of the straight line's curvature of the squared distance below which Newton's model is not trusted
SAME_SIDE = 1e-24  # [m^2] products of gaps smaller than this are rounding


class AbstractCurve(AbstractSurface):
    """A smooth curve whose foot points are found by iteration.

    Within the curve's radius of curvature the foot is unique and the gap a true distance. Farther away a point may have
    several feet: the sign of the gap stays right, its size is that of one of them.
    """

    @abc.abstractmethod
    def foot(self, x: Real, y: Real) -> tuple[Any, Any, Any, Any]:
        """The foot (x, y) of a point and the unit normal (x, y) there."""

    def locate(self, x: Real, y: Real, t: Real) -> tuple[Any, tuple[Any, Any]]:
        x, y = jnp.asarray(x, dtype=float), jnp.asarray(y, dtype=float)
        fx, fy, nx, ny = self.foot(x, y)
        return (x - fx) * nx + (y - fy) * ny, (nx, ny)

    def gap(self, x: Real, y: Real, t: Real) -> Any:
        return self.locate(x, y, t)[0]

    def normal(self, x: Real, y: Real, t: Real) -> tuple[Any, Any]:
        return self.locate(x, y, t)[1]


def settled(search: Callable[[Any], Any], newton: Callable[[Any], Any], start: PyTree, steps: int = STEPS) -> Any:
    """Iterate `search` without derivatives, then take two differentiable steps of `newton`.

    Newton's error is squared in every step, so two steps from the solution carry its derivatives exactly up to the
    third order; the many steps before need not be differentiated. `search` must not see what carries derivatives.
    """
    found = jax.lax.fori_loop(0, steps, lambda _, at: search(at), jax.lax.stop_gradient(start))
    return newton(newton(jax.lax.stop_gradient(found)))


def refuse_function(owner: str, field: str, function: Function, example: str) -> None:
    """Refuse what cannot be called."""
    if not callable(function):
        raise errors.CaromError(
            f"{field} of {owner} is a {type(function).__name__}; it must be a function written with jax.numpy, "
            f"such as {example}"
        )


def probed(owner: str, field: str, function: Function, args: tuple[Any, ...], count: int, where: str) -> Any:
    """What a function gives at one place; refuse one that JAX cannot trace, or that gives not `count` numbers."""
    try:
        shape = jax.eval_shape(function, *args)
    except Exception as cause:  # whatever a user's function may raise
        why = (str(cause).splitlines() or [""])[0]
        raise errors.CaromError(
            f"{field} of {owner} fails at {where} with {type(cause).__name__}: {why}; it must be a function of "
            "numbers, written with jax.numpy"
        ) from cause
    leaves = jax.tree.leaves(shape)
    if len(leaves) != count or any(leaf.shape != () for leaf in leaves):
        got = ", ".join(str(leaf.shape) for leaf in leaves) or "nothing"
        wanted = "a single number, shape ()" if count == 1 else f"{count} single numbers"
        raise errors.CaromError(f"{field} of {owner} gives {got} at {where}; it must give {wanted}")
    return native.at_once(function, *args)


def refuse_unless_finite(owner: str, field: str, values: Reals, where: str) -> None:
    """Refuse values or derivatives that are not finite; traced ones have no value to check."""
    for value, word in zip(values, ("its value", "its first derivative", "its second derivative"), strict=False):
        number = errors.known(value)
        if number is not None and not np.all(np.isfinite(number)):
            raise errors.CaromError(
                f"{field} of {owner}: {word} is {float(number):g} at {where}; it must be finite and smooth wherever "
                "the robot can be; give `probe=` a place inside its domain, or correct the function"
            )


def numbers(owner: str, parameters: PyTree) -> tuple[Any, ...]:
    """Parameters of a user's function as traced leaves."""
    if not isinstance(parameters, tuple | list):
        raise errors.CaromError(
            f"parameters of {owner} is a {type(parameters).__name__}; it must be a tuple of numbers, such as (0.1, 3.0)"
        )
    for i, value in enumerate(parameters):
        try:
            known = errors.known(value)
        except (TypeError, ValueError):
            raise errors.CaromError(f"parameters[{i}] of {owner} is {value!r}; it must be a number or array") from None
        if known is not None and not np.all(np.isfinite(known)):
            raise errors.CaromError(f"parameters[{i}] of {owner} is {value!r}; it must be finite")
    return tuple(jnp.asarray(value, dtype=float) for value in parameters)
