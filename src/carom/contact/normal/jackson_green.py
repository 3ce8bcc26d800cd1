"""Elasto-plastic sphere on a flat with a permanent dent, in three phases."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ... import errors
from ...hybrid.automaton import NEVER
from ..material import Material, reduced_modulus
from ..power import three_halves
from .law import AbstractNormalLaw

ELASTIC, PLASTIC, RESTITUTION = 0, 1, 2


class JacksonGreen(AbstractNormalLaw):
    """Jackson and Green 2005, with Jackson, Green and Marghitu's restitution, as the arm paper uses it.

    - *elastic*, until d = 1.9 d_c: F = (4/3) E sqrt(R) d^1.5, d_c = R (pi C S_y / (2 E))^2, C = 1.295 exp(0.736 nu)
    - *plastic*, until the rate is zero:
      F = P_c { exp(-r^(5/12) / 4) r^1.5 + (4 H / (C S_y)) [1 - exp(-r^(5/9) / 25)] r },
      r = d/d_c, H = S_y (2.84 - 0.92 [1 - cos(pi a/R)]), a = sqrt(R d (d / (1.9 d_c))^B), B = 0.14 exp(23 S_y/E)
    - *restitution*, until d = d_r: F = (4/3) E sqrt(R_r) (d - d_r)^1.5,
      d_r = 1.02 d_m [1 - ((d_m/d_c + 5.9)/6.9)^-0.54], R_r = (3 P_m / (4 E))^2 / (d_m - d_r)^3;
      pushed beyond d_m again it yields on

    A blow that never reaches 1.9 d_c stays elastic. Between the first two curves the force has a step of about 1 %.

    - `first`, `second`: materials, at least one with a yield strength (the weaker one yields)
    - `radius` R [m] > 0: reduced radius, 1/R = 1/R_1 + 1/R_2
    """

    first: Material
    second: Material
    radius: Any

    def __check_init__(self) -> None:
        errors.number("JacksonGreen", "radius", self.radius, above=0.0)
        if self.first.yield_strength is None and self.second.yield_strength is None:
            raise errors.CaromError(
                "yield_strength is missing in both materials of JacksonGreen; it is what makes the contact plastic; "
                "give Material(yield_strength=...), or use Hertz for an elastic contact"
            )

    @property
    def phases(self) -> tuple[str, ...]:
        return ("elastic", "plastic", "restitution")

    @property
    def exits(self) -> tuple[str, ...]:
        return ("yield", "peak", "reload")

    @property
    def memory(self) -> tuple[str, ...]:
        return ("largest indentation", "residual indentation", "residual radius")

    # -- constants of the pair ---------------------------------------------------------------------------------------

    def _yielding(self) -> tuple[Any, Any]:
        """Yield strength and Poisson ratio of the material that yields first."""
        a, b = self.first, self.second
        if b.yield_strength is None:
            return a.yield_strength, a.poisson_ratio
        if a.yield_strength is None:
            return b.yield_strength, b.poisson_ratio
        weaker = a.yield_strength <= b.yield_strength
        pick = lambda x, y: jnp.where(weaker, x, y)  # noqa: E731
        return pick(a.yield_strength, b.yield_strength), pick(a.poisson_ratio, b.poisson_ratio)

    def _constants(self) -> tuple[Any, Any, Any, Any]:
        """E, C S_y, d_c, P_c."""
        strength, ratio = self._yielding()
        modulus = reduced_modulus(self.first, self.second)
        hard = 1.295 * jnp.exp(0.736 * ratio) * strength
        critical = self.radius * (jnp.pi * hard / (2.0 * modulus)) ** 2
        load = 4.0 / 3.0 * (self.radius / modulus) ** 2 * (jnp.pi * hard / 2.0) ** 3
        return modulus, hard, critical, load

    def _plastic(self, d: Any) -> Any:
        modulus, hard, critical, load = self._constants()
        strength, _ = self._yielding()
        d = jnp.maximum(d, 1e-6 * critical)  # the logarithm below; never reached while this phase flows
        ratio = d / critical
        log = jnp.log(ratio)
        exponent = 0.14 * jnp.exp(23.0 * strength / modulus)
        contact = jnp.sqrt(self.radius * d * jnp.exp(exponent * (log - jnp.log(1.9))))
        hardness = strength * (2.84 - 0.92 * (1.0 - jnp.cos(jnp.pi * contact / self.radius)))
        first = jnp.exp(-0.25 * jnp.exp(log * (5.0 / 12.0))) * ratio * jnp.sqrt(ratio)
        second = 4.0 * hardness / hard * (1.0 - jnp.exp(-0.04 * jnp.exp(log * (5.0 / 9.0)))) * ratio
        return load * (first + second)

    # -- the automaton -----------------------------------------------------------------------------------------------

    def touch(self, rate: Any) -> tuple[Any, ...]:
        return (0.0, 0.0, 1.0)

    def force(self, phase: Any, memory: tuple[Any, ...], d: Any, rate: Any) -> Any:
        modulus = self._constants()[0]
        _, residual, radius = memory
        # Elastic loading and restitution are the same curve with another radius and origin.
        back = phase == RESTITUTION
        curve = 4.0 / 3.0 * modulus * jnp.sqrt(jnp.where(back, radius, self.radius))
        hertz = curve * three_halves(jnp.where(back, d - residual, d))
        return jnp.where(phase == PLASTIC, self._plastic(d), hertz)

    def guard(self, phase: Any, memory: tuple[Any, ...], d: Any, rate: Any) -> tuple[Any, ...]:
        critical = self._constants()[2]
        # Scaled to the indentation itself, so that "never" is far away in the same unit.
        return (
            jnp.where(phase == ELASTIC, d - 1.9 * critical, NEVER),
            jnp.where(phase == PLASTIC, -rate, NEVER),
            jnp.where(phase == RESTITUTION, d - memory[0], NEVER),
        )

    def jump(self, fired: tuple[Any, ...], phase: Any, memory: tuple[Any, ...], d: Any) -> tuple[Any, tuple[Any, ...]]:
        yields, peak, reload = fired
        modulus, _, critical, _ = self._constants()
        largest = jnp.maximum(d, 1.9 * critical)
        residual = 1.02 * largest * (1.0 - ((largest / critical + 5.9) / 6.9) ** -0.54)
        radius = (0.75 * self._plastic(largest) / modulus) ** 2 / (largest - residual) ** 3
        new = jnp.where(yields | reload, PLASTIC, jnp.where(peak, RESTITUTION, phase))
        kept = tuple(jnp.where(peak, x, m) for x, m in zip((largest, residual, radius), memory, strict=True))
        return new, kept

    def release(self, phase: Any, memory: tuple[Any, ...], d: Any) -> Any:
        return jnp.where(phase == PLASTIC, NEVER, jnp.where(phase == RESTITUTION, memory[1] - d, -d))
