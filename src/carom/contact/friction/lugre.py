"""Friction with bristles that yield: LuGre."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp

from ... import errors
from ..card import Card
from .dry import check_limit
from .law import AbstractFriction


class LuGre(AbstractFriction):
    """F_t = -F_n (s0 z + s1 z' + s2 v), z' = v - s0 |v| z / g(v), g(v) = mu + (mu_s - mu) exp(-(v/v_s)^2).

    All coefficients are per unit of normal force, so that friction vanishes with it; the state is s0 z. The bristle's
    damping fades with speed, s1 exp(-(v/v_d)^2), because a constant one can supply energy (Barahona and Canudas de
    Wit).

    - `mu` > 0, `static` mu_s >= mu, `speed` v_s [m/s] > 0
    - `stiffness` s0 [1/m] > 0, `damping` s1 [s/m] >= 0 (by default none), `fade` v_d [m/s] > 0, `viscous` s2 [s/m] >= 0
    """

    mu: Any
    static: Any
    speed: Any
    stiffness: Any
    damping: Any = 0.0
    fade: Any = None
    viscous: Any = 0.0

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
        self._check_damping()

    def _check_damping(self) -> None:
        """Refuse a damping with which friction could supply energy.

        With the energy s0 z^2/2 of the bristle, the power v (s0 z + s1 z') taken up by the law exceeds the growth of
        that energy by s1 z'^2 + s0 s1 |v| z z'/g + s0^2 |v| z^2/g: never negative if and only if s1(v) |v| <= 4 g(v).
        The largest |v| exp(-(v/v_d)^2) is v_d / sqrt(2 e), and g >= mu.
        """
        damping, mu, fade = (errors.known(x) for x in (self.damping, self.mu, self._fade))
        if damping is None or mu is None or fade is None:
            return
        most = 4.0 * float(mu) * math.sqrt(2.0 * math.e) / float(fade)
        if float(damping) > most:
            raise errors.CaromError(
                f"damping of LuGre is {float(damping):g} s/m; it must be at most 4 mu sqrt(2 e) / fade = {most:g} s/m, "
                "above which friction could supply energy; lower it, or lower fade"
            )

    @property
    def _fade(self) -> Any:
        return self.speed if self.fade is None else self.fade

    @property
    def states(self) -> tuple[str, ...]:
        return ("force ratio",)

    def _steady(self, sliding: Any) -> Any:
        return self.mu + (self.static - self.mu) * jnp.exp(-((sliding / self.speed) ** 2))

    def force(self, normal: Any, sliding: Any) -> Any:
        return -normal * (self._steady(sliding) * jnp.sign(sliding) + self.viscous * sliding)

    def flow(self, states: tuple[Any, ...], normal: Any, sliding: Any) -> tuple[Any, tuple[Any, ...]]:
        (ratio,) = states
        rate = sliding - jnp.abs(sliding) * ratio / self._steady(sliding)
        bristle = self.damping * jnp.exp(-((sliding / self._fade) ** 2)) * rate
        return -normal * (ratio + bristle + self.viscous * sliding), (self.stiffness * rate,)
