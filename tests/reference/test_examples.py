"""Examples with elastic links and with derivatives: what they print rests on these physics."""

import jax.numpy as jnp
import numpy as np
import pytest
from examples import flexible_capture, flexible_strike, softer_blow

import carom

# -- a flexible arm that strikes -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def strikes():
    arms = {"rigid": (0, 1.0), "stiff": (2, 1000.0), "tube": (2, 1.0)}
    return {n: flexible_strike.run(flexible_strike.make_world(flexible_strike.make_arm(*a))) for n, a in arms.items()}


@pytest.mark.slow
def test_a_stiff_beam_strikes_like_the_rigid_link(strikes):
    rigid, stiff = (flexible_strike.strike(strikes[name]) for name in ("rigid", "stiff"))
    assert rigid.blows == stiff.blows == 1
    assert stiff.peak == pytest.approx(rigid.peak, rel=0.03)
    assert stiff.duration == pytest.approx(rigid.duration, rel=0.03)
    assert stiff.impulse == pytest.approx(rigid.impulse, rel=0.03)
    assert stiff.vibration[1] < 0.01 * stiff.energy[1]


@pytest.mark.slow
def test_a_flexible_one_strikes_several_times_and_softer(strikes):
    rigid, tube = (flexible_strike.strike(strikes[name]) for name in ("rigid", "tube"))
    assert tube.blows > 1
    assert tube.peak < 0.8 * rigid.peak
    assert tube.vibration[1] > 5.0 * tube.vibration[0]  # the blow makes it ring


@pytest.mark.parametrize("name", ["rigid", "stiff", "tube"])
def test_the_energy_of_a_strike_is_accounted_for(strikes, name):
    """One blow: what the motion loses the floor takes, as the controller rests. All of them: the ledger."""
    s = flexible_strike.strike(strikes[name])
    assert s.ledger < 1e-6  # percent
    if s.blows == 1 and name == "rigid":
        assert s.energy[0] - s.energy[1] == pytest.approx(s.floor, rel=1e-6)
        assert abs(s.control) < 1e-9  # it rests meanwhile


def test_vibration_and_nearest_rigid_motion_share_the_kinetic_energy(strikes):
    m = strikes["tube"].world.mechanism
    rng = np.random.default_rng(3)
    q, v = jnp.asarray(np.append(rng.normal(size=2), [0.0, 0.0])), jnp.asarray(rng.normal(size=4))
    M, rates = np.asarray(carom.dynamics.mass_matrix(m, q)), np.asarray(v)
    # The nearest rigid motion keeps the momenta that belong to the angles.
    rigid = np.append(np.linalg.solve(M[:2, :2], (M @ rates)[:2]), [0.0, 0.0])
    left = 0.5 * rates @ M @ rates - 0.5 * rigid @ M @ rigid
    assert float(carom.dynamics.vibration_energy(m, q, v)) == pytest.approx(left, rel=1e-12)
    run = strikes["tube"]  # the signal has what is stored in the bent link, too
    signal = run.signal("energy.vibration", run.t[[0, -1]])
    stored = float(jnp.sum(carom.dynamics.elastic_energy_by_link(m, jnp.asarray(run.q[-1]))))
    q, v = (jnp.asarray(x[-1]) for x in (run.q, run.v))
    M, rates = np.asarray(carom.dynamics.mass_matrix(m, q)), np.asarray(v)
    rigid = np.append(np.linalg.solve(M[:2, :2], (M @ rates)[:2]), [0.0, 0.0])
    assert signal[0] == 0.0 and stored > 0.0
    assert signal[1] == pytest.approx(stored + 0.5 * rates @ M @ rates - 0.5 * rigid @ M @ rigid, rel=1e-9)


# -- a flexible arm that captures ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def captured():
    return flexible_capture.captures(modes=1)


def rows_of(c):
    """Relative velocity of the grip, from positions alone: central differences of the two sites, and of the slope."""
    m, q, h = c.mechanism, np.asarray(c.q), 1e-6

    def gap(q):
        here = [np.asarray(carom.dynamics.site_position(m, jnp.asarray(q), s)) for s in (c.hand, c.grip)]
        return here[0] - here[1]

    points = np.stack([(gap(q + h * e) - gap(q - h * e)) / (2.0 * h) for e in np.eye(m.dof)], axis=1)
    top = m.topology
    turn = np.zeros(m.dof)
    turn[top.angle_index(top.link("arm.link2"))], turn[top.angle_index(top.link("target.object"))] = 1.0, -1.0
    beam = flexible_capture.beam(3.0, 1).data.shapes  # the object turns with the section that holds it
    turn[list(top.mode_index(top.link("arm.link2")))] = beam.rotation(np.array([3.0]))[0]
    return points if c.kind == "point" else np.vstack([points, turn])


@pytest.mark.parametrize("name", flexible_capture.KINDS)
def test_a_capture_by_elastic_links_is_the_block_system(captured, name):
    """M (v+ - v-) = A^T P and A v+ = -e A v- as one system in NumPy; the loss by (1 - e^2)/2 u (A M^-1 A^T)^-1 u."""
    c = captured[name]
    M, A, e = np.asarray(carom.dynamics.mass_matrix(c.mechanism, c.q)), rows_of(c), float(c.restitution)
    n, k, before = len(M), len(A), np.asarray(c.before)
    u = A @ before
    block = np.block([[M, -A.T], [A, np.zeros((k, k))]])
    solved = np.linalg.solve(block, np.concatenate([M @ before, -e * u]))
    np.testing.assert_allclose(c.after, solved[:n], atol=1e-8)
    np.testing.assert_allclose(c.impulse, solved[n : n + 2], atol=1e-8)
    loss = 0.5 * (1.0 - e**2) * u @ np.linalg.solve(A @ np.linalg.solve(M, A.T), u)
    assert float(c.energy_lost) == pytest.approx(loss, abs=1e-8)
    # With carom's own rows, which know no step of a difference, it is the same number.
    assert float(c.energy_lost) == pytest.approx(flexible_capture.loss_by_blocks(c), abs=1e-12)


@pytest.mark.parametrize("name", flexible_capture.KINDS)
def test_a_capture_by_elastic_links_keeps_momentum(captured, name):
    a = flexible_capture.account(captured[name])
    assert a.momentum < 1e-12
    assert a.before == pytest.approx(a.rigid + a.modes + a.lost, rel=1e-14)
    assert a.modes > 0.01
    assert (abs(a.lost) < 1e-13) == (name == "elastic")


def test_the_arm_rings_after_a_weld_and_keeps_momentum_and_energy(captured):
    run = flexible_capture.free_motion(captured["weld"], until=0.2, solver="tsit5")
    assert run.momentum.linear_drift < 1e-10 and run.momentum.angular_drift < 1e-10
    np.testing.assert_allclose(run.momentum.linear[0], captured["weld"].momentum_after.linear, atol=1e-12)
    assert run.energy.kinetic[0] == pytest.approx(float(captured["weld"].energy_after), rel=1e-12)
    assert run.energy.max_error_percent < 1e-7
    assert min(flexible_capture.tip_deflections(run).values()) > 1e-4


# -- a softer blow ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def way():
    return softer_blow.descend()


def test_the_posture_puts_the_tip_where_it_must_be_with_its_velocity(way):
    for step in (way[0], way[-1]):
        q = softer_blow.posture(jnp.asarray(step.x))
        place = carom.dynamics.site_position(softer_blow.ARM, q, softer_blow.ARM.tip)
        np.testing.assert_allclose(place, [softer_blow.PLACE, softer_blow.FLOOR + softer_blow.GAP], atol=1e-14)
        speed = carom.dynamics.site_velocity(softer_blow.ARM, q, softer_blow.rates(q), softer_blow.ARM.tip)
        np.testing.assert_allclose(speed, softer_blow.SPEED, atol=1e-13)


def test_the_slopes_of_the_peak_force_are_those_of_differences(way):
    x, h, each = jnp.asarray(way[0].x), 1e-3, []
    for e in jnp.eye(2):
        coarse, fine = (
            (softer_blow.force_and_slope(x + s * e, e)[0] - softer_blow.force_and_slope(x - s * e, e)[0]) / (2.0 * s)
            for s in (2.0 * h, h)
        )
        each.append((4.0 * fine - coarse) / 3.0)
    np.testing.assert_allclose(way[0].slopes, each, rtol=1e-6)


def test_the_descent_ends_where_no_direction_is_softer(way):
    forces = [step.force for step in way]
    assert np.all(np.diff(forces) < 0.0)
    assert forces[-1] < 0.5 * forces[0]
    assert np.max(np.abs(way[-1].slopes)) < 1e-2
    for turn in np.linspace(0.0, 2.0 * np.pi, 12, endpoint=False):
        aside = way[-1].x + 0.02 * np.array([np.cos(turn), np.sin(turn)])
        assert float(softer_blow.force_and_slope(jnp.asarray(aside), jnp.eye(2)[0])[0]) > forces[-1]


@pytest.mark.slow
def test_separate_runs_find_the_same_peak_forces(way):
    for step in (way[0], way[-1]):
        found = softer_blow.blow(step.x)
        assert found.max_normal_force == pytest.approx(step.force, rel=1e-7)
        assert found.normal_velocity_before == pytest.approx(softer_blow.SPEED[1], rel=0.02)
