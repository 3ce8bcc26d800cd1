"""Contacts that are there only in some phases of a controller."""

import jax.numpy as jnp
import numpy as np
import pytest

import carom

ROD = carom.Mechanism([carom.Link(carom.Rod(length=1.0, mass=1.0), name="rod")])
SOFT = carom.Hertz(1e6)
FIRST, SECOND = ("control", "posture 1"), ("control", ["posture 2"])


def world(during, height, gravity=0.0, switches=(0.3, 0.8), law=0.0, more=(), friction=None):
    """A rod on a hinge, and a controller that does nothing but change its phase."""
    control = carom.PostureControl(ROD, [[0.0], [0.0]], [0.0], [0.0], schedule=[carom.AtTime(t) for t in switches])
    floor = carom.Contact(ROD.tip, carom.Plane(height=height), law, friction, name="floor", during=during)
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


def test_a_compliant_contact_is_met_only_in_its_phases():
    """Not above its surface only: what is inside when its phases begin ends the run, going in or coming out."""
    there = world(SECOND, -0.5, law=SOFT)
    run = carom.simulate(there, there.state(rates=[-1.0]), until=0.7)
    always = carom.World(ROD, contacts=[carom.Contact(ROD.tip, carom.Plane(height=-0.5), SOFT)], gravity=0.0)
    plain = carom.simulate(always, always.state(rates=[-1.0]), until=0.7)
    np.testing.assert_allclose(run.q[-1], plain.q[-1], atol=1e-8)
    assert [i.duration for i in run.impacts] == pytest.approx([i.duration for i in plain.impacts], rel=1e-6)
    gone = world(FIRST, -0.5, law=SOFT)
    through = carom.simulate(gone, gone.state(rates=[-1.0]), until=0.7)
    assert not through.impacts
    np.testing.assert_allclose(through.q[-1], [-0.7], atol=1e-9)
    for rate, angle in ((-1.0, 0.0), (0.4, -1.0)):
        with pytest.raises(carom.CaromError, match=r"'floor' is .* inside at .*switched on"):
            carom.simulate(gone, gone.state(angles=[angle], rates=[rate]), until=1.0)


@pytest.mark.parametrize("friction", [None, carom.Coulomb(0.3)])
def test_what_lies_on_a_soft_contact_falls_when_it_goes(friction):
    """What was stored in it is gone, and in the ledger; a start inside of what is there not is no fault."""
    lies = world(FIRST, 0.0, gravity=9.81, switches=(0.3, 0.5), law=SOFT, friction=friction)
    run = carom.simulate(lies, lies.state(), until=0.45)
    (falls,) = [e for e in run.events if e.exit == "release"]
    assert abs(falls.t - 0.3) < 1e-14 and run.energy.max_error_percent < 1e-6
    free = carom.World(ROD)
    alone = carom.simulate(free, free.state(angles=falls.q, rates=falls.v), until=0.15)
    np.testing.assert_allclose(run.q[-1], alone.q[-1], atol=1e-9)
    away = world(SECOND, 0.1, gravity=9.81, switches=(0.3, 0.5), law=SOFT, friction=friction)
    assert carom.simulate(away, away.state(), until=0.25).outcome == "finished"


def test_a_lane_is_switched_as_a_single_run_is():
    def make(p):
        return world(SECOND, p, law=SOFT)

    heights = jnp.asarray([-0.5, -0.4])
    lanes = carom.batch(make, heights, make(-0.5).state(rates=[-1.0]), until=0.7)
    for height, q in zip(heights, lanes.q, strict=True):
        one = make(float(height))
        single = carom.simulate(one, one.state(rates=[-1.0]), until=0.7)
        np.testing.assert_allclose(q, single.q[-1], atol=1e-7)


@pytest.mark.parametrize("law", [0.0, SOFT], ids=["rigid", "soft"])
def test_a_switched_contact_is_written_and_read_back(tmp_path, law):
    whole = world(SECOND, -0.5, law=law)
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
        (lambda: world(("legs", "stance"), 0.0, law=SOFT), "automaton that contact 'floor' waits for"),
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
