"""The family of Hunt and Crossley: a power of the indentation times a loss that follows its rate.

    F = K d^n (1 + f d'/v0),    v0 the approach speed at touch-down, f the loss factor

It never pulls: parted faster than v0/f, the bodies are *slack* (`slack.py`).

Its energy equation separates. With u = d'/v0 it reads u du / (1 + f u) = -(K / (m v0^2)) d^n dd, and d is 0 both where
u = 1 and where u = -e, so that the integral of u / (1 + f u) from -e to 1 vanishes:

    f (1 + e) = ln((1 + f) / (1 - f e))

The restitution e follows from f alone: stiffness, exponent, mass and speed have no say in it. It is less than 1/f, the
speed at which the force would vanish. The members differ in the f that they choose for a restitution c asked for.
"""

from __future__ import annotations

import abc
from typing import Any, ClassVar, TypeVar

import jax
import jax.numpy as jnp

from ... import errors
from ..._arguments import MaterialLike
from ...quantities import Memory, Real
from ..material import hertz_stiffness
from ..power import power
from .slack import AbstractSlackening

Member = TypeVar("Member", bound="AbstractHuntCrossley")

SLOWEST = 1e-12  # [m/s] approach speed below which a loss relative to it has no meaning

FORMULA = "F = K d^n (1 + f d'/v0), f = "

PARAMETERS = (
    ("stiffness", "K [N/m^n] > 0; .of(a, b, radius=..., restitution=...) takes Hertz's from two materials"),
    ("restitution", "c in [0, 1], asked for; `carom restitution` says what is achieved"),
    ("exponent", "n >= 1, 3/2 by default"),
)

# The same for members whose loss factor divides by c.
PARAMETERS_ABOVE_ZERO = (
    PARAMETERS[0],
    ("restitution", "c in (0, 1], asked for; `carom restitution` says what is achieved"),
    PARAMETERS[2],
)


class AbstractHuntCrossley(AbstractSlackening):
    """F = K d^n (1 + f d'/v0); a member gives its loss factor f(c), its card, and whether f divides by c.

    - `stiffness` K [N/m^n] > 0
    - `restitution` c in [0, 1] (above 0 where the loss factor divides by it)
    - `exponent` n >= 1; Hertz's 3/2 if not given
    """

    divides: ClassVar[bool] = False

    stiffness: Any
    restitution: Any
    exponent: Any = None

    def __check_init__(self) -> None:
        name = type(self).__name__
        errors.number(name, "stiffness", self.stiffness, above=0.0)
        if self.exponent is not None:
            errors.number(name, "exponent", self.exponent, least=1.0)
        errors.number(name, "restitution", self.restitution)
        c = self.restitution
        errors.refuse_if(
            (c < 0.0) | (c > 1.0),
            lambda: (
                f"restitution of {name} is {float(c):g}; it must lie in [0, 1]; 1 is elastic, 0 takes all the speed"
            ),
            field="restitution",
        )
        errors.refuse_if(
            self.divides & (c == 0.0),
            lambda: (
                f"restitution of {name} is 0, and its loss factor divides by it; it must be greater than 0; give a "
                "small value such as 0.01, or use an impulsive law for a plastic blow"
            ),
            field="restitution",
        )

    @classmethod
    def of(
        cls: type[Member],
        first: MaterialLike,
        second: MaterialLike,
        radius: Real,
        restitution: Real,
        other_radius: Real | None = None,
    ) -> Member:
        """Sphere of `radius` [m] on a flat, or on a sphere of `other_radius` [m], with Hertz's stiffness."""
        return cls(hertz_stiffness(first, second, radius, other_radius), restitution)

    @staticmethod
    @abc.abstractmethod
    def loss(c: Real) -> Any:
        """Loss factor f for the restitution c that is asked for."""

    @property
    def memory(self) -> tuple[str, ...]:
        return ("approach speed", "loss factor")

    def touch(self, rate: Real) -> tuple[Any, ...]:
        # The loss factor is kept with the speed because some members solve an equation for it: once a blow is enough.
        return jnp.maximum(rate, SLOWEST), self.loss(self.restitution)

    def formula(self, memory: Memory, d: Real, rate: Real) -> Any:
        return self.stiffness * power(d, self.exponent) * self.firmness(memory, d, rate)

    def firmness(self, memory: Memory, d: Real, rate: Real) -> Any:
        speed, loss = memory
        return 1.0 + loss * rate / speed

    def barred(self, rate: Real) -> Any:
        return (rate <= SLOWEST) & (self.restitution != 1.0)

    def refuses(self, rate: Real) -> str | None:
        speed, barred = errors.known(rate), self.barred(rate)
        if speed is None or not bool(barred):
            return None
        return (
            f"the approach speed is {abs(float(speed)):g} m/s, and {type(self).__name__} measures its loss by that "
            "speed: a body put down at rest would meet an infinitely stiff damper; start it a little above the "
            "surface, or use carom.Hooke with damping"
        )

    def rebound(self, speed: float, mass: float) -> float:
        from scipy.optimize import brentq  # here, because it loads slowly and few need it

        f = float(jax.jit(self.loss)(float(self.restitution)))  # compiled: studies ask thousands of times
        return float(brentq(lambda e: float(_balance(f, e)), 0.0, 1.0 if f < 1.0 else 1.0 / f, xtol=1e-15))


def balance(f: Real, e: Real) -> Any:
    """Integral of u / (1 + f u) from -e to 1: zero for the restitution e that belongs to the loss factor f."""
    return _remainder(f) - e * e * _remainder(-f * e)


_balance = jax.jit(balance)


def _remainder(x: Real) -> Any:
    """(x - ln(1 + x)) / x^2, which is 1/2 - x/3 + x^2/4 - ..: by its series where the difference would cancel."""
    small = jnp.abs(x) < 0.1
    near, far = jnp.where(small, x, 0.0), jnp.where(small, 1.0, x)
    series = jnp.zeros_like(near)
    for k in reversed(range(2, 18)):
        series = 1.0 / k - near * series
    return jnp.where(small, series, (far - jnp.log1p(far)) / (far * far))
