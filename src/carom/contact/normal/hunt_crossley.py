"""Hertz's contact with a loss that follows the indentation rate."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp

from ... import errors
from ..power import three_halves
from .law import AbstractNormalLaw

# Loss factor f of F = K d^1.5 (1 + f d'/v0) from the restitution c that is asked for. None of them is exact: the
# restitution achieved differs from c, most for small c.
LOSS = {
    "hunt-crossley": lambda c: 1.5 * (1.0 - c),  # Hunt and Crossley 1975
    "lankarani-nikravesh": lambda c: 0.75 * (1.0 - c * c),  # Lankarani and Nikravesh 1990
    "flores": lambda c: 1.6 * (1.0 - c) / c,  # Flores et al. 2011
    "hu-guo": lambda c: 1.5 * (1.0 - c) / c,  # Hu and Guo 2015
}


class HuntCrossley(AbstractNormalLaw):
    """F = K d^1.5 (1 + f d'/v0), v0 the approach speed remembered from touch-down.

    - `stiffness` K [N/m^1.5] > 0
    - `restitution` c in [0, 1] (greater than 0 where the loss factor divides by it)
    - `loss`: 'hunt-crossley' f = 3(1-c)/2, 'lankarani-nikravesh' 3(1-c^2)/4, 'flores' 8(1-c)/(5c), 'hu-guo' 3(1-c)/(2c)
    """

    stiffness: Any
    restitution: Any
    loss: str = eqx.field(static=True, default="hunt-crossley")

    def __check_init__(self) -> None:
        errors.number("HuntCrossley", "stiffness", self.stiffness, above=0.0)
        errors.number("HuntCrossley", "restitution", self.restitution, least=0.0)
        errors.name_in("loss factor", self.loss, tuple(LOSS))
        c = errors.known(self.restitution)
        if c is not None and c > 1.0:
            raise errors.CaromError(f"restitution of HuntCrossley is {float(c):g}; it must lie in [0, 1]; 1 is elastic")
        if c is not None and c == 0.0 and self.loss in ("flores", "hu-guo"):
            raise errors.CaromError(
                f"restitution of HuntCrossley is 0 with loss '{self.loss}', which divides by it; "
                "give a value above 0, or use an impulsive law for a plastic blow"
            )

    @property
    def memory(self) -> tuple[str, ...]:
        return ("approach speed",)

    def touch(self, rate: Any) -> tuple[Any, ...]:
        return (jnp.maximum(rate, 1e-12),)  # a touch without approach must not divide by zero

    def force(self, phase: Any, memory: tuple[Any, ...], d: Any, rate: Any) -> Any:
        f = LOSS[self.loss](self.restitution)
        return self.stiffness * three_halves(d) * jnp.maximum(1.0 + f * rate / memory[0], 0.0)
