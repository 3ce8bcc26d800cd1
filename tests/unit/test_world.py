"""One world: contacts whose law decides, sites by name, one state and one set of settings, and how it prints."""

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom

BALL = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
FLOOR = carom.Plane(height=0.0)
ARM = carom.Arm([carom.Rod(1.0, 1.0), carom.Rod(1.0, 1.0)])


def same(a, b):
    leaves = zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True)
    return jax.tree.structure(a) == jax.tree.structure(b) and all(np.array_equal(x, y) for x, y in leaves)


# -- contacts ----------------------------------------------------------------------------------------------------------


def test_exchanging_the_law_is_one_argument():
    exits = {}
    for law in (carom.Hertz(1e6), carom.Newton(0.5)):
        contact = carom.Contact(BALL.tip, FLOOR, law, carom.Coulomb(0.3), radius=0.1, name="floor")
        exits[type(law).__name__] = carom.World(BALL, contacts=contact).automata[0].anatomy.exits
    assert "touch" in exits["Hertz"] and "strike floor" in exits["Newton"]


def test_a_site_may_be_named():
    by_name = carom.World(ARM, contacts=carom.Contact("link2.tip", FLOOR, carom.Hertz(1e6)))
    by_itself = carom.World(ARM, contacts=carom.Contact(ARM.tip, FLOOR, carom.Hertz(1e6)))
    assert same(by_name, by_itself)
    both = carom.side_by_side(one=BALL, two=BALL)
    pair = carom.Contact("one.link1.tip", "two.link1.tip", carom.Newton(0.5), radius=0.1, other_radius=0.1)
    (rigid,) = carom.World(both, contacts=pair).automata
    assert rigid.contacts[0].pair.second.name == "two.link1.tip"
    with pytest.raises(carom.CaromError, match=r"there is no site 'link3.tip'; known: .*did you mean"):
        carom.World(ARM, contacts=carom.Contact("link3.tip", FLOOR, carom.Hertz(1e6)))


def test_the_world_gathers_rigid_contacts_behind_the_others():
    hard = [carom.Contact(BALL.tip, FLOOR, carom.Newton(e), radius=0.1, name=n) for n, e in (("a", 0.1), ("b", 0.2))]
    soft = carom.Contact(BALL.tip, carom.Wall(1.0, "left"), carom.Hertz(1e6), radius=0.1, name="soft")
    world = carom.World(BALL, contacts=[hard[0], soft, hard[1]], settle_speed=0.01)
    assert [a.name for a in world.automata] == ["soft", "rigid contacts"]
    assert [c.name for c in world.automata[1].contacts] == ["a", "b"]
    assert float(world.automata[1].settle_speed) == 0.01


# -- states ------------------------------------------------------------------------------------------------------------


def test_a_state_is_zero_but_for_what_is_given():
    state = BALL.state(base_velocity=(1.0, 2.0))
    np.testing.assert_array_equal(state.q, [0.0, 0.0, 0.0])
    np.testing.assert_array_equal(state.v, [1.0, 2.0, 0.0])
    bent = ARM.state(angles=[90.0, -30.0], rates=[1.0, 2.0], relative=True, degrees=True)
    np.testing.assert_allclose(bent.q, np.deg2rad([90.0, 60.0]))
    np.testing.assert_allclose(bent.v, np.deg2rad([1.0, 3.0]))


def test_rows_are_lanes():
    state = BALL.state(angles=[[0.1], [0.2]], base=(0.0, 1.0), base_velocity=[[1.0, 0.0], [2.0, 0.0]])
    assert state.lanes == 2
    np.testing.assert_array_equal(state.q, [[0.0, 1.0, 0.1], [0.0, 1.0, 0.2]])
    np.testing.assert_array_equal(state.v, [[1.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    both = carom.side_by_side(one=BALL, two=BALL)
    single = both.state(base=[(1.0, 2.0), (3.0, 4.0)])
    assert single.lanes is None
    np.testing.assert_array_equal(single.q, [1.0, 2.0, 3.0, 4.0, 0.0, 0.0])
    np.testing.assert_array_equal(both.state(base=[[1.0, 2.0, 3.0, 4.0]] * 3).q[2], single.q)


REFUSED = {
    "angles of the old kind": (
        lambda: carom.simulate(carom.World(ARM), [0.1, 0.2], until=1.0),
        r"the start is a list; it must be a state: world.state\(angles=",
    ),
    "a state of another mechanism": (
        lambda: carom.simulate(carom.World(ARM), BALL.state(), until=1.0),
        r"the start has 3 coordinates; the mechanism has 2",
    ),
    "rows in a single run": (
        lambda: carom.simulate(carom.World(ARM), ARM.state(angles=np.zeros((3, 2))), until=1.0),
        r"the start has 3 rows; only carom.batch takes several states",
    ),
    "rows that differ": (
        lambda: BALL.state(angles=np.zeros((3, 1)), base=np.zeros((2, 2))),
        r"arrays of state have \[2, 3\] rows",
    ),
    "too many angles": (lambda: ARM.state(angles=[0.0] * 3), r"angles of state has shape \(3,\)"),
    "no number": (
        lambda: ARM.state(angles=["a", 0.0]),
        r"angles of state is \['a', 0.0\]; every entry must be a number",
    ),
    "nan": (lambda: ARM.state(rates=[np.nan, 0.0]), r"rates of state is \[nan, 0.0\]; every entry must be a finite"),
    "a velocity too many": (
        lambda: BALL.state(base_velocity=(1.0, 2.0, 3.0)),
        r"base_velocity of state has shape \(3,\)",
    ),
    "no coordinates": (lambda: carom.State(None, [1.0]), r"q of state is None; every entry must be a number"),
    "unlike shapes": (lambda: carom.State([1.0], [1.0, 2.0]), r"q and v of State have shapes \(1,\) and \(2,\)"),
    "a contact that controls": (
        lambda: carom.World(BALL, control=carom.Contact(BALL.tip, FLOOR, 0.5)),
        r"control of World holds a RigidContact; give it as one of the contacts",
    ),
    "one name for two contacts": (
        lambda: carom.World(
            BALL, contacts=[carom.Contact(BALL.tip, FLOOR, law) for law in (carom.Newton(0.5), carom.Hertz(1e6))]
        ),
        r"2 contacts are called 'link1.tip'; names must differ",
    ),
    "a class for a law": (
        lambda: carom.Contact(BALL.tip, FLOOR, carom.Hertz),
        r"normal of contact 'link1.tip' is <class",
    ),
    "a settle speed below 0": (
        lambda: carom.World(BALL, settle_speed=-1.0),
        r"settle_speed of World is -1; it must be",
    ),
    "settings of the old kind": (
        lambda: carom.simulate(carom.World(ARM), ARM.state(), until=1.0, settings={"rtol": 1e-9}),
        r"settings are a dict; they must be carom.Settings",
    ),
    "half an event": (
        lambda: carom.Settings(max_events=1.5),
        r"max_events of Settings is 1.5; it must be a whole number",
    ),
    "a ledger of words": (
        lambda: carom.Settings(ledger="yes"),
        r"ledger of Settings is 'yes'; it must be True or False",
    ),
    "rows and lanes": (
        lambda: carom.batch(lambda p: carom.World(ARM, gravity=p), np.ones(2), ARM.state(np.zeros((3, 2))), until=1.0),
        r"start of batch has 3 rows and parameters 2 lanes",
    ),
    "no start at all": (
        lambda: carom.batch(lambda p: carom.World(ARM, gravity=p), np.ones(2), [0.0, 0.0], until=1.0),
        r"start of batch is a list; it must be a state",
    ),
}


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("what", REFUSED)
def test_mistakes_get_a_sentence(what):
    make, words = REFUSED[what]
    with pytest.raises(carom.CaromError, match=words):
        make()


def test_the_start_of_a_lane_may_be_a_function_of_its_parameters():
    def make(p):
        return carom.World(ARM, gravity=p["gravity"])

    def start(p):
        return ARM.state(angles=jnp.stack([p["angle"], p["angle"]]))

    lanes = {"gravity": np.array([5.0, 9.81]), "angle": np.array([0.1, 0.2])}
    ends = carom.batch(make, lanes, start, until=0.1)
    rows = carom.batch(make, lanes, ARM.state(angles=[[0.1, 0.1], [0.2, 0.2]]), until=0.1)
    np.testing.assert_allclose(ends.q, rows.q, rtol=1e-13)
    assert len(ends.work) == 1  # one set of settings for all doors: a ledger is kept


def test_settings_can_be_compared_and_hashed():
    assert carom.Settings(rtol=jnp.asarray(1e-9), max_steps=np.int64(5)) == carom.Settings(rtol=1e-9, max_steps=5)
    assert hash(carom.Settings(rtol=jnp.asarray(1e-9))) == hash(carom.Settings(rtol=1e-9))


def test_a_run_without_limits_can_be_repeated_more_finely():
    world = carom.World(ARM)
    run = carom.simulate(world, ARM.state(), until=0.1, settings=carom.Settings(max_steps=None))
    assert run.converge().rtol == pytest.approx(1e-9)


def test_a_schedule_takes_the_name_of_any_contact():
    floor = carom.Contact("link2.tip", carom.Plane(height=-1.5), carom.Newton(0.5), name="floor")
    for switch in (carom.control.OnStrike("floor"), carom.control.OnStrike(floor)):
        schedule = [switch, carom.control.AtTime(100.0)]
        control = carom.PostureControl(ARM, [[0.0, 0.0], [1.0, 1.0]], [1.0, 1.0], [1.0, 1.0], schedule=schedule)
        run = carom.simulate(carom.World(ARM, contacts=floor, control=control), ARM.state(), until=0.8)
        assert "end of posture 1" in {e.exit for e in run.events}


# -- how it prints -----------------------------------------------------------------------------------------------------


def test_a_world_prints_what_acts_on_it():
    contacts = [
        carom.Contact(ARM.tip, FLOOR, carom.Hertz(1e6), name="tip"),
        carom.Contact(ARM.site("link1.tip"), FLOOR, carom.Newton(0.5), carom.Coulomb(0.3), name="elbow"),
    ]
    hold = carom.PostureControl(ARM, [0.0, 0.0], [1.0, 1.0], [1.0, 1.0])
    lines = str(carom.World(ARM, contacts=contacts, control=hold)).splitlines()
    assert lines[0] == "World: 2 links, 2 degrees of freedom"
    assert lines[-4:] == [
        "  gravity (0, -9.81) m/s^2",
        "  tip          'link2.tip' on Plane(height=0 m), Hertz(stiffness=1e+06)",
        "  elbow        'link1.tip' on Plane(height=0 m), rigid Newton(restitution=0.5), Coulomb(mu=0.3)",
        "  control      PostureControl(target=(0, 0) rad, kp=(1, 1) N m/rad, kd=(1, 1) N m s/rad)",
    ]


SURFACES = {
    "Plane(point=(2, 0) m, normal=(-1, 0))": lambda: carom.Wall(2.0, "left"),
    "Circle(centre=(0, 1) m, radius=0.5 m, inside=True)": lambda: carom.Circle((0.0, 1.0), 0.5, inside=True),
    "Spline(points=3, first=(0, 0) m, last=(2, 0) m)": lambda: carom.Spline([(0.0, 0.0), (1.0, 0.2), (2.0, 0.0)]),
    "Graph(height=hills, parameters=(0.1))": lambda: carom.Graph(hills, parameters=(0.1,)),
    "Implicit(function=<lambda>)": lambda: carom.Implicit(lambda x, y: y - x**2),
    "Plane(height=0 m), Moving(velocity=(1, 0) m/s)": lambda: carom.Moving(FLOOR, velocity=(1.0, 0.0)),
    "Plane(height=0 m), Moving(motion=shaken, frequency=3 Hz)": lambda: carom.Moving(
        FLOOR, motion=shaken, frequency=3.0
    ),
}


def hills(x, a):
    return a * x**2


def shaken(t):
    return 0.0, 0.01 * jnp.sin(6.0 * jnp.pi * t), 0.0


@pytest.mark.parametrize("words", SURFACES)
def test_surfaces_are_spelled_with_their_numbers_and_units(words):
    assert SURFACES[words]().words == words


CONTROLLERS = {
    "PostureControl(postures=2, kp=(1, 2) N m/rad, kd=(3, 4) N m s/rad, limit=(5, 5) N m, rate=100 Hz)": lambda: (
        carom.PostureControl(
            ARM,
            [[0.0, 0.0], [1.0, 1.0]],
            [1.0, 2.0],
            [3.0, 4.0],
            schedule=[carom.AtTime(1.0), carom.AtTime(2.0)],
            limit=[5.0, 5.0],
            rate=100.0,
        )
    ),
    "ComputedTorque(motion=Polynomials, kp=(1, 2) 1/s^2, kd=(3, 4) 1/s)": lambda: carom.ComputedTorque(
        ARM, carom.control.Quintic([0.0, 0.0], [1.0, 1.0], 1.0), [1.0, 2.0], [3.0, 4.0]
    ),
    "FeedForward(torques=Tabled, rate=10 Hz)": lambda: carom.FeedForward(
        ARM, carom.control.Quintic([0.0, 0.0], [1.0, 1.0], 1.0), rate=10.0
    ),
    "HoldPose(kp=(4, 4) 1/s^2, kd=(4, 4) 1/s)": lambda: carom.HoldPose(ARM, [0.0, 0.0], kp=4.0),
    "Spring(stiffness=100 N/m, length=1 m, damping=0 N s/m)": lambda: carom.Spring(ARM.tip, (0.0, 3.0), 100.0, 1.0),
}


@pytest.mark.parametrize("words", CONTROLLERS)
def test_controllers_and_springs_are_spelled_with_their_numbers_and_units(words):
    ((_, told),) = CONTROLLERS[words]().report.words
    assert told == words


def test_a_contact_is_one_whatever_its_law_and_however_its_site_is_given():
    ball = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
    floor = carom.Plane(height=0.0)
    for site, law in ((ball.tip, carom.Hertz(1e7)), (ball.tip, carom.Newton(0.5)), (ball.tip.name, 0.5)):
        assert isinstance(carom.Contact(site, floor, law), carom.Contact)
    assert list(inspect.signature(carom.Contact).parameters)[:3] == ["site", "against", "normal"]
