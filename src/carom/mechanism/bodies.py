"""Rigid bodies: what a link is made of, apart from where it hangs.

Every body lives in a frame whose origin is the point by which it hangs and whose x axis is the link's axis:

        y
        |
        o------ x - - - - tip          o  the joint (origin)      tip  where the next link hangs by default
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import equinox as eqx
import jax.numpy as jnp

from .. import errors
from ..forms import Form, Slot
from ..quantities import Real
from ._bending import Flexible, Reach


class AbstractBody(eqx.Module):
    """Mass, centre of mass, moment of inertia about it, and the tip, in the body's own frame.

    `shape` names the closed form that `carom.equations` prints; a body without one is 'body'.
    """

    shape: ClassVar[str] = "body"

    if TYPE_CHECKING:  # a declared field would come first among every body's arguments

        @property
        def mass(self) -> Any: ...

    def centre(self) -> tuple[Any, Any]:
        """Centre of mass [m]."""
        raise NotImplementedError

    def inertia_about_centre(self) -> Any:
        """Moment of inertia about the centre of mass [kg m^2]."""
        raise NotImplementedError

    def end(self) -> tuple[Any, Any]:
        """The tip [m]."""
        raise NotImplementedError

    def flexible(self) -> Flexible | None:
        """Modal numbers of a body that bends; None if it is rigid."""
        return None

    def reach(self, x: Real, y: Real) -> Reach | None:
        """Shapes at a point of a body that bends; None if it is rigid."""
        return None

    def wave_numbers(self) -> Sequence[float]:
        """Dimensionless wave numbers of the modes of a body that bends; none if it is rigid."""
        return ()


class Rod(AbstractBody):
    """Uniform thin rod along the x axis, hung by one end; inertia m l^2 / 12 about its middle.

    - `length` [m] > 0
    - `mass` [kg] >= 0 (zero makes the mass matrix singular: only constrained dynamics can move it)
    """

    form: ClassVar[Form] = Form(
        "rod",
        "a uniform thin rod, hung by one end",
        (
            Slot("length", "number", "[m] > 0"),
            Slot("mass", "number", "[kg] >= 0"),
        ),
    )
    shape: ClassVar[str] = "rod"
    length: Any
    mass: Any

    def __check_init__(self) -> None:
        errors.number("Rod", "length", self.length, above=0.0)
        errors.number("Rod", "mass", self.mass, least=0.0)

    def centre(self) -> tuple[Any, Any]:
        return self.length / 2, 0.0

    def inertia_about_centre(self) -> Any:
        return self.mass * self.length**2 / 12

    def end(self) -> tuple[Any, Any]:
        return self.length, 0.0


class Disk(AbstractBody):
    """Uniform disk hung by its centre; inertia m r^2 / 2. The next link hangs at the centre by default.

    - `radius` [m] > 0
    - `mass` [kg] >= 0
    """

    form: ClassVar[Form] = Form(
        "disk",
        "a uniform disk, hung by its centre",
        (
            Slot("radius", "number", "[m] > 0"),
            Slot("mass", "number", "[kg] >= 0"),
        ),
    )
    shape: ClassVar[str] = "disk"
    radius: Any
    mass: Any

    def __check_init__(self) -> None:
        errors.number("Disk", "radius", self.radius, above=0.0)
        errors.number("Disk", "mass", self.mass, least=0.0)

    def centre(self) -> tuple[Any, Any]:
        return 0.0, 0.0

    def inertia_about_centre(self) -> Any:
        return self.mass * self.radius**2 / 2

    def end(self) -> tuple[Any, Any]:
        return 0.0, 0.0


class PointMass(AbstractBody):
    """A mass without extent at the end of a massless bar of the given length (a simple pendulum's bob).

    - `mass` [kg] >= 0
    - `length` [m] >= 0; zero is for a payload that is welded to a link, not for a link of its own
    """

    form: ClassVar[Form] = Form(
        "point",
        "a point mass at the end of a massless bar",
        (
            Slot("mass", "number", "[kg] >= 0"),
            Slot("length", "number", "of the bar [m] >= 0", 0.0),
        ),
    )
    shape: ClassVar[str] = "point"
    mass: Any
    length: Any = 0.0

    def __check_init__(self) -> None:
        errors.number("PointMass", "mass", self.mass, least=0.0)
        errors.number("PointMass", "length", self.length, least=0.0)

    def centre(self) -> tuple[Any, Any]:
        return self.length, 0.0

    def inertia_about_centre(self) -> Any:
        return jnp.zeros_like(jnp.asarray(self.mass, dtype=float))

    def end(self) -> tuple[Any, Any]:
        return self.length, 0.0


class Body(AbstractBody):
    """Any rigid body.

    - `mass` [kg] >= 0
    - `inertia` [kg m^2] >= 0, about the centre of mass
    - `com`, the centre of mass [m], anywhere in the body's frame
    - `tip` [m], where the next link hangs by default
    """

    form: ClassVar[Form] = Form(
        "body",
        "any rigid body",
        (
            Slot("mass", "number", "[kg] >= 0"),
            Slot("inertia", "number", "moment of inertia about the centre of mass [kg m^2] >= 0"),
            Slot("com", "point", "centre of mass (x, y) in the body's frame [m]", (0.0, 0.0)),
            Slot("tip", "point", "where the next link hangs (x, y) [m]", (0.0, 0.0)),
        ),
    )
    mass: Any
    inertia: Any
    com: Any = (0.0, 0.0)
    tip: Any = (0.0, 0.0)

    def __check_init__(self) -> None:
        errors.number("Body", "mass", self.mass, least=0.0)
        errors.number("Body", "inertia", self.inertia, least=0.0)
        errors.vector("Body", "com", self.com, 2)
        errors.vector("Body", "tip", self.tip, 2)
        errors.refuse_if(
            (self.mass == 0.0) & (self.inertia > 0.0),
            lambda: (
                f"inertia of Body is {float(self.inertia):g} with mass 0; no body has a moment of inertia without "
                "mass; give it a mass, or inertia 0"
            ),
        )

    def centre(self) -> tuple[Any, Any]:
        return self.com[0], self.com[1]

    def inertia_about_centre(self) -> Any:
        return self.inertia

    def end(self) -> tuple[Any, Any]:
        return self.tip[0], self.tip[1]
