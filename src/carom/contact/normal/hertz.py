"""Hertz's elastic contact."""

from __future__ import annotations

from typing import Any

from ... import errors
from ..power import three_halves
from .law import AbstractNormalLaw


class Hertz(AbstractNormalLaw):
    """F = K d^1.5, without loss. Hertz 1881.

    - `stiffness` K [N/m^1.5] > 0; `carom.hertz_stiffness(a, b, radius)` computes it from two materials
    """

    stiffness: Any

    def __check_init__(self) -> None:
        errors.number("Hertz", "stiffness", self.stiffness, above=0.0)

    def force(self, phase: Any, memory: tuple[Any, ...], d: Any, rate: Any) -> Any:
        return self.stiffness * three_halves(d)
