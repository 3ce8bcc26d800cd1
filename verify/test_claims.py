"""The sources' studies in full: every capture, every chain, the whole gait as one motion, the arm's controllers."""

import sys
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))  # examples and tests are no installed packages

from examples.arm_repeated_impact import make_world
from examples.arm_study import controllers, distinct
from examples.inchworm import make_gait, sampled
from examples.space_capture import captures, control_error, controlled, free_motion
from tests.unit import test_contact_inverse as inverse

import carom
from carom.control import AtHeight, OnStrike

# -- the arm that strikes ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hammering():
    world = make_world()
    return carom.simulate(world, world.state(angles=[60, 45], degrees=True), until=6.0)


@pytest.mark.parametrize("k", [0, 1])
def test_poincare_points_of_the_arm(hammering, k):
    """To the eye (1.5 degrees, the way to the limit cycle included) four points, as in the paper.

    The limit cycle itself has two: each link turns once at the top and once after the strike.
    """
    section = carom.poincare(hammering, lambda t, q, v: v[k])
    points = np.rad2deg(section.q)
    assert len(distinct(points[section.t > 0.1], 1.5)) == 4
    assert len(distinct(points[section.t > 4.0], 0.01)) == 2
    assert len(section.t[section.t > 0.1]) == pytest.approx(2 * 15, abs=1)


def test_only_the_controller_that_knows_the_weight_arrives_without_overshoot():
    """The paper's comparison: PD does not reach the target, Q is there sooner than PID and does not overshoot."""
    found = controllers()
    for k in range(2):
        pd, pid, q = (found[name][k] for name in ("PD", "PID", "Q"))
        assert abs(pd.final_error) > 5e-3
        assert abs(q.final_error) < 3e-4
        assert pid.overshoot > 0.05
        assert q.overshoot < 3e-4
        assert not pid.settling_time <= q.settling_time  # it settles later, or (the second link) not within 3 s


def test_a_rigid_hammer_has_an_orbit_from_a_rough_guess():
    """Two strikes are enough of a guess; the multiplier is the contraction that a long run shows."""
    arm = carom.Arm([carom.Rod(length=1.0, mass=1.0)])
    anvil = carom.Contact(arm.tip, carom.Plane(height=-0.5), 0.6, name="anvil")
    schedule = [OnStrike(anvil), AtHeight(arm.tip, 0.5)]
    hammer = carom.PostureControl(arm, [[-1.0], [1.0]], kp=[50.0], kd=[3.0], schedule=schedule, compensate_weight=True)
    world = carom.World(arm, contacts=anvil, control=hammer)
    orbit = carom.find_orbit(world, ("rigid contacts", "strike anvil"), world.state(angles=[0.3]), until=0.5)
    assert orbit.stable and orbit.residual < 1e-10
    run = carom.simulate(world, world.state(angles=[0.3]), until=2.0, settings=carom.Settings(rtol=1e-12, atol=1e-14))
    away = np.array([abs(e.v_after[0] - orbit.v[0]) for e in run.events if e.exit == "strike anvil"])
    np.testing.assert_allclose(away[3:6] / away[2:5], abs(orbit.multipliers[0]), rtol=1e-3)


def test_an_elastic_ball_bounces_for_ever():
    """Every height is periodic, and so is every place: neutral, with the period of the closed form."""
    disk = carom.Mechanism([carom.Disk(radius=0.1, mass=2.0)], base=carom.Free())
    floor = carom.Contact(disk.tip, carom.Plane(height=0.0), 1.0, radius=0.1, name="floor")
    world = carom.World(disk, contacts=floor, gravity=9.81)
    orbit = carom.find_orbit(world, ("rigid contacts", "strike floor"), world.state(base=(0.0, 1.1)), until=1.0)
    assert orbit.period == pytest.approx(2 * np.sqrt(2 / 9.81), rel=1e-11)
    assert not orbit.stable and "neutral orbit" in str(orbit)
    assert np.max(np.abs(orbit.multipliers)) == pytest.approx(1.0, abs=1e-8)


# -- captures ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=[1, 2])
def captured(request):
    return captures(request.param)


@pytest.mark.parametrize("kind", ["point", "weld", "point-then-weld"])
def test_ten_seconds_after_every_capture(captured, kind):
    c = captured[kind]
    assert np.max(np.abs(c.momentum_change)) < 1e-12
    run = free_motion(c)
    assert run.momentum.linear_drift < 1e-9 and run.momentum.angular_drift < 1e-9
    assert run.energy.kinetic[-1] == pytest.approx(float(c.energy_after), abs=1e-9)


@pytest.mark.parametrize("damping_ratio", [1.0, 0.5])
def test_controlled_motion_is_the_closed_form(captured, damping_ratio):
    for kind in ("weld", "point-then-weld"):
        assert control_error(controlled(captured[kind], damping_ratio)[0], damping_ratio) < 1e-8


# -- inverse dynamics in contact ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [inverse.plane, inverse.circle, inverse.graph], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("count", range(2, 9))
def test_chains_of_any_length_on_any_surface(count, kind):
    """Flat and tilted planes, a circle, a wave: against Newton and Euler's equations."""
    inverse.test_torques_and_reaction_are_those_of_newton_and_euler(count, kind)


def test_the_whole_gait_is_one_motion():
    """Two cycles: every step begins where the simulation of the one before has ended, not where the plan says.

    Feed-forward alone loses the way (some humps are as unstable as a stick on a finger), so gains hold it there.
    """
    gait = make_gait()
    gains = {"kp": [400.0, 200.0, 100.0, 0.0], "kd": [12.0, 6.0, 3.0, 0.0]}
    q, v, held = np.asarray(gait.steps[0].first), np.zeros(4), gait.steps[0].holds
    for step in [*gait.steps, *gait.steps]:
        if step.holds != held:
            q, v, held = -q[::-1], -v[::-1], step.holds  # counted from the other foot
        until = float(step.duration)
        world = step.world(**gains)
        result = carom.simulate(
            world, world.state(angles=q, rates=v), until=until, settings=carom.Settings(rtol=1e-10, atol=1e-12)
        )
        times, (motion, _) = sampled(step)
        assert np.max(np.abs(result.at(np.asarray(times)).q - motion.q)) < 1e-6
        q, v = result.q[-1], result.v[-1]


# -- identification ----------------------------------------------------------------------------------------------------


def test_yield_strength_and_friction_from_a_bouncing_ball():
    """Of a steel ball thrown flat on a floor that yields; height and turning tell one and the other."""
    radius, times = 0.02, np.linspace(0.0, 0.6, 31)

    def places(p):
        ball = carom.Mechanism([carom.Disk(radius=radius, mass=0.25)], base=carom.Free())
        steel = carom.Material(210e9, 0.29, 1e9 * p["yield"])
        law, drag = carom.JacksonGreen(steel, steel, radius), carom.SmoothCoulomb(p["friction"], 0.02)
        floor = carom.Contact(ball.tip, carom.Plane(height=0.0), law, drag, radius=radius, name="floor")
        start, speed = jnp.array([0.0, 0.3 + radius, 0.0]), jnp.array([3.0, 0.0, 0.0])
        q, _ = carom.states_at(carom.World(ball, contacts=floor), carom.State(start, speed), times)
        return {"height": q[:, 1], "turned": radius * q[:, 2]}

    truth, noise = {"yield": 1.12, "friction": 0.2}, 1e-4
    rng = np.random.default_rng(8)
    data = {n: np.asarray(x) + noise * rng.normal(size=len(times)) for n, x in places(truth).items()}
    found = carom.fit(places, data, {"yield": 0.9, "friction": 0.3}, noise=noise, times=times, positive=("yield",))
    assert found.determined and found.chance > 1e-3
    for name, true in truth.items():
        assert abs(found.estimate[name] - true) < 4 * found.standard_error[name] < 0.2 * true
