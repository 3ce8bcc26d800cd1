"""What a friction law is."""

from __future__ import annotations

import abc
from typing import Any, ClassVar

import equinox as eqx

from ..card import Card


class AbstractFriction(eqx.Module):
    """Tangential force [N] from normal force [N] and sliding velocity [m/s]; it opposes the sliding.

    Laws with states of their own (bristles) give `states` and `flow`; laws that stick exactly are `AbstractDry`.
    """

    card: ClassVar[Card]

    @abc.abstractmethod
    def force(self, normal: Any, sliding: Any) -> Any:
        """The force in steady sliding."""

    @property
    def states(self) -> tuple[str, ...]:
        """Names of the numbers that it lets flow; all are zero at touch-down."""
        return ()

    def flow(self, states: tuple[Any, ...], normal: Any, sliding: Any) -> tuple[Any, tuple[Any, ...]]:
        """The force, and the rates of the states."""
        return self.force(normal, sliding), ()


class Frictionless(AbstractFriction):
    """No friction."""

    card = Card(
        "none", "F_t = 0", (), "", "To see what friction does, by leaving it out; polished or lubricated pairs."
    )

    def force(self, normal: Any, sliding: Any) -> Any:
        return 0.0 * normal
