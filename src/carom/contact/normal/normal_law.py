"""What a compliant normal law is: a force through one or more phases of an impact."""

from __future__ import annotations

import abc
from typing import Any, ClassVar

import equinox as eqx

from ...hybrid.reporting import Tone
from ...quantities import Flag, Memory, PhaseNumber, Real
from ..card import Card


class AbstractNormalLaw(eqx.Module):
    """Normal force as a function of indentation d [m] and its rate [m/s], in the phases of an impact.

    Phase 0 is entered at touch-down. `exits` are the law's own changes of phase; the end of the contact is `release`.
    Only `force` must be given; docs/extending.md shows a law of ten lines.
    """

    card: ClassVar[Card]

    @property
    def phases(self) -> tuple[str, ...]:
        return ("closed",)

    @property
    def tones(self) -> tuple[Tone, ...]:
        """In which tones the phases are drawn; one that is "closed" is told apart by whether the bodies approach."""
        closed: Tone = "closed"
        return (closed,) * len(self.phases)

    @property
    def exits(self) -> tuple[str, ...]:
        return ()

    @property
    def memory(self) -> tuple[str, ...]:
        return ()

    def touch(self, rate: Real) -> tuple[Any, ...]:
        """Memory at touch-down with the given approach speed."""
        return ()

    @abc.abstractmethod
    def force(self, phase: PhaseNumber, memory: Memory, d: Real, rate: Real) -> Any:
        """Normal force [N], positive when it pushes."""

    def guard(self, phase: PhaseNumber, memory: Memory, d: Real, rate: Real) -> tuple[Any, ...]:
        """One scalar per exit."""
        return ()

    def jump(self, fired: tuple[Flag, ...], phase: PhaseNumber, memory: Memory, d: Real) -> tuple[Any, tuple[Any, ...]]:
        """New phase and memory."""
        return phase, memory

    def release(self, phase: PhaseNumber, memory: Memory, d: Real) -> Any:
        """Guard of the end of the contact: non-negative once the bodies have parted."""
        return -d

    # -- for laws that remember earlier blows ------------------------------------------------------------------------

    def surface(self, memory: Memory, place: tuple[Any, Any]) -> Any:
        """Indentation [m] at which the bodies meet: 0, or the depth of a dent remembered at this place."""
        return 0.0

    def meet(self, rate: Real, memory: Memory, place: tuple[Any, Any], d: Real = 0.0) -> tuple[Any, tuple[Any, ...]]:
        """Phase and memory at touch-down, given what was remembered from before.

        d is zero up to rounding, but for a contact that was released at a larger one and pushed back before it left.
        """
        return 0, self.touch(rate)

    def barred(self, rate: Real) -> Any:
        """Can no blow begin at this rate [m/s]?"""
        return False

    def refuses(self, rate: Real) -> str | None:
        """Why a contact that is closed from the start, at this approach speed, cannot be served; None if it can."""
        return None

    def beyond(self, memory: Memory) -> str | None:
        """A sentence if what the law remembers (arrays, over the events of a run) is outside what it was made for."""
        return None

    # -- for `carom.achieved_restitution` ----------------------------------------------------------------------------

    def rebound(self, speed: float, mass: float) -> float | None:
        """Restitution by the law's own energy equation, where it has one to solve; None: integrate the motion."""
        return None
