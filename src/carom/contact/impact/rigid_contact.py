"""One rigid contact: what touches what, by which law of restitution, with which friction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp

from ... import errors
from ..._arguments import AgainstLike, DuringLike, FrictionLike, NormalLike, TouchingLike
from ...hybrid._in_words import spelled
from ...hybrid._member import AbstractMember
from ...hybrid.automaton import AbstractAutomaton
from ...mechanism import Mechanism
from ...quantities import Real
from ..contact import Contact
from ..during import During, during_of
from ..friction import AbstractDry
from ..pairs import AbstractPair, pair_of
from .impact_law import AbstractImpactLaw
from .newton import Newton


class RigidContact(AbstractMember, Contact):
    """A pair whose law is an impulse; `carom.Contact` makes it, and the world gathers all of them.

    `normal` is the law, or a number e, which stands for `Newton(e)`.
    """

    pair: AbstractPair
    law: AbstractImpactLaw
    friction: AbstractDry | None
    name: str = eqx.field(static=True)
    during: During | None = eqx.field(static=True)

    def __init__(
        self,
        site: TouchingLike,
        against: AgainstLike = None,
        normal: AbstractImpactLaw | Real | None = None,
        friction: FrictionLike = None,
        radius: Real = 0.0,
        other_radius: Real = 0.0,
        name: str | None = None,
        during: DuringLike = None,
    ) -> None:
        self.pair = pair_of("Contact", site, against, radius, other_radius)
        self.name = name or self.pair.name
        self.law = _law_of(self.name, normal)
        self.friction = _friction_of(self.name, friction, self.pair)
        self.during = during_of(self.name, during)

    def tied(self, others: Sequence[AbstractAutomaton]) -> RigidContact:
        if self.during is None:
            return self
        known = self.during.known(self.name, others)
        return RigidContact(self.pair, None, self.law, self.friction, name=self.name, during=known)

    @property
    def words(self) -> str:
        rubs = () if self.friction is None else (spelled(self.friction),)
        when = () if self.during is None else (self.during.words,)
        return ", ".join((self.pair.words, f"rigid {spelled(self.law)}", *rubs, *when))

    def gathered(
        self, mechanism: Mechanism, members: Sequence[Any], settle_speed: Real, friction_rule: str
    ) -> AbstractAutomaton:
        from ._many import ManyRigidContacts, many  # which are made of these
        from .rigid import RigidContacts

        if many(mechanism, members):
            return ManyRigidContacts(mechanism, tuple(members), settle_speed, friction_rule=friction_rule)
        return RigidContacts(*members, settle_speed=settle_speed, friction_rule=friction_rule)


Contacts = tuple[RigidContact, ...]


def _law_of(name: str, law: NormalLike) -> AbstractImpactLaw:
    if isinstance(law, AbstractImpactLaw):
        return law
    if law is None or isinstance(law, str | eqx.Module | type | dict):
        raise errors.CaromError(
            f"normal of contact '{name}' is {law!r}; it must be a compliant law such as carom.Hertz(...), or an "
            "impulsive one such as carom.Newton(0.5)"
        )
    return Newton(jnp.asarray(law, dtype=float) if errors.known(law) is None else law)


def _friction_of(name: str, friction: FrictionLike, pair: AbstractPair) -> AbstractDry | None:
    if friction is None or not getattr(friction, "rubs", True):
        return None
    if not isinstance(friction, AbstractDry):
        raise errors.CaromError(
            f"friction of rigid contact '{name}' is {type(friction).__name__}; a rigid contact needs a law that sticks "
            "exactly: carom.Coulomb, Stribeck or Karnopp; smooth and bristle laws go with compliant ones"
        )
    if pair.stop is not None:
        raise errors.CaromError(
            f"friction of rigid contact '{name}' is {type(friction).__name__}, but a joint's stop does not slide; "
            "leave it out"
        )
    return friction


def rule_of(contacts: Contacts) -> str | None:
    """The rule by which they share blows."""
    rules = {c.law.together for c in contacts if not c.law.joins_any} or {c.law.together for c in contacts}
    return next(iter(rules))


def refuse_mixed(contacts: Contacts) -> None:
    """One rule for all, as they share their blows; the numbers of its laws may differ."""
    if len(contacts) == 1:
        return
    for c in contacts:
        if c.law.together is None or (c.law.along_path and any(other.friction is not None for other in contacts)):
            rubs = "" if c.law.together is None else " where there is friction"
            raise errors.CaromError(
                f"restitution of contact '{c.name}' is {type(c.law).__name__}, which is defined for one contact{rubs}; "
                f"there are {len(contacts)} rigid contacts that can share a blow; use Poisson"
            )
    choosing = [c for c in contacts if not c.law.joins_any]
    if len({c.law.together for c in choosing}) > 1:
        names = " and ".join(sorted({type(c.law).__name__ for c in choosing}))
        raise errors.CaromError(
            f"rigid contacts mix the laws {names}; contacts that share blows need one law (Plastic goes with Newton "
            "and Poisson); their restitutions may differ"
        )
    for c in contacts:
        c.law.agree(c.name, [other.law for other in contacts if other is not c])
