"""Air that brakes what flies, and ground that brakes what rolls, against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

import carom
from carom.scenario import Scenario

RADIUS, MASS, G = 0.02, 0.0027, 9.81
BALL = carom.Mechanism([carom.Disk(radius=RADIUS, mass=MASS)], base=carom.Free())
FINE = carom.Settings(rtol=1e-11, atol=1e-13)


def on_floor(normal, friction=None, *elements):
    floor = carom.Contact(BALL.tip, carom.Plane(height=0.0), normal, friction, radius=RADIUS, name="floor")
    return carom.World(BALL, contacts=floor, elements=list(elements), gravity=G)


def test_a_ball_bounces_in_air_as_the_closed_form_says():
    """Quadratic drag: up by tan, down by tanh, restitution by the speed that is left; every instant to 1e-11 s."""
    k = 0.131  # over the mass [1/m]
    world = on_floor(carom.Newton(carom.PowerRestitution(0.9, 0.05)), None, carom.Drag(BALL.tip, quadratic=k * MASS))
    result = carom.simulate(world, world.state(base=(0.0, 0.3 + RADIUS)), until=2.0, settings=FINE)
    found = [event.t for event in result.events if event.exit == "strike floor"]
    fastest = math.sqrt(G / k)
    t = math.acosh(math.exp(k * 0.3)) / math.sqrt(G * k)
    v = fastest * math.sqrt(1.0 - math.exp(-2.0 * k * 0.3))
    expected = [t]
    for _ in found[1:]:
        v = 0.9 * v**0.95
        height = math.log1p((v / fastest) ** 2) / (2.0 * k)
        t += fastest / G * (math.atan(v / fastest) + math.acosh(math.exp(k * height)))
        v /= math.sqrt(1.0 + (v / fastest) ** 2)
        expected.append(t)
    assert len(found) > 5
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-11)
    assert result.energy.max_error_percent < 1e-8
    assert result.energy.works["drag link1.tip: drag"][-1] < 0.0


def test_linear_drag_is_an_exponential():
    world = carom.World(BALL, elements=carom.Drag(BALL.tip, linear=2.0 * MASS, name="oil"), gravity=0.0)
    result = carom.simulate(world, world.state(base_velocity=(3.0, -4.0)), until=1.0, settings=FINE)
    np.testing.assert_allclose(result.v[-1], np.array([3.0, -4.0, 0.0]) * math.exp(-2.0), rtol=1e-9, atol=1e-15)
    assert result.energy.works["oil: drag"][-1] == pytest.approx(-0.5 * MASS * 25.0 * (1.0 - math.exp(-4.0)), rel=1e-8)


def test_a_rolling_disk_is_braked_by_the_arm_over_its_radius():
    """Rolling without slip, I = m R^2 / 2: the deceleration is (2/3) g l / R."""
    arm = 2e-4
    world = on_floor(
        carom.Hooke(1e4, 2.0), carom.SmoothCoulomb(0.5, 1e-3), carom.RollingResistance(BALL.tip, "floor", arm)
    )
    start = world.state(base=(0.0, RADIUS), base_velocity=(0.5, 0.0), rates=[-0.5 / RADIUS])
    result = carom.simulate(world, start, until=1.0)
    speeds = result.at([0.2, 0.8]).v[:, 0]
    assert (speeds[1] - speeds[0]) / 0.6 == pytest.approx(-2.0 / 3.0 * G * arm / RADIUS, rel=1e-5)
    assert result.energy.max_error_percent < 1e-6
    written = Scenario.of(world, start, until=1.0)
    assert Scenario.read(written.toml()) == written
    assert 'kind = "rolling-resistance"' in written.toml()
    written.world()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: carom.Drag("link1.tip"), "site of Drag is 'link1.tip'; it must come from a mechanism"),
        (lambda: carom.Drag(BALL.tip, linear=-1.0), "linear of Drag is -1"),
        (lambda: carom.Drag(BALL.tip, quadratic=float("nan")), "quadratic of Drag"),
        (lambda: carom.RollingResistance(BALL.tip, "floor", -1e-4), "arm of RollingResistance"),
        (lambda: carom.RollingResistance(BALL.tip, "floor", 1e-4, 0.0), "rate of RollingResistance"),
        (lambda: carom.RollingResistance(BALL.tip, 3, 1e-4), "contact of RollingResistance is 3"),
        (
            lambda: on_floor(0.5, None, carom.RollingResistance(BALL.tip, "floor", 1e-4)),
            "contact 'floor' was asked for.*a reaction",
        ),
        (
            lambda: on_floor(carom.Hertz(1e6), None, carom.RollingResistance(BALL.tip, "flor", 1e-4)),
            "flor.*did you mean 'floor'",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(make, words):
    with pytest.raises(carom.CaromError, match=words):
        make()


def test_it_brakes_the_body_that_touches():
    arm = carom.Mechanism([carom.Rod(1.0, 1.0), carom.Rod(1.0, 1.0)])
    floor = carom.Contact(arm.tip, carom.Plane(height=-3.0), carom.Hertz(1e6), name="floor")
    brake = carom.RollingResistance(arm.site("link1.tip"), "floor", 1e-4)
    with pytest.raises(carom.CaromError, match="'link1' by contact 'floor', which is not between that body"):
        carom.World(arm, contacts=floor, elements=brake)
