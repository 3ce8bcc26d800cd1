"""Tables of mechanisms: links on a base, joints, payloads; and of the springs between points."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from .. import element, mechanism
from .body_tables import AnyBody
from .fields import Number, Part, Point, Word, says
from .form_tables import plain, plain_fields

MOST_LINKS = 256


class Joint(Part):
    """Spring and damper of a revolute joint."""

    stiffness: Number = says("[N m/rad] >= 0", 0.0)
    rest: Number = says("relative angle without spring torque [rad]", 0.0)
    damping: Number = says("[N m s/rad] >= 0", 0.0)


class Link(Part):
    """A body in its place."""

    body: AnyBody = says("what the link is made of")
    parent: Word | None = says("name of the link it hangs on, or base; the one before if left out", None)
    at: Point | None = says("where it hangs, in the parent's frame [m]; the parent's tip if left out", None)
    joint: Joint = says("spring and damper of its joint", Joint())
    sites: dict[Word, Point] = says("named points (x, y) of this body [m]", {})


class Weld(Part):
    """A payload fixed to a link."""

    link: Word = says("name of the link")
    body: AnyBody = says("a rigid body")
    at: Point | None = says("where its origin sits in the link's frame [m]; the tip if left out", None)
    angle: Number = says("its orientation in the link's frame [rad]", 0.0)


class Mechanism(Part):
    """A tree of links on one base."""

    base: Literal["free"] | Point = says("a fixed pivot (x, y) [m], or free", [0.0, 0.0])
    links: Annotated[dict[Word, Link], Field(min_length=1, max_length=MOST_LINKS)] = says("links by name, in order")
    welds: dict[Word, Weld] = says("payloads by name", {})


class Spring(Part):
    """A spring and damper between a site and a point or another site."""

    site: Word = says("name of the site")
    to: Point | Word = says("a point of the world (x, y) [m], or the name of another site")
    stiffness: Number = says("[N/m] >= 0")
    length: Number = says("without load [m] >= 0")
    damping: Number = says("[N s/m] >= 0", 0.0)

    def made(self, name: str, whole: mechanism.Mechanism) -> element.Spring:
        to = whole.site(self.to) if isinstance(self.to, str) else tuple(self.to)
        return element.Spring(whole.site(self.site), to, self.stiffness, self.length, self.damping, name=name)

    @classmethod
    def told(cls, spring: element.Spring) -> dict[str, Any]:
        to = spring.other.name if spring.other is not None else plain(spring.point)
        return plain_fields(spring, ("stiffness", "length", "damping")) | {"site": spring.site.name, "to": to}
