"""Vibration modes of uniform beams, Euler-Bernoulli and Timoshenko, any pair of ends, any number."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, inf, pi, sqrt

import numpy as np

from .. import errors
from .._arguments import Count, EndsLike, Name, SectionLike
from ..quantities import Real
from . import _waves as waves
from . import spectrum
from .cross_section import Section
from .shapes import AbstractShapes, check_beam, frozen, gauss
from .spectrum import ENDS, Root

NORMALISATIONS = ("peak", "mass")


@dataclass(frozen=True, eq=False)
class Modes(AbstractShapes):
    """Elastic modes in order of frequency, first and second spectrum together.

    - `frequency` omega_j [rad/s]
    - `wave_number` p_j l, no unit: the number of half-waves times pi, about
    - `second_wave_number` q_j l: W has parts cosh(q eta), sinh(q eta) where `evanescent`, cos and sin where not
    - `cutoff` [rad/s]: the second wave number is evanescent below it; infinite for Euler-Bernoulli
    - `rigid`: the ends' motions at zero frequency ('translation', 'rotation'); none of them is among the modes

    Normalised to a peak |W_j| = 1, or (`normalisation` 'mass') to the integral of mu W_j^2 + J Theta_j^2 = 1. The sign
    makes W_j positive where it first departs from zero, seen from the left. Between two simple ends Timoshenko's theory
    has one mode without deflection, at the cut-off: it has Theta = 1/l instead of a peak.
    """

    section: Section
    length: float
    theory: str
    ends: tuple[str, str]
    normalisation: str
    frequency: np.ndarray
    wave_number: np.ndarray
    second_wave_number: np.ndarray
    evanescent: np.ndarray
    cutoff: float
    rigid: tuple[str, ...]
    _roots: tuple[Root, ...] = field(repr=False)
    _scales: tuple[float, ...] = field(repr=False)
    _s2: float = field(repr=False)

    @property
    def count(self) -> int:
        return len(self._roots)

    @property
    def quadrature_nodes(self) -> int:
        # Products of two shapes have wave numbers up to 2 p; Gauss converges faster than any power beyond p / 2 nodes.
        return ceil(0.75 * float(np.max(self.wave_number))) + 20

    def check_hangs(self) -> None:
        if self.ends[0] in ("free", "guided"):
            raise errors.CaromError(
                f"left end of Beam is '{self.ends[0]}'; the link's frame has its origin at the joint there, so the "
                "deflection must vanish at it; choose 'simple' or 'clamped' on the left (or swap the ends)"
            )

    def _derivatives(self, x: np.ndarray) -> np.ndarray:
        modes = [scale * _physical(root, self._s2, x) for root, scale in zip(self._roots, self._scales, strict=True)]
        unit = self.length ** -np.array([0.0, 1.0, 2.0, 1.0, 2.0])
        return np.stack(modes, axis=-1) * unit[:, None, None]


def modes(
    section: SectionLike | None,
    length: Real | None,
    ends: EndsLike,
    count: Count = 1,
    theory: Name = "timoshenko",
    normalisation: Name = "peak",
) -> Modes:
    """The first `count` elastic modes of a beam with the given ends.

    - `length` [m] > 0
    - `ends`: left (eta = 0) and right (eta = l), each 'free', 'simple', 'clamped' or 'guided' (slides, keeps its angle)
    - `theory`: 'timoshenko', or 'euler-bernoulli' (neither shear nor rotary inertia)

        modes(section, 1.0, ("clamped", "free"), count=3).frequency
    """
    made_of, L = check_beam(section, length, theory)
    left, right = _check_ends(ends)
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise errors.CaromError(f"count of modes is {count!r}; it must be a whole number, at least 1")
    errors.name_in("normalisation of modes", normalisation, NORMALISATIONS)
    r2, s2 = _slenderness(made_of, L, theory)
    roots = spectrum.roots(left, right, int(count), sqrt(r2), sqrt(s2))
    unit = sqrt(made_of.bending_stiffness / made_of.mass_per_length) / L**2
    return Modes(
        made_of,
        L,
        theory,
        (left, right),
        normalisation,
        frequency=frozen([root.wave.b * unit for root in roots]),
        wave_number=frozen([root.wave.p for root in roots]),
        second_wave_number=frozen([root.wave.q for root in roots]),
        evanescent=frozen([root.wave.sigma > 0 for root in roots]),
        cutoff=unit / sqrt(r2 * s2) if r2 * s2 > 0 else inf,
        rigid=spectrum.rigid_motions(left, right),
        _roots=tuple(roots),
        _scales=tuple(_scale(root, r2, s2, normalisation, made_of.mass_per_length * L) for root in roots),
        _s2=s2,
    )


def _check_ends(ends: EndsLike) -> tuple[str, str]:
    if isinstance(ends, str) or not hasattr(ends, "__len__") or len(ends) != 2:
        raise errors.CaromError(
            f"ends of Beam is {ends!r}; it must be a pair, left and right, such as ('simple', 'clamped')"
        )
    for side, end in zip(("left", "right"), ends, strict=True):
        errors.name_in(f"{side} end of Beam", end, ENDS)
    return ends[0], ends[1]


def _slenderness(section: Section, length: float, theory: str) -> tuple[float, float]:
    """r^2 and s^2 of the wave equations; Euler-Bernoulli is both zero."""
    if theory == "euler-bernoulli":
        return 0.0, 0.0
    r2 = section.rotary_inertia / (section.mass_per_length * length**2)
    # k enters linearly; the source paper's beam equations print k^2.
    s2 = section.bending_stiffness / (section.shear_stiffness * length**2)
    return r2, s2


def _physical(root: Root, s2: float, x: np.ndarray) -> np.ndarray:
    """W, W', W'', Theta, Theta' per unit length along the beam's axis; x = eta / l."""
    W, Theta, M, Q = (waves.states(root.wave, (x - root.origin) * root.sense, root.reach) @ root.mixture).T
    slope = Theta + s2 * Q
    return np.array([W, root.sense * slope, M - s2 * root.wave.b**2 * W, root.sense * Theta, M])


def _scale(root: Root, r2: float, s2: float, normalisation: str, mass: float) -> float:
    """Factor of a shape, sign included."""
    size, sign = _peak(root, s2)
    if normalisation == "mass":
        x, w = gauss(ceil(0.75 * root.wave.p) + 20)
        shape = _physical(root, s2, x)
        size = sqrt(mass * float(w @ (shape[0] ** 2 + r2 * shape[3] ** 2)))
    return sign / size


def _peak(root: Root, s2: float) -> tuple[float, float]:
    """Largest |W|, and the sign with which W departs from zero at the left; of Theta where W vanishes."""
    # Mirror images have to agree to the last digit, so the beam is seen from the root's own origin.
    own = Root(root.wave, root.mixture, 0.0, 1.0, root.reach)
    low = -root.reach if root.origin == 0.5 else 0.0
    z = np.linspace(low, root.reach, 16 * ceil(root.wave.p / pi) + 33)
    shape = _physical(own, s2, z)
    row = 0 if np.any(shape[0]) else 3
    f = shape[row] if root.sense > 0 else shape[row, ::-1]
    size = np.max(np.abs(f))
    sign = float(np.sign(f[np.abs(f) > 1e-3 * size][0]))
    # Samples miss a peak by 0.5 % at most: Newton from every one that may be the highest, within its neighbours.
    high = z[np.abs(shape[row]) > 0.98 * size]
    limits = np.maximum(high - (z[1] - z[0]), low), np.minimum(high + (z[1] - z[0]), root.reach)
    for _ in range(5):
        _, slope, curvature, *_ = _physical(own, s2, high)
        step = np.divide(slope, curvature, out=np.zeros_like(slope), where=curvature != 0)
        high = np.clip(high - step, *limits)
    return float(max(size, np.max(np.abs(_physical(own, s2, high)[row])))), sign
