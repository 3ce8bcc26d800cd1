"""A robot on two feet is pushed: its heels strike in turn, each blow lifts the other, and it comes to rest."""

import numpy as np
import pytest

import carom

LEGS = {"left": -0.25, "right": 0.35}  # [rad] from the vertical


def two_legs():
    """A torso on two legs with feet, 49 kg, held by its joints; heel and toe of each foot meet the floor."""
    links = [carom.Link(carom.Rod(0.5, 35.0), name="torso")]
    for side in LEGS:
        hip, ankle = carom.Joint(damping=1.0), carom.Joint(damping=0.5)
        links += [
            carom.Link(carom.Rod(0.8, 9.0), name=f"{side} leg", parent="torso", at=(0.0, 0.0), joint=hip),
            carom.Link(carom.Rod(0.16, 1.0), name=f"{side} foot", parent=f"{side} leg", joint=ankle),
        ]
    return carom.Mechanism(links, base=carom.Free())


@pytest.mark.parametrize("push", [0.3, 0.8])
def test_a_pushed_robot_comes_to_rest_on_both_feet(push):
    """Hops and slides shorter than rounding are none; before, feet went on to rock 10,000 times in a second."""
    robot = two_legs()
    angles = [np.pi / 2] + [x for lean in LEGS.values() for x in (lean - np.pi / 2, 0.0)]
    relative = [np.pi / 2] + [x for lean in LEGS.values() for x in (lean - np.pi, np.pi / 2 - lean)]
    stiffness = np.array([0.0, 600.0, 300.0, 600.0, 300.0])
    control = carom.PostureControl(robot, [relative], kp=stiffness, kd=0.1 * stiffness, relative=True)
    soles = [carom.Capsule(f"{side} foot.tip", (-0.22, -0.05), (0.0, -0.05), 0.02) for side in LEGS]
    legs = ["torso", *(f"{side} leg" for side in LEGS)]
    ground = carom.Ground(carom.Plane(height=0.0), carom.Plastic(), carom.Coulomb(0.6), shapes=soles, exclude=legs)
    world = carom.World(robot, ground=ground, control=control, gravity=9.81)
    height = max(0.8 * np.cos(lean) for lean in LEGS.values()) + 0.071
    start = world.state(angles=angles, base=(0.0, height), base_velocity=(push, 0.0))
    result = carom.simulate(world, start, until=1.5, settings=carom.Settings(max_steps=6000))
    assert len(result.events) < 100
    assert result.events[-1].phase_after.count("sticking") == 4
    assert result.penetration < 1e-12 and result.energy.max_error_percent < 1e-6
    assert np.max(np.abs(result.v[-1])) < 0.05  # it still sways on its joints
