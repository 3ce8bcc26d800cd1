"""What a compliant normal law is: a force through one or more phases of an impact."""

from __future__ import annotations

import abc
from typing import Any

import equinox as eqx


class AbstractNormalLaw(eqx.Module):
    """Normal force as a function of indentation d [m] and its rate [m/s], in the phases of an impact.

    Phase 0 is entered at touch-down. `exits` are the law's own changes of phase; the end of the contact is `release`.
    """

    @property
    def phases(self) -> tuple[str, ...]:
        return ("closed",)

    @property
    def exits(self) -> tuple[str, ...]:
        return ()

    @property
    def memory(self) -> tuple[str, ...]:
        return ()

    def touch(self, rate: Any) -> tuple[Any, ...]:
        """Memory at touch-down with the given approach speed."""
        return ()

    @abc.abstractmethod
    def force(self, phase: Any, memory: tuple[Any, ...], d: Any, rate: Any) -> Any:
        """Normal force [N], positive when it pushes."""

    def guard(self, phase: Any, memory: tuple[Any, ...], d: Any, rate: Any) -> tuple[Any, ...]:
        """One scalar per exit."""
        return ()

    def jump(self, fired: tuple[Any, ...], phase: Any, memory: tuple[Any, ...], d: Any) -> tuple[Any, tuple[Any, ...]]:
        """New phase and memory."""
        return phase, memory

    def release(self, phase: Any, memory: tuple[Any, ...], d: Any) -> Any:
        """Guard of the end of the contact: non-negative once the bodies have parted."""
        return -d
