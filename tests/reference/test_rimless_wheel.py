"""A wheel of four spokes without a rim rolls down a slope: every number of its orbit is known.

From spoke to spoke the hub is a pendulum that gains 2 m g l sin(alpha) sin(slope), and the strike leaves the share
mu = (I + m l^2 cos(2 alpha)) / J of its rate, J = I + m l^2 (T. McGeer 1990, Passive dynamic walking, Int. J. Robotics
Research 9, 62-82). Just after a strike that is r, r^2 = mu^2 (r^2 + 2 gain / J), and what it is off shrinks by mu^2.
"""

import numpy as np
import pytest

import carom

G, MASS, LENGTH, INERTIA, HALF, SLOPE = 9.81, 2.0, 0.5, 1.0, np.pi / 4.0, np.deg2rad(12.0)
ABOUT_FOOT = INERTIA + MASS * LENGTH**2
LEFT = (INERTIA + MASS * LENGTH**2 * np.cos(2.0 * HALF)) / ABOUT_FOOT
GAIN = MASS * G * 2.0 * LENGTH * np.sin(HALF) * np.sin(SLOPE)
RATE = LEFT * np.sqrt(2.0 * GAIN / ABOUT_FOOT / (1.0 - LEFT**2))
NEXT = {"spoke 1": "spoke 0", "spoke 2": "spoke 1", "spoke 3": "spoke 2", "spoke 0": "spoke 3"}


def wheel():
    ends = -np.pi / 2.0 + HALF * (1.0 + 2.0 * np.arange(4))
    sites = {f"end {k}": (LENGTH * np.cos(a), LENGTH * np.sin(a)) for k, a in enumerate(ends)}
    hub = carom.Link(carom.Body(mass=MASS, inertia=INERTIA, com=(0.0, 0.0), tip=(0.0, 0.0)), name="wheel", sites=sites)
    robot = carom.Mechanism([hub], base=carom.Free())
    ground = carom.Plane(height=0.0)
    feet = [carom.Contact(f"end {k}", ground, carom.Plastic(), carom.Coulomb(2.0), name=f"spoke {k}") for k in range(4)]
    weight = (G * np.sin(SLOPE), -G * np.cos(SLOPE))
    return carom.World(robot, contacts=feet, gravity=weight, friction_rule="end velocity")


def rolling(world, share=1.05):
    """On the foremost spoke, a little faster than the orbit."""
    rate = share * RATE
    velocity = (rate * LENGTH * np.cos(HALF), rate * LENGTH * np.sin(HALF))
    return world.state(rates=[-rate], base=(0.0, LENGTH * np.cos(HALF)), base_velocity=velocity)


@pytest.mark.slow
def test_one_spoke_is_a_period_whose_multiplier_is_known():
    world = wheel()
    orbit = carom.find_orbit(
        world, ("rigid contacts", "strike spoke 0"), rolling(world), until=6.0,
        drifts=["base.x", "wheel.angle"], exchange=NEXT,
    )  # fmt: skip
    assert orbit.v[2] == pytest.approx(-RATE, rel=1e-9)
    assert orbit.drift["wheel.angle"] == pytest.approx(-2.0 * HALF, abs=1e-12)
    assert orbit.drift["base.x"] == pytest.approx(2.0 * LENGTH * np.sin(HALF), rel=1e-12)
    sizes = np.abs(orbit.multipliers)
    twice = carom.find_orbit(
        world, ("rigid contacts", "strike spoke 0"), rolling(world), until=6.0, times=2,
        drifts=["base.x", "wheel.angle"], exchange=NEXT,
    )  # fmt: skip
    assert twice.period == pytest.approx(2.0 * orbit.period, rel=1e-10)
    assert twice.drift["wheel.angle"] == pytest.approx(-4.0 * HALF, abs=1e-12)
    assert np.any(np.abs(sizes - LEFT**2) < 1e-8) and orbit.stable and orbit.residual < 1e-11
