"""Mode shapes that the user gives: polynomials, or functions of eta."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial

from .. import errors
from .._arguments import Name, SectionLike, ShapeLike, ShapeListLike
from ..quantities import Function, Real
from .cross_section import Section
from .shapes import AbstractShapes, check_beam

# Functions are replaced by their interpolants, which are then differentiated; beyond this degree they are not smooth.
MAX_DEGREE = 128
DOMAIN = (0.0, 1.0)


@dataclass(frozen=True, eq=False)
class GivenShapes(AbstractShapes):
    """Shapes chosen by the user, as polynomials in eta / l; make them with `given_shapes`."""

    section: Section
    length: float
    theory: str
    _W: tuple[Chebyshev, ...] = field(repr=False)
    _Theta: tuple[Chebyshev, ...] = field(repr=False)

    @property
    def count(self) -> int:
        return len(self._W)

    @property
    def quadrature_nodes(self) -> int:
        return max(c.degree() for c in (*self._W, *self._Theta)) + 2

    def check_hangs(self) -> None:
        for j, W in enumerate(self._W):
            _check_origin(j, W)

    def _derivatives(self, x: np.ndarray) -> np.ndarray:
        rows = [
            (W(x), W.deriv()(x), W.deriv(2)(x), T(x), T.deriv()(x)) for W, T in zip(self._W, self._Theta, strict=True)
        ]
        # The rotation is kept in 1/m, its argument is eta / l.
        unit = self.length ** -np.array([0.0, 1.0, 2.0, 0.0, 1.0])
        return np.moveaxis(np.array(rows), 0, -1) * unit[:, None, None]


def given_shapes(
    section: SectionLike,
    length: Real,
    deflections: ShapeListLike,
    rotations: ShapeListLike | None = None,
    theory: Name = "euler-bernoulli",
) -> GivenShapes:
    """Assumed shapes W_j and, for Timoshenko, section rotations Theta_j.

    Each is a function of eta [m] that takes an array, or the coefficients c_n of sum_n c_n (eta/l)^n, lowest first. W
    has no unit and W(0) = 0; Theta is in 1/m. Euler-Bernoulli's rotation is W' and is not given.

        given_shapes(section, 1.0, [[0.0, 0.0, 3.0, -1.0]])            # a cantilever bent by a force at its tip
        given_shapes(section, 1.0, [lambda eta: np.sin(np.pi * eta)])
    """
    _, L = check_beam(section, length, theory)
    W = [_polynomial(f"deflection {j}", w, L) for j, w in enumerate(_listed("deflections", deflections))]
    for j, w in enumerate(W):
        _check_origin(j, w)
    if theory == "timoshenko":
        # Asked for now, so that a missing datum is not found later.
        _ = section.shear_stiffness
        if rotations is None:
            raise errors.CaromError(
                "rotations of Beam are not given; a Timoshenko beam's sections turn on their own; give one rotation "
                "for each deflection, or choose theory='euler-bernoulli'"
            )
        Theta = [_polynomial(f"rotation {j}", t, L) for j, t in enumerate(_listed("rotations", rotations))]
    elif rotations is not None:
        raise errors.CaromError(
            "rotations of Beam are given with theory='euler-bernoulli'; there the rotation is the slope W'; leave them "
            "out, or choose theory='timoshenko'"
        )
    else:
        Theta = [w.deriv() / L for w in W]
    if len(Theta) != len(W):
        raise errors.CaromError(
            f"Beam has {len(W)} deflections and {len(Theta)} rotations; each shape has both; complete the shorter"
        )
    return GivenShapes(section, L, theory, tuple(W), tuple(Theta))


def _listed(what: str, given: ShapeListLike) -> Sequence[Any]:
    if callable(given) or not hasattr(given, "__len__") or len(given) == 0 or isinstance(given, str):
        raise errors.CaromError(
            f"{what} of Beam is {given!r}; it must be a list with one function or list of coefficients for each shape"
        )
    return given


def _polynomial(name: str, given: ShapeLike, length: float) -> Chebyshev:
    if callable(given):
        return _interpolant(name, given, length)
    try:
        coefficients = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        coefficients = np.zeros(0)
    if coefficients.ndim != 1 or coefficients.size == 0 or not np.all(np.isfinite(coefficients)):
        raise errors.CaromError(
            f"{name} of Beam is {given!r}; it must be a function of eta or a list of finite coefficients, lowest power "
            "of eta/l first"
        )
    return Polynomial(coefficients).convert(kind=Chebyshev, domain=DOMAIN)


def _interpolant(name: str, function: Function, length: float) -> Chebyshev:
    """The polynomial that equals the function to rounding; the lowest degree that does."""

    def values(x: np.ndarray) -> np.ndarray:
        y = np.asarray(function(length * x), dtype=float)
        if y.shape != x.shape or not np.all(np.isfinite(y)):
            raise errors.CaromError(
                f"{name} of Beam answers an array of shape {x.shape} with shape {y.shape} or with numbers that are not "
                "finite; it must be a function of eta that takes arrays; write it with NumPy's functions"
            )
        return y

    degree = 8
    while degree <= MAX_DEGREE:
        fit = Chebyshev.interpolate(values, degree, domain=DOMAIN)
        size = np.max(np.abs(fit.coef))
        between = np.linspace(0.0, 1.0, 5 * degree)  # a function may vanish at all nodes of a coarse rule
        error = np.max(np.abs(fit(between) - values(between)))
        if np.max(np.abs(fit.coef[-3:])) <= 1e-14 * size and error <= 1e-12 * size:
            return fit.trim(1e-15 * size) if size > 0 else fit
        degree *= 2
    raise errors.CaromError(
        f"{name} of Beam is not resolved by a polynomial of degree {MAX_DEGREE}; a mode shape must be smooth along the "
        "whole beam (no kink, no jump); smooth it, or cut the beam into two links"
    )


def _check_origin(j: int, W: Chebyshev) -> None:
    at_joint = float(W(0.0))
    if abs(at_joint) > 1e-10 * float(np.max(np.abs(W.coef))):
        raise errors.CaromError(
            f"deflection {j} of Beam is {at_joint:g} at eta = 0; it must be 0, for the link's frame has its origin at "
            "the joint there; subtract its value at 0"
        )
