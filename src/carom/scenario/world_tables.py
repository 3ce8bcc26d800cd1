"""Tables of what a world is made of: materials, mechanisms, surfaces, contacts, springs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from .fields import Number, Numbers, Part, Point, Table, Word, says
from .law_tables import FrictionLaw, NormalLaw

MOST_MODES = 16  # a chain of beams with more takes minutes to compile
MOST_LINKS = 256


class Material(Part):
    """Elastic and plastic data of a solid."""

    youngs_modulus: Number = says("E [Pa] > 0")
    poisson_ratio: Number = says("in (-1, 0.5]")
    yield_strength: Number | None = says("[Pa] > 0; needed by elasto-plastic laws", None)


# -- bodies ------------------------------------------------------------------------------------------------------------


class Rod(Part):
    """Uniform thin rod, hung by one end."""

    kind: Literal["rod"] = says("a uniform thin rod")
    length: Number = says("[m] > 0")
    mass: Number = says("[kg] >= 0")


class Disk(Part):
    """Uniform disk, hung by its centre."""

    kind: Literal["disk"] = says("a uniform disk")
    radius: Number = says("[m] > 0")
    mass: Number = says("[kg] >= 0")


class PointMass(Part):
    """A mass without extent at the end of a massless bar."""

    kind: Literal["point"] = says("a point mass on a massless bar")
    mass: Number = says("[kg] >= 0")
    length: Number = says("of the bar [m] >= 0", 0.0)


class Body(Part):
    """Any rigid body."""

    kind: Literal["body"] = says("any rigid body")
    mass: Number = says("[kg] >= 0")
    inertia: Number = says("moment of inertia about the centre of mass [kg m^2] >= 0")
    com: Point = says("centre of mass (x, y) in the body's frame [m]", [0.0, 0.0])
    tip: Point = says("where the next link hangs (x, y) [m]", [0.0, 0.0])


class Section(Part):
    """A uniform cross-section of a beam."""

    area: Number = says("A [m^2] > 0")
    second_moment: Number = says("I [m^4] > 0, for bending in the plane")
    mass_per_length: Number = says("[kg/m] > 0")
    youngs_modulus: Number = says("E [Pa] > 0")
    shear_modulus: Number | None = says("G [Pa] > 0; Timoshenko beams need it", None)
    shear_factor: Number | None = says("k in (0, 1]; Timoshenko beams need it", None)
    rotary_inertia: Number | None = says("mass moment of inertia per length [kg m]; mu I/A if left out", None)


class Beam(Part):
    """An elastic link: a uniform beam with assumed modes."""

    kind: Literal["beam"] = says("an elastic beam")
    length: Number = says("[m] > 0")
    section: Section = says("its cross-section")
    ends: Annotated[list[Word], Field(min_length=2, max_length=2)] = says(
        "left and right end: simple, clamped, and on the right also free or guided", ["simple", "simple"]
    )
    modes: Annotated[int, Field(ge=1, le=MOST_MODES)] = says("how many modes", 1)
    theory: Word = says("timoshenko or euler-bernoulli", "timoshenko")
    rotary: Word = says("rotary inertia turns with the section, or with the link alone", "section")
    rotary_inertia: Number | None = says("of the moving link [kg m], if not the section's", None)
    air_damping: Number = says("[kg/(m s)] >= 0", 0.0)
    material_damping: Number = says("Kelvin-Voigt [Pa s] >= 0", 0.0)
    damping_ratio: Number | None = says("of every mode, instead of the two above", None)
    foreshortening: bool = says("second-order shortening of the bent axis; for beams that spin fast", False)


AnyBody = Annotated[Rod | Disk | PointMass | Body | Beam, Field(discriminator="kind")]


# -- mechanisms --------------------------------------------------------------------------------------------------------


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


# -- surfaces ----------------------------------------------------------------------------------------------------------


class Motion(Part):
    """How a surface is carried along."""

    velocity: Point | None = says("uniform motion (x, y) [m/s]", None)
    turning: Number | None = says("uniform rotation [rad/s]", None)
    about: Point = says("centre of the rotation (x, y) [m]", [0.0, 0.0])
    amplitude: Point | None = says("of a shaker (x, y) [m]", None)
    frequency: Number | None = says("of a shaker [Hz]", None)
    phase: Number | None = says("of a shaker [rad]", None)


class Plane(Part):
    """A floor, slope, wall or ceiling."""

    kind: Literal["plane"] = says("a straight surface")
    height: Number | None = says("of a level floor [m]", None)
    point: Point | None = says("a point on it (x, y) [m], instead of a height", None)
    slope: Number | None = says("inclination [rad]", None)
    normal: Point | None = says("direction into the free side (x, y), instead of a slope", None)
    motion: Motion | None = says("how it moves; at rest if left out", None)


class Circle(Part):
    """A round surface."""

    kind: Literal["circle"] = says("a circle")
    centre: Point = says("(x, y) [m]")
    radius: Number = says("[m] > 0")
    inside: bool = says("is the free side inside?", False)
    motion: Motion | None = says("how it moves; at rest if left out", None)


class Spline(Part):
    """A smooth curve through points; its free side lies to the left."""

    kind: Literal["spline"] = says("a cubic spline")
    points: Table = says("(x, y) in order [m]")
    closed: bool = says("is the last point joined to the first?", False)
    tangents: Table | None = says("directions (x, y) at both ends of an open curve", None)
    motion: Motion | None = says("how it moves; at rest if left out", None)


Surface = Annotated[Plane | Circle | Spline, Field(discriminator="kind")]


# -- contacts ----------------------------------------------------------------------------------------------------------


class OtherSite(Part):
    """The other body is round about a site."""

    kind: Literal["site"] = says("a round tip about a site of another link")
    site: Word = says("name of the site")
    radius: Number = says("of the round tip there [m] >= 0", 0.0)


class Bar(Part):
    """The other body is a bar between two sites of one link."""

    kind: Literal["segment"] = says("a bar with round ends")
    start: Word = says("name of a site")
    end: Word = says("name of another site of the same link")
    radius: Number = says("half the bar's thickness [m] >= 0", 0.0)


class Ring(Part):
    """The other body is a round hole about a site."""

    kind: Literal["ring"] = says("the inner face of a round hole")
    site: Word = says("name of the site at its centre")
    radius: Number = says("of the hole [m] > 0")


class Stop(Part):
    """A stop of a joint: the contact is between a link and its parent."""

    link: Word = says("name of the link")
    lower: Number | None = says("smallest relative angle [rad]", None)
    upper: Number | None = says("largest relative angle [rad]", None)


Other = Annotated[OtherSite | Bar | Ring, Field(discriminator="kind")]


class Contact(Part):
    """Two things that can touch: with a compliant law of the normal direction, or rigid with an impulsive one."""

    site: Word | None = says("name of the site that touches", None)
    against: Word | Other | None = says("name of a surface, or a site, segment or ring of another link", None)
    limit: Stop | None = says("a joint's stop, instead of site and against", None)
    radius: Number = says("of the round tip at the site [m] >= 0", 0.0)
    normal: NormalLaw = says("law of the normal direction: compliant (hertz, ...) or impulsive (newton, ...)")
    friction: FrictionLaw | None = says("friction law; none if left out", None)


class Spring(Part):
    """A spring and damper between a site and a point or another site."""

    site: Word = says("name of the site")
    to: Point | Word = says("a point of the world (x, y) [m], or the name of another site")
    stiffness: Number = says("[N/m] >= 0")
    length: Number = says("without load [m] >= 0")
    damping: Number = says("[N s/m] >= 0", 0.0)


__all__ = ["AnyBody", "Contact", "Material", "Mechanism", "Numbers", "Spring", "Surface"]
