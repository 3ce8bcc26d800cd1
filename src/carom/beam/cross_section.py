"""Cross-sections of uniform beams: geometry, inertia and stiffness per unit length."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import pi, sqrt
from typing import Any

from .. import errors
from ..quantities import Real
from ._plain import plain

# Handbook values are rounded to three digits; two data further apart than this contradict each other.
AGREEMENT = 5e-3


@dataclass(frozen=True, init=False)
class Section:
    """A uniform section that bends in the plane of motion.

    - `area` A [m^2] > 0
    - `second_moment` I [m^4] > 0 about the axis normal to the plane, or `radius_of_gyration` sqrt(I/A) [m]
    - `mass_per_length` mu [kg/m] > 0, or `density` [kg/m^3]
    - `youngs_modulus` E [Pa] > 0
    - `shear_modulus` G [Pa] > 0, or `poisson_ratio` in (-1, 0.5]: G = E / (2 (1 + nu)); only Timoshenko needs it
    - `shear_factor` k in (0, 1], entering linearly: shear force = k A G (w' - theta); only Timoshenko needs it
    - `rotary_inertia` J [kg m], mass moment of inertia per unit length; mu I / A unless the mass is spread otherwise

    Two data for one quantity may both be given if they agree within 0.5 %; the more direct one is used (I, mu, G).

        Section.rectangle(width=0.03, depth=0.0125, youngs_modulus=2e11, poisson_ratio=0.3, density=2667.0)
    """

    area: float
    second_moment: float
    mass_per_length: float
    youngs_modulus: float
    shear_modulus: float | None
    shear_factor: float | None
    rotary_inertia: float

    def __init__(
        self,
        *,
        area: Real,
        youngs_modulus: Real,
        second_moment: Real | None = None,
        radius_of_gyration: Real | None = None,
        mass_per_length: Real | None = None,
        density: Real | None = None,
        shear_modulus: Real | None = None,
        poisson_ratio: Real | None = None,
        shear_factor: Real | None = None,
        rotary_inertia: Real | None = None,
    ) -> None:
        A, E = _positive("area", area), _positive("youngs_modulus", youngs_modulus)
        i = _optional("radius_of_gyration", radius_of_gyration)
        implied = None if i is None else ("area * radius_of_gyration^2", A * i**2)
        moment = _settle("second_moment", _optional("second_moment", second_moment), implied, "radius_of_gyration")
        rho = _optional("density", density)
        implied = None if rho is None else ("density * area", rho * A)
        mu = _settle("mass_per_length", _optional("mass_per_length", mass_per_length), implied, "density")
        J = _optional("rotary_inertia", rotary_inertia)
        values = (A, moment, mu, E, _shear_modulus(E, shear_modulus, poisson_ratio), _factor(shear_factor))
        names = ("area", "second_moment", "mass_per_length", "youngs_modulus", "shear_modulus", "shear_factor")
        for name, value in zip(names, values, strict=True):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "rotary_inertia", mu * moment / A if J is None else J)

    @classmethod
    def rectangle(cls, *, width: Real, depth: Real, **data: Any) -> Section:
        """`width` [m] across the plane of motion, `depth` [m] in it: A = w h, I = w h^3 / 12.

        Shear factor 10 (1 + nu) / (12 + 11 nu) unless given (Cowper 1966).
        """
        w, h = _positive("width", width), _positive("depth", depth)
        return cls._shaped(w * h, w * h**3 / 12, data, lambda nu: 10 * (1 + nu) / (12 + 11 * nu))

    @classmethod
    def circle(cls, *, radius: Real, **data: Any) -> Section:
        """Solid circle, `radius` [m]: A = pi r^2, I = pi r^4 / 4; shear factor 6 (1 + nu) / (7 + 6 nu) unless given."""
        r = _positive("radius", radius)
        return cls._shaped(pi * r**2, pi * r**4 / 4, data, lambda nu: 6 * (1 + nu) / (7 + 6 * nu))

    @classmethod
    def tube(cls, *, outer_radius: Real, inner_radius: Real, **data: Any) -> Section:
        """Round tube, radii [m]; Cowper's shear factor for a hollow circle, any wall, unless given."""
        R, r = _positive("outer_radius", outer_radius), _positive("inner_radius", inner_radius)
        if r >= R:
            raise errors.CaromError(
                f"inner_radius of Section is {r:g} and outer_radius {R:g}; a tube's inner radius must be the smaller; "
                "swap them"
            )

        def cowper(nu: float) -> float:
            n = (1 + (r / R) ** 2) ** 2
            return 6 * (1 + nu) * n / ((7 + 6 * nu) * n + (20 + 12 * nu) * (r / R) ** 2)

        return cls._shaped(pi * (R**2 - r**2), pi * (R**4 - r**4) / 4, data, cowper)

    @classmethod
    def _shaped(cls, A: float, moment: float, data: dict[str, Any], cowper: Callable[[float], float]) -> Section:
        known = ("youngs_modulus", "mass_per_length", "density", "shear_modulus", "poisson_ratio")
        for name in data:
            errors.name_in("datum of a Section with a given shape", name, (*known, "shear_factor", "rotary_inertia"))
        if "youngs_modulus" not in data:
            raise errors.CaromError(
                "youngs_modulus of Section is not given; it must be a number in Pa; steel has 2.1e11"
            )
        plain = cls(area=A, second_moment=moment, **data)
        if plain.shear_factor is not None or plain.shear_modulus is None:
            return plain
        ratio = data.get("poisson_ratio")
        nu = plain.youngs_modulus / (2 * plain.shear_modulus) - 1 if ratio is None else float(ratio)
        if not -1 < nu <= 0.5:
            raise errors.CaromError(
                f"youngs_modulus and shear_modulus of Section imply a Poisson ratio of {nu:g}; an isotropic solid has "
                "one in (-1, 0.5], and the shear factor is computed from it; give shear_factor"
            )
        return cls(area=A, second_moment=moment, shear_factor=cowper(nu), **data)

    @property
    def radius_of_gyration(self) -> float:
        """sqrt(I/A) [m]."""
        return sqrt(self.second_moment / self.area)

    @property
    def bending_stiffness(self) -> float:
        """E I [N m^2]."""
        return self.youngs_modulus * self.second_moment

    @property
    def shear_stiffness(self) -> float:
        """k A G [N]; refused while G or k is unknown."""
        if self.shear_modulus is None:
            raise errors.CaromError(
                "shear_modulus of Section is not given; a Timoshenko beam needs it; give shear_modulus or "
                "poisson_ratio, or choose theory='euler-bernoulli'"
            )
        if self.shear_factor is None:
            raise errors.CaromError(
                "shear_factor of Section is not given; a Timoshenko beam needs it; give shear_factor (a rectangle has "
                "5/6), or choose theory='euler-bernoulli'"
            )
        return self.shear_factor * self.area * self.shear_modulus


def _positive(field: str, value: Real) -> float:
    return plain("Section", field, value, above=0.0)


def _optional(field: str, value: Real | None) -> float | None:
    return None if value is None else _positive(field, value)


def _settle(field: str, given: float | None, implied: tuple[str, float] | None, other: str) -> float:
    """The one value of a quantity that may be given in two ways."""
    if implied is None:
        if given is None:
            raise errors.CaromError(f"{field} of Section is not given; it must be known; give {field} or {other}")
        return given
    if given is None:
        return implied[1]
    if abs(given - implied[1]) > AGREEMENT * given:
        raise errors.CaromError(
            f"{field} of Section is {given:g} but {implied[0]} is {implied[1]:g}; they are the same quantity; "
            f"leave out {field} or {other}"
        )
    return given


def _shear_modulus(E: float, shear_modulus: Real | None, poisson_ratio: Real | None) -> float | None:
    G = _optional("shear_modulus", shear_modulus)
    if poisson_ratio is None:
        return G
    nu = plain("Section", "poisson_ratio", poisson_ratio, above=-1.0)
    if nu > 0.5:
        raise errors.CaromError(f"poisson_ratio of Section is {nu:g}; it must lie in (-1, 0.5]; 0.5 is incompressible")
    implied = ("youngs_modulus / (2 (1 + poisson_ratio))", E / (2 * (1 + nu)))
    return _settle("shear_modulus", G, implied, "poisson_ratio")


def _factor(shear_factor: Real | None) -> float | None:
    k = _optional("shear_factor", shear_factor)
    if k is not None and k > 1:
        raise errors.CaromError(
            f"shear_factor of Section is {k:g}; it must lie in (0, 1]; 5/6 is a rectangle's, and it enters linearly "
            "(give k, not its inverse 6/5)"
        )
    return k
