"""Numbers that make a run cheap: closed forms of bouncing balls, slopes beside differences, and sentences."""

import numpy as np
import pytest

import carom
from carom.experiment.optimizing._goals import goal_of, limits_of
from carom.experiment.optimizing.optimize import _problem

G, E = 9.81, 0.7
RESTITUTION = "contacts.floor.normal.restitution"
QUICK = carom.Settings(rtol=1e-8, atol=1e-10)


def thrown(p, far=0.0, sense=1.0):
    """A ball that is thrown onto a floor, `far` metres from the origin, to the right or to the left."""
    ball = carom.Mechanism([carom.Disk(radius=0.1, mass=1.0)], base=carom.Free())
    floor = carom.Contact(ball.tip, carom.Plane(far), carom.Newton(E), radius=0.1, name="floor")
    world = carom.World(ball, contacts=floor, gravity=G)
    return world, world.state(base=(far, far + 1.1), base_velocity=(sense * p["vx"], p.get("vy", 0.0)))


def test_a_bound_on_a_height_has_the_restitution_and_the_price_of_the_closed_form():
    found = carom.optimize(
        "ball-drop",
        [RESTITUTION],
        {"impact.2.t_start": -1.0},
        subject_to="most(ball.tip.y, after 0.5) <= 0.4 m",
        bounds={RESTITUTION: (0.1, 0.9)},
    )
    e = np.sqrt(0.3)
    fall = np.sqrt(2.0 / 9.8)
    assert found.converged and found.feasible and found.active == ("most(ball.tip.y, after 0.5) <= 0.4",)
    np.testing.assert_allclose(found.parameters[RESTITUTION], e, rtol=1e-6)
    np.testing.assert_allclose(found.cost, -fall * (1.0 + 2.0 * e), rtol=1e-6)
    np.testing.assert_allclose(found.limits[0].price, -fall / e, rtol=1e-4)  # d t / d height, by e^2 = height
    assert (
        found.scenario is not None
        and found.scenario.contacts["floor"].normal.restitution == found.parameters[RESTITUTION]
    )
    assert set(found.exact) == set(found.measures) and not found.differences
    assert "active, price" in repr(found)


def test_what_lies_on_a_bound_says_so():
    found = carom.optimize("ball-drop", {RESTITUTION: 0.5}, {"impact.2.t_start": -1.0}, bounds={RESTITUTION: (0, 0.8)})
    assert found.on_bounds == {RESTITUTION: "largest"} and found.converged and found.left < 1e-9
    np.testing.assert_allclose(found.prices[RESTITUTION], -2.0 * np.sqrt(2.0 / 9.8), rtol=1e-6)
    assert "on its largest value" in repr(found)


def aim(m):
    return (m["final(tip.x)"] - 3.0) ** 2 + 0.1 * m["impact.1.normal_impulse"] ** 2


@pytest.fixture(scope="module")
def aimed():
    return carom.optimize(thrown, {"vx": 1.0, "vy": 1.0}, aim, until=1.5, bounds={"vy": (-3, 5)}, settings=QUICK)


def test_a_world_of_one_s_own_meets_its_target(aimed):
    assert aimed.converged and aimed.scenario is None
    np.testing.assert_allclose(aimed.parameters["vx"], 2.0, rtol=1e-5)
    np.testing.assert_allclose(aimed.parameters["vy"], 0.0, atol=1e-4)  # the softest strike is from the least height
    np.testing.assert_allclose(aimed.measures["impact.1.normal_impulse"], (1 + E) * np.sqrt(2 * G), rtol=1e-6)


@pytest.mark.parametrize("sense", [1.0, -1.0])
def test_a_mirror_or_a_kilometre_changes_nothing(aimed, sense):
    def make(p):
        return thrown(p, 1000.0, sense)

    def cost(m):
        return (sense * (m["final(tip.x)"] - 1000.0) - 3.0) ** 2 + 0.1 * m["impact.1.normal_impulse"] ** 2

    found = carom.optimize(make, {"vx": 1.0, "vy": 1.0}, cost, until=1.5, bounds={"vy": (-3, 5)}, settings=QUICK)
    np.testing.assert_allclose(found.cost, aimed.cost, rtol=1e-6)
    np.testing.assert_allclose(found.parameters["vx"], 2.0, rtol=1e-4)


def test_slopes_through_impacts_are_those_of_differences():
    measures = ["impact.2.normal_impulse", "impact.2.t_start", "final(tip.y)", "most(tip.y, after 0.5)", "mean(tip.y)"]
    problem, first, _ = _problem(
        thrown,
        {"vx": 1.0, "vy": 0.4},
        dict.fromkeys(measures, 1.0),
        (),
        None,
        1.5,
        carom.Settings(rtol=1e-11, atol=1e-13),
    )
    lanes, size = problem.lanes, 1e-5
    here = lanes.at(first)
    assert lanes.exact == tuple(measures)
    for name in measures:
        steps = [
            (lanes.at(first + d).values[name] - lanes.at(first - d).values[name]) / 2 / size for d in size * np.eye(2)
        ]
        np.testing.assert_allclose(here.slopes[name], steps, atol=1e-6 * max(1.0, np.max(np.abs(steps))))


def test_limits_that_nothing_meets_are_told():
    found = carom.optimize(
        thrown, {"vy": 0.0, "vx": 1.0}, "impact.1.normal_impulse", subject_to="most(tip.y) <= 0.5",
        until=1.0, bounds={"vy": (-1.0, 1.0)}, settings=QUICK,
    )  # fmt: skip
    assert not found.feasible and not found.converged
    assert "limits do not hold" in found.reason and "does NOT hold" in repr(found)


def test_several_starts_keep_the_best_and_say_where_all_ended():
    found = carom.optimize(
        thrown, {"vx": 1.0, "vy": 0.3}, aim, until=1.5, bounds={"vx": (0, 3), "vy": (-3, 5)}, starts=3, seed=1,
        settings=QUICK,
    )  # fmt: skip
    assert len(found.ends) == 3 and found.cost == min(found.ends)


def test_a_start_after_a_search_that_gained_nothing_more_is_searched_from_too(monkeypatch):
    """The least of this cost is a kink, about which a search goes to and fro until its patience ends."""
    monkeypatch.setattr("carom.experiment.optimizing._sqp.PATIENT", 5)
    found = carom.optimize(
        thrown, {"vx": 3.0}, lambda m: abs(m["final(tip.x)"] - 1.0), until=1.0, bounds={"vx": (-1, 3.5)}, starts=5,
        settings=QUICK,
    )  # fmt: skip
    assert len(found.ends) == 5 and max(found.ends) < 0.1
    np.testing.assert_allclose(found.parameters["vx"], 1.0, atol=0.1)


def test_where_no_start_that_was_tried_has_the_measure_it_says_so():
    with pytest.raises(carom.CaromError, match="cannot begin there: the run until 1 s has no value"):
        carom.optimize(
            thrown, {"vx": 0.0, "vy": 20.0}, "impact.1.t_start", until=1.0, starts=3, max_evaluations=1, settings=QUICK
        )


def test_what_is_interrupted_gives_the_best_so_far(monkeypatch):
    from carom.experiment.optimizing import _measured_lanes

    real, seen = _measured_lanes.MeasuredLanes.at, []

    def at(self, p):
        seen.append(p)
        if len(seen) == 4:
            raise KeyboardInterrupt
        return real(self, p)

    monkeypatch.setattr(_measured_lanes.MeasuredLanes, "at", at)
    found = carom.optimize(thrown, {"vx": 1.0, "vy": 1.0}, aim, until=1.5, settings=QUICK)
    assert found.reason == "it was interrupted; this is the best so far"
    assert not found.converged and found.cost < found.first_cost
    few = carom.optimize(thrown, {"vx": 1.0, "vy": 1.0}, aim, until=1.5, settings=QUICK, max_evaluations=2)
    assert "2 evaluations were done" in few.reason


def test_a_cost_that_nothing_changes_ends_at_once():
    found = carom.optimize(thrown, {"vx": 1.0}, "impact.1.normal_impulse", until=1.0, settings=QUICK)
    assert found.converged and found.parameters["vx"] == 1.0


def test_measures_that_no_lane_records_go_by_differences():
    found = carom.optimize("ball-drop", {RESTITUTION: 0.5}, "indentation.floor.most", until=0.6, max_evaluations=2)
    assert found.differences == ("indentation.floor.most",) and "slopes by differences of runs" in repr(found)


def test_texts_are_read_as_they_are_meant():
    between = limits_of("0 <= impact.1.t_start <= 2 s")
    assert [(x.measure, x.sense, x.bound, x.unit) for x in between] == [
        ("impact.1.t_start", ">=", 0.0, ""),
        ("impact.1.t_start", "<=", 2.0, "s"),
    ]
    inner = limits_of(["1 >= mean(tip.y < 0.3)", "final(tip.x) == -1e-3"])
    assert [(x.measure, x.sense, x.bound) for x in inner] == [
        ("mean(tip.y < 0.3)", "<=", 1.0),
        ("final(tip.x)", "=", -1e-3),
    ]
    value, slope = goal_of({"a": 2.0, "b": -1.0}).value(
        {"a": 3.0, "b": 5.0}, {"a": np.array([1.0, 0.0]), "b": np.array([0.0, 1.0])}
    )
    assert value == 1.0 and slope.tolist() == [2.0, -1.0]


BALL = {"vary": {"vx": 1.0}, "minimise": "final(tip.x)", "until": 1.0}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"minimise": "finale(tip.x)"}, "measure 'finale"),
        ({"minimise": "tip.x"}, r"is a signal; take a statistic of it, such as final\(tip.x\)"),
        ({"minimise": "final(tip.z)"}, "did you mean 'tip.y'"),
        ({"minimise": "impact.1.normal_impuls"}, "did you mean 'normal_impulse'"),
        ({"minimise": 3.0}, "minimise is a float; give a measure"),
        ({"minimise": {}}, "minimise is an empty dictionary"),
        ({"minimise": {"final(tip.x)": np.nan}}, r"the weight of 'final\(tip.x\)' in minimise is nan"),
        ({"minimise": lambda m: 1.0}, "minimise asks for no measure"),
        ({"minimise": lambda m: m["final(tip.x)"] + "a"}, "minimise cannot be evaluated"),
        (
            {"minimise": lambda m: float(m["final(tip.x)"])},
            "minimise cannot be differentiated: .* make it of jax.numpy",
        ),
        ({"minimise": "impact.9.t_start"}, "cannot begin there: the run until 1 s has no value of 'impact.9.t_start'"),
        ({"subject_to": [3]}, "subject_to holds 3; give texts"),
        ({"subject_to": "final(tip.y)"}, "must compare a measure with a number"),
        ({"subject_to": "1 <= final(tip.y) <= 0.5"}, "holds for no number; the smaller one belongs to <="),
        ({"subject_to": "0.5 >= final(tip.y) >= 1"}, "holds for no number"),
        ({"subject_to": "final(tip.y) < 1"}, "compares with <=, >= or ="),
        ({"subject_to": "final(tip.y) <= final(tip.x)"}, "must compare a measure with a number"),
        ({"subject_to": "final(tip.y) <= 3 cm"}, r"a number in cm; 'final\(tip.y\)' is in m: give it in that"),
        ({"vary": ["vx"]}, "with a function give {name: where to begin}"),
        ({"vary": {"vx": "a"}}, "'vx' of vary of optimize is 'a'; it must be a number"),
        ({"bounds": {"vz": (0, 1)}}, "there is no parameter .bounds of optimize. 'vz'; known: 'vx'"),
        ({"bounds": {"vx": ("a", 1.0)}}, "they must be two numbers"),
        ({"bounds": {"vx": (2.0, 1.0)}}, "the smaller one comes first"),
        ({"bounds": {"vx": (2.0, 3.0)}}, "'vx' begins at 1, outside of 2 and 3"),
        ({"until": None}, "until of optimize is None"),
        ({"settings": 3}, "settings of optimize are a int"),
        ({"starts": 0}, "starts of optimize is 0"),
        ({"seed": "x"}, "seed of optimize is 'x'; it must be a whole number from 0"),
        ({"max_evaluations": 1.5}, "max_evaluations of optimize is 1.5"),
    ],
)
def test_bad_input_gets_a_sentence(given, words):
    with pytest.raises(carom.CaromError, match=words):
        carom.optimize(thrown, **(BALL | given))


@pytest.mark.parametrize(
    ("run", "given", "words"),
    [
        ("ball-drop", {"vary": "contacts.floor.normal.restitutio"}, "restitution"),
        (lambda p: p["vy"], {"vary": {"vx": 1.0}, "until": 1.0}, "there is no number varied .* 'vy'; known: 'vx'"),
        ("ball-drop", {"vary": {}}, "vary of optimize is empty"),
        ("ball-drop", {"vary": None}, "vary is a NoneType; name numbers of the scenario"),
        ("ball-drop", {"vary": {3: 1.0}}, "vary names 3; a number of the scenario has a name"),
        ("bal-drop", {"vary": RESTITUTION}, "ball-drop"),
        ("capture-head-on", {"vary": "gravity"}, "is a capture; optimize runs plain simulations"),
        (3.0, {"vary": "gravity"}, "optimize is given a float; give a scenario"),
        (lambda p: 3, {"vary": {"vx": 1.0}, "until": 1.0}, "returns a int; it must return a world and its start"),
    ],
)
def test_what_cannot_run_is_refused(run, given, words):
    with pytest.raises(carom.CaromError, match=words):
        carom.optimize(run, minimise="impact.1.t_start", **given)
