"""Contacts that are there only while something else is in given phases: a foot that cannot stumble in its swing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp

from .. import errors
from .._arguments import DuringLike
from ..hybrid.automaton import AbstractAutomaton
from ..hybrid.condition import SHALLOW
from ..hybrid.scene import Scene
from ..quantities import Real

IGNORED = 1e300  # [m/s] slower than this is no approach: a contact that is inside is not struck


class During(NamedTuple):
    """While the automaton of this name is in one of these phases; `numbers` are theirs, once it is known."""

    automaton: str
    phases: tuple[str, ...]
    numbers: tuple[int, ...] | None = None

    @property
    def words(self) -> str:
        return f"during {', '.join(self.phases)} of '{self.automaton}'"

    def known(self, contact: str, others: Sequence[AbstractAutomaton]) -> During:
        """The same with the numbers of the phases; names that nobody has are refused."""
        errors.name_in(f"automaton that contact '{contact}' waits for", self.automaton, [a.name for a in others])
        words = next(a for a in others if a.name == self.automaton).anatomy.phases
        for phase in self.phases:
            errors.name_in(f"phase of '{self.automaton}' that contact '{contact}' waits for", phase, words)
        return self._replace(numbers=tuple(words.index(phase) for phase in self.phases))

    def absent(self, scene: Scene) -> Any:
        """Is the contact not there now? At a place without phases, as before a run, it is."""
        if self.automaton not in scene.phases:
            return jnp.asarray(True)
        phase, absent = scene.phases[self.automaton], jnp.asarray(True)
        for number in self.numbers or ():
            absent = absent & (phase != number)
        return absent


def during_of(contact: str, given: DuringLike) -> During | None:
    """What a user means by (automaton, phase) or (automaton, [phase, ...])."""
    if given is None or isinstance(given, During):
        return given
    if isinstance(given, str) or len(given) != 2 or not isinstance(given[0], str) or not given[1]:
        raise errors.CaromError(
            f"during of contact '{contact}' is {given!r}; it must be the name of an automaton and its phases, such as "
            "('control', ['posture 1'])"
        )
    phases = (given[1],) if isinstance(given[1], str) else tuple(given[1])
    return During(given[0], phases)


def absences(which: Sequence[During | None], scene: Scene) -> list[Any] | None:
    """Which contacts are not there now; None where all always are."""
    if all(each is None for each in which):
        return None
    return [jnp.asarray(False) if each is None else each.absent(scene) for each in which]


def entered(scene: Scene, depth: Real, rounding: Real) -> Any:
    """Was it inside when it was switched on? Nothing puts it out: it stays open there, and the run ends (INSIDE)."""
    return depth > 4.0 * rounding + SHALLOW * scene.length
