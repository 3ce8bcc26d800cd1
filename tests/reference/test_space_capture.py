"""The space-capture thesis's two simulations: three exact captures, its own formula, and the motion after them."""

import numpy as np
import pytest
from examples.space_capture import (
    APPROACH,
    GRIP,
    HAND,
    POINT_ARM,
    POINT_OBJECT,
    captures,
    control_error,
    controlled,
    free_motion,
    meeting,
)

import carom
from carom.captures import peak_efforts

EXACT = ("point", "weld", "point-then-weld")


@pytest.fixture(scope="module")
def found():
    return {simulation: captures(simulation) for simulation in APPROACH}


def sideways(weld):
    """Simulation 1 by hand: everything stands on one line and moves across it, so each mass has one velocity.

    A plastic blow is the nearest allowed motion, masses as weights: a least-squares problem in the rates
    (base, link 1, link 2, object).
    """
    x, w1, w2, wo = np.eye(4)
    tip = x - 2 * w1 - 3 * w2
    parts = [(100, x), (10, x - w1), (10 * 4 / 12, w1), (10, x - 2 * w1 - 1.5 * w2), (10 * 9 / 12, w2)]
    parts += [(15, tip - wo), (7.5, wo)]
    before = np.array([0, 0, 0, 0, 0, -1.0, 0])
    rows, weights = np.array([row for _, row in parts]), np.sqrt([m for m, _ in parts])
    if weld:
        rows = np.stack([rows[:, 0], rows[:, 1], rows[:, 2] + rows[:, 3]], axis=1)
    rates = np.linalg.lstsq(rows * weights[:, None], before * weights, rcond=None)[0]
    return np.append(rates, rates[2]) if weld else rates


def test_the_point_capture_of_simulation_1_is_the_exact_fraction(found):
    c = found[1]["point"]
    arm = np.asarray(c.mechanism.to_relative(c.after))[[0, 1, 4, 5, 6]]
    np.testing.assert_allclose(arm, np.array(POINT_ARM) / 391, rtol=0, atol=1e-14)
    np.testing.assert_allclose(np.asarray(c.after)[[2, 3, 7]], np.array(POINT_OBJECT) / 391, rtol=0, atol=1e-14)


@pytest.mark.parametrize("kind", EXACT)
def test_simulation_1_is_the_nearest_allowed_motion(found, kind):
    rates = np.asarray(found[1][kind].after)[[0, 5, 6, 7]]
    np.testing.assert_allclose(rates, sideways(kind != "point"), rtol=0, atol=1e-14)


def test_in_simulation_2_all_agree(found):
    for c in found[2].values():
        np.testing.assert_allclose(c.after[:4], [0, -1 / 9, 0, -1 / 9], atol=1e-14)
        np.testing.assert_allclose(c.after[4:], 0.0, atol=1e-14)
        assert float(c.energy_before) == pytest.approx(7.5, rel=1e-14)
        assert float(c.energy_after) == pytest.approx(5 / 6, rel=1e-13)


@pytest.mark.parametrize("simulation", APPROACH)
@pytest.mark.parametrize("kind", EXACT)
def test_momentum_is_kept(found, simulation, kind):
    assert np.max(np.abs(found[simulation][kind].momentum_change)) < 1e-12


def test_the_thesis_formula_loses_momentum_and_turns_the_object_the_wrong_way(found):
    c, exact = found[1]["thesis formula"], found[1]["point"]
    assert float(c.momentum_change[0]) / 15.0 == pytest.approx(0.390, abs=5e-4)
    assert float(c.after[7]) < 0.0 < float(exact.after[7])
    assert "VIOLATES conservation of momentum" in repr(c)
    assert "VIOLATES" not in repr(exact)


def test_only_the_exact_captures_do_not_see_who_watches(found):
    """Everything with a common velocity: the same blow for the exact law, another one for the thesis's formula."""
    m = meeting(1)
    common = np.array([0.3, -0.2, 0.3, -0.2, 0, 0, 0, 0])
    given = (m.mechanism, HAND, GRIP, carom.State(m.state.q, m.state.v + common))
    for kind in EXACT:
        moved = carom.capture(*given, kind=kind).after - common
        np.testing.assert_allclose(moved, found[1][kind].after, rtol=0, atol=1e-13)
    moved = carom.capture_by_pseudo_inverse(*given).after - common
    assert np.max(np.abs(moved - found[1]["thesis formula"].after)) > 0.05


@pytest.mark.parametrize("kind", ["point", "weld"])
def test_ten_seconds_of_free_motion_keep_momentum_energy_and_attitude(found, kind):
    c = found[1][kind]
    run = free_motion(c)
    assert run.momentum.linear_drift < 1e-9 and run.momentum.angular_drift < 1e-9
    np.testing.assert_allclose(run.momentum.linear[0], c.momentum_after.linear, atol=1e-12)
    assert run.momentum.angular[0] == pytest.approx(float(c.momentum_after.angular), abs=1e-11)
    assert run.energy.kinetic[0] == pytest.approx(float(c.energy_after), abs=1e-12)
    assert run.energy.kinetic[-1] == pytest.approx(float(c.energy_after), abs=1e-10)
    # Joint 1 is at the base's centre and nothing drives it: "theta_0 does not change".
    assert np.ptp(run.q[:, 2]) == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("damping_ratio", [1.0, 0.5])
def test_controlled_motion_is_the_closed_form(found, damping_ratio):
    run, _ = controlled(found[1]["weld"], damping_ratio)
    assert control_error(run, damping_ratio) < 1e-8
    assert run.energy.max_error_percent < 1e-8


def test_the_largest_force_of_simulation_2_stops_the_whole_mass(found):
    """135 kg at -1/9 m/s, Kd = 2: 30 N at the start, and no torque at all."""
    run, control = controlled(found[2]["weld"], 1.0)
    peaks = peak_efforts(run, control)
    assert peaks.pop("force on arm [N]") == pytest.approx(30.0, rel=1e-12)
    assert max(peaks.values()) < 1e-9
