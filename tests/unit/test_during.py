"""Contacts that are there only in some phases of a controller."""

import jax.numpy as jnp
import numpy as np
import pytest

import carom

ROD = carom.Mechanism([carom.Link(carom.Rod(length=1.0, mass=1.0), name="rod")])
FIRST, SECOND = ("control", "posture 1"), ("control", ["posture 2"])


def world(during, height, gravity=0.0, switches=(0.3, 0.8), law=0.0, more=()):
    """A rod on a hinge, and a controller that does nothing but change its phase."""
    control = carom.PostureControl(ROD, [[0.0], [0.0]], [0.0], [0.0], schedule=[carom.AtTime(t) for t in switches])
    floor = carom.Contact(ROD.tip, carom.Plane(height=height), law, name="floor", during=during)
    return carom.World(ROD, contacts=[floor, *more], control=control, gravity=gravity)


def strikes(run):
    return [e.t for e in run.events if e.exit == "strike floor"]


def far(count):
    """Contacts that are never met: with many of them the world is solved on arrays."""
    return [carom.Contact(ROD.tip, carom.Plane(height=-9.0 - k), 0.0, name=f"far {k}") for k in range(count)]


@pytest.mark.parametrize("more", [[], pytest.param(far(13), marks=pytest.mark.slow)], ids=["few", "many"])
def test_a_contact_is_met_only_in_its_phases(more):
    there = world(SECOND, -0.5, more=more)
    run = carom.simulate(there, there.state(rates=[-1.0]), until=0.7)
    np.testing.assert_allclose(strikes(run), [np.pi / 6.0], atol=1e-12)
    gone = world(FIRST, -0.5, more=more)
    through = carom.simulate(gone, gone.state(rates=[-1.0]), until=0.7)
    assert strikes(through) == [] and through.penetration == 0.0
    np.testing.assert_allclose(through.q[-1], [-0.7], atol=1e-9)
    # At 0.8 s it is switched on again, when the tip is inside.
    with pytest.raises(carom.CaromError, match=r"inside its surface.*switched on"):
        carom.simulate(gone, gone.state(rates=[-1.0]), until=1.0)


@pytest.mark.parametrize("more", [[], pytest.param(far(13), marks=pytest.mark.slow)], ids=["few", "many"])
def test_what_rests_on_a_contact_falls_when_it_goes_and_lands_when_it_comes(more):
    rests = world(FIRST, 0.0, gravity=9.81, switches=(0.3, 0.5), more=more)
    run = carom.simulate(rests, rests.state(), until=0.45)
    before = np.asarray(run.t) <= 0.3
    assert np.max(np.abs(run.q[before])) < 1e-12 and run.events[-1].exit == "lift floor"
    assert abs(run.events[-1].t - 0.3) < 1e-14
    free = carom.World(ROD)
    alone = carom.simulate(free, free.state(), until=0.15)
    np.testing.assert_allclose(run.q[-1], alone.q[-1], atol=1e-9)
    np.testing.assert_allclose(run.v[-1], alone.v[-1], atol=1e-8)


def test_a_switched_contact_is_written_and_read_back(tmp_path):
    whole = world(SECOND, -0.5)
    carom.Scenario.of(whole, whole.state(), until=1.0, name="switched").save(tmp_path / "switched.toml")
    again = carom.Scenario.load(tmp_path / "switched.toml").world()
    assert str(again) == str(whole) and "during posture 2 of 'control'" in str(whole)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: world(("legs", "stance"), 0.0), "automaton that contact 'floor' waits for"),
        (lambda: world(("control", "stance"), 0.0), "phase of 'control' that contact 'floor' waits for"),
        (lambda: world("control", 0.0), "it must be the name of an automaton and its phases"),
        (lambda: world(("control", []), 0.0), "it must be the name of an automaton and its phases"),
        (lambda: world(FIRST, 0.0, law=carom.Hertz(1e6)), "has a compliant law and is to be there only during"),
    ],
)
def test_mistakes_about_phases_are_answered(make, sentence):
    with pytest.raises(carom.CaromError) as told:
        make()
    assert sentence in str(told.value)


def test_shapes_are_switched_as_a_whole():
    box = carom.Polygon(ROD.tip, [(-0.1, -0.1), (0.1, -0.1), (0.0, 0.1)])
    control = carom.PostureControl(ROD, [[0.0], [0.0]], [0.0], [0.0], schedule=[carom.AtTime(0.3), carom.AtTime(0.8)])
    floor = carom.Contact(box, carom.Plane(height=-0.5), 0.0, name="floor", during=FIRST)
    whole = carom.World(ROD, contacts=floor, control=control, gravity=jnp.zeros(2))
    assert [c.during for c in whole.contacts] == [("control", ("posture 1",))] * 3
