"""The energy ledger: every joule accounted for, at every instant.

    T + V - (T + V at the start) - sum of works = 0

Works are states of the same integration, so what is left over is the integration's own error.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from ..hybrid.condition import ROUNDING


@dataclasses.dataclass(frozen=True)
class Ledger:
    """Energies [J] over the accepted steps."""

    t: np.ndarray
    kinetic: np.ndarray
    potential: np.ndarray
    works: dict[str, np.ndarray]
    start: float  # T + V of the state that the run was given: a blow at the first instant comes after it

    @property
    def total(self) -> np.ndarray:
        return self.kinetic + self.potential

    @property
    def error(self) -> np.ndarray:
        """What the ledger cannot account for [J]."""
        change = self.total - self.start
        return change - sum(self.works.values(), start=np.zeros_like(change))

    @property
    def in_play(self) -> float:
        """The scale of errors: the largest kinetic energy, change of potential energy, or work [J]."""
        before = self.start - self.potential[0]
        swing = [
            before,
            np.max(self.kinetic),
            np.ptp(self.potential),
            *(np.max(np.abs(w)) for w in self.works.values()),
        ]
        return float(max(swing))

    @property
    def missed(self) -> np.ndarray:
        """Size of the error [J]; none where all of it is what rounding does to the energies that are compared.

        Where everything rests, nothing but rounding is in play.
        """
        largest = max(abs(self.start), *(float(np.max(np.abs(x))) for x in (self.kinetic, self.potential)))
        size = np.abs(self.error)
        return size if np.max(size) > ROUNDING * largest else np.zeros_like(size)

    @property
    def max_error_percent(self) -> float:
        return float(100.0 * np.max(self.missed) / self.in_play) if self.in_play > 0 else 0.0

    @property
    def mean_error_percent(self) -> float:
        return float(100.0 * np.mean(self.missed) / self.in_play) if self.in_play > 0 else 0.0

    def __str__(self) -> str:
        lines = [f"energy ledger over {self.t[-1] - self.t[0]:g} s [J]"]
        lines += [f"  {'start':28} {self.start:16.9g}"]
        lines += [f"  {name:28} {work[-1]:+16.9g}" for name, work in self.works.items()]
        lines += [f"  {'end':28} {self.total[-1]:16.9g}"]
        largest = f"(largest {self.max_error_percent:.2e} % of the energy in play)"
        lines += [f"  {'not accounted for':28} {self.error[-1]:+16.3e}   {largest}"]
        return "\n".join(lines)
