"""A cam lifts a translating follower, which leaves it and lands: instants and forces against closed forms.

An eccentric circle turns at a constant rate; the follower, held upright in a vertical guide by constraints, rests on it
by its weight. Its height on the cam is a formula of time: where the follower would have to be pulled down, it flies.
"""

import functools

import numpy as np
import pytest

import carom
from carom.result import _signals as signals

pytestmark = pytest.mark.slow
G, MASS, OFFSET, RADIUS, ROLLER, TURNING = 9.81, 0.5, 0.03, 0.05, 0.01, 20.0
REACH = RADIUS + ROLLER


def height(t):
    """Of the roller's centre while it rests on the cam."""
    return OFFSET * np.sin(TURNING * t) + np.sqrt(REACH**2 - (OFFSET * np.cos(TURNING * t)) ** 2)


def motion(t):
    """Velocity and acceleration of that height."""
    sin, cos = np.sin(TURNING * t), np.cos(TURNING * t)
    root = np.sqrt(REACH**2 - (OFFSET * cos) ** 2)
    rate = OFFSET**2 * TURNING * sin * cos / root
    bend = (OFFSET * TURNING) ** 2 * (cos**2 - sin**2) / root - rate**2 / root
    return OFFSET * TURNING * cos + rate, -OFFSET * TURNING**2 * sin + bend


def root(function, low, high):
    """By bisection; the sign changes once."""
    sign = function(low) > 0.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if (function(middle) > 0.0) == sign else (low, middle)
    return 0.5 * (low + high)


@functools.cache
def turned():
    follower = carom.Mechanism(
        [carom.Link(carom.Body(mass=MASS, inertia=1e-3, com=(0.0, 0.0)), name="follower")], base=carom.Free()
    )
    cam = carom.Moving(carom.Circle((OFFSET, 0.0), RADIUS), turning=TURNING, about=(0.0, 0.0))
    world = carom.World(
        follower,
        contacts=carom.Contact(follower.tip, cam, carom.Plastic(), radius=ROLLER, name="cam"),
        constraints=[carom.dynamics.Locked("follower"), carom.OnSurface("follower.tip", carom.Wall(0.0, "right"))],
        gravity=G,
    )
    start = world.state(base=(0.0, height(0.0)), base_velocity=(0.0, motion(0.0)[0]))
    return carom.simulate(world, start, until=10.0, settings=carom.Settings("dopri8", rtol=1e-11, atol=1e-13))


def test_it_lifts_off_and_lands_when_it_must():
    run, turn = turned(), 2.0 * np.pi / TURNING
    leaves = root(lambda t: motion(t)[1] + G, 0.0, 0.25 * turn)
    up = motion(leaves)[0]
    lands = root(
        lambda t: height(leaves) + up * (t - leaves) - 0.5 * G * (t - leaves) ** 2 - height(t),
        *(leaves + 0.02, leaves + turn),
    )
    assert lands - leaves > 0.05  # it does fly
    offs = [e.t for e in run.events if e.exit == "lift cam"]
    blows = [i.t_start for i in run.impacts if i.struck]
    np.testing.assert_allclose(offs[:30], leaves + turn * np.arange(30), atol=1e-9)
    np.testing.assert_allclose(blows[:30], lands + turn * np.arange(30), atol=1e-9)


def test_cam_and_guide_bear_what_newton_says():
    run = turned()
    times = np.linspace(0.0, 10.0, 200)
    found = signals.contact_signals(run, times)["cam"]
    guide = next(x for name, x in run.constraint_forces(times).items() if "OnSurface" in name)[:, 0]
    on = found.normal > 0.0
    assert 0.2 < np.mean(on) < 0.8
    lean = OFFSET * np.cos(TURNING * times[on]) / REACH  # of the common normal
    normal = MASS * (G + motion(times[on])[1]) / np.sqrt(1.0 - lean**2)
    np.testing.assert_allclose(found.normal[on], normal, atol=1e-9 * np.max(normal))
    np.testing.assert_allclose(guide[on], normal * lean, atol=1e-9 * np.max(normal))
    np.testing.assert_allclose(guide[~on], 0.0, atol=1e-9)


def test_every_joule_of_ten_seconds():
    run = turned()
    assert run.energy.max_error_percent < 1e-6 and run.penetration < 1e-10
    assert run.energy.works["rigid contacts: blows"][-1] < -0.1
    assert pytest.approx(0.0, abs=1e-12) == np.max(np.abs(run.q[:, [0, 2]]))  # upright, in its guide
