"""Orbits with feedback: SciPy's regulator where nothing strikes, and disturbed runs that die out as it was said."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import solve_discrete_are

import carom

G = 9.81
HIT = ("rigid contacts", "strike hit")
EXACT = carom.Settings("dopri8", rtol=1e-11, atol=1e-13)


def juggler(push=100.0, guide=True):
    """A paddle of 5 kg on a spring, pushed up 0.45 s after each strike, under a ball of 0.2 kg (restitution 0.7)."""
    spring = carom.Slider((0.0, 1.0), stiffness=300.0, damping=30.0)
    sites = {"left": (-0.2, 0.0), "right": (0.2, 0.0)}
    paddle = carom.Link(carom.PointMass(5.0), name="paddle", joint=spring, sites=sites)
    up = carom.Slider((0.0, 1.0))
    ball = carom.Link(carom.PointMass(0.2), name="ball", parent=carom.BASE, joint=up)
    pair = carom.Mechanism([paddle, ball])
    hit = carom.Contact("ball.tip", carom.Segment("left", "right"), carom.Newton(0.7), radius=0.02, name="hit")
    play = carom.PhasedInputs(pair, "paddle", "strike hit", [0.0, 0.45], [[0.0], [push]], name="push")
    return carom.World(pair, contacts=hit, control=play, gravity=G)


@pytest.fixture(scope="module")
def juggling():
    world, low = juggler(), -5.0 * G / 300.0
    start = world.state(slides=[low, low + 0.0201], slide_rates=[0.3, 3.5])
    return world, carom.find_orbit(world, HIT, start, until=1.5)


@pytest.fixture(scope="module")
def held(juggling):
    return carom.stabilise(*juggling, "paddle", input_cost=1e-2, steps=10)


def puck(joints=("puck",), stiffness=0.0):
    """A mass that only its input moves."""
    guide = carom.Slider((1.0, 0.0), stiffness=stiffness)
    links = [carom.Link(carom.PointMass(2.0), name=name, parent=carom.BASE, joint=guide) for name in ("puck", "other")]
    return carom.Stepping(carom.World(carom.Mechanism(links[: len(joints)]), gravity=0.0), joints[0], 0.1)


def test_where_nothing_strikes_the_gains_are_those_of_the_algebraic_riccati_equation():
    stepping = puck()
    still = stepping.rollout(stepping.begin(stepping.world.state()), np.zeros((7, 1)))
    q, r = np.diag([2.0, 0.3]), np.array([[0.05]])
    found = carom.stabilise(stepping, still, state_cost=q, input_cost=r)
    a, b = np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[0.1**2 / 4.0], [0.05]])
    cost = solve_discrete_are(a, b, q, r)
    gain = -np.linalg.solve(r + b.T @ cost @ b, b.T @ cost @ a)
    np.testing.assert_allclose(found.gains, np.tile(gain, (7, 1, 1)), rtol=1e-9)
    np.testing.assert_allclose(found.cost, 0.1 * cost, rtol=1e-9)
    roots = np.linalg.eigvals(np.linalg.matrix_power(a + b @ gain, 7))
    np.testing.assert_allclose(np.sort(np.abs(found.after))[-2:], np.sort(np.abs(roots)), rtol=1e-6)
    assert np.max(np.abs(found.before)) == pytest.approx(1.0) and found.residual < 1e-10
    run = carom.simulate(found.world, found.world.state(slides=[0.3]), until=1.4, settings=EXACT)
    there = np.linalg.matrix_power(a + b @ gain, 14) @ [0.3, 0.0]
    np.testing.assert_allclose([run.q[-1][0], run.v[-1][0]], there, atol=1e-9)


def test_the_world_with_its_controller_has_the_multipliers_of_the_model(juggling, held):
    _, orbit = juggling
    assert np.abs(orbit.multipliers[0]) > 2.0 and not orbit.stable
    assert np.abs(held.before[0]) == pytest.approx(np.abs(orbit.multipliers[0]), rel=1e-6)
    np.testing.assert_allclose(np.abs(held.after[:3]), np.abs(held.model[:3]), rtol=1e-5)
    assert held.stable and np.abs(held.after[0]) < 0.4 and held.residual < 1e-10


@pytest.mark.parametrize("kick", [0.02, -0.02])
def test_a_disturbed_run_comes_back_as_fast_as_the_largest_multiplier_says(held, kick):
    start = carom.State(held.start.q, held.start.v + jnp.array([0.0, kick]))
    run = carom.simulate(held.world, start, until=7.5 * held.period, settings=EXACT)
    strikes = np.array([event.t for event in run.events if event.exit == "strike hit"])
    off = np.diff([0.0, *strikes]) - held.period
    assert len(strikes) == 7 and abs(off[0]) > 1e-3
    rates = off[4:7] / off[3:6]
    root = held.after[0].real
    np.testing.assert_allclose(rates, root, rtol=0.03)


def test_without_the_controller_the_same_disturbance_grows(juggling, held):
    world, orbit = juggling
    start = carom.State(orbit.q, orbit.v + np.array([0.0, 0.002]))
    run = carom.simulate(world, start, until=6.5 * held.period, settings=EXACT)
    strikes = np.array([event.t for event in run.events if event.exit == "strike hit"])
    off = np.abs(np.diff([0.0, *strikes]) - held.period)
    assert off[3] > 4.0 * off[1]


def test_a_small_deviation_costs_what_a_disturbed_run_costs(juggling):
    """x^T P x is the integral of the costs, taken at the samples, until the deviation is gone."""
    world, orbit = juggling
    q, r, d = np.array([1.0, 2.0, 0.1, 0.2]), 1e-3, 1e-4 * np.array([0.0, 0.0, 3.0, -2.0])
    found = carom.stabilise(world, orbit, "paddle", state_cost=q, input_cost=r, steps=6)
    start = carom.State(found.start.q + d[:2], found.start.v + d[2:])
    run = carom.simulate(found.world, start, until=9.5 * found.period, settings=EXACT)
    spans, row, total = np.diff([*found.times, found.period]), -1, 0.0
    for event in run.events:
        if event.automaton != "orbit control":
            continue
        row = 0 if event.exit == "again" else row + 1
        if row < 6:
            x = np.concatenate([event.q_after, event.v_after]) - found.about[row]
            u = float(found.gains[row, 0] @ x)
            total += spans[row] * float(x @ (q * x) + r * u * u)
    assert found.cost_of(d) == pytest.approx(total, rel=0.01)
    dearer = carom.stabilise(world, orbit, "paddle", state_cost=2.0 * q, input_cost=2.0 * r, steps=6)
    np.testing.assert_allclose(dearer.gains, found.gains, rtol=1e-6)
    np.testing.assert_allclose(dearer.cost, 2.0 * found.cost, rtol=1e-6)


def test_a_periodic_rollout_gets_the_multipliers_of_the_orbit_that_it_is():
    """A ball that is pushed down by a constant force bounces for ever, and every height is its own orbit: neutral."""
    guide = carom.Slider((0.0, 1.0))
    ball = carom.Mechanism([carom.Link(carom.PointMass(1.0), name="ball", joint=guide)])
    floor = carom.Contact("ball.tip", carom.Plane(0.0), carom.Newton(1.0), name="floor")
    world = carom.World(ball, contacts=floor, gravity=G)
    stepping = carom.Stepping(world, "ball", 0.8 / 8, settings=EXACT)
    start = carom.State([G * 0.4**2 / 2], [0.0])  # from the top; it strikes in the middle of the eight steps
    rolled = stepping.rollout(stepping.begin(start), np.zeros((8, 1)))
    found = carom.stabilise(stepping, rolled, state_cost=[1.0, 0.1], input_cost=1e-2, again="strike floor")
    assert found.period == pytest.approx(0.8) and np.abs(found.before[0]) == pytest.approx(1.0, abs=1e-6)
    assert np.abs(found.after[0]) < 0.8
    np.testing.assert_allclose(np.abs(found.after[0]), np.abs(found.model[0]), rtol=1e-5)
    assert found.residual < 1e-11
    higher = carom.State(found.start.q, found.start.v * 1.05)
    run = carom.simulate(found.world, higher, until=0.8 * 12, settings=EXACT)
    strikes = [event.t for event in run.events if event.exit == "strike floor"]
    off = np.abs(np.diff([0.0, *strikes]) - 0.8)
    assert off[0] > 5e-3 and off[-1] < 1e-5


def test_a_strike_at_a_sample_and_strikes_far_from_their_time_are_met():
    """The ball again; it strikes at the end of a step, and is then thrown at half, and at three times, the speed."""
    guide = carom.Slider((0.0, -1.0))
    ball = carom.Mechanism([carom.Link(carom.PointMass(1.0), name="ball", joint=guide)])
    ceiling = carom.Contact("ball.tip", carom.Plane(point=(0, 0), normal=(0, -1)), carom.Newton(1.0), name="ceiling")
    world = carom.World(ball, contacts=ceiling, gravity=(0.0, G))
    stepping = carom.Stepping(world, "ball", 0.1, settings=EXACT)
    rolled = stepping.rollout(stepping.begin(carom.State([G * 0.4**2 / 2], [0.0])), np.zeros((8, 1)))
    found = carom.stabilise(stepping, rolled, state_cost=[1.0, 0.1], input_cost=1e-2)
    np.testing.assert_allclose(found.times, 0.1 * np.arange(8), atol=1e-9)
    assert 0.1 < np.abs(found.after[0]) < 0.3
    with pytest.raises(carom.CaromError, match="costs nothing"):
        carom.stabilise(stepping, rolled, state_cost=0.0)
    for speed in (0.5, 3.0):
        run = carom.simulate(found.world, carom.State(found.start.q, found.start.v * speed), until=12.0)
        strikes = [event.t for event in run.events if event.exit == "strike ceiling"]
        assert abs(strikes[0] - 0.8) > 0.05 and strikes[-1] - strikes[-2] == pytest.approx(0.8, abs=1e-9)


def test_what_no_input_reaches_is_named():
    stepping = puck(("puck", "other"))
    still = stepping.rollout(stepping.begin(stepping.world.state()), np.zeros((4, 1)))
    with pytest.raises(carom.CaromError, match=r"neutral multiplier 1, of a disturbance that is seen in .*other"):
        carom.stabilise(stepping, still)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"steps": 0}, "steps of stabilise is 0"),
        ({"steps": 2.5}, "whole number"),
        ({"state_cost": [1.0, 2.0]}, "state_cost of stabilise has shape"),
        ({"state_cost": -1.0}, "costs must be zero or more"),
        ({"input_cost": 0.0}, "costs must be positive"),
        ({"input_cost": "low"}, "input_cost of stabilise is 'low'"),
        ({"joints": "bal"}, "did you mean 'ball'"),
        ({"joints": ()}, "no joint to act at"),
        ({"again": "strike floor"}, "floor"),
        ({"name": "push"}, "push"),
        ({"motion": 3.0}, "motion of stabilise is a float"),
        ({"world": 3.0}, "world of stabilise is a float"),
        ({"world": juggler(guide=False, push=90.0)}, "does not repeat it"),
    ],
)
def test_bad_input_gets_a_sentence(juggling, given, words):
    world, orbit = juggling
    fine = {"world": world, "motion": orbit, "joints": "paddle", "steps": 3, "input_cost": 1e-2}
    with pytest.raises(carom.CaromError, match=words):
        carom.stabilise(**{**fine, **given})


def test_rollouts_that_are_not_periodic_or_whose_event_is_not_there_are_refused():
    stepping = puck()
    moving = stepping.rollout(stepping.begin(stepping.world.state(slide_rates=[1.0])), np.zeros((3, 1)))
    with pytest.raises(carom.CaromError, match="it must be periodic"):
        carom.stabilise(stepping, moving)
    still = stepping.rollout(stepping.begin(stepping.world.state()), np.zeros((3, 1)))
    with pytest.raises(carom.CaromError, match="say which strike"):
        carom.stabilise(stepping, still, again="strike floor")
    with pytest.raises(carom.CaromError, match="stabilised with the Stepping"):
        carom.stabilise(stepping.world, still)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"times": [0.1]}, "must rise from 0"),
        ({"times": [0.0, 0.0]}, "must rise from 0"),
        ({"inputs": [[1.0, 2.0]]}, "inputs of 'control' has shape"),
        ({"inputs": [[np.nan]]}, "not finite"),
        ({"again": 0.0}, "again of 'control'"),
        ({"again": "strike wall"}, "wall"),
        ({"joints": "bal"}, "did you mean"),
        ({"joints": 3}, "joints of 'control' is 3; it must be a name, or a list of names"),
        ({"gains": [[[1.0, 2.0]]]}, "gains and about"),
        ({"gains": [[[1.0, 2.0, 3.0]]], "about": [[1.0, 2.0, 3.0]]}, "state of this world has 4"),
    ],
)
def test_bad_tables_get_a_sentence(given, words):
    pair = juggler().mechanism
    fine = {"joints": "paddle", "again": 1.0, "times": [0.0], "inputs": [[1.0]]}
    with pytest.raises(carom.CaromError, match=words):
        carom.World(pair, control=carom.PhasedInputs(pair, **{**fine, **given}), gravity=G)
