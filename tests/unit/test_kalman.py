"""Kalman filters through impacts: the textbook where nothing strikes, closed forms where something does."""

import numpy as np
import pytest

import carom

G, E, DT = 9.81, 0.7, 0.02
FINEST = carom.Settings("dopri8", rtol=1e-12, atol=1e-13)


def bouncing(sign=1.0, mass=1.0, ceiling=None):
    """A ball on a vertical guide above a floor; with sign -1 the same upside down."""
    guide = carom.Slider((0.0, sign))
    ball = carom.Mechanism([carom.Link(carom.PointMass(mass), name="ball", joint=guide)])
    planes = [carom.Plane(point=(0.0, 0.0), normal=(0.0, sign))]
    planes += [] if ceiling is None else [carom.Plane(point=(0.0, ceiling), normal=(0.0, -1.0))]
    contacts = [carom.Contact("ball.tip", p, carom.Newton(E), name=f"wall {k}") for k, p in enumerate(planes)]
    return carom.World(ball, contacts=contacts, gravity=(0.0, -sign * G))


@pytest.fixture(scope="module")
def ball():
    return carom.Stepping(bouncing(), "ball", DT, settings=FINEST)


def textbook(a, b, h, x, p, z, noise, push, forces, pull):
    """The plain linear filter, written out."""
    found = []
    for k, reading in enumerate(z):
        if k:
            x = a @ x + b @ forces[k - 1] + pull
            p = a @ p @ a.T + b @ push @ b.T
        if not np.any(np.isnan(reading)):
            s = h @ p @ h.T + noise
            gain = p @ h.T @ np.linalg.inv(s)
            x, p = x + gain @ (reading - h @ x), p - gain @ s @ gain.T
        found.append((x, p))
    return found


def test_without_a_strike_it_is_the_textbook_filter(ball):
    rng = np.random.default_rng(0)
    z, u = 5.0 + rng.normal(size=(13, 1)), rng.normal(size=(12, 1))
    z[4] = np.nan
    found = carom.KalmanFilter(ball, "ball.tip.y", [0.3], input_noise=[0.4]).run(
        bouncing().state(slides=[5.0]), [0.2, 0.5], z, u
    )
    a, b = np.array([[1.0, DT], [0.0, 1.0]]), np.array([[DT**2 / 2], [DT]])
    start = np.array([5.0, 0.0]), np.diag([0.04, 0.25])
    known = textbook(a, b, np.array([[1.0, 0.0]]), *start, z, 0.09 * np.eye(1), 0.16 * np.eye(1), u, -G * b[:, 0])
    np.testing.assert_allclose(found.x, [x for x, _ in known], atol=1e-10)
    np.testing.assert_allclose(found.covariance, [p for _, p in known], atol=1e-10)
    assert np.isnan(found.innovations[4]).all() and np.isnan(found.nis[4])
    np.testing.assert_array_equal(found.x[4], found.predicted[4])


def after_a_blow(y, v, dt=DT):
    """Height and velocity after a step with one blow, and their derivatives: flight, saltation, flight."""
    t = (v + np.sqrt(v * v + 2 * G * y)) / G
    down = v - G * t
    salt = np.array([[-E, 0.0], [-(1 + E) * G / down, -E]])
    flights = [np.array([[1.0, span], [0.0, 1.0]]) for span in (t, dt - t)]
    rest = dt - t
    x = np.array([-E * down * rest - G * rest**2 / 2, -E * down - G * rest])
    return x, flights[1] @ salt @ flights[0], flights[1] @ flights[0]


@pytest.mark.parametrize("saltation", [True, False])
def test_a_blow_carries_the_covariance_by_saltation_or_not_at_all(ball, saltation):
    start = carom.State([0.02], [-3.0])
    found = carom.KalmanFilter(ball, ["ball.tip.y"], [0.1], saltation=saltation).run(
        start, [0.01, 0.2], np.full((2, 1), np.nan)
    )
    x, salted, plain = after_a_blow(0.02, -3.0)
    slope = salted if saltation else plain
    assert found.events.tolist() == [0, 1]
    np.testing.assert_allclose(found.x[1], x, atol=1e-10)
    np.testing.assert_allclose(found.covariance[1], slope @ np.diag([1e-4, 0.04]) @ slope.T, rtol=2e-7)


@pytest.mark.parametrize(("y", "v"), [(-0.01, -3.0), (-0.01, 2.0)])
def test_a_mean_that_a_reading_puts_under_the_floor_stays_on_its_flight(ball, y, v):
    """Before the blow it strikes when that flight met the floor; after it, it rises on."""
    none = np.full((2, 1), np.nan)
    filter = carom.KalmanFilter(ball, ["ball.tip.y"], [1e-9])
    z = none.copy()
    z[0] = y
    found = filter.run(carom.State([0.02], [v]), np.diag([1e4, 1e-18]), z)
    np.testing.assert_allclose(found.x[0], [y, v], atol=1e-9)
    if v > 0:
        x, slope = np.array([y + v * DT - G * DT**2 / 2, v - G * DT]), np.array([[1.0, DT], [0.0, 1.0]])
    else:
        x, slope, _ = after_a_blow(y, v)
    np.testing.assert_allclose(found.x[1], x, atol=1e-8)
    np.testing.assert_allclose(found.covariance[1], slope @ found.covariance[0] @ slope.T, rtol=1e-5, atol=1e-24)


def runs_of(stepping, count, steps, push, seed=3):
    rng, world = np.random.default_rng(seed), bouncing()
    true = []
    for _ in range(count):
        x = np.array([0.5, 0.0]) + np.array([0.02, 0.1]) * rng.normal(size=2)
        true.append(stepping.rollout(stepping.begin(carom.State(x[:1], x[1:])), push * rng.normal(size=(steps, 1))))
    z = np.stack([each.x[:, :1] for each in true]) + 0.05 * rng.normal(size=(count, steps + 1, 1))
    return world.state(slides=[0.5]), true, z


def test_errors_are_as_large_as_the_covariance_says_and_those_of_the_plain_filter_are_not():
    stepping = carom.Stepping(bouncing(), "ball", DT)
    start, true, z = runs_of(stepping, 60, 60, 0.1)
    found = {
        salted: carom.KalmanFilter(stepping, ["ball.tip.y"], [0.05], input_noise=[0.1], saltation=salted).run(
            start, [0.02, 0.1], z, truth=true
        )
        for salted in (True, False)
    }
    mean, low, high = found[True].consistent
    assert low < mean < high and 0.95 < np.mean(found[True].alike) < 1.0
    assert found[False].consistent[0] > 5.0
    assert np.all(found[False].rms > 1.15 * found[True].rms)
    assert abs(np.nanmean(found[True].nis) - 1.0) < 0.1
    alone = carom.KalmanFilter(stepping, ["ball.tip.y"], [0.05], input_noise=[0.1]).run(
        start, [0.02, 0.1], z[7], truth=true[7]
    )
    np.testing.assert_allclose(alone.x, found[True].x[7], atol=1e-12)
    np.testing.assert_allclose(alone.nees, found[True].nees[7], rtol=1e-9)
    assert "two sides of a blow" in str(found[True])


def test_upside_down_and_in_other_units_of_the_reading_it_finds_the_same(ball):
    z = 0.05 - 0.1 * np.sin(np.arange(10.0))[:, None] ** 2
    start = carom.State([0.05], [-0.5])
    one = carom.KalmanFilter(ball, ["ball.tip.y"], [0.02]).run(start, [0.03, 0.1], z)
    mirrored = carom.Stepping(bouncing(-1.0), "ball", DT, settings=FINEST)
    two = carom.KalmanFilter(mirrored, ["-1000 * ball.tip.y"], [20.0]).run(start, [0.03, 0.1], 1000.0 * z)
    assert one.events[-1] > 0
    np.testing.assert_allclose(two.x, one.x, atol=1e-9)
    np.testing.assert_allclose(two.covariance, one.covariance, atol=1e-10)


def test_two_strikes_in_one_step_and_one_at_a_reading():
    stepping = carom.Stepping(bouncing(ceiling=0.1), "ball", 0.05, settings=FINEST)
    found = carom.KalmanFilter(stepping, ["ball.tip.y"], [0.1]).run(
        carom.State([0.02], [-9.0]), [1e-3, 1e-2], np.full((2, 1), np.nan)
    )
    assert found.events[1] >= 2
    carry = stepping.begin(carom.State([0.02], [-9.0]))
    a = stepping.linear(carry, [0.0])[1]
    np.testing.assert_allclose(found.covariance[1], a @ np.diag([1e-6, 1e-4]) @ a.T, rtol=1e-7)
    fall = 0.5 * G * 0.05**2  # it strikes at the first reading
    hit = carom.KalmanFilter(stepping, ["ball.tip.y"], [0.01]).run(
        carom.State([fall], [0.0]), [1e-3, 1e-2], np.array([[fall], [0.0], [0.01]])
    )
    assert np.isfinite(hit.x).all() and np.isfinite(hit.covariance).all() and hit.events[2] >= 1


def test_what_lies_still_has_no_variance_and_no_errors_to_judge():
    """A blow without rebound: height and velocity are known, and the force of a reading moves nothing."""
    guide = carom.Slider((0.0, 1.0))
    drop = carom.Mechanism([carom.Link(carom.PointMass(1.0), name="ball", joint=guide)])
    floor = carom.Contact("ball.tip", carom.Plane(0.0), carom.Newton(0.0), name="floor")
    world = carom.World(drop, contacts=floor, gravity=G)
    stepping = carom.Stepping(world, "ball", DT)
    true = stepping.rollout(stepping.begin(carom.State([0.03], [-1.0])), np.zeros((5, 1)))
    found = carom.KalmanFilter(stepping, ["ball.tip.y"], [0.01]).run(
        carom.State([0.03], [-1.0]), [1e-4, 1e-3], np.zeros((6, 1)), truth=true
    )
    assert found.dimension.tolist()[0] == 2 and found.dimension.tolist()[-1] == 0
    np.testing.assert_allclose(found.x[-1], 0.0, atol=1e-12)
    np.testing.assert_allclose(found.band[-1], 0.0, atol=1e-9)


def test_a_function_of_the_state_reads_what_signals_do(ball):
    z = np.linspace(0.5, 0.1, 8)[:, None] * [1.0, 2.0]
    start = carom.State([0.5], [0.0])

    def heights(state):
        return [state.q[0], 2.0 * state.joint("ball")]

    one = carom.KalmanFilter(ball, heights, [0.1, 0.2]).run(start, [0.1, 0.1], z)
    two = carom.KalmanFilter(ball, ["ball.tip.y", "2 * ball.tip.y"], [0.1, 0.2]).run(start, [0.1, 0.1], z)
    np.testing.assert_allclose(one.x, two.x, atol=1e-12)


def test_filters_of_one_stepping_read_their_own_sensors(ball):
    start = carom.State([0.5], [0.0])
    found = [
        carom.KalmanFilter(ball, sensor, [0.1]).run(start, [0.1, 0.1], [[0.5]]).innovations[0, 0]
        for sensor in (["ball.tip.y"], ["2 * ball.tip.y"], lambda state: [3.0 * state.q[0]])
    ]
    np.testing.assert_allclose(found, [0.0, -0.5, -1.0], atol=1e-12)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"noise": [0.0]}, "standard deviations must be positive"),
        ({"noise": [0.1, 0.1]}, r"noise of KalmanFilter has shape \(2,\); it must be 1 standard"),
        ({"noise": "loud"}, "noise of KalmanFilter is 'loud'"),
        ({"noise": [0.1], "process": [[1.0, 2.0], [2.0, 1.0]]}, "smallest eigenvalue is -1"),
        ({"noise": [0.1], "process": [[1.0, 0.2], [0.3, 1.0]]}, "process of KalmanFilter is not symmetric"),
        ({"noise": [0.1], "input_noise": [-1.0]}, "standard deviations must be zero or positive"),
        ({"noise": [0.1], "sensors": ["bal.tip.y"]}, "did you mean"),
        ({"noise": [0.1], "sensors": ["ball.tip.y < 1"]}, "is a condition"),
        ({"noise": [0.1], "sensors": []}, "sensors of KalmanFilter is"),
        ({"noise": [0.1], "sensors": lambda state: 3.0}, "must return a list of numbers"),
        ({"noise": [0.1], "sensors": lambda state: [1 / 0]}, "fails with ZeroDivisionError"),
        ({"noise": [0.1], "saltation": "no"}, "must be True or False"),
    ],
)
def test_bad_filters_get_a_sentence(ball, given, words):
    with pytest.raises(carom.CaromError, match=words):
        carom.KalmanFilter(ball, **{"sensors": ["ball.tip.y"], **given})


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"readings": [1.0, 2.0]}, "readings of KalmanFilter have shape"),
        ({"readings": [["high"]]}, "readings of KalmanFilter must be rows of numbers"),
        ({"readings": [[np.inf]]}, "missing is NaN"),
        ({"covariance": [1.0]}, "covariance of KalmanFilter has shape"),
        ({"covariance": [[1.0, 0.0], [0.0, -1.0]]}, "is no covariance matrix"),
        ({"inputs": [[1.0, 2.0]]}, "inputs of KalmanFilter have shape"),
        ({"inputs": [[np.nan], [0.0]]}, "not finite"),
        ({"truth": np.zeros((2, 2))}, "states of truth of KalmanFilter have shape"),
        ({"start": carom.State([-1.0], [0.0])}, "starts inside a surface"),
    ],
)
def test_bad_runs_get_a_sentence(ball, given, words):
    filter = carom.KalmanFilter(ball, ["ball.tip.y"], [0.1])
    fine = {"start": carom.State([1.0], [0.0]), "covariance": [0.1, 0.1], "readings": np.ones((3, 1))}
    with pytest.raises(carom.CaromError, match=words):
        filter.run(**{**fine, **given})
    with pytest.raises(carom.CaromError, match="stepping of KalmanFilter is a World"):
        carom.KalmanFilter(bouncing(), ["ball.tip.y"], [0.1])
    with pytest.raises(carom.CaromError, match="the truth is not known"):
        _ = filter.run(**fine).rms
