"""Conditions that end a phase of a schedule."""

from __future__ import annotations

import abc
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp

from .. import errors
from .._arguments import ContactLike
from ..forms import Form, Slot
from ..hybrid.condition import edge
from ..hybrid.scene import Scene
from ..mechanism import Site


class AbstractSwitch(eqx.Module):
    """What ends a phase: a condition, or a number that rises from negative to non-negative."""

    @abc.abstractmethod
    def guard(self, scene: Scene) -> Any: ...

    def sweep(self, scene: Scene) -> Any:
        """Bound of the number's rate from `scene.fastest`; None where more than time and coordinates decide."""
        return None

    @property
    def instant(self) -> Any:
        """The time [s] at which it ends, if that is known; else None."""
        return None


class OnStrike(AbstractSwitch):
    """The phase ends when a contact closes, given by its name or itself.

        OnStrike("tip"), OnStrike(carom.Contact(...))

    A rigid contact that rebounds is open before and after the blow, so its touch is what counts.
    """

    form: ClassVar[Form] = Form("strike", "a contact closes", (Slot("contact", "contact", "its name"),))

    contact: str = eqx.field(static=True)

    def __init__(self, contact: ContactLike) -> None:
        name = contact if isinstance(contact, str) else getattr(contact, "name", None)
        if not isinstance(name, str):
            raise errors.CaromError(
                f"contact of OnStrike is a {type(contact).__name__}; it must be the contact, or its name (give it one: "
                "name=)"
            )
        self.contact = name

    def guard(self, scene: Scene) -> Any:
        if self.contact in scene.strikes:
            # True at the instant of a blow alone: a contact that rebounds is open before and after it.
            return edge(jnp.where(scene.strikes[self.contact] == scene.t, 1.0, -1.0))
        errors.name_in("contact", self.contact, (*scene.phases, *scene.strikes))
        return jnp.where(scene.phases[self.contact] != 0, 1.0, -1.0)


class AtHeight(AbstractSwitch):
    """The phase ends when the site rises through a height [m] (or falls through it, with rising=False)."""

    form: ClassVar[Form] = Form(
        "height",
        "a site passes a height",
        (
            Slot("site", "site", "its name"),
            Slot("height", "number", "[m]"),
            Slot("rising", "flag", "on the way up (true) or down", True),
        ),
    )

    site: Site = eqx.field(static=True)
    height: Any
    rising: bool = eqx.field(static=True, default=True)

    def __check_init__(self) -> None:
        errors.number("AtHeight", "height", self.height)

    def guard(self, scene: Scene) -> Any:
        y = scene.site(self.site)[1]
        return edge(y - self.height if self.rising else self.height - y, size=scene.extent(self.site) + jnp.abs(y))

    def sweep(self, scene: Scene) -> Any:
        return 0.0 if scene.fastest is None else scene.reach(self.site, scene.fastest)


class AtTime(AbstractSwitch):
    """The phase ends at a time [s]."""

    form: ClassVar[Form] = Form("time", "an instant", (Slot("time", "number", "[s]"),))

    time: Any

    def __check_init__(self) -> None:
        errors.number("AtTime", "time", self.time)

    def guard(self, scene: Scene) -> Any:
        return edge(scene.t - self.time, size=0.0)  # a step ends there exactly

    @property
    def instant(self) -> Any:
        return self.time
