"""The catalogue's normal and friction laws in plain Python floats, as someone who uses SciPy would write them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import carom
from carom.contact.friction.dry import FADES as STILL

RADIUS, MASS = 0.1, 1.0  # of the disk that strikes
INERTIA = 0.5 * MASS * RADIUS**2
W_NN, W_TT = 1.0 / MASS, 1.0 / MASS + RADIUS**2 / INERTIA


class Phase(NamedTuple):
    """A force F(d, d') until one of the guards rises through zero; behind it the next phase, None when released."""

    force: Callable[[float, float], float]
    exits: tuple[tuple[Callable[[float, float], float], Callable[[float], Any]], ...]


def released(d: float, rate: float) -> float:
    return -d


def one_phase(force: Callable[[float, float], float]) -> Phase:
    return Phase(force, ((released, lambda d: None),))


def power(d: float) -> float:
    return d * math.sqrt(d) if d > 0.0 else 0.0


def family(law: Any) -> Callable[[float], Phase]:
    stiffness, loss = float(law.stiffness), float(law.loss(law.restitution))

    def meet(speed: float) -> Phase:
        return one_phase(lambda d, rate: stiffness * power(d) * max(1.0 + loss * rate / speed, 0.0))

    return meet


def hertz(law: Any) -> Callable[[float], Phase]:
    stiffness = float(law.stiffness)
    return lambda speed: one_phase(lambda d, rate: stiffness * power(d))


def hooke(law: Any) -> Callable[[float], Phase]:
    k, c = float(law.stiffness), float(law.damping)
    return lambda speed: one_phase(lambda d, rate: max(k * d + c * rate, 0.0))


def jackson_green(law: Any) -> Callable[[float], Phase]:
    modulus, hard, critical, load = (float(x) for x in law._constants())
    strength, radius = float(law.second.yield_strength), float(law.radius)
    exponent = 0.14 * math.exp(23.0 * strength / modulus)
    curve = 4.0 / 3.0 * modulus * math.sqrt(radius)

    def plastic(d: float, rate: float) -> float:
        d = max(d, 1e-6 * critical)
        r = d / critical
        a = math.sqrt(radius * d * (r / 1.9) ** exponent)
        h = strength * (2.84 - 0.92 * (1.0 - math.cos(math.pi * a / radius)))
        rest = 4.0 * h / hard * (1.0 - math.exp(-0.04 * r ** (5.0 / 9.0))) * r
        return load * (math.exp(-0.25 * r ** (5.0 / 12.0)) * r**1.5 + rest)

    def back(deepest: float) -> Phase:
        left = 1.02 * deepest * (1.0 - ((deepest / critical + 5.9) / 6.9) ** -0.54)
        wide = (0.75 * plastic(deepest, 0.0) / modulus) ** 2 / (deepest - left) ** 3
        unloading = 4.0 / 3.0 * modulus * math.sqrt(wide)
        return Phase(lambda d, rate: unloading * power(d - left), ((lambda d, rate: left - d, lambda d: None),))

    yields = Phase(plastic, ((lambda d, rate: -rate, back),))
    elastic = Phase(
        lambda d, rate: curve * power(d),
        ((released, lambda d: None), (lambda d, rate: d - 1.9 * critical, lambda d: yields)),
    )
    return lambda speed: elastic


NORMAL = {"hooke": hooke, "hertz": hertz, "jackson-green": jackson_green}


def normal_of(law: Any) -> Callable[[float], Phase] | None:
    if isinstance(law, carom.contact.AbstractHuntCrossley):
        return family(law)
    return NORMAL[law.card.name](law) if law.card.name in NORMAL else None


class Friction(NamedTuple):
    """Force and rate of the bristle from (z, F_n, v, mode); dry laws have modes: +-1 sliding, 0 sticking."""

    force: Callable[[float, float, float, float], tuple[float, float]]
    dry: bool = False
    stops_at: float = 0.0
    limit: float = 0.0


def smooth(formula: Callable[[float], float]) -> Friction:
    """F_t = -F_n formula(v)."""
    return Friction(lambda z, n, v, mode: (-n * formula(v), 0.0))


def dry(law: Any, coefficient: Callable[[float], float], drag: float = 0.0) -> Friction:
    def force(z: float, n: float, v: float, mode: float) -> tuple[float, float]:
        if mode == 0.0:
            return -STILL * v / W_TT, 0.0  # nothing else drives a disk's contact point: this is what holds it
        return -mode * coefficient(abs(v)) * n - drag * v, 0.0

    return Friction(force, True, max(float(law.stops_at), 0.0), float(law.limit))


def sign(v: float) -> float:
    return math.copysign(1.0, v) if v else 0.0


def falling(law: Any) -> Callable[[float], float]:
    mu, more, speed = float(law.mu), float(law.static) - float(law.mu), float(law.speed)
    return lambda v: mu + more * math.exp(-((v / speed) ** 2))


def ambrosio(law: Any) -> Friction:
    mu, slow, fast = float(law.mu), float(law.slow), float(law.fast)
    return smooth(lambda v: mu * min(max((abs(v) - slow) / (fast - slow), 0.0), 1.0) * sign(v))


def bengisu_akay(law: Any) -> Friction:
    mu, static, speed, fall = (float(x) for x in (law.mu, law.static, law.speed, law.fall))

    def formula(v: float) -> float:
        a = abs(v)
        if a < speed:
            return static * (1.0 - (a / speed - 1.0) ** 2) * sign(v)
        return (mu + (static - mu) * math.exp(-fall * (a - speed))) * sign(v)

    return smooth(formula)


def smooth_coulomb(law: Any) -> Friction:
    mu, speed = float(law.mu), float(law.speed)
    return smooth(lambda v: mu * math.tanh(v / speed))


def dahl(law: Any) -> Friction:
    mu, s = float(law.mu), float(law.stiffness)
    return Friction(lambda z, n, v, mode: (-n * s * z, v - abs(v) * s * z / mu))


def lugre(law: Any) -> Friction:
    steady, s, damping, fade, viscous = (
        falling(law),
        *(float(x) for x in (law.stiffness, law.damping, law._fade, law.viscous)),
    )

    def force(z: float, n: float, v: float, mode: float) -> tuple[float, float]:
        rate = v - s * abs(v) * z / steady(v)
        return -n * (s * z + damping * math.exp(-((v / fade) ** 2)) * rate + viscous * v), rate

    return Friction(force)


FRICTION: dict[str, Callable[[Any], Friction]] = {
    "none": lambda law: smooth(lambda v: 0.0),
    "coulomb": lambda law: dry(law, lambda v: float(law.mu), float(law.drag)),
    "karnopp": lambda law: dry(law, lambda v: float(law.mu)),
    "stribeck": lambda law: dry(law, falling(law), float(law.drag)),
    "smooth-coulomb": smooth_coulomb,
    "ambrosio": ambrosio,
    "bengisu-akay": bengisu_akay,
    "dahl": dahl,
    "lugre": lugre,
}
