"""Elasto-plastic sphere on a flat with a permanent dent, in three phases."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ... import errors
from ...hybrid._run import executable
from ...hybrid.condition import NEVER, level
from ...hybrid.reporting import Tone
from ...quantities import Flag, Memory, PhaseNumber, Real
from ..card import Card
from ..material import check_material, reduced_modulus
from ..power import three_halves
from .normal_law import AbstractNormalLaw

ELASTIC, PLASTIC, RESTITUTION = 0, 1, 2
DEEPEST = 2386.416292001217  # d_m/d_c at which the fit's recovery (d_m - d_r)/d_c is largest
RECOVERY = 55.72937986201545  # which is this


class JacksonGreen(AbstractNormalLaw):
    """Jackson and Green 2005, with Jackson, Green and Marghitu's restitution, as the arm paper uses it.

    - *elastic*, until d = 1.9 d_c: F = (4/3) E sqrt(R) d^1.5, d_c = R (pi C S_y / (2 E))^2, C = 1.295 exp(0.736 nu)
    - *plastic*, until the rate is zero:
      F = P_c { exp(-r^(5/12) / 4) r^1.5 + (4 H / (C S_y)) [1 - exp(-r^(5/9) / 25)] r },
      r = d/d_c, H = S_y (2.84 - 0.92 [1 - cos(pi a/R)]), a = sqrt(R d (d / (1.9 d_c))^B), B = 0.14 exp(23 S_y/E)
    - *restitution*, until d = d_r: F = (4/3) E sqrt(R_r) (d - d_r)^1.5,
      d_r = 1.02 d_m [1 - ((d_m/d_c + 5.9)/6.9)^-0.54], R_r = (3 P_m / (4 E))^2 / (d_m - d_r)^3;
      pushed beyond d_m again it yields further

    A blow that never reaches 1.9 d_c stays elastic. Between the first two curves the force has a step of about 1 %.

    **Beyond the fits.** They come from finite elements up to a/R of 0.41, and bend the wrong way far outside. The
    recovery d_m - d_r grows until d_m/d_c = 2386, then falls, and is negative from 1.0018e4 on: a dent deeper than the
    indentation that made it. And cos(pi a/R) rises again for a > R, where it has no meaning. So

    - for d_m > 2386 d_c the recovery stays what it was there: d_r = d_m - 55.73 d_c
    - for a > R the contact radius stays R, hence H = S_y

    Both go on with a continuous slope. With the unloading energy 0.4 P_m (d_m - d_r), restitution stays in (0, 1) and
    falls with speed. `result.warnings` and a CaromWarning of `achieved_restitution` say when a blow went there: soft
    metal under a fast ball, such as annealed aluminium (20 MPa) under steel from 0.22 m/s.

    - `first`, `second`: materials, at least one with a yield strength (the weaker one yields)
    - `radius` R [m] > 0: reduced radius, 1/R = 1/R_1 + 1/R_2
    - `dents`: the second body remembers its last dent. A blow that falls within it, nearer to its centre than the
      contact radius a at d_m, meets the surface at d_r and loads along the unloading curve, up to d_m elastically;
      beyond it yields further and deepens the dent. A blow elsewhere finds the surface as new, and leaves a dent of its
      own if it yields. One dent is remembered, with a flat bottom: a body that slides out of it meets a step of d_r.
    """

    card: ClassVar[Card] = Card(
        name="jackson-green",
        formula="elastic F = (4/3) E sqrt(R) d^1.5 until 1.9 d_c; plastic F = P_c {exp(-r^(5/12)/4) r^1.5 + "
        "(4 H/(C S_y)) [1 - exp(-r^(5/9)/25)] r}, r = d/d_c; back F = (4/3) E sqrt(R_r) (d - d_r)^1.5 until d_r",
        parameters=(
            ("first", "Material of one body"),
            ("second", "Material of the other; at least one of the two with a yield strength"),
            ("radius", "R [m] > 0, 1/R = 1/R_1 + 1/R_2"),
            ("dents", "True: a second blow into a dent meets the hardened dent; False by default: no dent is kept"),
        ),
        source="Jackson and Green 2005, Journal of Tribology 127, 343-354; Jackson, Green and Marghitu 2010, Nonlinear "
        "Dynamics 60, 217-229",
        choose="metals struck hard enough to yield: restitution falls with speed by itself, from material data alone, "
        "and a dent stays; nothing is lost below the yield speed. Extrapolated, with a warning, where d_m > 2386 d_c "
        "or a > R",
        in_phases=(
            ("elastic", "F = (4/3) E sqrt(R) d^1.5, until d = 1.9 d_c"),
            ("plastic", "F = P_c {exp(-r^(5/12)/4) r^1.5 + (4 H/(C S_y)) [1 - exp(-r^(5/9)/25)] r}, r = d/d_c"),
            ("restitution", "F = (4/3) E sqrt(R_r) (d - d_r)^1.5, until d = d_r"),
        ),
    )

    first: Any
    second: Any
    radius: Any
    dents: Any = eqx.field(static=True, default=False)

    def __check_init__(self) -> None:
        check_material("JacksonGreen", "first", self.first)
        check_material("JacksonGreen", "second", self.second)
        errors.number("JacksonGreen", "radius", self.radius, above=0.0)
        if not isinstance(self.dents, bool):
            raise errors.CaromError(f"dents of JacksonGreen is {self.dents!r}; it must be True or False")
        if self.first.yield_strength is None and self.second.yield_strength is None:
            raise errors.CaromError(
                "yield_strength is missing in both materials of JacksonGreen; it is what makes the contact plastic; "
                "give Material(yield_strength=...), or use Hertz for an elastic contact"
            )

    @property
    def phases(self) -> tuple[str, ...]:
        return ("elastic", "plastic", "restitution")

    @property
    def tones(self) -> tuple[Tone, ...]:
        return ("elastic", "plastic", "restitution")

    @property
    def exits(self) -> tuple[str, ...]:
        return ("yield", "peak", "reload")

    @property
    def memory(self) -> tuple[str, ...]:
        dent = ("largest indentation", "residual indentation", "residual radius")
        return (*dent, "dent x", "dent y", "blow x", "blow y") if self.dents else dent

    # -- constants of the pair ---------------------------------------------------------------------------------------

    def _yielding(self) -> tuple[Any, Any]:
        """Yield strength and Poisson ratio of the material that yields first."""
        a, b = self.first, self.second
        if b.yield_strength is None:
            return a.yield_strength, a.poisson_ratio
        if a.yield_strength is None:
            return b.yield_strength, b.poisson_ratio
        weaker = a.yield_strength <= b.yield_strength
        pick = lambda x, y: errors.library_for(weaker, x, y).where(weaker, x, y)  # noqa: E731
        return pick(a.yield_strength, b.yield_strength), pick(a.poisson_ratio, b.poisson_ratio)

    def _constants(self) -> tuple[Any, Any, Any, Any]:
        """E, C S_y, d_c, P_c."""
        strength, ratio = self._yielding()
        modulus = reduced_modulus(self.first, self.second)
        hard = 1.295 * errors.library_for(ratio).exp(0.736 * ratio) * strength
        critical = self.radius * (np.pi * hard / (2.0 * modulus)) ** 2
        load = 4.0 / 3.0 * (self.radius / modulus) ** 2 * (np.pi * hard / 2.0) ** 3
        return modulus, hard, critical, load

    def _plastic(self, d: Real) -> Any:
        _, hard, critical, load = self._constants()
        strength, _ = self._yielding()
        d = jnp.maximum(d, 1e-6 * critical)  # the logarithm below; never reached while this phase flows
        ratio = d / critical
        log = jnp.log(ratio)
        contact = self._contact_radius(d)
        hardness = strength * (2.84 - 0.92 * (1.0 - jnp.cos(jnp.pi * contact / self.radius)))
        first = jnp.exp(-0.25 * jnp.exp(log * (5.0 / 12.0))) * ratio * jnp.sqrt(ratio)
        second = 4.0 * hardness / hard * (1.0 - jnp.exp(-0.04 * jnp.exp(log * (5.0 / 9.0)))) * ratio
        return load * (first + second)

    def _contact_radius(self, d: Real) -> Any:
        """a of the plastic phase [m]; d > 0."""
        strength, _ = self._yielding()
        modulus, _, critical, _ = self._constants()
        exponent = 0.14 * jnp.exp(23.0 * strength / modulus)
        fitted = jnp.sqrt(self.radius * d * jnp.exp(exponent * jnp.log(d / (1.9 * critical))))
        return jnp.minimum(fitted, self.radius)

    def _full(self) -> Any:
        """Indentation [m] at which the contact radius is R."""
        strength, _ = self._yielding()
        modulus, _, critical, _ = self._constants()
        m = errors.library_for(self.radius, strength, modulus, critical)
        exponent = 0.14 * m.exp(23.0 * strength / modulus)
        return m.exp((m.log(self.radius) + exponent * m.log(1.9 * critical)) / (1.0 + exponent))

    def _dent(self, largest: Real) -> tuple[Any, Any]:
        """d_r and R_r that an indentation d_m beyond yield leaves behind [m]."""
        modulus, _, critical, _ = self._constants()
        fitted = 1.02 * largest * (1.0 - ((largest / critical + 5.9) / 6.9) ** -0.54)
        residual = jnp.where(largest > DEEPEST * critical, largest - RECOVERY * critical, fitted)
        return residual, (0.75 * self._plastic(largest) / modulus) ** 2 / (largest - residual) ** 3

    def beyond(self, memory: Memory) -> str | None:
        most = float(np.max(np.asarray(memory[0]), initial=0.0))
        critical, full = map(float, executable(_limits, (), self)(self))
        if most <= DEEPEST * critical and most <= full:
            return None
        return (
            f"JacksonGreen was indented by {most:.3g} m = {most / critical:.3g} d_c, and its formulas are extrapolated "
            f"beyond {min(DEEPEST * critical, full):.3g} m (d = {DEEPEST:.0f} d_c, or contact radius a = R); the order "
            "of magnitude is all that can be expected"
        )

    # -- the automaton -----------------------------------------------------------------------------------------------

    def touch(self, rate: Real) -> tuple[Any, ...]:
        return (0.0, 0.0, 1.0, *([0.0] * 4 if self.dents else ()))

    def force(self, phase: PhaseNumber, memory: Memory, d: Real, rate: Real) -> Any:
        modulus = self._constants()[0]
        _, residual, radius, *_ = memory
        # Elastic loading and restitution are the same curve with another radius and origin.
        back = phase == RESTITUTION
        curve = 4.0 / 3.0 * modulus * jnp.sqrt(jnp.where(back, radius, self.radius))
        hertz = curve * three_halves(jnp.where(back, d - residual, d))
        # A branch: the plastic curve takes seven exponentials and logarithms, the others none.
        return jax.lax.cond(phase == PLASTIC, lambda: self._plastic(d), lambda: jnp.asarray(hertz, dtype=float))

    def guard(self, phase: PhaseNumber, memory: Memory, d: Real, rate: Real) -> tuple[Any, ...]:
        critical = self._constants()[2]
        # Scaled to the indentation itself, so that "never" is far away in the same unit.
        return (
            jnp.where(phase == ELASTIC, d - 1.9 * critical, NEVER),
            jnp.where(phase == PLASTIC, -rate, NEVER),
            # At the peak itself d = d_m; whether that is pressed on is what the rate says, not rounding.
            level(jnp.where(phase == RESTITUTION, d - memory[0], NEVER))._replace(
                slow=jnp.where(rate > 0.0, -jnp.inf, jnp.inf)
            ),
        )

    def jump(self, fired: tuple[Flag, ...], phase: PhaseNumber, memory: Memory, d: Real) -> tuple[Any, tuple[Any, ...]]:
        yields, peak, reload = fired
        largest = jnp.maximum(d, 1.9 * self._constants()[2])
        # The place of the blow becomes that of the dent.
        found = (largest, *self._dent(largest), *memory[5:], *memory[5:])
        new = jnp.where(yields | reload, PLASTIC, jnp.where(peak, RESTITUTION, phase))
        return new, tuple(jnp.where(peak, x, m) for x, m in zip(found, memory, strict=True))

    def release(self, phase: PhaseNumber, memory: Memory, d: Real) -> Any:
        return jnp.where(phase == PLASTIC, NEVER, jnp.where(phase == RESTITUTION, memory[1] - d, -d))

    # -- dents -------------------------------------------------------------------------------------------------------

    def _within(self, memory: Memory, place: tuple[Any, Any]) -> Any:
        """Is there a dent, and does the place lie in it?"""
        largest, dx, dy = memory[0], place[0] - memory[3], place[1] - memory[4]
        there = largest > 0.0
        reach = self._contact_radius(jnp.where(there, largest, 1.0))
        return there & (dx * dx + dy * dy < reach * reach)

    def surface(self, memory: Memory, place: tuple[Any, Any]) -> Any:
        return jnp.where(self._within(memory, place), memory[1], 0.0) if self.dents else 0.0

    def meet(self, rate: Real, memory: Memory, place: tuple[Any, Any], d: Real = 0.0) -> tuple[Any, tuple[Any, ...]]:
        if not self.dents:
            # Pushed back before it had left the dent that it parted from: it loads along the unloading curve.
            back = (memory[1] > 0.0) & (d > 1e-3 * memory[1])
            fresh = self.touch(rate)
            return jnp.where(back, RESTITUTION, ELASTIC), tuple(
                jnp.where(back, old, new) for old, new in zip(memory, fresh, strict=True)
            )
        inside = self._within(memory, place)
        # A blow that falls into the dent is led to its centre.
        blow = tuple(jnp.where(inside, old, new) for old, new in zip(memory[3:5], place, strict=True))
        return jnp.where(inside, RESTITUTION, ELASTIC), (*memory[:5], *blow)

    # -- the energy equation -----------------------------------------------------------------------------------------

    def rebound(self, speed: float, mass: float) -> float:
        """Energy given back along the unloading curve, over energy taken in along the two loading curves."""
        from scipy.optimize import brentq  # here, because it loads slowly and few need it

        modulus, _, critical, _ = (float(x) for x in self._constants())
        start, energy = 1.9 * critical, 0.5 * mass * speed**2
        rest = energy - self._hertz_energy(modulus, float(self.radius), start)
        if rest <= 0.0:
            return 1.0
        first, last = sorted((DEEPEST * critical, float(self._full())))
        taken = lambda d: self._plastic_energy(start, d, (first, last)) - rest  # noqa: E731
        end = 2.0 * start
        while taken(end) < 0.0:
            end *= 2.0
        largest = brentq(taken, start, end, xtol=1e-16 * end, rtol=1e-15)
        sentence = self.beyond((largest,))
        if sentence is not None:
            warnings.warn(sentence, errors.CaromWarning, stacklevel=3)
        residual, radius = (float(x) for x in self._dent(jnp.asarray(largest)))
        return float((self._hertz_energy(modulus, radius, largest - residual) / energy) ** 0.5)

    @staticmethod
    def _hertz_energy(modulus: float, radius: float, depth: float) -> float:
        """Integral of (4/3) E sqrt(R) d^1.5 [J]."""
        return 8.0 / 15.0 * modulus * radius**0.5 * depth**2.5

    def _plastic_energy(self, start: float, end: float, edges: tuple[float, float]) -> float:
        """Integral of the plastic force [J]: in one piece within the fits, beyond their edges in several.

        Over ln d: in it the curve is smooth over decades.
        """
        cuts = [start, *(edge for edge in edges if start < edge < end), end]
        if end > edges[0]:
            cuts = [c for a, b in pairwise(cuts) for c in np.geomspace(a, b, 1 + max(1, round(np.log(b / a) / 2)))]
        nodes, weights = np.polynomial.legendre.leggauss(48)
        pieces = [(a, 0.5 * np.log(b / a)) for a, b in pairwise(cuts) if a < b]
        d = np.concatenate([a * np.exp(half * (nodes + 1.0)) for a, half in pieces] or [nodes[:0]])
        each = np.reshape(d * np.asarray(self._plastic(jnp.asarray(d))), (-1, len(nodes)))
        return float(sum((half * np.sum(weights * row) for (_, half), row in zip(pieces, each, strict=True)), 0.0))


def _limits(law: JacksonGreen) -> tuple[Any, Any]:
    """Indentations [m] at yield, and at which the contact radius is R."""
    return law._constants()[2], law._full()
