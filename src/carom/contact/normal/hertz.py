"""Hertz's elastic contact."""

from __future__ import annotations

from typing import Any, ClassVar

from ... import errors
from ..._arguments import MaterialLike
from ...quantities import Memory, PhaseNumber, Real
from ..card import Card
from ..material import hertz_stiffness
from ..power import three_halves
from .normal_law import AbstractNormalLaw


class Hertz(AbstractNormalLaw):
    """F = K d^1.5, without loss. Hertz 1881.

    - `stiffness` K [N/m^1.5] > 0; `Hertz.of(steel, rubber, radius=0.01)` computes it from two materials
    """

    card: ClassVar[Card] = Card(
        name="hertz",
        formula="F = K d^1.5",
        parameters=(("stiffness", "K [N/m^1.5] > 0; Hertz.of(a, b, radius=...) takes it from two materials"),),
        source="Hertz 1881, Journal fuer die reine und angewandte Mathematik 92, 156-171",
        choose="smooth elastic solids and slow blows, where nothing is lost; and as the baseline for comparison",
    )

    stiffness: Any

    def __check_init__(self) -> None:
        errors.number("Hertz", "stiffness", self.stiffness, above=0.0)

    @classmethod
    def of(cls, first: MaterialLike, second: MaterialLike, radius: Real, other_radius: Real | None = None) -> Hertz:
        """Sphere of `radius` [m] on a flat, or on a sphere of `other_radius` [m]."""
        return cls(hertz_stiffness(first, second, radius, other_radius))

    def force(self, phase: PhaseNumber, memory: Memory, d: Real, rate: Real) -> Any:
        return self.stiffness * three_halves(d)
