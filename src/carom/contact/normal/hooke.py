"""Linear spring and damper."""

from __future__ import annotations

from typing import Any, ClassVar

import jax.numpy as jnp

from ... import errors
from ...quantities import Memory, Real
from ..card import Card
from .slack import AbstractSlackening


class Hooke(AbstractSlackening):
    """F = max(k d + c d', 0): spring and damper side by side (Kelvin and Voigt).

    The force jumps to c v0 at touch-down. It would pull before the indentation is back at zero: there the contact is
    *slack*, from one event to the next or to the release.
    Its restitution depends on the damping ratio c / (2 sqrt(k m)) alone, so on the mass, and not on the speed.

    - `stiffness` k [N/m] > 0, `damping` c [N s/m] >= 0
    """

    card: ClassVar[Card] = Card(
        name="hooke",
        formula="F = max(k d + c d', 0)",
        parameters=(("stiffness", "k [N/m] > 0"), ("damping", "c [N s/m] >= 0, 0 by default")),
        source="linear spring and dashpot in parallel (Kelvin and Voigt)",
        choose="flat faces, rubber mounts, bodies that rest on a floor; not where the force at touch-down matters: it "
        "starts with a jump",
    )

    stiffness: Any
    damping: Any = 0.0

    def __check_init__(self) -> None:
        errors.number("Hooke", "stiffness", self.stiffness, above=0.0)
        errors.number("Hooke", "damping", self.damping, least=0.0)

    def _lead(self, d: Real, rate: Real) -> Any:
        """The indentation [m] that the spring alone would need for the same force."""
        return d + self.damping / self.stiffness * rate

    def formula(self, memory: Memory, d: Real, rate: Real) -> Any:
        return self.stiffness * self._lead(d, rate)  # of the sign of the guard, to the last bit

    def firmness(self, memory: Memory, d: Real, rate: Real) -> Any:
        # Without damping the force ends with the contact: one event, the release.
        return jnp.where(jnp.asarray(self.damping) > 0.0, self._lead(d, rate), 1.0)
