"""The shipped slider-crank with a loose pin against an independent computation: body coordinates and multipliers.

Every body has its own x, y and angle; joints are constraints with Lagrange multipliers, integrated by SciPy from touch
to release to touch. carom has two hinges, a slider and no multiplier. Nothing is shared but the numbers of the file.
"""

import itertools

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import minimize_scalar

from carom.scenario import load

CRANK, ROD, PISTON = (0.05, 0.3, 0.01), (0.12, 0.21, 2.5e-4), 0.14  # length [m], mass [kg], inertia about the middle
CLEARANCE, STIFFNESS, LOSS, GRAVITY = 5e-4, 6.61e10, 0.75 * (1.0 - 0.9**2), 9.81
SPEED = 5000.0 * 2.0 * np.pi / 60.0
MASSES = np.diag([CRANK[1], CRANK[1], CRANK[2], ROD[1], ROD[1], ROD[2], PISTON, PISTON, 1.0])


def arms(q):
    """From the middles of crank and rod to their ends, and how these turn."""
    out = [h * np.array([np.cos(a), np.sin(a)]) for h, a in ((CRANK[0] / 2, q[2]), (ROD[0] / 2, q[5]))]
    return out, [np.array([-r[1], r[0]]) for r in out]


def constraints(q, v):
    """Rows that hold pivot, crank pin, guide and angle of the piston; and their rates at no acceleration."""
    (r1, r2), (d1, d2) = arms(q)
    rows = np.zeros((6, 9))
    rows[0:2, 0:2], rows[0:2, 2] = np.eye(2), -d1
    rows[2:4, 0:2], rows[2:4, 2], rows[2:4, 3:5], rows[2:4, 5] = np.eye(2), d1, -np.eye(2), d2
    rows[4, 7] = rows[5, 8] = 1.0
    return rows, np.concatenate([r1 * v[2] ** 2, -r1 * v[2] ** 2 - r2 * v[5] ** 2, [0.0, 0.0]])


def pin(y):
    """How far the pin is beyond its clearance, how fast, in which direction, and its lever on the rod."""
    q, v = y[:9], y[9:18]
    (_, r), (_, d) = arms(q)
    apart, moving = q[3:5] + r - q[6:8], v[3:5] + d * v[5] - v[6:8]
    distance = np.hypot(*apart)
    n = apart / max(distance, 1e-300)  # it starts in the middle
    return distance - CLEARANCE, n @ moving, n, d


def force(y, approach):
    """Lankarani and Nikravesh's; in flight there is no approach speed."""
    depth, rate, *_ = pin(y)
    if depth <= 0.0 or approach == 0.0:
        return 0.0
    return max(STIFFNESS * depth**1.5 * (1.0 + LOSS * rate / approach), 0.0)


def rates(t, y, approach):
    """State: places, velocities, impulse."""
    push, (_, _, n, lever) = force(y, approach), pin(y)
    loads = np.zeros(9)
    loads[[1, 4, 7]] = -GRAVITY * np.array([CRANK[1], ROD[1], PISTON])
    loads[3:5] -= push * n
    loads[5] -= push * (lever @ n)
    loads[6:8] += push * n
    rows, curving = constraints(y[:9], y[9:18])
    system = np.block([[MASSES, rows.T], [rows, np.zeros((6, 6))]])
    found = np.linalg.solve(system, np.concatenate([loads, -curving]))
    return np.concatenate([y[9:18], found[:9], [push]])


def until_met(t, y, end, approach, way):
    """On to where the pin meets (way 1) or leaves (way -1) its wall. Hops are short: so are the steps."""

    def wall(t, y, approach):
        return pin(y)[0]

    wall.terminal, wall.direction = True, way
    how = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-14, "max_step": 5e-6, "dense_output": way < 0}
    return solve_ivp(rates, (t, end), y, events=wall, args=(approach,), **how)


def peak(leg, approach):
    times = np.linspace(leg.t[0], leg.t[-1], 100)
    first = int(np.argmax([force(leg.sol(t), approach) for t in times]))
    found = minimize_scalar(
        lambda t: -force(leg.sol(t), approach),
        bounds=(times[max(first - 1, 0)], times[min(first + 1, 99)]),
        method="bounded",
        options={"xatol": 1e-13},
    )
    return -found.fun


def history(end):
    """Touch-down [s], duration [s], largest force [N] and impulse [N s] of every contact; and the last state."""
    turning, h1, h2 = -SPEED * CRANK[0] / ROD[0], CRANK[0] / 2, ROD[0] / 2
    places = [h1, 0.0, 0.0, CRANK[0] + h2, 0.0, 0.0, CRANK[0] + ROD[0], 0.0, 0.0]
    speeds = [0.0, h1 * SPEED, SPEED, 0.0, CRANK[0] * SPEED + h2 * turning, turning, 0.0, 0.0, 0.0]
    t, y, out = 0.0, np.array([*places, *speeds, 0.0]), []
    for way in itertools.cycle((1, -1)):
        approach = pin(y)[1] if way < 0 else 0.0
        y[18] = 0.0
        leg = until_met(t, y, end, approach, way)
        if way < 0:
            out.append((t, leg.t[-1] - t, peak(leg, approach), leg.y[18, -1]))
        t, y = leg.t[-1], leg.y[:, -1].copy()
        if leg.status != 1:
            return np.array(out), y


@pytest.mark.slow
def test_the_loose_pin_of_a_slider_crank_strikes_as_an_independent_computation_says():
    """Measured: instants to 1e-12 s, durations to 3e-9, impulses to 5e-7, sampled peaks to 8e-5, end to 1e-10."""
    scenario = load("slider-crank-clearance")
    result = scenario.simulate()
    contacts = sorted([*result.impacts, *result.stances], key=lambda x: x.t_start)
    found = np.array([(x.t_start, x.duration, x.max_normal_force, x.normal_impulse) for x in contacts])
    expected, end = history(scenario.run.until)
    assert found.shape == expected.shape and len(found) == 18
    np.testing.assert_allclose(found[:, 0], expected[:, 0], rtol=0, atol=1e-11)
    np.testing.assert_allclose(found[:, 1], expected[:, 1], rtol=1e-7)
    np.testing.assert_allclose(found[:, 2], expected[:, 2], rtol=2e-4)
    np.testing.assert_allclose(found[:, 3], expected[:, 3], rtol=2e-6)
    np.testing.assert_allclose(result.q[-1], end[[2, 5, 6]], rtol=1e-9)
    assert result.energy.max_error_percent < 1e-9
