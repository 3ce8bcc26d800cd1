"""Stick declared within a band of speeds."""

from __future__ import annotations

from typing import Any

from ... import errors
from ...quantities import Real
from ..card import Card
from .dry import AbstractDry, check_limit


class Karnopp(AbstractDry):
    """Like `Coulomb`, but sliding counts as stopped when it is slower than `band`.

    What is left of the speed then fades away while the contact holds.

    - `mu` >= 0, `static` mu_s >= mu, `band` [m/s] > 0
    """

    mu: Any
    static: Any
    band: Any

    card = Card(
        "karnopp",
        "|v| > band: F_t = -mu F_n sgn(v);  |v| <= band: sticking, |F_t| <= mu_s F_n",
        (
            ("mu", "sliding coefficient, >= 0"),
            ("static", "static coefficient mu_s, >= mu"),
            ("band", "speed [m/s] below which it sticks, > 0"),
        ),
        "Karnopp 1985",
        "To compare with studies that used it. carom finds the stop exactly, so Coulomb needs no band.",
        (("sliding", "F_t = -mu F_n sgn(v)"), ("sticking", "|v| <= band, |F_t| <= mu_s F_n")),
    )

    def __check_init__(self) -> None:
        check_limit("Karnopp", self.mu, self.static)
        errors.number("Karnopp", "static", self.static)
        errors.number("Karnopp", "band", self.band, above=0.0)

    @property
    def limit(self) -> Any:
        return self.static

    def coefficient(self, speed: Real) -> Any:
        return self.mu

    @property
    def stops_at(self) -> Any:
        return self.band
