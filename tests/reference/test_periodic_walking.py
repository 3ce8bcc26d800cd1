"""Orbits of what moves on: a passive walker against its own equations."""

import numpy as np
import pytest
from scipy.optimize import fsolve

import carom

from .passive_walker import EXCHANGE, STEP, as_legs, compass, one_step, pushed_off, step, three_degrees

SLOPE = np.deg2rad(3.0)


def test_one_step_of_the_walker_is_the_fixed_point_of_its_own_equations():
    orbit = three_degrees()
    known = fsolve(lambda y: step(SLOPE, y)[0] - y, as_legs(orbit) * 1.001, xtol=1e-13)
    np.testing.assert_allclose(as_legs(orbit), known, rtol=1e-9)
    assert orbit.period == pytest.approx(step(SLOPE, known)[1], rel=1e-9)
    assert orbit.residual < 1e-10 and orbit.stable and orbit.times == 1
    assert orbit.drift["base.x"] == pytest.approx(2.0 * np.sin(known[0]), rel=1e-9)
    assert "base.x shifts by 0.535445" in str(orbit)


def test_its_multipliers_are_those_of_its_own_equations():
    orbit, h = three_degrees(), 1e-5
    x = as_legs(orbit)
    slope = np.stack([(step(SLOPE, x + d)[0] - step(SLOPE, x - d)[0]) / (2.0 * h) for d in h * np.eye(3)], axis=1)
    known = np.linalg.eigvals(slope)
    known = known[np.lexsort((-known.imag, -np.abs(known)))]
    np.testing.assert_allclose(orbit.multipliers[:3], known, atol=1e-6)
    assert np.all(np.abs(orbit.multipliers[3:]) < 1e-10)


def test_what_gravity_gives_in_a_step_the_strike_takes():
    world, orbit = compass(SLOPE), three_degrees()
    run = carom.simulate(world, pushed_off(world), until="60 impacts", settings=carom.Settings(rtol=1e-11, atol=1e-13))
    assert run.impacts[-1].energy_lost == pytest.approx(20.0 * 9.81 * np.sin(SLOPE) * orbit.drift["base.x"], rel=1e-8)


def test_without_an_exchange_two_steps_are_a_period():
    one = three_degrees()
    world = compass(SLOPE)
    both = carom.find_orbit(world, STEP, pushed_off(world), until=4.0, drifts=["base.x"])
    assert both.period == pytest.approx(2.0 * one.period, rel=1e-9)
    np.testing.assert_allclose(np.poly(both.multipliers[:2]), np.poly(one.multipliers[:2] ** 2), atol=1e-8)
    twice = one_step(world, times=2)
    assert twice.period == pytest.approx(both.period, rel=1e-9) and twice.times == 2
    np.testing.assert_allclose(np.poly(twice.multipliers[:2]), np.poly(one.multipliers[:2] ** 2), atol=1e-8)
    np.testing.assert_allclose(as_legs(twice), as_legs(one), rtol=1e-9)


@pytest.mark.parametrize(
    "where",
    [
        pytest.param({"place": 1000.0}, marks=pytest.mark.slow),
        pytest.param({"way": -1.0}, marks=pytest.mark.slow),
        pytest.param({"height": -3.0}, marks=pytest.mark.slow),
    ],
)
def test_mirrored_far_away_or_lower_it_is_the_same_walk(where):
    world = compass(SLOPE, where.get("way", 1.0), where.get("height", 0.0))
    orbit, known = one_step(world, **where), three_degrees()
    np.testing.assert_allclose(as_legs(orbit, where.get("way", 1.0)), as_legs(known), rtol=1e-9)
    np.testing.assert_allclose(orbit.multipliers[:2], known.multipliers[:2], rtol=1e-6)
    assert orbit.drift["base.x"] == pytest.approx(where.get("way", 1.0) * known.drift["base.x"], rel=1e-9)


@pytest.mark.slow
def test_another_solver_and_the_other_leg_first_give_the_same_walk():
    world, known = compass(SLOPE), three_degrees()
    other = one_step(world, settings=carom.Settings("tsit5", rtol=1e-11, atol=1e-13))
    np.testing.assert_allclose(as_legs(other), as_legs(known), rtol=1e-8)
    left = ("gait", "right late -> left early: strike left foot")
    again = carom.find_orbit(world, left, pushed_off(world), until=4.0, drifts=["base.x"], exchange=EXCHANGE)
    np.testing.assert_allclose([again.q[2], again.v[2], again.v[3]], [known.q[3], known.v[3], known.v[2]], rtol=1e-9)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"drifts": ["bas.x"]}, r"no coordinate .* 'bas.x'; .*did you mean 'base.x'"),
        ({"drifts": "base.x"}, r"drifts is 'base.x'; it must be a list of coordinates: \['base.x'\]"),
        ({"drifts": []}, r"no periodic motion.* if base.x, .* shifts by .*: drifts=\['base.x'\]"),
        ({"exchange": EXCHANGE | {"left": "rihgt"}}, "no link, contact, .* 'rihgt'; .*did you mean 'right'"),
        (
            {"exchange": {"left": "right"}},
            "is another one when, after a return, 'left' is called 'right' .* must be alike",
        ),
        ({"exchange": {}}, "exchange is {}; it must hold names"),
        ({"exchange": {"left": "right", "right": "right"}}, "gives the name 'right' to more than one"),
        ({"exchange": {"left": "left foot"}}, "exchange gives link 'left' the name of contact 'left foot'"),
        ({"times": 0}, "times of a return map is 0; it must be a whole number"),
    ],
)
def test_bad_input_gets_a_sentence(given, words):
    with pytest.raises(carom.CaromError, match=words):
        one_step(compass(SLOPE), **given)


def test_legs_that_are_not_alike_are_not_exchanged():
    with pytest.raises(
        carom.CaromError, match=r"'left' is called 'right'.*differs by .* what is exchanged must be alike"
    ):
        one_step(compass(SLOPE, ballast=0.05))


def test_a_walk_that_does_not_exist_says_how_far_it_is_from_closing():
    world = compass(np.deg2rad(0.05))
    with pytest.raises(
        carom.CaromError, match=r"no periodic motion was found.* misse.* its beginning by .* in .*start nearer"
    ):
        one_step(world, until=1.2)
