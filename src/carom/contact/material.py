"""Materials, and the contact stiffness of two of them."""

from __future__ import annotations

from typing import Any

import equinox as eqx

from .. import errors
from .._arguments import MaterialLike
from ..quantities import Real


class Material(eqx.Module):
    """Elastic and plastic data of a solid.

    - `youngs_modulus` [Pa] > 0, `poisson_ratio` in (-1, 0.5]
    - `yield_strength` [Pa] > 0, needed by elasto-plastic laws only
    """

    youngs_modulus: Any
    poisson_ratio: Any
    yield_strength: Any = None

    def __check_init__(self) -> None:
        errors.number("Material", "youngs_modulus", self.youngs_modulus, above=0.0)
        errors.number("Material", "poisson_ratio", self.poisson_ratio, above=-1.0)
        errors.refuse_if(
            self.poisson_ratio > 0.5,
            lambda: (
                f"poisson_ratio of Material is {float(self.poisson_ratio):g}; it must lie in (-1, 0.5]; 0.5 is "
                "incompressible"
            ),
            field="poisson_ratio",
        )
        if self.yield_strength is not None:
            errors.number("Material", "yield_strength", self.yield_strength, above=0.0)


def check_material(owner: str, field: str, value: object) -> None:
    """Refuse anything but a material."""
    if not isinstance(value, Material):
        raise errors.CaromError(
            f"{field} material of {owner} is a {type(value).__name__}; it must be a carom.Material, such as "
            "carom.Material(210e9, 0.29)"
        )


def reduced_modulus(a: Material, b: Material) -> Any:
    """1/E = (1 - nu_a^2)/E_a + (1 - nu_b^2)/E_b [Pa]."""
    return 1.0 / ((1.0 - a.poisson_ratio**2) / a.youngs_modulus + (1.0 - b.poisson_ratio**2) / b.youngs_modulus)


def reduced_radius(radius: Real, other: Real | None = None) -> Any:
    """1/R = 1/R_1 + 1/R_2 [m]; without a second radius the other body is flat."""
    return radius if other is None else radius * other / (radius + other)


def hertz_stiffness(a: MaterialLike, b: MaterialLike, radius: Real, other_radius: Real | None = None) -> Any:
    """K of F = K d^1.5 for a sphere on a flat, or on a sphere of `other_radius` [N/m^1.5]: (4/3) E sqrt(R)."""
    check_material("hertz_stiffness", "first", a)
    check_material("hertz_stiffness", "second", b)
    errors.number("hertz_stiffness", "radius", radius, above=0.0)
    if other_radius is not None:
        errors.number("hertz_stiffness", "other_radius", other_radius, above=0.0)
    return 4.0 / 3.0 * reduced_modulus(a, b) * reduced_radius(radius, other_radius) ** 0.5
