"""Natural frequencies of a uniform beam of unit length for every pair of ends.

All sixteen pairs come down to a few problems. Those with simple or guided ends throughout have closed forms. The others
differ from a solved one by a single constraint, and then their frequencies interlace with its: exactly one lies
between neighbours (Rayleigh's theorem of one constraint). So each root has its own bracket and none can be missed, in
either spectrum.

    clamped-simple, free-simple     between those of simple-simple
    clamped-guided, free-guided     between those of simple-guided
    clamped-free                    between those of clamped-simple
    clamped-clamped, free-free      even: half a beam with a guided middle; odd: half a beam with a simple middle
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import pi

import numpy as np

from . import _waves as waves
from ._waves import SECOND_EVEN, SECOND_ODD, TRIG_EVEN, TRIG_ODD, Wave

# What vanishes at an end. The order is that in which `roots` looks at a pair.
CONDITIONS = {
    "simple": (waves.W, waves.M),
    "guided": (waves.THETA, waves.Q),
    "clamped": (waves.W, waves.THETA),
    "free": (waves.M, waves.Q),
}
ENDS = tuple(CONDITIONS)


@dataclass(frozen=True)
class Root:
    """A wave that fits the ends, and the mixture of the four motions that does it.

    The motions live about `origin`, in the direction `sense` (+1 or -1) of the beam's axis, and reach `reach` far.
    """

    wave: Wave
    mixture: tuple[float, float, float, float]
    origin: float
    sense: float
    reach: float


def rigid_motions(left: str, right: str) -> tuple[str, ...]:
    """Motions without deformation that the ends allow, at zero frequency."""
    ends = {left, right}
    slides = ends <= {"free", "guided"}
    turns = ends <= {"free", "simple"} and "free" in ends
    return ("translation",) * slides + ("rotation",) * turns


def roots(left: str, right: str, count: int, r: float, s: float) -> list[Root]:
    """The first `count` elastic modes in order of frequency, both spectra together."""
    if ENDS.index(left) > ENDS.index(right):
        return [_mirrored(root) for root in roots(right, left, count, r, s)]
    if left in ("simple", "guided"):
        return _from_parity_end(left, right, count, r, s)
    if left == right:
        return _by_halves(left, count, r, s)
    return _clamped_free(count, r, s)


def _mirrored(root: Root) -> Root:
    return Root(root.wave, root.mixture, 1 - root.origin, -root.sense, root.reach)


def _by_halves(end: str, count: int, r: float, s: float) -> list[Root]:
    """Equal ends: even and odd modes apart, for they may coincide in frequency."""
    half = [x for middle in ("guided", "simple") for x in _from_parity_end(middle, end, count, 2 * r, 2 * s)]
    half.sort(key=lambda root: root.wave.p)
    return [Root(x.wave.stretched(2.0), x.mixture, 0.5, 1.0, 0.5) for x in half[:count]]


def _from_parity_end(near: str, far: str, count: int, r: float, s: float) -> list[Root]:
    """A simple end makes every motion odd about it, a guided one even: two motions are left of four."""
    odd = near == "simple"
    columns = (TRIG_ODD, SECOND_ODD) if odd else (TRIG_EVEN, SECOND_EVEN)
    if far in ("simple", "guided"):
        plain = _plain(odd, far, count, r, s)
        return [Root(x, _mix(columns, (0.0, 1.0) if second else (1.0, 0.0)), 0.0, 1.0, 1.0) for x, second in plain]
    base = [x.p for x, _ in _plain(odd, "simple", count + 1, r, s)]
    ends = ((far, 1.0),)
    found = _between(base, lambda p: _misfit(waves.from_wave_number(p, r, s), columns, ends, 1.0))
    fitting = [waves.from_wave_number(p, r, s) for p in found]
    return [Root(x, _mix(columns, _null(x, columns, ends, 1.0)), 0.0, 1.0, 1.0) for x in fitting]


def _plain(odd: bool, far: str, count: int, r: float, s: float) -> list[tuple[Wave, bool]]:
    """Simple or guided ends: one wave alone, either spectrum, p or q = n pi or (n - 1/2) pi.

    Two simple ends leave a shear motion at the cut-off itself, without deflection: q = 0.
    """
    same = odd == (far == "simple")
    numbers = [(n if same else n - 0.5) * pi for n in range(1, count + 1)]
    both = [(waves.from_wave_number(x, r, s), False) for x in numbers]
    if r * s > 0:
        second = [0.0, *numbers] if odd and far == "simple" else numbers
        both += [(waves.from_second_wave_number(x, r, s), True) for x in second]
    both.sort(key=lambda pair: pair[0].p)
    return both[:count]


def _clamped_free(count: int, r: float, s: float) -> list[Root]:
    ends, columns = (("clamped", -0.5), ("free", 0.5)), (0, 1, 2, 3)
    base = [x.wave.p for x in _from_parity_end("simple", "clamped", count, r, s)]
    # Not zero, where the four motions are not independent; a cantilever's first p is 1.875, and above 1 for any r, s.
    lowest = 0.1 * base[0]
    found = _between([lowest, *base], lambda p: _misfit(waves.from_wave_number(p, r, s), columns, ends, 0.5))
    fitting = [waves.from_wave_number(p, r, s) for p in found]
    return [Root(x, _mix(columns, _null(x, columns, ends, 0.5)), 0.5, 1.0, 0.5) for x in fitting]


def _between(brackets: list[float], misfit: Callable[[float], float]) -> list[float]:
    """The one root between each pair of neighbours, to the last digit."""
    from scipy.optimize import brentq  # here, because SciPy loads slowly and few worlds bend

    found = []
    for low, high in pairwise(brackets):
        at_low, at_high = misfit(low), misfit(high)
        if at_low * at_high < 0:
            found.append(float(brentq(misfit, low, high, xtol=1e-300, rtol=4 * np.finfo(float).eps, maxiter=200)))
        else:  # the root is an end of its bracket, to rounding (two base frequencies coincide)
            found.append(low if abs(at_low) <= abs(at_high) else high)
    return found


def _fit(wave: Wave, columns: tuple[int, ...], ends: tuple[tuple[str, float], ...], reach: float) -> np.ndarray:
    """What must vanish at the ends, for each motion; rows brought to one size."""
    at = waves.states(wave, np.array([z for _, z in ends]), reach)[:, :, list(columns)]
    rows = np.concatenate([at[i, list(CONDITIONS[end])] for i, (end, _) in enumerate(ends)])
    return rows / np.maximum(np.max(np.abs(rows), axis=1, keepdims=True), np.finfo(float).tiny)


def _misfit(wave: Wave, columns: tuple[int, ...], ends: tuple[tuple[str, float], ...], reach: float) -> float:
    """The characteristic equation: the determinant of the fit."""
    fit = _fit(wave, columns, ends, reach)
    if len(fit) == 2:
        return float(fit[0, 0] * fit[1, 1] - fit[0, 1] * fit[1, 0])
    return float(np.linalg.det(fit))


def _null(wave: Wave, columns: tuple[int, ...], ends: tuple[tuple[str, float], ...], reach: float) -> np.ndarray:
    return np.linalg.svd(_fit(wave, columns, ends, reach))[2][-1]


def _mix(columns: tuple[int, ...], weights: np.ndarray | tuple[float, ...]) -> tuple[float, float, float, float]:
    mixture = [0.0] * 4
    for column, weight in zip(columns, weights, strict=True):
        mixture[column] = float(weight)
    return mixture[0], mixture[1], mixture[2], mixture[3]
