"""Orbits from many guesses: a mass driven by its own speed, between two stops, with multipliers that are known."""

import numpy as np
import pytest

import carom

DRIVE, RESTITUTION = 0.3, 0.6
MASS = carom.Mechanism([carom.Link(carom.PointMass(1.0), name="mass", joint=carom.Slider((1.0, 0.0)))])
STRIKE = ("rigid contacts", "strike left")


def rates(scene, x, p):
    return {"fading": -x["fading"]}


def forces(scene, x, p):
    """A spring, and a push along the speed."""
    return {"mass": p * scene.v[0] - scene.q[0]}


@pytest.fixture(scope="module")
def world():
    stops = [
        carom.Contact(carom.JointLimit(MASS, "mass", **{side: place}), None, carom.Newton(RESTITUTION), name=name)
        for name, side, place in (("left", "lower", -1.0), ("right", "upper", 1.5))
    ]
    push = carom.ExtraStates({"fading": 0.3}, rates, forces, DRIVE, name="push")
    return carom.World(MASS, contacts=stops, elements=push, gravity=0.0)


def test_every_guess_leads_to_the_one_orbit_whose_multiplier_is_known(world):
    """The area of states shrinks by e^2 at each of two blows and grows with the drive; what fades, fades."""
    rows = world.state(slides=np.linspace(-0.9, 1.4, 4)[:, None], slide_rates=np.linspace(-3.0, 3.0, 4)[:, None])
    (orbit,) = carom.find_orbits(world, STRIKE, rows, until=200.0, returns=5)
    known = RESTITUTION**4 * np.exp(DRIVE * orbit.period), np.exp(-orbit.period), 0.0, 0.0
    np.testing.assert_allclose(np.abs(orbit.multipliers[:4]), known, rtol=1e-7, atol=1e-9)
    assert orbit.stable and orbit.residual < 1e-10
    single = carom.find_orbit(world, STRIKE, world.state(slides=[0.3], slide_rates=[1.0]), until=40.0)
    assert single.period == pytest.approx(orbit.period, rel=1e-10)
    np.testing.assert_allclose(single.v, orbit.v, rtol=1e-9)


def test_guesses_that_do_not_come_back_have_none(world):
    rows = world.state(slides=[[0.0], [0.1]], slide_rates=[[1e-3], [0.0]])
    assert carom.find_orbits(world, STRIKE, rows, until=1.0, returns=5) == []


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"event": ("rigid contacts", "strike lft")}, "did you mean 'strike left'"),
        ({"returns": 0}, "returns of find_orbits is 0; it must be at least 1"),
        ({"starts": None}, "a row for each guess"),
    ],
)
def test_bad_input_gets_a_sentence(world, given, words):
    rows = world.state(slides=[[0.1]])
    asked = {"event": STRIKE, "starts": world.state(slides=[0.1]) if "starts" in given else rows} | {
        key: value for key, value in given.items() if key != "starts"
    }
    with pytest.raises(carom.CaromError, match=words):
        carom.find_orbits(world, asked.pop("event"), asked.pop("starts"), **asked)
