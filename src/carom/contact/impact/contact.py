"""One rigid contact: who meets whom, by which law of restitution, with which friction."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp

from ... import errors
from ..friction import AbstractDry, Frictionless
from ..pairs import AbstractPair, pair_of
from .law import AbstractImpactLaw
from .newton import Newton
from .plastic import Plastic


class RigidContact(eqx.Module):
    """A rigid contact of a site with a surface or another body.

    - `restitution`: a law, `Plastic()`, `Newton(e)`, `Poisson(e)` or `Stronge(e)`, or a number e, which stands for
      `Newton(e)`. 0 is a plastic blow, after which the contact stays closed; 1 is perfectly elastic
    - `friction`: `Coulomb(mu)` or another law that sticks exactly; none by default
    - `radius`, `other_radius` [m]: of the round tips
    """

    pair: AbstractPair
    law: AbstractImpactLaw
    friction: AbstractDry | None
    name: str = eqx.field(static=True)

    def __init__(
        self,
        site: Any,
        against: Any = None,
        restitution: Any = None,
        friction: Any = None,
        radius: Any = 0.0,
        other_radius: Any = 0.0,
        name: str | None = None,
    ) -> None:
        self.pair = pair_of("RigidContact", site, against, radius, other_radius)
        self.name = name or self.pair.name
        self.law = _law_of(self.name, restitution)
        self.friction = _friction_of(self.name, friction, self.pair)


Contacts = tuple[RigidContact, ...]


def _law_of(name: str, law: Any) -> AbstractImpactLaw:
    if isinstance(law, AbstractImpactLaw):
        return law
    if law is None or isinstance(law, str | eqx.Module):
        raise errors.CaromError(
            f"restitution of contact '{name}' is {law!r}; it must be a number, or an impulsive law such as "
            "carom.Stronge(0.5); compliant laws go with carom.Contact"
        )
    return Newton(jnp.asarray(law, dtype=float) if errors.known(law) is None else law)


def _friction_of(name: str, friction: Any, pair: AbstractPair) -> AbstractDry | None:
    if friction is None or isinstance(friction, Frictionless):
        return None
    if not isinstance(friction, AbstractDry):
        raise errors.CaromError(
            f"friction of rigid contact '{name}' is {type(friction).__name__}; a rigid contact needs a law that sticks "
            "exactly: carom.Coulomb, Stribeck or Karnopp; smooth and bristle laws go with carom.Contact"
        )
    if pair.length_unit == "rad":
        raise errors.CaromError(
            f"friction of rigid contact '{name}' is {type(friction).__name__}, but a joint's stop does not slide; "
            "leave it out"
        )
    return friction


def refuse_mixed(contacts: Contacts) -> None:
    """One law of restitution for all, as they share their blows; only its numbers may differ."""
    kinds = {type(c.law) for c in contacts if not isinstance(c.law, Plastic)}
    if len(kinds) > 1:
        names = " and ".join(sorted(kind.__name__ for kind in kinds))
        raise errors.CaromError(
            f"rigid contacts mix the laws {names}; contacts that share blows need one law (Plastic goes with each); "
            "their restitutions may differ"
        )
    for c in contacts:
        if len(contacts) > 1 and not c.law.several:
            raise errors.CaromError(
                f"restitution of contact '{c.name}' is {type(c.law).__name__}, which is defined for one contact; there "
                f"are {len(contacts)} rigid contacts that can share a blow; use Poisson"
            )
