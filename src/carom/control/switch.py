"""Conditions that end a phase of a schedule."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp

from .. import errors
from .._arguments import ContactLike
from ..forms import Form, Slot
from ..hybrid.automaton import AbstractAutomaton
from ..hybrid.condition import ROUNDING, Condition, condition_of, edge, level, turning
from ..hybrid.scene import Scene
from ..mechanism import Mechanism, Site
from ..quantities import Real
from ..signal import Signal, known_names

AT_ONCE = 1e-12  # [s] a strike no later than this after an instant is the one that the instant was taken from


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

    @property
    def waits(self) -> Any:
        """How long [s] after its beginning it ends, if that is known; else None."""
        return None

    def as_text(self) -> str | None:
        """As state machines and `until` write it; None: they do not."""
        return None

    def check(self, mechanism: Mechanism, others: Sequence[AbstractAutomaton]) -> None:
        """Refuse a world that it cannot be used in."""

    def crossing(self, scene: Scene) -> Any:
        """The same for what ends a run: it counts when it becomes true, not where it is so from the start."""
        return self.guard(scene)

    def since(self, scene: Scene, instant: Real) -> Condition:
        """Has it happened after that instant [s]? For clocks that it starts again and again."""
        return condition_of(self.crossing(scene))._replace(edge=True)


class OnStrike(AbstractSwitch):
    """The phase ends when a contact closes, given by its name or itself.

        OnStrike("tip"), OnStrike(carom.Contact(...))

    A rigid contact that rebounds is open before and after the blow, so its touch is what counts.
    """

    form: ClassVar[Form] = Form("strike", "a contact closes", (Slot("contact", "contact", "its name"),))

    contact: str = eqx.field(static=True)

    def __init__(self, contact: ContactLike) -> None:
        self.contact = _contact_name("OnStrike", contact)

    def check(self, mechanism: Mechanism, others: Sequence[AbstractAutomaton]) -> None:
        _refuse_unknown(self.contact, others)

    def as_text(self) -> str | None:
        return f"strike {self.contact}"

    def guard(self, scene: Scene) -> Any:
        if self.contact in scene.strikes:
            # True at the instant of a blow alone: a contact that rebounds is open before and after it.
            return edge(jnp.where(scene.strikes[self.contact] == scene.t, 1.0, -1.0))
        errors.name_in("contact", self.contact, (*scene.phases, *scene.strikes))
        return jnp.where(scene.phases[self.contact] != 0, 1.0, -1.0)

    def since(self, scene: Scene, instant: Real) -> Condition:
        if self.contact not in scene.strikes:
            return super().since(scene, instant)
        passed = scene.strikes[self.contact] - instant
        return level(jnp.where(passed > AT_ONCE * jnp.maximum(1.0, jnp.abs(scene.t)), 1.0, -1.0))


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


class OnRelease(AbstractSwitch):
    """The phase ends as soon as a contact, given by its name or itself, is open: OnRelease("foot")."""

    form: ClassVar[Form] = Form("release", "a contact is open", (Slot("contact", "contact", "its name"),))

    contact: str = eqx.field(static=True)

    def __init__(self, contact: ContactLike) -> None:
        self.contact = _contact_name("OnRelease", contact)

    def check(self, mechanism: Mechanism, others: Sequence[AbstractAutomaton]) -> None:
        _refuse_unknown(self.contact, others)

    def as_text(self) -> str | None:
        return f"release {self.contact}"

    def guard(self, scene: Scene) -> Any:
        return level(0.5 - _of_contact(scene, self.contact, "closed"))


class OnSlip(AbstractSwitch):
    """The phase ends as soon as a contact with dry friction, given by its name or itself, slides: OnSlip("hand")."""

    form: ClassVar[Form] = Form("slip", "a contact slides", (Slot("contact", "contact", "its name"),))

    contact: str = eqx.field(static=True)

    def __init__(self, contact: ContactLike) -> None:
        self.contact = _contact_name("OnSlip", contact)

    def check(self, mechanism: Mechanism, others: Sequence[AbstractAutomaton]) -> None:
        _refuse_unknown(self.contact, others)

    def as_text(self) -> str | None:
        return f"slip {self.contact}"

    def guard(self, scene: Scene) -> Any:
        return level(_of_contact(scene, self.contact, "slips") - 0.5)


class When(AbstractSwitch):
    """The phase ends as soon as a condition holds, any signal's: When("leg.slide_rate > 0"), When("hip.y < 0.4 m")."""

    form: ClassVar[Form] = Form("when", "a condition holds", (Slot("condition", "word", "such as 'hip.y < 0.4 m'"),))

    condition: str = eqx.field(static=True)

    def __check_init__(self) -> None:
        Signal(self.condition)

    def check(self, mechanism: Mechanism, others: Sequence[AbstractAutomaton]) -> None:
        Signal(self.condition).check(mechanism, others, condition=True)

    def as_text(self) -> str | None:
        return self.condition

    def guard(self, scene: Scene) -> Any:
        value, size = Signal(self.condition).guard(scene)
        rounding = ROUNDING * jax.lax.stop_gradient(size)
        return turning(value, 2.0 * rounding, rounding)

    def crossing(self, scene: Scene) -> Any:
        value, size = Signal(self.condition).guard(scene)
        return edge(value, jax.lax.stop_gradient(size))


class After(AbstractSwitch):
    """The phase ends so many seconds after it began: After(0.2). Of state machines alone, which know when that was."""

    form: ClassVar[Form] = Form("after", "so long after it began", (Slot("seconds", "number", "[s]"),))

    seconds: Any

    def __check_init__(self) -> None:
        errors.number("After", "seconds", self.seconds, above=0.0)

    @property
    def waits(self) -> Any:
        return self.seconds

    def as_text(self) -> str | None:
        known = errors.known(self.seconds)
        return None if known is None else f"after {float(known)!r} s"

    def guard(self, scene: Scene) -> Any:
        raise errors.CaromError("After belongs to a state machine; in a schedule, or to end a run, take AtTime")


def _contact_name(owner: str, contact: ContactLike) -> str:
    name = contact if isinstance(contact, str) else getattr(contact, "name", None)
    if not isinstance(name, str):
        raise errors.CaromError(
            f"contact of {owner} is a {type(contact).__name__}; it must be the contact, or its name (give it one: "
            "name=)"
        )
    return name


def _refuse_unknown(contact: str, others: Sequence[AbstractAutomaton]) -> None:
    there = [c.name for other in others for c in other.report.contacts]
    if contact not in [other.name for other in others]:  # one may be called by the automaton that holds it
        errors.name_in("contact", contact, there)


def _of_contact(scene: Scene, name: str, part: str) -> Any:
    """Whether it is closed, or slides."""
    known = known_names(scene.mechanism, scene.automata)
    errors.name_in("contact", name, [contact.name for a in scene.automata for contact in a.report.contacts])
    return known[f"contact.{name}.{part}"].value(scene)
