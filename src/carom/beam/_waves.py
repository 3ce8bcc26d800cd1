"""Waves on a uniform Timoshenko beam of unit length, and the four motions that they make at one frequency.

Lengths in units of the beam's length l, with

    b^2 = mu omega^2 l^4 / (E I)      r^2 = J / (mu l^2)      s^2 = E I / (k A G l^2)

the equations  (k A G (w' - theta))' = mu w_tt,  (E I theta')' + k A G (w' - theta) = J theta_tt  of harmonic motion
read

    Q' = -b^2 W        W' = Theta + s^2 Q        M' = -Q - b^2 r^2 Theta        Theta' = M

and r = s = 0 is Euler-Bernoulli, without a special case. Solutions exp(lambda x) have lambda^2 = -p^2 < 0, and
lambda^2 = sigma, positive (evanescent, sigma = q^2) below the cut-off b r s = 1 and negative (a second wave) above it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

# Rows of a state: deflection W, section rotation Theta, moment M = Theta', shear force Q.
W, THETA, M, Q = range(4)
# Its columns, about a chosen origin: trigonometric even and odd, second wave even and odd.
TRIG_EVEN, TRIG_ODD, SECOND_EVEN, SECOND_ODD = range(4)


@dataclass(frozen=True)
class Wave:
    """One frequency: b, wave number p, sigma = q^2 or -q^2, and u = sigma + b^2 s^2, v = p^2 - b^2 s^2 (u v = b^2)."""

    b: float
    p: float
    sigma: float
    u: float
    v: float

    @property
    def q(self) -> float:
        """The second wave number; `sigma` has its kind as a sign."""
        return sqrt(abs(self.sigma))

    def stretched(self, factor: float) -> Wave:
        """The same wave in a unit of length that is `factor` times as long."""
        f2 = factor * factor
        return Wave(self.b * f2, self.p * factor, self.sigma * f2, self.u * f2, self.v * f2)


def from_wave_number(p: float, r: float, s: float) -> Wave:
    """The frequency at which the first wave has wave number p > 0; it grows with p without end, through the cut-off."""
    # The smaller root of b^4 r^2 s^2 - b^2 (1 + p^2 (r^2 + s^2)) + p^4 = 0, without cancellation.
    b2 = 2 * p**4 / (1 + p**2 * (r**2 + s**2) + _root(p, r, s))
    return _wave(sqrt(b2), p, b2 * (1 - b2 * r**2 * s**2) / p**2, r, s)


def from_second_wave_number(q: float, r: float, s: float) -> Wave:
    """The frequency at or above the cut-off at which the second wave has wave number q >= 0; needs r s > 0."""
    b2 = (1 + q**2 * (r**2 + s**2) + _root(q, r, s)) / (2 * (r * s) ** 2)
    return _wave(sqrt(b2), sqrt(b2 * (r**2 + s**2) - q**2), -(q**2), r, s)


def _root(p: float, r: float, s: float) -> float:
    return sqrt((1 + (p * (r - s)) ** 2) * (1 + (p * (r + s)) ** 2))


def _wave(b: float, p: float, sigma: float, r: float, s: float) -> Wave:
    d = b * (s - r) * (s + r)
    large = b / 2 * (abs(d) + sqrt(d * d + 4))
    u, v = (large, b * b / large) if d > 0 else (b * b / large, large)
    return Wave(b, p, sigma, u, v)


def states(wave: Wave, z: np.ndarray, reach: float) -> np.ndarray:
    """(W, Theta, M, Q) of the four motions at the distances z from the origin, |z| <= reach; shape (points, 4, 4).

    Below the cut-off the second wave is scaled by cosh(q reach), so that no number exceeds the order of one.
    """
    p, b2, u, v, sigma = wave.p, wave.b**2, wave.u, wave.v, wave.sigma
    sin, cos = np.sin(p * z), np.cos(p * z)
    C, S = _second(sigma, z, reach)
    # Brings the odd second motion to the size of the others, where it decays as well as at the cut-off.
    f = 1 / sqrt(abs(sigma) + u)
    columns = (
        (cos, -v / p * sin, -v * cos, -b2 / p * sin),
        (sin, v / p * cos, -v * sin, b2 / p * cos),
        (C, u * S, u * C, -b2 * S),
        (f * sigma * S, f * u * C, f * u * sigma * S, -f * b2 * C),
    )
    return np.moveaxis(np.array(columns), (0, 1), (2, 1))


def _second(sigma: float, z: np.ndarray, reach: float) -> tuple[np.ndarray, np.ndarray]:
    """cosh(q z) and sinh(q z)/q over cosh(q reach); above the cut-off cos(q z) and sin(q z)/q. Continuous at q = 0."""
    q = sqrt(abs(sigma))
    if q == 0:
        return np.ones_like(z), z.copy()
    if sigma < 0:
        return np.cos(q * z), np.sin(q * z) / q
    far = np.abs(z)
    half = np.exp(-q * (reach - far)) / (1 + np.exp(-2 * q * reach))
    return half * (1 + np.exp(-2 * q * far)), np.sign(z) * half * -np.expm1(-2 * q * far) / q
