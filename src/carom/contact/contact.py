"""One contact, whatever its law: exchanging Hertz for Newton is one argument."""

from __future__ import annotations

from typing import Any

import equinox as eqx

from .._arguments import AgainstLike, DuringLike, FrictionLike, NormalLike, TouchingLike
from ..hybrid._member import AbstractMember, AbstractUnplaced
from ..hybrid.automaton import AbstractAutomaton
from ..mechanism import Mechanism
from ..quantities import Real
from .normal import AbstractNormalLaw
from .shape import AbstractShape


class _ByLaw(type(eqx.Module)):  # type: ignore[misc]
    """Makes the kind of contact that a law asks for, as `pathlib.Path` makes the kind of path of its system."""

    def __call__(cls, *arguments: Any, **named: Any) -> Any:
        return _chosen(*arguments, **named) if cls is Contact else super().__call__(*arguments, **named)


class Contact(eqx.Module, metaclass=_ByLaw):
    """A site (with a round tip of `radius` [m], by default a point) against a surface or another body.

    - `site`: a site of a mechanism, or its name ('shank.tip'), or a shape (`carom.Ellipse`, `Polygon`, `Capsule`,
      `Round`, `Oval`); a `JointLimit` stands alone
    - `against`: a surface, a site of another link with a round tip of `other_radius` [m] (or its name), a Segment, a
      Ring or a shape. A shape with corners becomes a contact for each of them
    - `normal`: the law of the normal direction. With a compliant one (`Hertz(...)`, `JacksonGreen(...)`) a blow takes
      its time; with an impulsive one (`Newton(0.5)`, `Poisson`, `Stronge`, `Plastic()`; a number e stands for
      `Newton(e)`) the contact is rigid: it strikes at an instant, and may stay closed. The world gathers rigid ones
    - `friction`: a friction law; none by default. A rigid contact takes laws that stick exactly
    - `during`: ("control", ["posture 1"]): it is there only while that automaton is in one of these phases. One
      that is inside when it is switched on ends the run
    - forces are reported as they act on the mechanism; sliding is positive along (n_y, -n_x), rightwards on a floor

    >>> import carom
    >>> arm = carom.Mechanism([carom.Rod(1.0, 1.0)])
    >>> soft = carom.Contact(arm.tip, carom.Plane(height=-0.5), carom.Hertz(1e9), carom.Coulomb(mu=0.3))
    >>> rigid = carom.Contact(arm.tip, carom.Plane(height=-0.5), carom.Newton(0.5), carom.Coulomb(mu=0.3), name="floor")
    >>> [contact.rigid for contact in carom.World(arm, contacts=[soft, rigid]).contacts]
    [False, True]
    """

    name: eqx.AbstractVar[str | None]  # of its sites where it is None, as soon as they are known

    def __init__(
        self,
        site: TouchingLike,
        against: AgainstLike = None,
        normal: NormalLike = None,
        friction: FrictionLike = None,
        radius: Real = 0.0,
        other_radius: Real = 0.0,
        name: str | None = None,
        during: DuringLike = None,
    ) -> None:
        raise NotImplementedError  # each kind of contact has its own


def _chosen(
    site: TouchingLike,
    against: AgainstLike = None,
    normal: NormalLike = None,
    friction: FrictionLike = None,
    radius: Real = 0.0,
    other_radius: Real = 0.0,
    name: str | None = None,
    during: DuringLike = None,
) -> Any:
    if isinstance(site, AbstractShape) or isinstance(against, AbstractShape):
        from .shape_contact import shape_contact  # which are contacts

        return shape_contact(site, against, normal, friction, (radius, other_radius), name, during)
    given = (against, normal, friction, radius, other_radius, name, during)
    if isinstance(site, str) or isinstance(against, str) or getattr(against, "unplaced", False):
        return UnplacedContact(site, *given)
    return _made(site, *given)


def _made(site: TouchingLike, against: AgainstLike, normal: NormalLike, *given: Any) -> Any:
    from .impact import RigidContact  # which is a contact

    if not isinstance(normal, AbstractNormalLaw):
        return RigidContact(site, against, normal, *given)
    return compliant(site, against, normal, *given)


def compliant(*given: Any) -> Any:
    """A contact with a compliant law; the last of what is given says when it is there."""
    from ._switched_compliant import SwitchedContact  # which are contacts
    from .compliant import CompliantContact

    return CompliantContact(*given[:-1]) if given[-1] is None else SwitchedContact(*given)


def _placed(mechanism: Mechanism, given: Any) -> Any:
    """A site instead of its name; what is made of names looks them up itself."""
    if isinstance(given, str):
        return mechanism.site(given)
    return given.placed(mechanism) if getattr(given, "unplaced", False) else given


class UnplacedContact(AbstractUnplaced, Contact):
    """A contact that names its sites, until a world knows the mechanism."""

    site: Any
    against: Any
    rest: tuple[Any, ...]  # laws, radii, name, during
    name: str | None = eqx.field(static=True)

    def __init__(self, site: TouchingLike, against: AgainstLike, *rest: Any) -> None:
        self.site, self.against, self.rest, self.name = site, against, rest, rest[-2]

    def placed(self, mechanism: Mechanism) -> AbstractAutomaton | AbstractMember:
        made: AbstractAutomaton | AbstractMember = _made(
            _placed(mechanism, self.site), _placed(mechanism, self.against), *self.rest
        )
        return made
