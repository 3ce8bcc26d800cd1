"""The passive walker over the slope: where its gait doubles its period, and doubles it again."""

import jax.numpy as jnp
import numpy as np
import pytest
from tests.reference.passive_walker import EXCHANGE, STEP, compass, pushed_off, step

import carom

pytestmark = pytest.mark.slow
DOUBLES = 4.39089825  # [deg] by an independent continuation of the two-angle equations


def walker(degrees):
    return compass(jnp.deg2rad(degrees))


@pytest.fixture(scope="module")
def family():
    return carom.continue_orbit(
        walker,
        (3.0, 5.0),
        STEP,
        pushed_off(walker(3.0)),
        until=4.0,
        drifts=["base.x"],
        exchange=EXCHANGE,
        name="slope [deg]",
    )


def test_the_gait_doubles_its_period_at_the_known_slope(family):
    (special,) = family.special
    assert special.kind == "period doubling" and special.parameter == pytest.approx(DOUBLES, abs=2e-8)
    np.testing.assert_array_equal(family.stable, family.parameter < DOUBLES)


def test_every_point_closes_by_the_walkers_own_equations(family):
    for k in range(0, len(family.parameter), 4):
        q, v = family.q[k], family.v[k]
        legs = np.array([q[3] + np.pi / 2, v[3], v[2]])
        again, time = step(np.deg2rad(family.parameter[k]), legs)
        np.testing.assert_allclose(again, legs, rtol=1e-9)
        assert time == pytest.approx(family.period[k], rel=1e-9)


def test_in_every_step_the_strike_takes_what_gravity_gives(family):
    for k in (0, 12, len(family.parameter) - 1):
        (run,) = family.run(k)
        given = 20.0 * 9.81 * np.sin(np.deg2rad(family.parameter[k])) * family.drift[k, 0]
        assert sum(i.energy_lost for i in run.impacts) == pytest.approx(given, rel=1e-8)


def test_the_doubled_gait_walks_by_its_own_equations_and_doubles_again(family):
    twice = carom.continue_doubled(family)
    assert twice.stable[0] and [s.kind for s in twice.special][:1] == ["period doubling"]
    assert DOUBLES < twice.special[0].parameter < 5.0
    for k in range(0, len(twice.parameter), 4):
        q, v, slope = twice.q[k], twice.v[k], np.deg2rad(twice.parameter[k])
        legs = np.array([q[3] + np.pi / 2, v[3], v[2]])
        middle, first = step(slope, legs)
        again, second = step(slope, middle)
        assert abs(middle[0] - legs[0]) > 1e-3
        np.testing.assert_allclose(again, legs, rtol=1e-8)
        assert first + second == pytest.approx(twice.period[k], rel=1e-8)


def test_it_walks_down_gentle_slopes_as_well():
    """Steps become shorter; at a tenth of a degree it still walks."""
    down = carom.continue_orbit(
        walker, (3.0, 0.1), STEP, pushed_off(walker(3.0)), until=4.0, drifts=["base.x"], exchange=EXCHANGE
    )
    assert down.ended == "it leaves the range" and np.all(down.stable) and not down.special
    assert np.all(np.diff(down.drift[:, 0]) < 0.0)
