"""Laws whose formula would pull at some rates: there the contact is slack, and an event says when that begins."""

from __future__ import annotations

import abc
from typing import Any

import jax.numpy as jnp

from ...hybrid.automaton import NEVER
from ...hybrid.reporting import Tone
from ...quantities import Flag, Memory, PhaseNumber, Real
from .normal_law import AbstractNormalLaw

CLOSED, SLACK = 0, 1


class AbstractSlackening(AbstractNormalLaw):
    """F = max(formula, 0), in two phases: the bodies push, or they are slack and part without force.

    The corner of max(.., 0) is where the phase changes, so that no step straddles it and derivatives through it are
    exact: within a phase the force is smooth. While `closed` the formula is not cut off; its sign is the exit's guard.
    """

    @abc.abstractmethod
    def formula(self, memory: Memory, d: Real, rate: Real) -> Any:
        """Force [N] while the bodies push."""

    @abc.abstractmethod
    def firmness(self, memory: Memory, d: Real, rate: Real) -> Any:
        """What is positive where the formula pushes, and crosses zero with it at a rate that is not zero."""

    @property
    def phases(self) -> tuple[str, ...]:
        return ("closed", "slack")

    @property
    def tones(self) -> tuple[Tone, ...]:
        return ("closed", "restitution")

    @property
    def exits(self) -> tuple[str, ...]:
        return ("slacken", "tighten")

    def force(self, phase: PhaseNumber, memory: Memory, d: Real, rate: Real) -> Any:
        return jnp.where(phase == CLOSED, self.formula(memory, d, rate), 0.0)

    def guard(self, phase: PhaseNumber, memory: Memory, d: Real, rate: Real) -> tuple[Any, ...]:
        firm = self.firmness(memory, d, rate)
        return jnp.where(phase == CLOSED, -firm, NEVER), jnp.where(phase == SLACK, firm, NEVER)

    def jump(self, fired: tuple[Flag, ...], phase: PhaseNumber, memory: Memory, d: Real) -> tuple[Any, tuple[Any, ...]]:
        slacken, tighten = fired
        return jnp.where(slacken, SLACK, jnp.where(tighten, CLOSED, phase)), memory
