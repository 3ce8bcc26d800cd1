"""Runs of an arm under control that strikes a floor: its ledger closes, its schedule misses no blow."""

import numpy as np

import carom
from carom.control import AtHeight, OnStrike

# -- the ledger --------------------------------------------------------------------------------------------------------


def arm_with_everything() -> carom.World:
    """Two links with springs and dampers, a sampled controller with torque limits, a floor with friction."""
    rod = carom.Rod(0.5, 1.0)
    joint = carom.Joint(stiffness=3.0, damping=0.2)
    arm = carom.Arm([carom.Link(rod, joint=joint), carom.Link(rod, joint=joint)])
    control = carom.PostureControl(arm, [[-1.4, -1.4]], [20.0, 10.0], [1.0, 0.5], rate=200.0, limit=[6.0, 3.0])
    law = carom.HuntCrossley(1e7, 0.6)
    floor = carom.Contact(arm.tip, carom.Plane(height=-0.8), law, carom.SmoothCoulomb(0.3, 0.1), name="floor")
    return carom.World(arm, contacts=floor, control=control)


def test_the_ledger_closes_and_shrinks_with_the_tolerance() -> None:
    world = arm_with_everything()
    left = {}
    for rtol in (1e-6, 1e-8, 1e-10):
        result = carom.simulate(
            world, world.state(angles=[0.3, 0.0]), until=0.5, settings=carom.Settings(rtol=rtol, atol=1e-2 * rtol)
        )
        ledger = result.energy
        assert np.allclose(ledger.total[0] + sum(w[-1] for w in ledger.works.values()), ledger.total[-1], atol=1e-4)
        left[rtol] = ledger.max_error_percent
    assert len(result.impacts) >= 1
    works = {name: w[-1] for name, w in ledger.works.items()}
    assert works["floor: normal force"] < -0.01
    assert works["floor: friction"] < -0.01
    assert works["joint dampers"] < -0.01
    assert abs(works["control: actuators"]) > 0.1
    torques = np.array([[e.memory["torque 1"], e.memory["torque 2"]] for e in result.events if e.exit == "sample"])
    assert np.max(np.abs(torques[:, 0])) == 6.0  # the limit is reached, and kept
    assert np.max(np.abs(torques[:, 1])) <= 3.0
    assert left[1e-8] < 1e-6
    assert left[1e-8] < 0.1 * left[1e-6]
    assert left[1e-10] < 0.1 * left[1e-8]


# -- the schedule ------------------------------------------------------------------------------------------------------


def test_a_schedule_switches_on_the_blow_of_a_rigid_contact():
    """A rigid contact that rebounds is open before and after its blow; the schedule must not miss it."""
    arm = carom.Arm([carom.Rod(length=1.0, mass=1.0)])
    floor = carom.Contact(arm.tip, carom.Plane(height=-0.5), 0.5, name="floor")
    hammer = carom.PostureControl(
        arm,
        targets=[[-1.0], [1.0]],
        kp=[50.0],
        kd=[10.0],
        schedule=[OnStrike(floor), AtHeight(arm.tip, 0.5)],
        compensate_weight=True,
    )
    world = carom.World(arm, contacts=floor, control=hammer)
    result = carom.simulate(world, world.state(), until=3.0)
    blows = [e.t for e in result.events if e.exit == "strike floor"]
    turns = [e.t for e in result.events if e.exit == "end of posture 1"]
    assert len(blows) >= 2
    assert turns == blows
