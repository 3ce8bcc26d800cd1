"""Joints that stick, and rigid contacts: loads that both could carry, blows that pass through joints; effort limits."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom import dynamics
from carom.control import AbstractActuator
from carom.hybrid.scene import Own, Scene

G, FRICTION, ANGLE = 9.81, 3.0, 0.5
WEIGHT = 2.0 * G * 0.5 * np.cos(ANGLE)  # moment of a rod of 2 kg and 1 m about its pivot


class Ramp(AbstractActuator):
    """A torque that grows with time, of the first joint."""

    slope: Any

    def asked(self, scene: Scene, own: Own) -> list[Any]:
        return [self.slope * scene.t, *[0.0] * (self.links - 1)]


def propped(slope: float) -> carom.World:
    """A rod whose tip rests on a rigid floor; its joint sticks."""
    rod = carom.Link(carom.Rod(1.0, 2.0), joint=carom.Joint(friction=FRICTION))
    arm = carom.Mechanism([rod], base=carom.Fixed(0.0, np.sin(ANGLE)))
    floor = carom.Contact(arm.tip, carom.Plane(height=0.0), carom.Newton(0.0), name="floor")
    return carom.World(arm, contacts=floor, control=Ramp(slope), gravity=G)


def test_a_rod_on_a_floor_is_lifted_when_the_torque_exceeds_weight_and_friction_together() -> None:
    """The floor carries nothing any more when weight less torque is what friction holds; then friction turns round."""
    world = propped(10.0)
    result = carom.simulate(world, world.state(angles=[-ANGLE]), until=1.3)
    told = [(event.exit, event.t) for event in result.events]
    # Joint and floor share the weight as they like: at this instant the one cannot hold it and the other would have to
    # pull, and which is seen first hangs on rounding. A pull is noticed 16 widths of the event before it later.
    known = {"slip forward link1": 1e-12, "lift floor": 1e-10}
    np.testing.assert_allclose(told[-1][1], (WEIGHT + FRICTION) / 10.0, rtol=known[told[-1][0]])
    first = result.at(np.linspace(0.0, told[-1][1], 5))
    np.testing.assert_allclose(first.q[:, 0], -ANGLE, atol=1e-14)
    pressed = carom.simulate(propped(-10.0), world.state(angles=[-ANGLE]), until=1.3)
    np.testing.assert_allclose(pressed.q[-1], -ANGLE, atol=1e-14)
    assert not pressed.events


def striking(friction: float) -> carom.World:
    """An arm of two rods over a floor; the first joint is smooth."""
    rods = [carom.Link(carom.Rod(1.0, 1.0), joint=carom.Joint(friction=f)) for f in (0.0, friction)]
    arm = carom.Mechanism(rods, base=carom.Fixed(0.0, 0.8))
    floor = carom.Contact(arm.tip, carom.Plane(height=0.0), carom.Newton(0.4), name="floor")
    return carom.World(arm, contacts=floor, gravity=G)


def test_a_blow_passes_through_a_joint_that_sticks() -> None:
    """The arm falls as one body. The impulse of the smooth floor alone makes the new velocities."""
    world = striking(20.0)
    result = carom.simulate(world, world.state(angles=[0.2, -0.6]), until=1.0)
    blow = next(event for event in result.events if event.exit == "strike floor")
    np.testing.assert_allclose(blow.q[1] - blow.q[0], -0.8, atol=1e-12)
    np.testing.assert_allclose(blow.v[1], blow.v[0], rtol=1e-12)
    levers = np.array([-np.sin(blow.q), np.cos(blow.q)])  # of the tip, along and across the floor
    mass = np.asarray(dynamics.mass_matrix(world.mechanism, jnp.asarray(blow.q)))
    impulse = np.linalg.solve(levers.T, mass @ (blow.v_after - blow.v))
    before, after = levers @ blow.v, levers @ blow.v_after
    np.testing.assert_allclose(after[1], -0.4 * before[1], rtol=1e-10)
    np.testing.assert_allclose(impulse[0] / impulse[1], 0.0, atol=1e-12)
    assert abs(blow.v_after[1] - blow.v_after[0]) > 0.1
    assert result.energy.max_error_percent < 1e-6


def limited(effort_limit: float | None, limit: list[float] | None, rate: float | None = None) -> carom.World:
    """A boom that turns, and a rod that slides along it."""
    joints = [carom.Joint(), carom.Slider(effort_limit=effort_limit)]
    links = [carom.Link(carom.Rod(1.0, 1.0), name=n, joint=j) for n, j in zip(("a", "b"), joints, strict=True)]
    arm = carom.Mechanism(links)
    control = carom.PostureControl(arm, [[0.5, 0.4]], kp=[90.0, 200.0], kd=[20.0, 20.0], limit=limit, rate=rate)
    return carom.World(arm, control=control, gravity=0.0)


def test_the_limit_of_a_joint_cuts_what_a_controller_commands_as_its_own_limit_does() -> None:
    ends = {}
    for name, world in {
        "joint": limited(8.0, None),
        "controller": limited(None, [1e6, 8.0]),
        "both": limited(20.0, [1e6, 8.0]),
    }.items():
        run = carom.simulate(world, world.state(), until=1.0)
        ends[name] = run.q[-1]
        if name == "joint":
            assert "limit 2" in [event.exit for event in run.events]
    np.testing.assert_allclose(ends["joint"], ends["controller"], rtol=1e-8)
    np.testing.assert_array_equal(ends["both"], ends["controller"])
    sampled = limited(8.0, None, rate=50.0)
    own = sampled.automata[0].start(Scene(sampled.mechanism, 0.0, (0.0, 0.0), (0.0, 0.0)))
    np.testing.assert_allclose(own.memory[1:], [45.0, 8.0])


REFUSED: dict[str, tuple[Any, str]] = {
    "negative friction": (lambda: carom.Joint(friction=-1.0), "friction of Joint is -1"),
    "static below sliding": (lambda: carom.Slider(friction=2.0, static_friction=1.0), "is 1, less than friction, 2"),
    "no effort": (lambda: carom.Joint(effort_limit=0.0), "effort_limit of Joint is 0"),
    "no joint": (
        lambda: carom.Mechanism([carom.Link(carom.Rod(1.0, 1.0), joint=carom.Joint(friction=1.0))], base=carom.Free()),
        "'link1' has friction, but 'link1' is the first link of a free base",
    ),
    "many contacts": (lambda: crowded(), "has dry friction in a world with 9 rigid contacts"),
    "no limits": (lambda: posed(), "'hold' exerts whatever its pose"),
}


def crowded() -> carom.World:
    rods = [carom.Link(carom.Rod(1.0, 1.0), name=f"r{k}", joint=carom.Joint(friction=1.0)) for k in range(9)]
    arm, floor = carom.Mechanism(rods), carom.Plane(height=-20.0)
    return carom.World(arm, contacts=[carom.Contact(arm.site(f"r{k}.tip"), floor, carom.Newton(0.5)) for k in range(9)])


def posed() -> carom.World:
    arm = carom.Mechanism([carom.Link(carom.Rod(1.0, 1.0), joint=carom.Joint(effort_limit=1.0))])
    return carom.World(arm, control=carom.HoldPose(arm, [0.1], name="hold"))


@pytest.mark.parametrize(("wrong", "sentence"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_is_refused(wrong: Callable[[], object], sentence: str) -> None:
    with pytest.raises(carom.CaromError, match=sentence):
        wrong()
