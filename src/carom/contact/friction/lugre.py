"""Friction with bristles that yield: LuGre."""

from __future__ import annotations

import math
import warnings
from typing import Any

import equinox as eqx
import jax.numpy as jnp

from ... import errors
from ...quantities import Real
from ..card import Card
from .dry import check_limit
from .friction_law import AbstractFriction


class LuGre(AbstractFriction):
    """F_t = -F_n (s0 z + s1 z' + s2 v), z' = v - s0 |v| z / g(v), g(v) = mu + (mu_s - mu) exp(-(v/v_s)^2).

    All coefficients are per unit of normal force, so that friction vanishes with it; the state is s0 z. The bristle's
    damping fades with speed, s1 exp(-(v/v_d)^2), because a constant one can supply energy (Barahona and Canudas de
    Wit). `constant_damping=True` is the law as it was first published, s1 at every speed, with a CaromWarning.

    - `mu` > 0, `static` mu_s >= mu, `speed` v_s [m/s] > 0
    - `stiffness` s0 [1/m] > 0, `damping` s1 [s/m] >= 0 (by default none), `fade` v_d [m/s] > 0, `viscous` s2 [s/m] >= 0
    - `constant_damping`: True keeps s1 at every speed; `fade` must then be left out
    """

    mu: Any
    static: Any
    speed: Any
    stiffness: Any
    damping: Any = 0.0
    fade: Any = None
    viscous: Any = 0.0
    constant_damping: Any = eqx.field(static=True, default=False)

    card = Card(
        "lugre",
        "F_t = -F_n (s0 z + s1 exp(-(v/v_d)^2) z' + s2 v),  z' = v - s0 |v| z / g(v),  "
        "g = mu + (mu_s - mu) exp(-(v/v_s)^2)",
        (
            ("mu", "coefficient at high speed, > 0"),
            ("static", "static coefficient mu_s, >= mu"),
            ("speed", "Stribeck speed v_s [m/s], > 0"),
            ("stiffness", "of the bristle, s0 [1/m], > 0"),
            ("damping", "of the bristle, s1 [s/m], >= 0; refused where it would let friction supply energy"),
            ("fade", "speed v_d [m/s] over which that damping fades; v_s if left out"),
            ("viscous", "s2 [s/m], >= 0"),
            ("constant_damping", "True: s1 at every speed, as first published; can supply energy, and warns"),
        ),
        "Canudas de Wit, Olsson, Astrom and Lischinsky 1995; passivity: Barahona and Canudas de Wit 2000",
        "Pre-sliding, stick-slip and falling friction in one law; stiff: use rodas5p for large s0.",
    )

    def __check_init__(self) -> None:
        check_limit("LuGre", self.mu, self.static)
        errors.number("LuGre", "mu", self.mu, above=0.0)
        for field in ("static", "speed", "stiffness"):
            errors.number("LuGre", field, getattr(self, field), above=0.0)
        for field in ("damping", "viscous"):
            errors.number("LuGre", field, getattr(self, field), least=0.0)
        if self.fade is not None:
            errors.number("LuGre", "fade", self.fade, above=0.0)
        if not isinstance(self.constant_damping, bool):
            raise errors.CaromError(f"constant_damping of LuGre is {self.constant_damping!r}; it must be True or False")
        if not self.constant_damping:
            self._check_damping()
            return
        if self.fade is not None:
            raise errors.CaromError(
                "LuGre got constant_damping=True and also a fade; damping that is constant does not fade; leave out one"
            )
        self._warn_of_constant_damping()

    def _warn_of_constant_damping(self) -> None:
        """Say up to which speed the law is passive: the condition of `_check_damping` is s1 |v| <= 4 g(v), g >= mu."""
        damping, mu = errors.known(self.damping), errors.known(self.mu)
        if damping is None or mu is None or float(damping) == 0.0:
            return
        warnings.warn(
            f"damping of LuGre is {float(damping):g} s/m at every speed, as first published; sliding faster than "
            f"4 mu / s1 = {4.0 * float(mu) / float(damping):.3g} m/s, friction can supply energy; leave "
            "constant_damping out for damping that fades",
            errors.CaromWarning,
            stacklevel=4,
        )

    def _check_damping(self) -> None:
        """Refuse a damping with which friction could supply energy.

        With the energy s0 z^2/2 of the bristle, the power v (s0 z + s1 z') taken up by the law exceeds the growth of
        that energy by s1 z'^2 + s0 s1 |v| z z'/g + s0^2 |v| z^2/g: never negative if and only if s1(v) |v| <= 4 g(v).
        The largest |v| exp(-(v/v_d)^2) is v_d / sqrt(2 e), and g >= mu.
        """
        most = 4.0 * self.mu * math.sqrt(2.0 * math.e) / self._fade
        errors.refuse_if(
            self.damping > most,
            lambda: (
                f"damping of LuGre is {float(self.damping):g} s/m; it must be at most 4 mu sqrt(2 e) / fade = "
                f"{float(most):g} s/m, above which friction could supply energy; lower it, or lower fade "
                "(constant_damping=True is the first published law, with a warning)"
            ),
            field="damping",
        )

    @property
    def _fade(self) -> Any:
        return self.speed if self.fade is None else self.fade

    @property
    def states(self) -> tuple[str, ...]:
        return ("force ratio",)

    def _steady(self, sliding: Real) -> Any:
        return self.mu + (self.static - self.mu) * jnp.exp(-((sliding / self.speed) ** 2))

    def force(self, normal: Real, sliding: Real) -> Any:
        return -normal * (self._steady(sliding) * jnp.sign(sliding) + self.viscous * sliding)

    def flow(self, states: tuple[Any, ...], normal: Real, sliding: Real) -> tuple[Any, tuple[Any, ...]]:
        (ratio,) = states
        rate = sliding - jnp.abs(sliding) * ratio / self._steady(sliding)
        fading = 1.0 if self.constant_damping else jnp.exp(-((sliding / self._fade) ** 2))
        bristle = self.damping * fading * rate
        return -normal * (ratio + bristle + self.viscous * sliding), (self.stiffness * rate,)
