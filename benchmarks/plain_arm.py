"""The arm paper's fifteen strikes in SciPy: the equations in plain Python floats, restarted at every event."""

from __future__ import annotations

import math

import numpy as np
from examples.arm_repeated_impact import make_world
from scipy.integrate import solve_ivp

ANGLES = np.deg2rad([60.0, 45.0])


def scipy_run(method: str, rtol: float) -> np.ndarray:
    world = make_world()
    law = world.automata[0].normal
    modulus, hard, critical, load = (float(x) for x in law._constants())
    strength, radius = float(law.first.yield_strength), float(law.radius)
    exponent = 0.14 * math.exp(23 * strength / modulus)

    def plastic(d):
        d = max(d, 1e-6 * critical)  # trial steps may look outside the phase
        r = d / critical
        a = math.sqrt(radius * d * (r / 1.9) ** exponent)
        h = strength * (2.84 - 0.92 * (1 - math.cos(math.pi * a / radius)))
        return load * (
            math.exp(-0.25 * r ** (5 / 12)) * r**1.5 + 4 * h / hard * (1 - math.exp(-0.04 * r ** (5 / 9))) * r
        )

    def hertz(d, radius):
        return 4 / 3 * modulus * math.sqrt(radius) * d**1.5 if d > 0 else 0.0

    def rates(y, push, target):
        s1, c1, s2, c2 = math.sin(y[0]), math.cos(y[0]), math.sin(y[1]), math.cos(y[1])
        off, skew = 0.5 * (c1 * c2 + s1 * s2), 0.5 * (s1 * c2 - c1 * s2)
        q1, q2 = -skew * y[3] ** 2, skew * y[2] ** 2
        if target is not None:
            t1, t2 = -100 * y[2] - 600 * (y[0] - target[0]), -100 * y[3] - 300 * (y[1] - target[1])
            q1, q2 = q1 + t1 - t2, q2 + t2
        else:
            n = push(-1 - s1 - s2)
            f = -0.2 * n * math.tanh((-s1 * y[2] - s2 * y[3]) / 0.02)
            q1, q2 = q1 + c1 * n - s1 * f, q2 + c2 * n - s2 * f
        det = 4 / 9 - off * off
        return y[2], y[3], (q1 / 3 - off * q2) / det, (4 / 3 * q2 - off * q1) / det

    def high(y):
        return math.sin(y[0]) + math.sin(y[1])

    def phase(t, y, push, target, guard, rising):
        def event(t, y):
            return guard(y)

        event.terminal, event.direction = True, 1.0 if rising else -1.0
        flow = lambda t, y: rates(y, push, target)  # noqa: E731
        done = solve_ivp(flow, (t, t + 5), y, method=method, rtol=rtol, atol=0.01 * rtol, events=event)
        return done.t[-1], done.y[:, -1]

    down, up = np.deg2rad([-80, -70]), np.deg2rad([80, 70])
    t, y = 0.0, np.array([*ANGLES, 0.0, 0.0])
    for _ in range(15):
        t, y = phase(t, y, None, down, lambda y: high(y) + 1, False)
        t, y = phase(t, y, lambda d: hertz(d, radius), None, lambda y: -1 - high(y) - 1.9 * critical, True)
        climb = lambda y: math.cos(y[0]) * y[2] + math.cos(y[1]) * y[3]  # noqa: E731
        t, y = phase(t, y, plastic, None, climb, True)
        d = -1 - high(y)
        left = 1.02 * d * (1 - ((d / critical + 5.9) / 6.9) ** -0.54)
        wide = (0.75 * plastic(d) / modulus) ** 2 / (d - left) ** 3
        t, y = phase(t, y, lambda d: hertz(d - left, wide), None, lambda y: left + 1 + high(y), True)  # noqa: B023
        t, y = phase(t, y, None, up, lambda y: high(y) - 1, True)
    return np.array([t, *y])
