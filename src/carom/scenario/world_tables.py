"""Tables of mechanisms: links on a base, joints, payloads; and of the springs between points."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from .. import element, errors, mechanism
from .body_tables import AnyBody
from .fields import Number, Part, Point, Word, says
from .form_tables import plain, plain_fields

MOST_LINKS = 256


class Joint(Part):
    """A revolute joint: spring, damper, dry friction, and what its motor can do."""

    stiffness: Number = says("[N m/rad] >= 0", 0.0)
    rest: Number = says("relative angle without spring torque [rad]", 0.0)
    damping: Number = says("[N m s/rad] >= 0", 0.0)
    rotor_inertia: Number = says("of its motor, which the parent carries [kg m^2] >= 0", 0.0)
    gear: Number = says("turns of the rotor per turn of the joint", 1.0)
    friction: Number = says("dry friction while it turns [N m] >= 0", 0.0)
    static_friction: Number | None = says("the most that holds it at rest [N m]; friction if left out", None)
    effort_limit: Number | None = says("largest torque of a controller here [N m] > 0", None)


class Slider(Part):
    """A joint by which the link moves along its parent, with spring and damper."""

    axis: Point = says("direction in the parent's frame, of any length", [1.0, 0.0])
    angle: Number = says("of the body in its frame, which stays parallel to the parent's [rad]", 0.0)
    stiffness: Number = says("[N/m] >= 0", 0.0)
    rest: Number = says("displacement without spring force [m]", 0.0)
    damping: Number = says("[N s/m] >= 0", 0.0)
    rotor_inertia: Number = says("of its motor, which the parent carries [kg m^2] >= 0", 0.0)
    gear: Number = says("angle of the rotor per displacement [rad/m]", 1.0)
    friction: Number = says("dry friction while it slides [N] >= 0", 0.0)
    static_friction: Number | None = says("the most that holds it at rest [N]; friction if left out", None)
    effort_limit: Number | None = says("largest force of a controller here [N] > 0", None)


class Link(Part):
    """A body in its place."""

    body: AnyBody = says("what the link is made of")
    parent: Word | None = says("name of the link it hangs on, or base; the one before if left out", None)
    at: Point | None = says("where it hangs, in the parent's frame [m]; the parent's tip if left out", None)
    joint: Joint = says("a hinge, with spring and damper", Joint())
    slider: Slider | None = says("instead of a hinge, a slider along the parent", None)
    sites: dict[Word, Point] = says("named points (x, y) of this body [m]", {})

    def made_joint(self, name: str) -> mechanism.Joint | mechanism.Slider:
        if self.slider is None:
            return mechanism.Joint(**self.joint.model_dump())
        if self.joint != Joint():
            raise errors.CaromError(f"link '{name}' has both joint and slider; it has one of them; leave one out")
        return mechanism.Slider(**self.slider.model_dump() | {"axis": tuple(self.slider.axis)})

    @classmethod
    def told_joint(cls, joint: mechanism.Joint | mechanism.Slider) -> dict[str, Any]:
        numbers = ("stiffness", "rest", "damping", "rotor_inertia", "gear", "friction")
        own = plain_fields(joint, (*numbers, "static_friction", "effort_limit"))
        if isinstance(joint, mechanism.Joint):
            return {"joint": own}
        return {"slider": own | plain_fields(joint, ("axis", "angle"))}


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
