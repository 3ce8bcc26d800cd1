"""Conditions that end a phase of a schedule."""

from __future__ import annotations

import abc
from typing import Any

import equinox as eqx
import jax.numpy as jnp

from .. import errors
from ..hybrid.scene import Scene
from ..mechanism import Site


class AbstractSwitch(eqx.Module):
    """A scalar that crosses zero upwards when the phase is over."""

    @abc.abstractmethod
    def guard(self, scene: Scene) -> Any: ...


class OnStrike(AbstractSwitch):
    """The phase ends when the contact of that name closes."""

    contact: str = eqx.field(static=True)

    def guard(self, scene: Scene) -> Any:
        errors.name_in("contact", self.contact, tuple(scene.phases))
        return jnp.where(scene.phases[self.contact] != 0, 1.0, -1.0)


class AtHeight(AbstractSwitch):
    """The phase ends when the site rises through a height [m] (or falls through it, with rising=False)."""

    site: Site = eqx.field(static=True)
    height: Any
    rising: bool = eqx.field(static=True, default=True)

    def guard(self, scene: Scene) -> Any:
        y = scene.site(self.site)[1]
        return y - self.height if self.rising else self.height - y


class AtTime(AbstractSwitch):
    """The phase ends at a time [s]."""

    time: Any

    def guard(self, scene: Scene) -> Any:
        return scene.t - self.time
