"""Linear spring and damper."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ... import errors
from .law import AbstractNormalLaw


class Hooke(AbstractNormalLaw):
    """F = max(k d + c d', 0): the simplest law; its force jumps at touch-down when damped.

    - `stiffness` k [N/m] > 0, `damping` c [N s/m] >= 0
    """

    stiffness: Any
    damping: Any = 0.0

    def __check_init__(self) -> None:
        errors.number("Hooke", "stiffness", self.stiffness, above=0.0)
        errors.number("Hooke", "damping", self.damping, least=0.0)

    def force(self, phase: Any, memory: tuple[Any, ...], d: Any, rate: Any) -> Any:
        return jnp.maximum(self.stiffness * d + self.damping * rate, 0.0)
