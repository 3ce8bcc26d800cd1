"""One contact, whatever its law: exchanging Hertz for Newton is one argument."""

from __future__ import annotations

import dataclasses
from typing import Any

from .._arguments import AgainstLike, TouchingLike
from ..hybrid._member import AbstractUnplaced
from ..mechanism import Mechanism
from ..quantities import Real
from .compliant import CompliantContact
from .friction import AbstractFriction
from .impact import AbstractImpactLaw, RigidContact
from .normal import AbstractNormalLaw


def Contact(
    site: TouchingLike,
    against: AgainstLike = None,
    normal: AbstractNormalLaw | AbstractImpactLaw | Real | None = None,
    friction: AbstractFriction | None = None,
    radius: Real = 0.0,
    other_radius: Real = 0.0,
    name: str | None = None,
) -> CompliantContact | RigidContact | UnplacedContact:
    """A site (with a round tip of `radius` [m], by default a point) against a surface or another body.

    - `site`: a site of a mechanism, or its name ('shank.tip'); a `JointLimit` stands alone
    - `against`: a surface, a site of another link with a round tip of `other_radius` [m] (or its name), a Segment or a
      Ring
    - `normal`: the law of the normal direction. With a compliant one (`Hertz(...)`, `JacksonGreen(...)`) a blow takes
      its time; with an impulsive one (`Newton(0.5)`, `Poisson`, `Stronge`, `Plastic()`; a number e stands for
      `Newton(e)`) the contact is rigid: it strikes at an instant, and may stay closed. The world gathers rigid ones
    - `friction`: a friction law; none by default. A rigid contact takes laws that stick exactly
    - forces are reported as they act on the mechanism; sliding is positive along (n_y, -n_x), rightwards on a floor

        carom.Contact(arm.tip, carom.Plane(height=0.0), carom.Hertz(1e9), carom.Coulomb(mu=0.3))
        carom.Contact(arm.tip, carom.Plane(height=0.0), carom.Newton(0.5), carom.Coulomb(mu=0.3))
    """
    given = (against, normal, friction, radius, other_radius, name)
    if isinstance(site, str) or isinstance(against, str) or getattr(against, "unplaced", False):
        return UnplacedContact(site, *given)
    return _made(site, *given)


def _made(
    site: TouchingLike, against: AgainstLike, normal: AbstractNormalLaw | AbstractImpactLaw | Real | None, *rest: Any
) -> CompliantContact | RigidContact:
    if isinstance(normal, AbstractNormalLaw):
        return CompliantContact(site, against, normal, *rest)
    return RigidContact(site, against, normal, *rest)


def _placed(mechanism: Mechanism, given: Any) -> Any:
    """A site instead of its name; what is made of names looks them up itself."""
    if isinstance(given, str):
        return mechanism.site(given)
    return given.placed(mechanism) if getattr(given, "unplaced", False) else given


@dataclasses.dataclass(frozen=True)
class UnplacedContact(AbstractUnplaced):
    """A contact that names its sites."""

    site: Any
    against: Any
    normal: Any
    friction: Any
    radius: Any
    other_radius: Any
    name: str | None

    def placed(self, mechanism: Mechanism) -> CompliantContact | RigidContact:
        site, against = (_placed(mechanism, x) for x in (self.site, self.against))
        return _made(site, against, self.normal, self.friction, self.radius, self.other_radius, self.name)
