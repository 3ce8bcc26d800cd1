"""What a world is made of, besides automata: things that act only together, and things that wait for a mechanism."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any

import equinox as eqx

from .. import registry
from ..mechanism import Mechanism
from ..quantities import Real
from .automaton import AbstractAutomaton


class AbstractTied(eqx.Module):
    """Must know something of the other automata of its world."""

    def tied(self, others: Sequence[AbstractAutomaton]) -> Any:
        """The same, with what it must know of them."""
        return self


class AbstractMember(AbstractTied):
    """Acts only together with the others of its kind, such as a rigid contact: the world gathers them."""

    name: eqx.AbstractVar[str]

    @abc.abstractmethod
    def gathered(
        self, mechanism: Mechanism, members: Sequence[Any], settle_speed: Real, friction_rule: str
    ) -> AbstractAutomaton:
        """One automaton of all members of this kind, this one the first."""


class AbstractUnplaced(abc.ABC):
    """Names its sites, and becomes what it is when the mechanism is known."""

    @abc.abstractmethod
    def placed(self, mechanism: Mechanism) -> Any:
        """The same, with the sites of this mechanism: an automaton or a member, or a tuple of them."""


def gather(
    mechanism: Mechanism,
    items: Sequence[Any],
    settle_speed: Real,
    friction_rule: str,
    others: Sequence[AbstractAutomaton] = (),
) -> tuple[Any, ...]:
    """Members of one kind as one automaton, behind all that stand alone; `others` are the rest of the world."""
    kinds: dict[type, list[Any]] = {}
    alone = [item for item in items if not isinstance(item, AbstractMember)]
    for item in items:
        if isinstance(item, AbstractMember):
            kinds.setdefault(type(item), []).append(item.tied((*alone, *others)))
    alone = [item.tied((*alone, *others)) if isinstance(item, AbstractTied) else item for item in alone]
    return (*alone, *(found[0].gathered(mechanism, found, settle_speed, friction_rule) for found in kinds.values()))


def of_joints(mechanism: Mechanism) -> tuple[AbstractAutomaton, ...]:
    """What joints bring along: dry friction."""
    return (registry.JOINT_FRICTION.found()(mechanism),) if mechanism.topology.rubbing else ()
