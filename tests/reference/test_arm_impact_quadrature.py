"""The arm paper's first impact against plain-Python equations integrated by SciPy at a tight tolerance, to 1e-6."""

from __future__ import annotations

import math

import numpy as np
import pytest
from examples.arm_repeated_impact import make_world
from scipy.integrate import solve_ivp

import carom

MODULUS = 210e9 / (2 * (1 - 0.29**2))
STRENGTH, RADIUS = 1.12e9, 0.005
HARD = 1.295 * math.exp(0.736 * 0.29) * STRENGTH
CRITICAL = RADIUS * (math.pi * HARD / (2 * MODULUS)) ** 2
LOAD = 4 / 3 * (RADIUS / MODULUS) ** 2 * (math.pi * HARD / 2) ** 3


def hertz(d: float, radius: float) -> float:
    return 4 / 3 * MODULUS * math.sqrt(radius) * max(d, 0.0) ** 1.5


def plastic(d: float) -> float:
    d = max(d, 1e-6 * CRITICAL)  # trial steps may look outside the phase
    r = d / CRITICAL
    a = math.sqrt(RADIUS * d * (r / 1.9) ** (0.14 * math.exp(23 * STRENGTH / MODULUS)))
    hardness = STRENGTH * (2.84 - 0.92 * (1 - math.cos(math.pi * a / RADIUS)))
    bulk = 4 * hardness / HARD * (1 - math.exp(-0.04 * r ** (5 / 9))) * r
    return LOAD * (math.exp(-0.25 * r ** (5 / 12)) * r**1.5 + bulk)


def phase(t, y, push, guard):
    """Without control and weight, until the guard rises through zero."""

    def rates(t, y):
        s1, c1, s2, c2 = math.sin(y[0]), math.cos(y[0]), math.sin(y[1]), math.cos(y[1])
        n = push(-1 - s1 - s2)
        f = -0.2 * n * math.tanh((-s1 * y[2] - s2 * y[3]) / 0.02)
        off, skew = 0.5 * (c1 * c2 + s1 * s2), 0.5 * (s1 * c2 - c1 * s2)
        q1, q2 = -skew * y[3] ** 2 + c1 * n - s1 * f, skew * y[2] ** 2 + c2 * n - s2 * f
        det = 4 / 9 - off * off
        return [y[2], y[3], (q1 / 3 - off * q2) / det, (4 / 3 * q2 - off * q1) / det]

    event = lambda t, y: guard(y)  # noqa: E731
    event.terminal, event.direction = True, 1.0
    done = solve_ivp(rates, (t, t + 1.0), y, "DOP853", rtol=1e-12, atol=1e-15, events=event)
    return done.t[-1], done.y[:, -1]


def depth(y) -> float:
    return -1 - math.sin(y[0]) - math.sin(y[1])


def climb(y) -> float:
    return math.cos(y[0]) * y[2] + math.cos(y[1]) * y[3]


def test_the_first_impact_equals_a_tight_quadrature() -> None:
    world = make_world()
    run = carom.simulate(
        world, world.state(angles=[60, 45], degrees=True), until=0.25, settings=carom.Settings(rtol=1e-11, atol=1e-13)
    )
    impact, touch = run.impacts[0], next(e for e in run.events if e.exit == "touch")
    release = next(e for e in run.events if e.exit == "release")
    t, y = phase(0.0, np.r_[touch.q, touch.v], lambda d: hertz(d, RADIUS), lambda y: depth(y) - 1.9 * CRITICAL)
    t, y = phase(t, y, plastic, climb)
    deepest = depth(y)
    left = 1.02 * deepest * (1 - ((deepest / CRITICAL + 5.9) / 6.9) ** -0.54)
    wide = (0.75 * plastic(deepest) / MODULUS) ** 2 / (deepest - left) ** 3
    t, y = phase(t, y, lambda d: hertz(d - left, wide), lambda y: left - depth(y))
    assert impact.duration == pytest.approx(t, rel=1e-6)
    assert impact.max_indentation == pytest.approx(deepest, rel=1e-6)
    assert impact.residual_indentation == pytest.approx(left, rel=1e-6)
    assert impact.max_normal_force == pytest.approx(plastic(deepest), rel=1e-6)
    np.testing.assert_allclose(np.r_[release.q, release.v], y, rtol=1e-6)
