"""Step responses against the closed form of a damped oscillator."""

from __future__ import annotations

import math

import equinox as eqx
import numpy as np
import pytest

import carom


def driven(damping_ratio: float) -> carom.study.Response:
    """A rod without weight under PD control: e'' + 2 z w e' + w^2 e = 0 with w = 10 1/s, from 0 to 1 rad."""
    arm = carom.Arm([carom.Rod(length=1.0, mass=3.0)])  # inertia about the joint: 1 kg m^2
    control = carom.PostureControl(arm, [1.0], kp=[100.0], kd=[20.0 * damping_ratio])
    world = carom.World(arm, control=control, gravity=0.0)
    return carom.study.response(carom.simulate(world, world.state(), until=3.0), "link1", 1.0)


def test_overshoot_rise_and_settling_of_an_underdamped_joint() -> None:
    z, w = 0.5, 10.0
    found = driven(z)
    assert found.overshoot == pytest.approx(math.exp(-math.pi * z / math.sqrt(1 - z * z)), rel=1e-4)
    t = np.linspace(0.0, 3.0, 300001)
    wd = w * math.sqrt(1 - z * z)
    exact = 1 - np.exp(-z * w * t) * (np.cos(wd * t) + z * w / wd * np.sin(wd * t))
    rise = t[np.argmax(exact >= 0.9)] - t[np.argmax(exact >= 0.1)]
    assert found.rise_time == pytest.approx(rise, abs=3e-4)
    last = t[np.flatnonzero(np.abs(exact - 1) > 0.02)[-1]]
    assert found.settling_time == pytest.approx(last, abs=3e-4)
    assert abs(found.final_error) < 1e-5


def test_a_joint_that_does_not_arrive_says_so() -> None:
    found = driven(20.0)
    assert math.isnan(found.rise_time)
    assert math.isnan(found.settling_time)
    assert found.overshoot == 0.0
    assert "final error" in str(found)


def test_a_target_at_the_start_is_refused() -> None:
    arm = carom.Arm([carom.Rod(length=1.0, mass=1.0)])
    world = carom.World(arm, gravity=0.0)
    result = carom.simulate(world, world.state(), until=0.1)
    with pytest.raises(carom.CaromError, match="target of response is 0 rad, where 'link1' starts"):
        carom.study.response(result, "link1", 0.0)


class Still(eqx.Module):
    """Stay at a posture."""

    angles: tuple[float, float]

    def at(self, t):
        zero = (0.0 * t, 0.0 * t)
        return self.angles, zero, zero


@pytest.mark.parametrize(("kd", "name"), [(20.0, "critical"), (6.0, "underdamped")])
def test_computed_torque_turns_the_error_into_an_oscillator(kd: float, name: str) -> None:
    """Whatever the posture and weight, e'' + kd e' + kp e = 0 in each joint, with kp = 100."""
    arm = carom.Arm([carom.Rod(length=1.0, mass=1.0), carom.Rod(length=0.7, mass=2.0)])
    control = carom.control.ComputedTorque(arm, Still((1.0, -0.5)), kp=[100.0, 100.0], kd=[kd, kd])
    world = carom.World(arm, control=control, gravity=9.81)
    result = carom.simulate(
        world, world.state(angles=[0.0, 0.3]), until=1.0, settings=carom.Settings(rtol=1e-11, atol=1e-13)
    )
    t = np.linspace(0.0, 1.0, 11)
    if name == "critical":
        shape = (1 + 10 * t) * np.exp(-10 * t)
    else:
        wd = math.sqrt(100.0 - 9.0)
        shape = np.exp(-3 * t) * (np.cos(wd * t) + 3 / wd * np.sin(wd * t))
    expected = np.array([1.0, -0.5]) + shape[:, None] * np.array([-1.0, 0.8])
    np.testing.assert_allclose(np.asarray(result.at(t).q), expected, atol=1e-8)


def test_computed_torque_refuses_what_it_cannot_drive() -> None:
    free = carom.Mechanism([carom.Rod(length=1.0, mass=1.0)], base=carom.Free())
    with pytest.raises(carom.CaromError, match="3 coordinates by 1 torques"):
        carom.control.ComputedTorque(free, Still((0.0, 0.0)), kp=[1.0], kd=[1.0])
    arm = carom.Arm([carom.Rod(length=1.0, mass=1.0)])
    with pytest.raises(carom.CaromError, match="motion of 'control' is a float"):
        carom.control.ComputedTorque(arm, 1.0, kp=[1.0], kd=[1.0])
    with pytest.raises(carom.CaromError, match="kp of 'control' has shape"):
        carom.control.ComputedTorque(arm, Still((0.0, 0.0)), kp=[1.0, 2.0], kd=[1.0])
