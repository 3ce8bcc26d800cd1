"""Everything that a multibody model needs of an elastic link: the integrals of its mode shapes, computed once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import errors
from .._arguments import Count, ShapesLike
from ..quantities import Given, Real
from ._plain import plain
from .shapes import AbstractShapes, frozen, gauss

# A larger rule would carry more modes than a link in a multibody model can use (about 100).
MAX_NODES = 256
# Two rules agree to rounding, or the smaller one does not carry the shapes.
QUADRATURE_AGREEMENT = 1e-11
# Shapes whose scaled mass matrix comes closer than this to singular cannot be told apart.
INDEPENDENT = 1e-12


@dataclass(frozen=True, eq=False)
class ModalData:
    """An elastic link in its own frame: m shapes, g quadrature nodes. All arrays are read-only.

    - `mass` [kg], `length` [m]; `rotary_inertia` J [kg m], mass moment of inertia of the sections per unit length
    - `nodes` eta_g [m]; `weights` [kg], the mass that each node stands for: integral f dm = sum_g weights_g f(eta_g)
    - `W`, `Theta` at the nodes, shape (g, m); `H` (g, m, m), integral_0^eta W_i' W_j'
    - `mass_W` (m), `mass_eta_W` (m), `mass_WW` (m, m): integrals of W_j, eta W_j, W_i W_j over the mass
    - `mass_H`, `mass_eta_H` (m, m): the same of H_ij, eta H_ij
    - `rotary` J l [kg m^2], `rotary_Theta` (m), `rotary_ThetaTheta` (m, m): J times the integrals of 1, Theta_j,
      Theta_i Theta_j over the length
    - `stiffness` (m, m): integral k A G Gamma_i Gamma_j + E I Theta_i' Theta_j'; Euler-Bernoulli E I W_i'' W_j''
    - `damping` (m, m)
    - `shapes`: W, Theta, H at any place, for joints, sites and payloads
    """

    shapes: AbstractShapes
    mass: float
    length: float
    rotary_inertia: float
    nodes: np.ndarray
    weights: np.ndarray
    W: np.ndarray
    Theta: np.ndarray
    H: np.ndarray
    mass_W: np.ndarray
    mass_eta_W: np.ndarray
    mass_WW: np.ndarray
    mass_H: np.ndarray
    mass_eta_H: np.ndarray
    rotary: float
    rotary_Theta: np.ndarray
    rotary_ThetaTheta: np.ndarray
    stiffness: np.ndarray
    damping: np.ndarray

    @property
    def modal_mass(self) -> np.ndarray:
        """mass_WW + rotary_ThetaTheta: the mass matrix of delta while the link's frame is held still."""
        return self.mass_WW + self.rotary_ThetaTheta


def modal_data(
    shapes: ShapesLike,
    *,
    air_damping: Real = 0.0,
    material_damping: Real = 0.0,
    damping_ratio: Real | Given | None = None,
    rotary_inertia: Real | None = None,
    nodes: Count | None = None,
) -> ModalData:
    """The modal integrals of a link, from `modes(...)` or `given_shapes(...)`.

    - `air_damping` gamma [kg/(m s)] >= 0 and `material_damping` K_v [Pa s] >= 0 (Kelvin-Voigt):
      D_ij = integral gamma W_i W_j + K_v I W_i'' W_j''
    - or `damping_ratio` zeta >= 0, one or one per vibration in order of frequency, of the link with its frame held
    - `rotary_inertia` J [kg m] >= 0: the section's for Timoshenko and 0 for Euler-Bernoulli unless given
    - `nodes`: Gauss-Legendre nodes; enough for rounding unless given
    """
    if not isinstance(shapes, AbstractShapes):
        raise errors.CaromError(
            f"shapes of Beam is a {type(shapes).__name__}; it must come from modes(...) or given_shapes(...)"
        )
    shapes.check_hangs()
    J = _rotary_inertia(shapes, rotary_inertia)
    x, w = gauss(_node_count(shapes, nodes))
    eta, weights = shapes.length * x, shapes.section.mass_per_length * shapes.length * w
    W, Theta, H = shapes.deflection(eta), shapes.rotation(eta), shapes.foreshortening(eta)
    integrals = _gram(shapes, J, len(x))
    _check_rule(integrals, _gram(shapes, J, len(x) + 20), len(x))
    mass_WW, rotary_ThetaTheta, stiffness, _ = integrals
    _check_independent(mass_WW + rotary_ThetaTheta)
    arrays = {
        "nodes": eta,
        "weights": weights,
        "W": W,
        "Theta": Theta,
        "H": H,
        "mass_W": weights @ W,
        "mass_eta_W": (weights * eta) @ W,
        "mass_WW": mass_WW,
        "mass_H": np.einsum("g,gij->ij", weights, H),
        "mass_eta_H": np.einsum("g,gij->ij", weights * eta, H),
        "rotary_Theta": J * shapes.length * w @ Theta,
        "rotary_ThetaTheta": rotary_ThetaTheta,
        "stiffness": stiffness,
        "damping": _damping(shapes, integrals, air_damping, material_damping, damping_ratio),
    }
    mass = shapes.section.mass_per_length * shapes.length
    frozen_arrays = {name: frozen(array) for name, array in arrays.items()}
    data = ModalData(shapes, mass, shapes.length, J, rotary=J * shapes.length, **frozen_arrays)
    _check_motion(data)
    return data


def _rotary_inertia(shapes: AbstractShapes, given: Real | None) -> float:
    if given is None:
        return shapes.section.rotary_inertia if shapes.theory == "timoshenko" else 0.0
    return plain("Beam", "rotary_inertia", given, least=0.0)


def _node_count(shapes: AbstractShapes, given: Count | None) -> int:
    needed = shapes.quadrature_nodes
    if needed > MAX_NODES:
        raise errors.CaromError(
            f"Beam has {shapes.count} modes, whose integrals need {needed} quadrature nodes; at most {MAX_NODES} are "
            "supported; ask for fewer modes"
        )
    if given is None:
        return needed
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or not 1 <= given <= MAX_NODES:
        raise errors.CaromError(
            f"nodes of Beam is {given!r}; it must be a whole number from 1 to {MAX_NODES}; leave it out to have "
            f"{needed} for these shapes"
        )
    return int(given)


def _gram(shapes: AbstractShapes, J: float, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Integrals of W W over the mass, J Theta Theta, the stiffness, and W'' W'' over the length."""
    x, w = gauss(count)
    eta, w = shapes.length * x, shapes.length * w
    section = shapes.section

    def product(f: np.ndarray) -> np.ndarray:
        P = (f.T * w) @ f
        return (P + P.T) / 2

    stiffness = section.bending_stiffness * product(shapes.bending(eta))
    if shapes.theory == "timoshenko":
        stiffness = stiffness + section.shear_stiffness * product(shapes.shear(eta))
    WW = section.mass_per_length * product(shapes.deflection(eta))
    return WW, J * product(shapes.rotation(eta)), stiffness, product(shapes.curvature(eta))


def _check_rule(rule: tuple[np.ndarray, ...], finer: tuple[np.ndarray, ...], count: int) -> None:
    """Refuse a quadrature that a finer one contradicts."""
    for one, other in zip(rule, finer, strict=True):
        size = np.sqrt(np.abs(np.diag(other)))
        if np.any(np.abs(one - other) > QUADRATURE_AGREEMENT * np.outer(size, size)):
            m = len(one)
            raise errors.CaromError(
                f"{count} quadrature nodes of Beam do not resolve its {m} modes: a finer rule gives other integrals; "
                "ask for fewer modes or more nodes (leave nodes out to have enough)"
            )


def _check_motion(data: ModalData) -> None:
    """Refuse shapes that repeat each other, or that repeat the link's own rotation."""
    from scipy.linalg import eigh  # here, because SciPy loads slowly and few worlds bend

    mass, count = data.modal_mass, data.shapes.count
    section, length = data.shapes.section, data.length
    lowest = float(eigh(data.stiffness, mass, eigvals_only=True)[0])
    if lowest < 1e-8 * section.bending_stiffness / (section.mass_per_length * length**4):
        raise errors.CaromError(
            "a shape of Beam (or a sum of shapes) is without stiffness: it turns the whole beam, which the link's own "
            "angle does already; take the rigid rotation W = eta out of the shapes"
        )
    # What is left of the modal mass when the link may turn freely: no shape may be a rotation.
    coupling = data.mass_eta_W + data.rotary_Theta
    rest = mass - np.outer(coupling, coupling) / (data.mass * length**2 / 3 + data.rotary)
    if _least(rest, mass) < INDEPENDENT:
        raise errors.CaromError(
            f"a sum of the {count} shapes of Beam moves its mass as a rotation of the whole beam does, which the "
            "link's own angle does already; leave one shape out"
        )


def _check_independent(mass: np.ndarray) -> None:
    size = np.diag(mass)
    if not np.all(size > 0):
        raise errors.CaromError(
            f"shape {int(np.argmin(size))} of Beam moves no mass; every shape must; leave it out, or count the rotary "
            "inertia of the sections"
        )
    if _least(mass, mass) < INDEPENDENT:
        raise errors.CaromError(
            f"the {len(mass)} shapes of Beam depend on each other; no shape may be a sum of others; leave one out"
        )


def _least(matrix: np.ndarray, mass: np.ndarray) -> float:
    """Smallest eigenvalue, each shape scaled to unit modal mass."""
    size = np.sqrt(np.diag(mass))
    return float(np.linalg.eigvalsh(matrix / np.outer(size, size))[0])


def _damping(
    shapes: AbstractShapes, integrals: tuple[np.ndarray, ...], air: Real, material: Real, ratio: Real | Given | None
) -> np.ndarray:
    WW, ThetaTheta, stiffness, curvatures = integrals
    gamma = plain("Beam", "air_damping", air, least=0.0)
    K_v = plain("Beam", "material_damping", material, least=0.0)
    section = shapes.section
    if ratio is None:
        return gamma / section.mass_per_length * WW + K_v * section.second_moment * curvatures
    if gamma > 0 or K_v > 0:
        raise errors.CaromError(
            f"damping_ratio of Beam is given with air_damping {gamma:g} and material_damping {K_v:g}; "
            "either describes all of the damping; give the ratio or the coefficients"
        )
    zeta = _ratios(ratio, shapes.count)
    from scipy.linalg import eigh  # here, because SciPy loads slowly and few worlds bend

    squares, vibrations = eigh(stiffness, WW + ThetaTheta)
    left = (WW + ThetaTheta) @ vibrations
    return (left * (2 * zeta * np.sqrt(squares))) @ left.T


def _ratios(ratio: Real | Given, count: int) -> np.ndarray:
    if np.ndim(ratio) == 0:
        return np.full(count, plain("Beam", "damping_ratio", ratio, least=0.0))
    errors.vector("Beam", "damping_ratio", ratio, count)
    zeta = np.asarray(ratio, dtype=float)
    if np.any(zeta < 0):
        raise errors.CaromError(
            f"damping_ratio of Beam is {zeta.tolist()}; every entry must be at least 0; a negative one feeds energy in"
        )
    return zeta
