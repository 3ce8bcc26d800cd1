"""The loss factor of Gonthier, McPhee, Lange and Piedboeuf: the exact one of the family."""

from __future__ import annotations

from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from ...quantities import Function, Real
from ..card import Card
from .family import FORMULA, PARAMETERS_ABOVE_ZERO, AbstractHuntCrossley, balance

STEPS = 6  # of Newton; from starts within 2 % of the root three already reach rounding


class Gonthier(AbstractHuntCrossley):
    """f = s/c with s from (1 + s/c)/(1 - s) = exp(s (1 + 1/c)). Gonthier et al. 2004.

    This is the family's energy equation itself (`family.py`), so the restitution achieved is the one asked for. The
    authors also give s = 1 - c^2 as a short cut, which many papers quote as their law; it is what carom starts from to
    solve the equation, and by itself achieves 0.876 for c = 0.9.
    """

    card: ClassVar[Card] = Card(
        name="gonthier",
        formula=FORMULA + "s/c with (1 + s/c)/(1 - s) = exp(s (1 + 1/c))",
        parameters=PARAMETERS_ABOVE_ZERO,
        source="Gonthier, McPhee, Lange and Piedboeuf 2004, Multibody System Dynamics 11, 209-233",
        choose="whenever the restitution that is asked for has to come out: it is exact for every c above 0",
    )

    divides: ClassVar[bool] = True

    @staticmethod
    def loss(c: Real) -> Any:
        c = jnp.asarray(c, dtype=float)
        return jnp.where(c < 0.5, _strong(jnp.minimum(c, 0.5)), _slight(jnp.maximum(c, 0.5)))


def _strong(c: Real) -> Any:
    """c <= 1/2: in s, which is near 1; exponentials instead of logarithms, which are singular there."""

    def equation(s: Real) -> Any:
        return 1.0 - s - (1.0 + s / c) * jnp.exp(-s * (1.0 + 1.0 / c))

    return _newton(equation, 1.0 - c * c) / c


def _slight(c: Real) -> Any:
    """c >= 1/2: in f, by the balance from which the root f = 0, which every c has, is divided out."""
    return _newton(lambda f: balance(f, c), 1.5 * (1.0 - c) * (11.0 - c) / (1.0 + 9.0 * c))


def _newton(equation: Function, x: Real) -> Any:
    for _ in range(STEPS):
        value, slope = jax.jvp(equation, (x,), (jnp.ones_like(x),))
        x = x - value / slope
    return x
