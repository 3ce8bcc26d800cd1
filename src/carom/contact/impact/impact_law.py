"""What a law of restitution is: it says when a blow is over."""

from __future__ import annotations

import abc
from typing import Any, ClassVar

import equinox as eqx

from ... import errors
from ...quantities import Real
from ..card import Card
from ._path import Path


class AbstractImpactLaw(eqx.Module):
    """Restitution of an impulsive blow."""

    card: ClassVar[Card]
    several: ClassVar[bool] = True  # does it say what several contacts at one instant do?

    @property
    @abc.abstractmethod
    def asked(self) -> Any:
        """Restitution e in [0, 1]."""

    @abc.abstractmethod
    def end(self, path: Path, restitution: Real) -> Any:
        """Normal impulse [N s] at which the blow is over; `restitution` is e, or 0 where the rebound is to settle."""


def check_restitution(owner: str, restitution: Real) -> None:
    errors.number(owner, "restitution", restitution, least=0.0)
    errors.refuse_if(
        restitution > 1.0,
        lambda: (
            f"restitution of {owner} is {float(restitution):g}; it must lie in [0, 1]; 0 is plastic, 1 perfectly "
            "elastic"
        ),
    )
