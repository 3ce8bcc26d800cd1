"""What every set of mode shapes offers, computed or given: functions of the place eta on the beam's axis."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import lru_cache

import numpy as np
from numpy.polynomial.legendre import legvander

from .. import errors
from .._arguments import Name, SectionLike
from ..quantities import Given, Real
from ._plain import plain
from .cross_section import Section

THEORIES = ("euler-bernoulli", "timoshenko")
# Rows of `_derivatives`.
DEFLECTION, SLOPE, CURVATURE, ROTATION, BENDING = range(5)


class AbstractShapes(ABC):
    """W_j(eta), Theta_j(eta) and their derivatives, 0 <= eta <= l [m]; each answers with shape eta.shape + (count,).

    The deflection of a point is w = sum_j delta_j W_j(eta), the rotation of its section sum_j delta_j Theta_j(eta),
    both relative to the link's frame; with W without unit delta is in metres and Theta in 1/m.
    """

    section: Section
    length: float
    theory: str

    @property
    @abstractmethod
    def count(self) -> int:
        """Number of shapes."""

    @property
    @abstractmethod
    def quadrature_nodes(self) -> int:
        """Gauss-Legendre nodes that integrate products of two shapes to rounding."""

    @abstractmethod
    def check_hangs(self) -> None:
        """Refuse shapes that leave the joint: a link's frame has its origin there."""

    @abstractmethod
    def _derivatives(self, x: np.ndarray) -> np.ndarray:
        """W, W', W'', Theta, Theta' at x = eta / l, shape (5, points, count)."""

    def deflection(self, eta: Real | Given) -> np.ndarray:
        """W_j(eta)."""
        return self._at(eta, DEFLECTION)

    def slope(self, eta: Real) -> np.ndarray:
        """W_j'(eta)."""
        return self._at(eta, SLOPE)

    def curvature(self, eta: Real | Given) -> np.ndarray:
        """W_j''(eta)."""
        return self._at(eta, CURVATURE)

    def rotation(self, eta: Real | Given) -> np.ndarray:
        """Theta_j(eta), rotation of the section; W_j' for Euler-Bernoulli."""
        return self._at(eta, ROTATION)

    def bending(self, eta: Real | Given) -> np.ndarray:
        """Theta_j'(eta); the bending moment is E I times it."""
        return self._at(eta, BENDING)

    def shear(self, eta: Real | Given) -> np.ndarray:
        """Gamma_j(eta) = W_j' - Theta_j; zero for Euler-Bernoulli."""
        return self._at(eta, SLOPE) - self._at(eta, ROTATION)

    def foreshortening(self, eta: Real | Given) -> np.ndarray:
        """H_ij(eta), the integral of W_i' W_j' from 0 to eta [1/m], shape eta.shape + (count, count).

        A point of the axis moves back along it by 1/2 sum delta_i delta_j H_ij.
        """
        place = self._place(eta)
        # The product has twice the wave number, and has to be interpolated rather than integrated.
        x, w = gauss(2 * self.quadrature_nodes)
        slope = self._derivatives(x)[SLOPE]
        product = (slope[:, :, None] * slope[:, None, :]).reshape(len(x), -1)
        H = self.length * (_partial_integrals(x, w, place.ravel()) @ product)
        return H.reshape(*place.shape, self.count, self.count)

    def _at(self, eta: Real | Given, row: int) -> np.ndarray:
        place = self._place(eta)
        return self._derivatives(place.ravel())[row].reshape(*place.shape, self.count)

    def _place(self, eta: Real | Given) -> np.ndarray:
        try:
            x = np.asarray(eta, dtype=float) / self.length
        except (TypeError, ValueError):
            raise errors.CaromError(f"eta of Beam is {eta!r}; it must be a number or an array of numbers") from None
        beyond = ~((x >= -1e-12) & (x <= 1 + 1e-12))
        if np.any(beyond):
            raise errors.CaromError(
                f"eta of Beam is {float(x[beyond].ravel()[0]) * self.length:g}; it must lie on the beam, from 0 to its "
                f"length {self.length:g}; measure from the left end in metres"
            )
        return np.asarray(np.clip(x, 0.0, 1.0))


@lru_cache(maxsize=64)
def gauss(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Legendre nodes and weights on [0, 1]."""
    from scipy.special import roots_legendre  # here, because SciPy loads slowly and few worlds bend

    x, w = roots_legendre(count)
    return frozen((x + 1) / 2), frozen(w / 2)


def _partial_integrals(x: np.ndarray, w: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Matrix that turns values at Gauss nodes x into integrals from 0 to each end: a Legendre series, integrated."""
    n = len(x)
    series = legvander(2 * x - 1, n - 1) * w[:, None]  # times 2 k + 1: coefficients of the series
    P = legvander(2 * ends - 1, n)
    # On [0, 1] the integral of P_k is (P_(k+1) - P_(k-1)) / (2 (2 k + 1)), and that of P_0 is x.
    integrals = np.column_stack([ends, (P[:, 2:] - P[:, :-2]) / 2])
    return integrals @ series.T


def frozen(array: Given) -> np.ndarray:
    """A copy that cannot be written to."""
    copy = np.array(array)
    copy.setflags(write=False)
    return copy


def check_beam(section: SectionLike | None, length: Real | None, theory: Name) -> tuple[Section, float]:
    """Refuse what no beam can be made of; the section, and the length as a float."""
    if not isinstance(section, Section):
        raise errors.CaromError(
            f"section of Beam is a {type(section).__name__}; it must be a Section, such as "
            "Section.circle(radius=0.01, youngs_modulus=2.1e11, poisson_ratio=0.29, density=7850.0)"
        )
    plain_length = plain("Beam", "length", length, above=0.0)
    errors.name_in("theory of Beam", theory, THEORIES)
    for name, radius in (
        ("radius_of_gyration", section.radius_of_gyration),
        ("sqrt(rotary_inertia / mass_per_length)", float(np.sqrt(section.rotary_inertia / section.mass_per_length))),
    ):
        if radius >= plain_length / 2:
            raise errors.CaromError(
                f"{name} of Section is {radius:g} on a beam of length {plain_length:g}; a section is at least twice "
                "as deep as that, and a beam is longer than deep; check the units of second_moment [m^4], area [m^2] "
                "and rotary_inertia [kg m]"
            )
    return section, plain_length
