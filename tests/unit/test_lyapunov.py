"""Exponents of a driven mass between two stops against matrices of its flights and blows, made by hand."""

import numpy as np
import pytest
from examples.impact_oscillator import DAMPING, oscillator
from scipy.linalg import expm

import carom

FREQUENCY, AMPLITUDE, RESTITUTION = 2.2, 4.0, 0.7
PERIOD = 2 * np.pi / FREQUENCY
WORLD = oscillator(FREQUENCY, AMPLITUDE, RESTITUTION)
FLIGHT = np.array([[0.0, 1.0], [-1.0, -2 * DAMPING]])


@pytest.fixture(scope="module")
def found():
    start = WORLD.state(slides=[0.2], slide_rates=[0.1])
    return carom.lyapunov(WORLD, start, until=90 * PERIOD, every=PERIOD, discard=40 * PERIOD)


@pytest.fixture(scope="module")
def settled():
    """The motion that it settles in, and blows of one period."""
    start = WORLD.state(slides=[0.2], slide_rates=[0.1])
    run = carom.simulate(WORLD, start, until=90 * PERIOD, settings=carom.Settings("dopri8", rtol=1e-11, atol=1e-13))
    return [e for e in run.events if 40 * PERIOD < e.t <= 90 * PERIOD]


def saltation(event):
    """What a blow does to a small difference: (e v, and accelerations before and after it, over the speed)."""
    x, before, after = event.q[0], event.v[0], event.v_after[0]
    push = AMPLITUDE * np.cos(FREQUENCY * event.t) - x
    pulls = [push - 2 * DAMPING * v for v in (before, after)]
    e = RESTITUTION
    return np.array([[-e, 0.0], [(pulls[1] + e * pulls[0]) / before, -e]])


def test_exponents_are_those_of_the_matrices_of_one_period(found, settled):
    blows = [e for e in settled if e.t > 89 * PERIOD]
    assert len(blows) == len(settled) / 50
    monodromy, t = np.eye(2), 89 * PERIOD
    for event in blows:
        monodromy = saltation(event) @ expm(FLIGHT * (event.t - t)) @ monodromy
        t = event.t
    monodromy = expm(FLIGHT * (90 * PERIOD - t)) @ monodromy
    known = np.sort(np.log(np.abs(np.linalg.eigvals(monodromy))) / PERIOD)[::-1]
    assert known[0] - known[1] > 0.01, "two real multipliers"
    np.testing.assert_allclose(found.exponents, [0.0, *known], atol=1e-8)


def test_their_sum_is_what_damper_and_blows_take(found, settled):
    known = -2 * DAMPING + 2 * np.log(RESTITUTION) * len(settled) / (50 * PERIOD)
    assert np.sum(found.exponents) == pytest.approx(known, rel=1e-9)
    assert found.dimension == pytest.approx(1.0, abs=1e-6)
    assert np.all(found.spread < 1e-6) and len(found.t) == 50
    assert "Lyapunov exponents [1/s]" in str(found)


def test_what_a_blow_annihilates_is_gone():
    """A ball that lies on the floor: nothing of its height, or of its speed upwards, is left."""
    ball = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
    floor = carom.Contact(ball.tip, carom.Plane(0.0), carom.Plastic(), radius=0.1, name="floor")
    world = carom.World(ball, contacts=floor, gravity=9.81)
    start = world.state(base=(0.0, 0.15), base_velocity=(0.3, 0.0))
    exponents = carom.lyapunov(world, start, until=4.0, every=0.5).exponents
    assert np.sum(np.isneginf(exponents)) == 2
    np.testing.assert_allclose(exponents[:4], 0.0, atol=0.6)  # places drift with speeds: ln t / t


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"until": 5.0, "every": 3.0}, "there must be room for two stretches"),
        ({"until": 5.0, "every": 0.0}, "every of lyapunov"),
        ({"until": 5.0, "every": 1.0, "count": 4}, "count of lyapunov is 4; it must be from 1 to 3"),
    ],
)
def test_bad_input_gets_a_sentence(given, words):
    with pytest.raises(carom.CaromError, match=words):
        carom.lyapunov(WORLD, WORLD.state(slides=[0.2]), **given)
