"""Periodic motion: fixed points of the strike-to-strike map, multipliers, Poincare sections, bifurcations."""

from __future__ import annotations

import numpy as np
import pytest
from examples.arm_repeated_impact import make_world

import carom


@pytest.fixture(scope="module")
def arm_run():
    world = make_world()
    return carom.simulate(world, world.state(angles=[60.0, 45.0], degrees=True), until=6.0)


@pytest.mark.slow
def test_the_arm_papers_hammering_is_a_stable_orbit(arm_run) -> None:
    """The multiplier is the factor by which successive strikes of the simulation come closer to the fixed point."""
    world = make_world()
    start = world.state(angles=[60.0, 45.0], degrees=True)
    short = carom.simulate(world, start, until=1.0)  # two strikes: a rough guess
    orbit = carom.ReturnMap(short, "tip", "touch").orbit()
    assert orbit.residual < 1e-10
    assert orbit.stable
    strikes = [e for e in arm_run.events if e.exit == "touch"]
    away = [np.linalg.norm(np.r_[e.q_after, e.v_after] - np.r_[orbit.q, orbit.v]) for e in strikes]
    assert len(strikes) == 15
    assert away[0] > 0.5
    assert away[-1] < 1e-7
    seen = np.array(away[3:8]) / np.array(away[2:7])
    np.testing.assert_allclose(seen, abs(orbit.multipliers[0]), rtol=2e-3)
    assert strikes[-1].t - strikes[-2].t == pytest.approx(orbit.period, abs=1e-7)
    assert "stable orbit through 'touch' of 'tip'" in str(orbit)


def test_a_section_is_where_the_scalar_vanishes(arm_run) -> None:
    section = carom.poincare(arm_run, lambda t, q, v: v[1])
    assert np.max(np.abs(section.v[:, 1])) < 1e-9
    up = carom.poincare(arm_run, lambda t, q, v: v[1], direction=1)
    down = carom.poincare(arm_run, lambda t, q, v: v[1], direction=-1)
    assert len(up.t) + len(down.t) == len(section.t) > 20
    assert len(carom.poincare(arm_run, lambda t, q, v: q[0] - 100.0).t) == 0


def test_turning_points_of_a_pendulum_come_half_a_period_apart() -> None:
    pendulum = carom.World(carom.Arm([carom.Rod(1.0, 1.0)]), gravity=9.81)
    result = carom.simulate(
        pendulum,
        pendulum.state(angles=[-np.pi / 2 + 1e-3]),
        until=10.0,
        settings=carom.Settings(rtol=1e-12, atol=1e-15),
    )
    section = carom.poincare(result, lambda t, q, v: v[0])
    half = np.pi / np.sqrt(1.5 * 9.81) * (1 + 1e-6 / 16)  # small swing, first correction of the amplitude
    np.testing.assert_allclose(np.diff(section.t), half, atol=1e-9)


def test_a_bifurcation_diagram_holds_the_last_returns() -> None:
    start = make_world(0.1).state(angles=[60.0, 45.0], degrees=True)
    diagram = carom.bifurcation(make_world, [0.1, 0.2], ("tip", "touch"), start, until=2.0, keep=2)
    assert [len(column.t) for column in diagram] == [2, 2]
    assert not np.allclose(diagram[0].q, diagram[1].q)


def test_what_has_no_return_map_is_refused(arm_run) -> None:
    with pytest.raises(carom.CaromError, match="there is no event of 'tip' 'strike'"):
        carom.ReturnMap(arm_run, "tip", "strike")
    with pytest.raises(carom.CaromError, match="event 'reload' of 'tip' never happened"):
        carom.ReturnMap(arm_run, "tip", "reload")
    with pytest.raises(carom.CaromError, match="direction of poincare is 2"):
        carom.poincare(arm_run, lambda t, q, v: v[0], direction=2)
    arm = carom.Arm([carom.Rod(1.0, 1.0)])
    sampled = carom.PostureControl(arm, [0.0], kp=[10.0], kd=[1.0], rate=100.0)
    world = carom.World(arm, control=sampled)
    result = carom.simulate(world, world.state(angles=[0.1]), until=0.1)
    with pytest.raises(carom.CaromError, match="'control' depends on time itself"):
        carom.ReturnMap(result, "control", result.events[0].exit)
