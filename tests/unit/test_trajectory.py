"""Motions over time: ends, knots, derivatives, refusals; and torques planned over time."""

from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads
from scipy.interpolate import CubicSpline

import carom
from carom import CaromError, control
from carom.control import Cubic, Fitted, Hold, MinimumJerk, ParabolicBlends, Quintic, Sequence, Waypoints
from carom.hybrid.scene import Scene

from .row_by_row import each_row

pytestmark = pytest.mark.usefixtures("unchecked")

A, B, T = np.array([0.3, -1.0]), np.array([-0.5, 2.0]), 1.7
KINDS = {
    "blends": lambda: ParabolicBlends(A, B, T),
    "triangle": lambda: ParabolicBlends(A, B, T, blend=T / 2),
    "cubic": lambda: Cubic(A, B, T, [0.1, 0.2], [-0.3, 0.4]),
    "quintic": lambda: Quintic(A, B, T, [0.1, 0.2], [-0.3, 0.4], [1.0, -2.0], [0.5, 0.7]),
    "minimum jerk": lambda: MinimumJerk(A, B, T),
    "waypoints": lambda: Waypoints([0.0, 0.5, 0.7, T], [A, [1.0, 1.0], [0.0, 0.4], B], [0.1, 0.2], [-0.3, 0.4]),
    "hold": lambda: Hold(A, T),
    "sequence": lambda: Sequence(Hold(A, 0.2), MinimumJerk(A, B, 1.0), Hold(B, T - 1.2)),
    "fitted": lambda: Fitted(lambda i, t: jnp.stack([jnp.exp(t), jnp.sin(3.0 * t)]), [0.0, 0.6, T]),
}


@pytest.mark.parametrize("name", KINDS)
def test_velocity_and_acceleration_are_derivatives(name):
    path = KINDS[name]()
    knots = np.asarray(path.knots)
    times = jnp.asarray(np.concatenate([np.linspace(a, b, 7)[1:-1] for a, b in pairwise(knots)]))

    def rate(t):
        return jax.jvp(lambda t: path.at(t).q, (t,), (1.0,))[1]

    _, v, a = each_row(path.at)(times)
    expected_v, expected_a = each_row(lambda t: jax.jvp(rate, (t,), (1.0,)))(times)
    np.testing.assert_allclose(v, expected_v, atol=1e-11 * max(1.0, np.max(np.abs(v))))
    np.testing.assert_allclose(a, expected_a, atol=1e-10 * max(1.0, np.max(np.abs(a))))


@pytest.mark.parametrize("name", KINDS)
def test_it_stands_still_before_and_after(name):
    path = KINDS[name]()
    assert float(path.duration) == pytest.approx(T, rel=1e-15)
    for t, end in ((-0.4, 0.0), (T + 3.0, T)):
        q, v, a = path.at(t)
        np.testing.assert_allclose(q, path.at(end).q, atol=1e-12)
        assert not np.any(v) and not np.any(a)


@pytest.mark.parametrize("name", [n for n in KINDS if n not in ("hold", "fitted")])
def test_it_leads_from_the_start_to_the_end(name):
    path = KINDS[name]()
    np.testing.assert_allclose(path.at(0.0).q, A, atol=1e-14)
    np.testing.assert_allclose(path.at(T).q, B, atol=1e-13)


@pytest.mark.parametrize("name", ["blends", "triangle", "waypoints", "sequence", "fitted"])
def test_position_and_velocity_are_continuous_at_knots(name):
    path = KINDS[name]()
    for i, knot in enumerate(path.knots[1:-1]):
        before, after = path.piece(i, knot), path.piece(i + 1, knot)
        np.testing.assert_allclose(before.q, after.q, atol=1e-12)
        np.testing.assert_allclose(before.v, after.v, atol=1e-11)
        if name in ("waypoints", "sequence", "fitted"):
            np.testing.assert_allclose(before.a, after.a, atol=1e-8)
        assert int(path.index(knot)) == i + 1  # a knot begins a piece


def test_blends_have_the_papers_velocity_and_acceleration():
    """omega = (theta_f - theta_0) / (0.9 T) between blends of 0.1 T; the acceleration is omega / (0.1 T)."""
    path = ParabolicBlends([0.2], [1.1], 2.0)
    np.testing.assert_allclose(path.knots, [0.0, 0.2, 1.8, 2.0], rtol=1e-15)
    assert float(path.at(1.0).v[0]) == pytest.approx(0.9 / 1.8, rel=1e-14)
    assert [float(path.at(t).a[0]) for t in (0.1, 1.0, 1.9)] == pytest.approx([2.5, 0.0, -2.5], rel=1e-13)


def test_given_end_rates_are_met():
    v, a = [0.1, 0.2], [1.0, -2.0]
    quintic, cubic = KINDS["quintic"](), KINDS["cubic"]()
    np.testing.assert_allclose(quintic.at(0.0).v, v, atol=1e-14)
    np.testing.assert_allclose(quintic.at(0.0).a, a, atol=1e-14)
    np.testing.assert_allclose(quintic.at(T).v, [-0.3, 0.4], atol=1e-13)
    np.testing.assert_allclose(quintic.at(T).a, [0.5, 0.7], atol=1e-12)
    np.testing.assert_allclose(cubic.at(T).v, [-0.3, 0.4], atol=1e-14)


def test_minimum_jerk_is_the_known_polynomial():
    s = np.linspace(0.0, 1.0, 11)
    found = each_row(MinimumJerk([0.0], [1.0], 1.0).at)(s).q[:, 0]
    np.testing.assert_allclose(found, 10 * s**3 - 15 * s**4 + 6 * s**5, atol=1e-14)


def test_waypoints_are_scipys_clamped_spline():
    times, points = [0.0, 0.5, 0.7, 1.7], np.array([A, [1.0, 1.0], [0.0, 0.4], B])
    other = CubicSpline(times, points, bc_type=((1, [0.1, 0.2]), (1, [-0.3, 0.4])))
    t = np.linspace(0.0, 1.7, 35)
    q, v, a = each_row(KINDS["waypoints"]().at)(t)
    for found, order in ((q, 0), (v, 1), (a, 2)):
        np.testing.assert_allclose(found, other(t, order), atol=1e-11)


def test_a_fitted_motion_is_its_function():
    t = np.linspace(0.0, T, 30)
    q, v, a = each_row(KINDS["fitted"]().at)(t)
    np.testing.assert_allclose(q, np.stack([np.exp(t), np.sin(3 * t)], axis=1), atol=1e-13)
    np.testing.assert_allclose(v, np.stack([np.exp(t), 3 * np.cos(3 * t)], axis=1), atol=1e-11)
    np.testing.assert_allclose(a, np.stack([np.exp(t), -9 * np.sin(3 * t)], axis=1), atol=1e-9)


def test_derivatives_with_respect_to_ends_and_durations():
    def value(start, end, duration):
        one = ParabolicBlends(start, end, duration)
        two = Waypoints(jnp.stack([0.0 * duration, 0.4 * duration, duration]), [end, start, end])
        return sum(jnp.sum(x) for x in (*Sequence(one, two).at(1.3), *Quintic(start, end, duration).at(0.4)))

    check_grads(jax.jit(value), (A, B, 0.9), order=1, modes=("fwd", "rev"), atol=1e-6, rtol=1e-6)


SENTENCES = {
    "duration of Cubic is 0 s; a motion takes time": lambda: Cubic(A, B, 0.0),
    "duration of MinimumJerk is -2 s": lambda: MinimumJerk(A, B, -2.0),
    "duration of Hold is nan": lambda: Hold(A, np.nan),
    "start of Quintic holds 2 numbers and end 3": lambda: Quintic(A, [1.0, 2.0, 3.0], T),
    "start of Cubic is 1.0; it must be a list": lambda: Cubic(1.0, 2.0, T),
    "start of Cubic is empty": lambda: Cubic([], [], T),
    "end of Cubic is .*every entry must be a finite": lambda: Cubic(A, [1.0, np.inf], T),
    "start_velocity of Cubic has shape": lambda: Cubic(A, B, T, [1.0]),
    "blend of ParabolicBlends is 0; it must be greater": lambda: ParabolicBlends(A, B, T, 0.0),
    "blend of ParabolicBlends is 1 s, more than half": lambda: ParabolicBlends(A, B, T, 1.0),
    "too short for the distance 3: .*make it at least 0.5 s": lambda: ParabolicBlends([0.0], [3.0], 2.0, 0.2, most=4.0),
    "make the duration at least 3.464 s": lambda: ParabolicBlends([0.0], [3.0], 2.0, 0.2, most=1.0),
    "times of Waypoints holds 3 instants and points 2": lambda: Waypoints([0.0, 1.0, 2.0], [A, B]),
    "the first of times of Waypoints is 1 s": lambda: Waypoints([1.0, 2.0], [A, B]),
    "number 3 of times of Waypoints is 1 s, not later": lambda: Waypoints([0.0, 1.0, 1.0], [A, B, A]),
    "holds 1 instant": lambda: Waypoints([0.0], [A]),
    r"points\[1\] of Waypoints has shape": lambda: Waypoints([0.0, 1.0], [A, [1.0]]),
    "points of Waypoints must be one vector": lambda: Waypoints([0.0, 1.0], [1.0, 2.0]),
    "Sequence got no motion": lambda: Sequence(),
    "piece 2 of Sequence is a float": lambda: Sequence(Hold(A, 1.0), 2.0),
    "piece 2 of Sequence moves 1 numbers": lambda: Sequence(Hold(A, 1.0), Hold([1.0], 1.0)),
    "position 2 of Sequence jumps from -1 to 2": lambda: Sequence(Hold(A, 1.0), Hold(B, 1.0)),
    "velocity 2 of Sequence jumps": lambda: Sequence(Hold(A, 1.0), Cubic(A, B, 1.0, [0.0, 1.0])),
    "not smooth enough in piece 1": lambda: Fitted(lambda i, t: jnp.abs(t - 0.31)[None], [0.0, 1.0]),
    "returns shape": lambda: Fitted(lambda i, t: t, [0.0, 1.0]),
    "function of Fitted is a int": lambda: Fitted(3, [0.0, 1.0]),
    "nodes of Fitted is 2": lambda: Fitted(lambda i, t: t[None], [0.0, 1.0], nodes=2),
}


@pytest.mark.parametrize("words", SENTENCES)
def test_sentences(words):
    with pytest.raises(CaromError, match=words):
        SENTENCES[words]()


# -- planned torques -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def arm():
    return carom.Arm([carom.Rod(length=0.8, mass=1.3)] * 2)


@pytest.fixture(scope="module")
def path():
    return ParabolicBlends([-1.0, -1.4], [0.4, -0.3], 0.8)


@pytest.fixture(scope="module")
def torques(arm, path):
    def need(i, t):
        return carom.dynamics.inverse_dynamics(arm, *path.piece(i, t))

    return Fitted(need, path.knots)


def run(arm, start, until=0.8, **options):
    world = carom.World(arm, control=control.FeedForward(arm, **options), gravity=9.81)
    return carom.simulate(
        world, world.state(angles=start), until=until, settings=carom.Settings(rtol=1e-10, atol=1e-12)
    )


def test_planned_torques_alone_follow_the_motion(arm, path, torques):
    result = run(arm, [-1.0, -1.4], torques=torques)
    times = np.linspace(0.0, 0.8, 41)
    wanted = each_row(path.at)(times)
    np.testing.assert_allclose(result.at(times).q, wanted.q, atol=1e-8)
    np.testing.assert_allclose(result.at(times).v, wanted.v, atol=1e-7)
    assert [event.t for event in result.events] == pytest.approx([0.08, 0.72, 0.8], abs=1e-13)  # steps end at breaks
    assert result.energy.max_error_percent < 1e-8
    assert abs(result.energy.works["control: actuators"][-1]) > 1.0


def test_correction_brings_a_disturbed_start_back(arm, path, torques):
    off = [-0.95, -1.45]
    alone = run(arm, off, torques=torques)
    held = run(arm, off, torques=torques, reference=path, kp=[200.0, 100.0], kd=[30.0, 12.0])
    error = [np.max(np.abs(r.q[-1] - np.array([0.4, -0.3]))) for r in (alone, held)]
    assert error[1] < 2e-3 < 0.05 < error[0]


def test_sampled_torques_are_held_and_reach_the_planned_motion_as_the_rate_grows(arm, path, torques):
    """A held torque lags by half a period: the error at the end falls in proportion to the period."""
    times, error = np.linspace(0.0, 0.8, 41), []
    for rate in (200.0, 400.0):
        result = run(arm, [-1.0, -1.4], torques=torques, reference=path, kp=[200.0, 100.0], kd=[30.0, 12.0], rate=rate)
        assert {event.exit for event in result.events} == {"sample"}  # held torques do not break at knots
        assert len(result.events) == round(0.8 * rate)
        assert result.energy.max_error_percent < 1e-8
        wanted = each_row(path.at)(times)
        error.append(np.max(np.abs(result.at(times).q - wanted.q)))
    assert error[0] < 1e-2
    assert error[0] / error[1] == pytest.approx(2.0, rel=0.1)


def test_a_sample_at_a_knot_belongs_to_the_piece_that_begins_there(arm):
    """Also where rounding puts the sample before the knot."""
    steps = Fitted(lambda i, t: jnp.stack([jnp.where(i == 0, 9.0, -4.0), 0.0 * t]), [0.0, 0.3, 0.6])
    held, still = control.FeedForward(arm, steps, rate=10.0), (0.0, 0.0)
    first = held.start(Scene(arm, jnp.asarray(0.0), still, still))
    for t, torque in ((0.29, 9.0), (0.3 - 1e-14, -4.0), (0.31, -4.0)):
        assert float(held.torques(Scene(arm, jnp.asarray(t), still, still), first)[0]) == pytest.approx(torque)


def test_torques_are_limited(arm, path, torques):
    held = run(arm, [-1.0, -1.4], until=0.05, torques=torques, limit=[0.0, 0.0])
    world = carom.World(arm, gravity=9.81)
    free = carom.simulate(
        world, world.state(angles=[-1.0, -1.4]), until=0.05, settings=carom.Settings(rtol=1e-10, atol=1e-12)
    )
    np.testing.assert_allclose(held.q[-1], free.q[-1], atol=1e-12)


def test_planned_torques_refuse(arm, path, torques):
    wrong = {
        "torques of 'control' is a list": lambda: control.FeedForward(arm, [1.0, 2.0]),
        "torques of 'control' has 1 values; the mechanism has 2": lambda: control.FeedForward(arm, Hold([1.0], 1.0)),
        "reference of 'control' is missing": lambda: control.FeedForward(arm, torques, kp=[1.0, 1.0]),
        "reference of 'control' moves 1 numbers": lambda: control.FeedForward(
            arm, torques, Hold([1.0], 1.0), kp=[1.0, 1.0]
        ),
        "kp of 'control' has shape": lambda: control.FeedForward(arm, torques, path, kp=[1.0]),
        "rate of 'control' is 0; it must be greater": lambda: control.FeedForward(arm, torques, rate=0.0),
        "limit of 'control' is .*negative": lambda: control.FeedForward(arm, torques, limit=[1.0, -1.0]),
    }
    for words, act in wrong.items():
        with pytest.raises(CaromError, match=words):
            act()


def test_a_fitted_function_may_close_over_what_is_traced():
    def at(size):
        return (
            carom.control.trajectory.Fitted(lambda i, t: jnp.stack([size * jnp.sin(t)]), [0.0, 1.0, 2.0]).at(0.7).q[0]
        )

    slope = [at(1.0), jax.jit(at)(1.0), jax.grad(at)(2.0), jax.jacfwd(at)(2.0), jax.vmap(at)(jnp.ones(1))[0]]
    np.testing.assert_allclose(slope, np.sin(0.7), rtol=1e-12)
