"""Materials, and the contact modulus of two of them."""

from __future__ import annotations

from typing import Any

import equinox as eqx

from .. import errors


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
        ratio = errors.known(self.poisson_ratio)
        if ratio is not None and ratio > 0.5:
            raise errors.CaromError(f"poisson_ratio of Material is {float(ratio):g}; it must be at most 0.5")
        if self.yield_strength is not None:
            errors.number("Material", "yield_strength", self.yield_strength, above=0.0)


def reduced_modulus(a: Material, b: Material) -> Any:
    """1/E = (1 - nu_a^2)/E_a + (1 - nu_b^2)/E_b [Pa]."""
    return 1.0 / ((1.0 - a.poisson_ratio**2) / a.youngs_modulus + (1.0 - b.poisson_ratio**2) / b.youngs_modulus)


def hertz_stiffness(a: Material, b: Material, radius: Any) -> Any:
    """K of F = K d^1.5 for a sphere of that radius on a flat [N/m^1.5]."""
    return 4.0 / 3.0 * reduced_modulus(a, b) * radius**0.5
