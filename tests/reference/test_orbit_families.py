"""Families of orbits against closed forms: a ball on a shaken paddle, and an oscillator that comes to touch a stop.

Seen from the paddle, whose height is a sin(w t), the ball weighs g - a w^2 sin(w t), and what it meets is a floor at
rest. In an orbit of one period T = 2 pi / w the ball flies for T, so that the paddle moves with
v = g T (1 - e) / (2 (1 + e)) when they meet, which needs a w >= v: a fold at a = v / w. The orbit on the stable branch
doubles its period at (a w)^2 = v^2 + (2 g (1 + e^2) / (w (1 + e)^2))^2 (A. C. J. Luo and R. P. S. Han 1996, Nonlinear
Dynamics 10, 1-18), and its map shrinks areas by e^2; a force c along the velocity makes that e^2 exp(c T).
"""

import jax.numpy as jnp
import numpy as np
import pytest

import carom

G, W, E = 9.81, 10.0 * np.pi, 0.8
T = 2.0 * np.pi / W
MEETING = 0.5 * G * T * (1.0 - E) / (1.0 + E)  # [m/s] the paddle's velocity
FOLD = MEETING / W
DOUBLING = np.sqrt(MEETING**2 + (2.0 * G * (1.0 + E**2) / (1.0 + E) ** 2 / W) ** 2) / W
STRIKE = ("rigid contacts", "strike floor")
TURN = {"angle": 2.0 * np.pi}
BALL = carom.Mechanism([carom.Link(carom.PointMass(1.0), name="ball", joint=carom.Slider((0.0, 1.0)))])
BEGIN = 1.15 * FOLD


def rates(scene, x, p):
    return {"angle": W}


def forces(scene, x, p):
    return {"ball": p["amplitude"] * W**2 * jnp.sin(x["angle"]) - G + p["push"] * scene.v[0]}


def paddle(amplitude, push=0.0):
    drive = carom.ExtraStates({"angle": 0.0}, rates, forces, {"amplitude": amplitude, "push": push}, name="paddle")
    floor = carom.Contact(carom.JointLimit(BALL, "ball", lower=0.0), None, carom.Newton(E), name="floor")
    return carom.World(BALL, contacts=floor, elements=drive, gravity=0.0)


def by_weight(weight):
    fading = carom.ExtraStates({"angle": 0.0}, rates_of_nothing, fall, weight, name="weight")
    floor = carom.Contact(carom.JointLimit(BALL, "ball", lower=0.0), None, carom.Newton(1.0), name="floor")
    return carom.World(BALL, contacts=floor, elements=fading, gravity=0.0)


def rates_of_nothing(scene, x, p):
    return {"angle": -x["angle"]}


def fall(scene, x, p):
    return {"ball": -p}


def thrown(amplitude):
    """Just after the paddle has met the ball, as in the orbit."""
    angle = np.arccos(MEETING / (amplitude * W))
    speed = 0.5 * G * T - MEETING
    return paddle(amplitude).state(slides=[0.0], slide_rates=[speed], extra={"angle": angle})


def followed(make, values, begin, **more):
    asked = {"until": 1.5 * T, "drifts": TURN, "name": "amplitude [m]", "step": 0.1} | more
    return carom.continue_orbit(make, values, STRIKE, begin, **asked)


@pytest.fixture(scope="module")
def up():
    return followed(paddle, (BEGIN, 1.5 * DOUBLING), thrown(BEGIN))


def test_the_period_doubles_where_the_closed_form_says(up):
    (special,) = up.special
    assert special.kind == "period doubling" and special.parameter == pytest.approx(DOUBLING, rel=1e-9)
    np.testing.assert_allclose(up.period, T, rtol=1e-10)
    product = np.prod(np.sort_complex(up.multipliers[:, :2]), axis=1)
    np.testing.assert_allclose(product, E**2, rtol=1e-8)
    np.testing.assert_array_equal(up.stable, up.parameter < DOUBLING)
    assert up.parameter[0] == BEGIN and up.parameter[-1] == pytest.approx(1.5 * DOUBLING, rel=1e-12)
    assert up.ended == "it leaves the range"


def test_the_family_goes_round_its_fold():
    family = followed(paddle, (BEGIN, 0.9 * FOLD), thrown(BEGIN))
    (special,) = family.special
    assert special.kind == "fold" and special.parameter == pytest.approx(FOLD, rel=1e-10)
    there, back = family.parameter[: special.after + 1], family.parameter[special.after + 1 :]
    assert np.all(np.diff(there) < 0.0) and np.all(np.diff(back) > 0.0) and back[-1] == pytest.approx(BEGIN)
    assert family.stable[0] and not np.any(family.stable[special.after + 1 :])
    # The paddle's velocity at every blow is that of the closed form, on both branches.
    angle = np.array([point.u[2] for point in family.points])
    np.testing.assert_allclose(family.parameter * W * np.cos(angle), MEETING, rtol=1e-9)
    assert np.all(np.diff(np.cos(angle)[: special.after]) > 0.0) and np.sin(angle[0]) * np.sin(angle[-1]) < 0.0


def test_twice_the_period_leads_to_the_same_orbit_and_the_squares_of_its_multipliers(up):
    twice = followed(
        paddle, (BEGIN, 1.01 * BEGIN), thrown(BEGIN), until=2.5 * T, times=2, drifts={"angle": 4.0 * np.pi}
    )
    assert twice.period[0] == pytest.approx(2.0 * T)
    np.testing.assert_allclose(np.poly(twice.multipliers[0, :2]), np.poly(up.multipliers[0, :2] ** 2), atol=1e-8)


def test_a_pair_of_multipliers_leaves_the_circle_where_areas_no_longer_shrink():
    def pushed(push):
        return paddle(1.5 * BEGIN, push)

    known = -2.0 * np.log(E) / T
    family = followed(pushed, (0.0, 1.3 * known), thrown(1.5 * BEGIN), name="push [N s/m]")
    (special,) = family.special
    assert special.kind == "Neimark-Sacker" and special.parameter == pytest.approx(known, rel=1e-8)
    np.testing.assert_allclose(np.abs(special.multipliers[:2]), 1.0, atol=1e-8)


def test_the_doubled_orbit_is_followed_from_where_it_begins(up):
    twice = carom.continue_doubled(up, step=0.1)
    np.testing.assert_allclose(twice.period, 2.0 * T, rtol=1e-10)
    np.testing.assert_allclose(np.prod(twice.multipliers[:, :2], axis=1), E**4, rtol=1e-7)
    (special,) = twice.special
    assert special.kind == "period doubling" and DOUBLING < special.parameter < 1.5 * DOUBLING
    # Between both, the ball settles in it by itself.
    k = 3
    amplitude = twice.parameter[k]
    assert twice.stable[k] and DOUBLING < amplitude < special.parameter
    begin = thrown(amplitude)
    run = carom.simulate(paddle(amplitude), begin, until=200.0 * T, settings=carom.Settings(rtol=1e-10))
    speeds = sorted({round(float(impact.normal_velocity_after), 6) for impact in list(run.impacts)[-10:]})
    whole = np.sort([twice.values("rate of ball.slide", number)[k] for number in (0, 1)])
    np.testing.assert_allclose(speeds, whole, atol=2e-6)
    with pytest.raises(carom.CaromError, match="which of continue_doubled is 1; the family has 1 period doublings"):
        carom.continue_doubled(up, 1)


def test_derivatives_of_the_map_are_those_of_finite_differences(up):
    """Of everything that it carries: memories of instants, too."""
    point, h = up.points[2], 1e-6
    map, _ = up.family.at(point.u[-1])
    x = point.u[:-1]
    for k in (1, 2):  # speed and angle; the place is the floor's
        step = h * np.eye(len(x))[k]
        slope = (map(x + step)[0] - map(x - step)[0]) / (2.0 * h)
        np.testing.assert_allclose(slope, map.derivative(x)[:, k], atol=1e-6)
    (ahead, _), (behind, _) = (up.family.at(point.u[-1] + d)[0](x) for d in (1e-7, -1e-7))
    np.testing.assert_allclose((ahead - behind) / 2e-7, point.slopes.along, atol=1e-4, rtol=1e-6)


# -- grazing -----------------------------------------------------------------------------------------------------------

DAMPING, FORCED, STOP = 0.1, 0.7, 1.0
AMPLITUDE = STOP * np.hypot(
    1.0 - FORCED**2, DAMPING * FORCED
)  # of the force with which a linear oscillator just touches


def forced_rates(scene, x, p):
    return {"angle": FORCED}


def forced(scene, x, p):
    return {"ball": p * jnp.cos(x["angle"]) - scene.q[0] - DAMPING * scene.v[0]}


def oscillator(force, law=None):
    """Its own turning points are the events: the section does not depend on the stop."""
    drive = carom.ExtraStates({"angle": 0.0}, forced_rates, forced, force, name="force")
    stop = carom.Contact(carom.JointLimit(BALL, "ball", upper=STOP), None, law or carom.Newton(E), name="stop")
    turns = {
        "out": carom.Mode(to={"back": "ball.slide_rate < 0"}),
        "back": carom.Mode(to={"out": "ball.slide_rate > 0"}),
    }
    return carom.World(BALL, contacts=stop, elements=drive, control=carom.StateMachine(BALL, turns), gravity=0.0)


def test_grazing_is_named_where_a_linear_oscillator_comes_to_touch():
    event = ("control", "back -> out: ball.slide_rate > 0")
    family = carom.continue_orbit(
        oscillator, (0.8 * AMPLITUDE, 1.2 * AMPLITUDE), event, oscillator(0.4).state(), until=150.0,
        drifts={"angle": 2.0 * np.pi}, name="force [N]", step=0.2,
    )  # fmt: skip
    special = family.special[0]
    assert special.kind == "grazing" and special.parameter == pytest.approx(AMPLITUDE, rel=1e-8)
    assert special.about == "'strike stop' of 'rigid contacts' appears"
    free = family.parameter < AMPLITUDE
    assert family.period[0] == pytest.approx(2.0 * np.pi / FORCED, rel=1e-10)
    np.testing.assert_allclose(family.values("ball.slide")[free], -family.parameter[free] / AMPLITUDE, rtol=1e-8)


def soft_stop(force):
    return oscillator(force, carom.Hooke(1.0, 0.0))


def test_a_family_goes_on_where_what_it_grazes_is_soft():
    event = ("control", "back -> out: ball.slide_rate > 0")
    family = carom.continue_orbit(
        soft_stop, (0.8 * AMPLITUDE, 1.3 * AMPLITUDE), event, soft_stop(0.4).state(), until=150.0,
        drifts={"angle": 2.0 * np.pi}, name="force [N]", step=0.2,
    )  # fmt: skip
    special = family.special[0]
    assert special.kind == "grazing" and special.parameter == pytest.approx(AMPLITUDE, rel=1e-7)
    assert "appears" in special.about and "'stop'" in special.about
    assert family.ended == "it leaves the range" and len(family.points[-1].events) > len(family.points[0].events)


# -- what a family can be asked, and what is refused -------------------------------------------------------------------


def test_a_family_is_a_table_a_dataset_and_a_figure(up):
    table = up.to_pandas()
    assert list(table.columns[:3]) == ["amplitude [m]", "period [s]", "ball.slide [m]"] and len(table) == len(up.points)
    data = up.to_xarray()
    assert data["period"].attrs["units"] == "s" and data["multipliers"].shape == up.multipliers.shape
    assert "period doubling at 0.01064369" in str(up)
    axes = carom.figures.orbit_family(up, "rate of ball.slide").axes[0]
    assert axes.get_xlabel() == "amplitude [m]" and axes.get_ylabel() == "rate of ball.slide [m/s]"
    assert axes.get_legend_handles_labels()[1] == ["stable", "unstable", "period doubling"]
    dashed = [x for line in axes.lines if line.get_linestyle() == "--" for x in line.get_xdata()]
    assert min(dashed) == pytest.approx(DOUBLING, rel=1e-9) and data["ball.slide"].attrs["units"] == "m"
    (run,) = up.run(0)
    assert run.impacts[-1].contact == "floor" and run.t[-1] == pytest.approx(T)
    with pytest.raises(carom.CaromError, match=r"number of run is 1000; the family has \d+ points, counted from 0"):
        up.run(1000)
    with pytest.raises(carom.CaromError, match=r"no column of an orbit family 'perod'; .*did you mean 'period'"):
        up.values("perod")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"values": (1.0, 1.0)}, "values of continue_orbit is .* must be two different numbers"),
        ({"values": 3.0}, "values of continue_orbit is 3.0; it must be two different numbers"),
        ({"make": None}, "make of continue_orbit is None; it must be a function"),
        ({"make": lambda a: a / 0}, "make of continue_orbit fails with ZeroDivisionError: .*; it is called with"),
        ({"make": lambda a: 3}, "make of continue_orbit makes a int; it must make a carom.World"),
        ({"drifts": None}, r"drifts is None; it must be a list of coordinates: \['base.x'\]"),
        ({"times": "2"}, "times of a return map is '2'; it must be a whole number"),
        ({"times": 10**6}, "times of a return map is 1000000; it must be a whole number from 1 to 10000"),
        ({"most": 1.5}, "most of continue_orbit is 1.5; it must be a whole number of points"),
        ({"most": 0}, "most of continue_orbit is 0; it must be at least 1"),
        ({"begin": thrown(BEGIN), "until": 0.01 * T}, "never happened in the run"),
        ({"step": 0.0}, "step of continue_orbit is 0; it must be greater than 0"),
        ({"drifts": {"angel": 1.0}}, "no coordinate or extra state .* 'angel'; .*did you mean 'angle'"),
        ({"drifts": {"angle": "two"}}, "shift of angle of drifts is 'two'; it must be a number"),
        ({"make": lambda a: paddle(a) if a < DOUBLING else oscillator(a)}, "makes another world at"),
        ({"make": lambda a: paddle(a if a < 1.0 else 1.0)}, "cannot be derived: it decides by the parameter's value"),
    ],
)
def test_bad_input_gets_a_sentence(given, words, unchecked):
    asked = {"make": paddle, "values": (BEGIN, 1.5 * DOUBLING), "begin": thrown(BEGIN)} | given
    with pytest.raises(carom.CaromError, match=words):
        followed(asked.pop("make"), asked.pop("values"), asked.pop("begin"), **asked)


def test_where_every_height_has_an_orbit_there_is_no_family_to_follow():
    """A ball that loses nothing."""
    begin = by_weight(9.0).state(slides=[1.0])
    with pytest.raises(carom.CaromError, match="already form a family: a multiplier is 1 wherever it is looked"):
        carom.continue_orbit(by_weight, (9.0, 10.0), STRIKE, begin, until=3.0)


def test_what_is_no_family_is_neither_doubled_nor_drawn(unchecked):
    with pytest.raises(carom.CaromError, match="family of continue_doubled is a NoneType; it must be what"):
        carom.continue_doubled(None)
    with pytest.raises(carom.CaromError, match=r"orbit_family is given a str; give what carom.continue_orbit returns"):
        carom.figures.orbit_family("compass-walker")


@pytest.mark.parametrize("event", ["strike", None, ("strike",)])
def test_an_event_is_a_pair_of_names(unchecked, event):
    with pytest.raises(carom.CaromError, match=r"event is .*; it must be an automaton and one of its exits"):
        carom.find_orbit(paddle(BEGIN), event, thrown(BEGIN), until=T)
