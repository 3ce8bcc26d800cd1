"""The n-R manipulator paper's inchworm: its second step, and the gait around it.

The paper's tables and figures are lost with its formulas; the equations are derived again, here in NumPy, and the
numbers below were computed with them on 2026-11-15 (mass 1 kg, T = 1 s, angles as in examples/inchworm.py).
"""

import jax.numpy as jnp
import numpy as np
import pytest
from examples.inchworm import DURATIONS, LENGTH, MASS, MU, STATE_1, STATE_2, G, follow, make_gait, sampled

from carom import CaromError
from carom.crawl import Inchworm

LINKS = 4


@pytest.fixture(scope="module")
def gait():
    return make_gait()


# -- the paper's equations, written out ------------------------------------------------------------------------------


def blend(start, end, t):
    """Angle, rate and acceleration of a line with parabolic blends of 0.1 s in 1 s."""
    omega = (end - start) / 0.9
    if t < 0.1:
        return start + 5.0 * omega * t**2, 10.0 * omega * t, 10.0 * omega
    if t > 0.9:
        left = 1.0 - t
        return end - 5.0 * omega * left**2, 10.0 * omega * left, -10.0 * omega
    return start + omega * (t - 0.05), omega + 0.0 * start, 0.0 * start


def motion(t):
    """Four absolute angles: three are led, the fourth keeps the tip at the height of the base."""
    led, rate, turn = (np.asarray(x) for x in blend(np.deg2rad(STATE_1), np.deg2rad(STATE_2), t))
    last = np.arcsin(-np.sum(np.sin(led)))
    last_rate = -np.sum(np.cos(led) * rate) / np.cos(last)
    rise = np.sum(np.cos(led) * turn - np.sin(led) * rate**2) - np.sin(last) * last_rate**2
    last_turn = -rise / np.cos(last)
    return np.append(led, last), np.append(rate, last_rate), np.append(turn, last_turn)


def by_hand(t, mass=MASS):
    """tau_1..3 and the reaction from A phi'' + B phi'^2 + weight = torques + reaction, A symmetric, B skew."""
    phi, rate, turn = motion(t)
    below = mass * (LINKS - 1 - np.arange(LINKS))
    b = mass * LENGTH / 2 + below * LENGTH
    a = np.array([[b[max(i, j)] * LENGTH for j in range(LINKS)] for i in range(LINKS)])
    np.fill_diagonal(a, mass * LENGTH**2 / 3 + below * LENGTH**2)
    apart = phi[:, None] - phi[None, :]
    need = (a * np.cos(apart)) @ turn + (a * np.sin(apart)) @ rate**2 + G * b * np.cos(phi)
    # The tip slides towards the base: friction pushes it away, along +x
    lever = LENGTH * (np.cos(phi) - MU * np.sin(phi))
    # Unknowns tau_1, tau_2, tau_3, lambda; equation i has tau_i - tau_(i+1)
    matrix = np.zeros((LINKS, LINKS))
    for i in range(3):
        matrix[i, i] = 1.0
        if i:
            matrix[i - 1, i] = -1.0
    matrix[:, 3] = lever
    tip = -LENGTH * np.sum(np.sin(phi) * rate)
    return np.linalg.solve(matrix, need), tip, (phi, rate, turn)


TIMES = np.array([0.0, 0.05, 0.2, 0.5, 0.7, 0.85, 0.95, 1.0])


def test_the_second_step_obeys_the_papers_equations(gait):
    moved, found = gait.steps[1].plan.over(TIMES)
    for k, t in enumerate(TIMES):
        unknowns, tip, states = by_hand(t)
        for mine, other in zip((moved.q[k], moved.v[k], moved.a[k]), states, strict=True):
            np.testing.assert_allclose(mine, other, atol=1e-11)
        np.testing.assert_allclose(found.torques[k, :3], unknowns[:3], rtol=1e-11)
        assert float(found.normal[k, 0]) == pytest.approx(unknowns[3], rel=1e-11)
        assert float(found.sliding[k, 0]) == pytest.approx(tip, abs=1e-13)
        assert float(found.torques[k, 3]) == 0.0


def test_numbers_of_the_second_step(gait):
    """To six digits; they scale with the mass of a link."""
    _, found = gait.steps[1].plan.over([0.0, 0.5, 1.0])
    expected = [[8.910441, 4.584189, 1.508181], [7.460217, 4.277437, 1.397314], [5.642422, 4.123000, 1.360390]]
    np.testing.assert_allclose(found.torques[:, :3], expected, atol=1e-6)
    np.testing.assert_allclose(found.normal[:, 0], [3.869831, 3.698577, 3.999704], atol=1e-6)
    np.testing.assert_allclose(found.sliding[1, 0], -0.105761, atol=1e-6)


def test_torques_break_at_the_ends_of_the_blends_and_nowhere_else(gait):
    plan = gait.steps[1].plan
    np.testing.assert_allclose(plan.knots, [0.0, 0.1, 0.9, 1.0], atol=1e-15)
    near = 1e-12
    moved, efforts = plan.over([0.1 - near, 0.1 + near, 0.9 - near, 0.9 + near])
    for i in (0, 2):
        np.testing.assert_allclose(moved.q[i], moved.q[i + 1], atol=1e-11)
        np.testing.assert_allclose(moved.v[i], moved.v[i + 1], atol=1e-10)
        jump = np.abs(np.asarray(efforts.torques[i + 1] - efforts.torques[i]))[:3]
        assert np.all(jump > 0.01), jump
    _, (_, found) = sampled(gait.steps[1], 2001)
    step = np.max(np.abs(np.diff(np.asarray(found.torques), axis=0)), axis=1)
    assert set(np.flatnonzero(step > 0.02)) <= {199, 200, 1799, 1800}


# -- forward simulation ----------------------------------------------------------------------------------------------


# The others compile for a minute; `make verify` runs them.
@pytest.mark.parametrize("k", [pytest.param(k, marks=() if k == 1 else pytest.mark.slow) for k in range(4)])
def test_the_torques_carry_the_robot_through_every_step(gait, k):
    """With a rigid frictional contact that nobody told to stay closed or to slide; the third step with gains."""
    result, error, rate_error = follow(gait.steps[k], corrected=k == 2)
    assert error < 1e-6 and rate_error < 1e-5, (error, rate_error)
    assert result.energy.max_error_percent < 1e-7
    # From the flat posture the tip starts without acceleration and sticks for an instant; then it slides on. Where it
    # comes to rest a deviation of its speed, 1e-5 of about 1 m/s, may stop it that much earlier.
    assert not [e for e in result.events if e.automaton != "control" and 1e-3 < e.t < DURATIONS[k] - 1e-4]
    lost = result.energy.works["rigid contacts: friction"][-1]
    _, (_, found) = sampled(gait.steps[k], 2001)
    power = np.asarray(found.friction[:, 0] * found.sliding[:, 0])
    assert lost == pytest.approx(np.trapezoid(power, dx=DURATIONS[k] / 2000), rel=1e-3)


# -- the gait --------------------------------------------------------------------------------------------------------


def test_the_body_advances_by_what_the_humps_shorten_it(gait):
    led = np.deg2rad(STATE_2)
    span = np.sum(np.cos(led)) + np.sqrt(1.0 - np.sum(np.sin(led)) ** 2)
    assert float(gait.distance) == pytest.approx(LENGTH * (4.0 - span), rel=1e-12)
    assert float(gait.period) == sum(DURATIONS)


def test_every_cycle_is_the_first_one_further_on(gait):
    times = jnp.linspace(0.0, 5.0, 41)[:-1] + 0.01
    one, third = gait.over(times), gait.over(times + 2 * gait.period)
    np.testing.assert_allclose(third.torques, one.torques, atol=1e-10)
    np.testing.assert_allclose(third.joints[:, :, 0] - one.joints[:, :, 0], 2 * float(gait.distance), atol=1e-12)
    assert float(np.min(one.joints[:, :, 1])) > -1e-12  # no joint is under the ground
    assert float(np.min(one.normal)) > 0.0
    # The foot that holds stands still, the other one only goes forwards
    rear, front = np.asarray(one.joints[:, 0, 0]), np.asarray(one.joints[:, -1, 0])
    assert np.all(np.diff(rear) > -1e-14) and np.all(np.diff(front) > -1e-14)
    assert np.all(np.asarray(one.tip_velocity) > 0.0) and np.all(np.asarray(one.friction) < 0.0)
    # What both feet carry is the weight and what accelerates the body
    assert np.mean(np.asarray(one.held[:, 1] + one.normal)) == pytest.approx(LINKS * MASS * G, rel=0.02)


def test_uphill_the_foot_that_holds_is_drawn_back():
    level, uphill = (make_gait(slope=s) for s in (0.0, 0.1))
    down = [g.over([0.5]).held[0] for g in (level, uphill)]
    assert float(down[1][0] - down[0][0]) == pytest.approx(LINKS * MASS * G * np.sin(0.1), rel=0.15)


def test_a_gait_that_does_not_close_is_refused():
    worm = Inchworm(LENGTH, MASS)
    with pytest.raises(CaromError, match=r"the gait ends in the posture .* but began in"):
        worm.gait([0.0, 0.0, 0.0], [("front", STATE_1)], 1.0, degrees=True)
    with pytest.raises(CaromError, match=r"duration of gait holds 2 numbers"):
        worm.gait([0.0, 0.0, 0.0], [("front", STATE_1)], [1.0, 2.0], degrees=True)
    with pytest.raises(CaromError, match=r"there is no foot that holds 'left'"):
        worm.gait([0.0, 0.0, 0.0], [("left", STATE_1)], 1.0, degrees=True)
    with pytest.raises(CaromError, match=r"links of Inchworm is 1"):
        Inchworm(LENGTH, MASS, links=1)


def test_the_mass_scales_every_force():
    one, heavy = Inchworm(LENGTH, 1.0), Inchworm(LENGTH, 2.5)
    first = np.append(np.deg2rad(STATE_1), -0.5326164)
    efforts = [w.step("front", first, np.deg2rad(STATE_2), 1.0).plan.over([0.3])[1] for w in (one, heavy)]
    np.testing.assert_allclose(efforts[1].torques, 2.5 * efforts[0].torques, rtol=1e-12)
