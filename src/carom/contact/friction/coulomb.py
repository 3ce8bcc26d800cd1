"""Coulomb's law, exact: stick and slip, found as events."""

from __future__ import annotations

from typing import Any

from ... import errors
from ...quantities import Real
from ..card import Card
from .dry import AbstractDry, check_limit


class Coulomb(AbstractDry):
    """Sliding: F_t = -mu F_n sgn(v) - c v. Sticking: whatever holds it, up to mu_s F_n.

    - `mu` >= 0; `static` mu_s >= mu, equal to mu if left out (stiction); `viscous` c [N s/m] >= 0
    """

    mu: Any
    static: Any = None
    viscous: Any = 0.0

    card = Card(
        "coulomb",
        "sliding: F_t = -mu F_n sgn(v) - c v;  sticking: |F_t| <= mu_s F_n",
        (
            ("mu", "sliding coefficient, >= 0"),
            ("static", "static coefficient mu_s, >= mu; mu if left out"),
            ("viscous", "c [N s/m], >= 0"),
        ),
        "Coulomb 1785; stiction and the viscous part as in Armstrong-Helouvry, Dupont and Canudas de Wit 1994",
        "The default for dry contacts: it holds without creep, and stick and slip begin at exact instants. "
        "Serves compliant and rigid contacts.",
        (("sliding", "F_t = -mu F_n sgn(v) - c v"), ("sticking", "v = 0, |F_t| <= mu_s F_n")),
    )

    def __check_init__(self) -> None:
        check_limit("Coulomb", self.mu, self.static)
        errors.number("Coulomb", "viscous", self.viscous, least=0.0)

    @property
    def limit(self) -> Any:
        return self.mu if self.static is None else self.static

    def coefficient(self, speed: Real) -> Any:
        return self.mu

    @property
    def drag(self) -> Any:
        return self.viscous
