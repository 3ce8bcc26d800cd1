"""A compliant contact that is there only while another automaton is in some of its phases."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp

from .._arguments import AgainstLike, DuringLike, FrictionLike, TouchingLike
from ..hybrid._member import AbstractTied
from ..hybrid.automaton import AbstractAutomaton, Anatomy, Bars, Landing
from ..hybrid.condition import NEVER, SHALLOW, Condition, Watch, any_of, level, unless
from ..hybrid.reporting import Report
from ..hybrid.scene import Own, Scene
from ..quantities import Flag, Real
from .compliant import CompliantContact
from .during import During, during_of, entered
from .friction._stick_slip import OPEN
from .normal import AbstractNormalLaw
from .pairs import AbstractPair

GONE, THERE, INSIDE = 0.0, 1.0, 2.0  # INSIDE: so it was when its phases began


class SwitchedContact(CompliantContact, AbstractTied):
    """A pair whose law is a force, during phases of another automaton; `carom.Contact` makes it.

    A force cannot begin at some depth: when the phases begin it must be outside, or the run ends (INSIDE), as that of a
    rigid contact does. When they end the force is gone, and with it what was stored in it, which the ledger keeps as
    work that was done.
    """

    table: ClassVar[str] = "contacts"
    during: During = eqx.field(static=True)

    def __init__(
        self,
        site: TouchingLike | AbstractPair,
        against: AgainstLike = None,
        normal: AbstractNormalLaw | None = None,
        friction: FrictionLike = None,
        radius: Real = 0.0,
        other_radius: Real = 0.0,
        name: str | None = None,
        during: DuringLike = None,
    ) -> None:
        super().__init__(site, against, normal, friction, radius, other_radius, name)
        known = during_of(self.name, during)
        assert known is not None  # else it is a plain one
        self.during = known

    def tied(self, others: Sequence[AbstractAutomaton]) -> SwitchedContact:
        known = self.during.known(self.name, others)
        return SwitchedContact(self.pair, None, self.normal, self.friction, name=self.name, during=known)

    @property
    def anatomy(self) -> Anatomy:
        """It remembers whether it is there, and looks again at the beginning, when the phases of all are known."""
        plain = super().anatomy
        exits, memory = (*plain.exits, "come", "go"), self._with(plain.memory, "there")
        return dataclasses.replace(plain, exits=exits, memory=memory, looks_again=True)

    def _with(self, memory: Sequence[Any], there: Any) -> tuple[Any, ...]:
        """The memory of a plain contact, and its own behind that of the normal law."""
        first = len(self.normal.memory)
        return (*memory[:first], there, *memory[first:])

    def _there(self, own: Own) -> Any:
        return own.memory[len(self.normal.memory)]

    @property
    def report(self) -> Report:
        plain, when = super().report, (self.during.automaton, self.during.phases)
        ((name, words),), (contact,) = plain.words, plain.contacts
        words = f"{words}, {self.during.words}"
        return plain._replace(words=((name, words),), contacts=(contact._replace(during=when),))

    def bars(self, scene: Scene) -> Bars:
        """Whether it is there at the start only the first `jump` knows; one that no law allows is refused."""
        k = self.touching(scene)
        inside = entered(scene, k.indentation, self._noise(scene, k))
        ((cannot, words),) = super().bars(scene).refusals
        return Bars(refusals=[(cannot & ~inside, words)])

    def start(self, scene: Scene) -> Own:
        plain = super().start(scene)
        return plain._replace(memory=self._with(plain.memory, jnp.asarray(GONE)))

    def guard(self, scene: Scene, own: Own) -> Sequence[Condition]:
        gone, there = self.during.absent(scene), self._there(own)
        touch, *rest = super().guard(scene, own)
        at, let_go = len(self.normal.exits), gone & (own.phase != OPEN)
        release = rest[at]
        value = jnp.where(let_go, 1.0, release.value)
        rest[at] = release._replace(value=value, slow=jnp.where(let_go, -jnp.inf, release.slow))
        turns = [jnp.where(x, 1.0, NEVER) for x in (~gone & (there == GONE), gone & (there != GONE))]
        return unless(gone | (there != THERE), touch), *rest, *(level(x) for x in turns)

    def watch(self, scene: Scene, own: Own) -> Sequence[Watch | None]:
        """While it is there and open, it must not be inside."""
        seen, *rest = super().watch(scene, own)
        assert seen is not None
        value, k = jnp.where(self.during.absent(scene), NEVER, seen.value), self.touching(scene)
        slight = SHALLOW if self.pair.length_unit == "rad" else 0.0
        return seen._replace(value=value, depth=value, room=4.0 * self._noise(scene, k), slight=slight), *rest

    def jump(self, scene: Scene, own: Own, fired: tuple[Flag, ...]) -> Landing:
        """As that of any contact, and whether it is there. What starts closed is let go if it is not, or inside."""
        *mine, come, go = fired
        plain, quiet = super().jump(scene, own, tuple(mine)), ~any_of(mine)
        phase = jnp.where(quiet, own.phase, plain.phase) if self._dry is None else plain.phase
        begins = quiet & ~come & ~go & (scene.t <= 0.0) & (self._there(own) == GONE)
        k = self.touching(scene)
        surface = self.normal.surface(self._lawful(own.memory), self.pair.place(scene, k))
        inside = entered(scene, k.indentation - surface, self._noise(scene, k))
        now = jnp.where(self.during.absent(scene), GONE, jnp.where(inside, INSIDE, THERE))
        there = jnp.where(begins | come | go, now, self._there(own))
        phase = jnp.where((begins | go) & (now != THERE), OPEN, phase)
        return plain._replace(phase=phase, memory=self._with(plain.memory, there))
