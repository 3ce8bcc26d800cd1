"""What a restitution is that depends on the speed of approach."""

from __future__ import annotations

import abc
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp

from .... import errors
from ....quantities import Real
from ...card import Card


class AbstractRestitution(eqx.Module):
    """e(v), in [0, 1] for every v; it stands where an impulsive law takes a restitution: `carom.Poisson(e)`.

    v is the speed at which a contact approaches when its blow begins [m/s], that of a moving surface included. Where
    several contacts share a blow, each has the e of its own speed.
    """

    card: ClassVar[Card]

    @abc.abstractmethod
    def formula(self, speed: Real) -> Any:
        """e at a speed above zero, before it is kept within [0, 1]."""

    def at(self, speed: Real) -> Any:
        """e at a speed [m/s]; where it is not above zero, e at the smallest there is, with a finite derivative."""
        coming = speed > TINY
        return jnp.clip(self.formula(jnp.where(coming, speed, TINY)), 0.0, 1.0)


TINY = 1e-12  # [m/s]: slower, nothing rebounds


def restitution_at(restitution: Real | AbstractRestitution, speed: Real) -> Any:
    """A number, or what it is at this speed."""
    return restitution.at(speed) if isinstance(restitution, AbstractRestitution) else restitution


def check_restitution(owner: str, restitution: Real | AbstractRestitution, field: str = "restitution") -> None:
    """A number in [0, 1], or one of these forms, which has checked its own numbers."""
    if isinstance(restitution, AbstractRestitution):
        return
    errors.number(owner, field, restitution, least=0.0)
    errors.refuse_if(
        restitution > 1.0,
        lambda: (
            f"{field} of {owner} is {float(restitution):g}; it must lie in [0, 1]; 0 is plastic, 1 perfectly elastic"
        ),
    )
