"""A walker of twelve links, all of which can meet the floor: it stands when pushed, and falls when it is weak."""

import numpy as np
import pytest

import carom

LIMBS = {  # length [m], mass [kg], damping [N m s/rad], stiffness [N m/rad] of the joint above
    "head": (0.25, 5.0, 1.0, 60.0),
    "upper arm": (0.3, 2.0, 1.0, 40.0),
    "forearm": (0.25, 1.5, 0.5, 30.0),
    "thigh": (0.42, 7.0, 1.0, 600.0),
    "shank": (0.42, 3.5, 1.0, 500.0),
    "foot": (0.16, 1.0, 0.5, 300.0),
}
LEAN = {  # [rad] of each link against the vertical, downwards but for torso and head
    "left": {"upper arm": -0.3, "forearm": 0.0, "thigh": -0.25, "shank": -0.35},
    "right": {"upper arm": 0.3, "forearm": 0.6, "thigh": 0.35, "shank": 0.25},
}
ABOVE = {"upper arm": "torso", "forearm": "upper arm", "thigh": "torso", "shank": "thigh", "foot": "shank"}
SIDES = tuple(LEAN)


def walker():
    """The robot, and the angle of every link."""
    links, angles = [carom.Link(carom.Rod(0.5, 25.0), name="torso")], {"torso": np.pi / 2}

    def add(name, limb, parent, angle, **place):
        length, mass, damping, _ = LIMBS[limb]
        joint = carom.Joint(damping=damping)
        links.append(carom.Link(carom.Rod(length, mass), name=name, parent=parent, joint=joint, **place))
        angles[name] = angle

    add("head", "head", "torso", np.pi / 2)
    for side in SIDES:
        for limb, above in ABOVE.items():
            parent = above if above == "torso" else f"{side} {above}"
            angle = 0.0 if limb == "foot" else LEAN[side][limb] - np.pi / 2
            add(f"{side} {limb}", limb, parent, angle, **({"at": (0.0, 0.0)} if limb == "thigh" else {}))
    return carom.Mechanism(links, base=carom.Free()), angles, {link.name: link.parent for link in links}


def run(push, strength, until, mirror=1.0):
    robot, angles, parents = walker()
    relative = [angle - (angles[parents[name]] if parents[name] else 0.0) for name, angle in angles.items()]
    stiffness = np.array([strength * LIMBS[n.split(" ", 1)[-1]][3] if n != "torso" else 0.0 for n in angles])
    start = np.array(list(angles.values()))
    along = -0.22 * mirror
    soles = [carom.Capsule(f"{s} foot.tip", (along, -0.05 * mirror), (0.0, -0.05 * mirror), 0.02) for s in SIDES]
    if mirror < 0.0:
        start, relative = np.pi - start, -np.array(relative)
        relative[0] = start[0]
        soles = [carom.Capsule(f"{s} foot.tip", (-0.22, 0.05), (0.0, 0.05), 0.02) for s in SIDES]
    control = carom.PostureControl(robot, [relative], kp=stiffness, kd=0.1 * stiffness, relative=True)
    ground = carom.Ground(carom.Plane(height=0.0), carom.Plastic(), carom.Coulomb(0.6), shapes=soles, radius=0.02)
    world = carom.World(robot, ground=ground, control=control, gravity=9.81)
    height = 0.071 + max(sum(0.42 * np.cos(LEAN[s][x]) for x in ("thigh", "shank")) for s in SIDES)
    state = world.state(angles=start, base=(0.0, height), base_velocity=(mirror * push, 0.0))
    result = carom.simulate(world, state, until=until, settings=carom.Settings(max_steps=10_000))
    assert result.penetration < 1e-9 and result.energy.max_error_percent < 1e-6
    assert len(result.events) < 200
    return result


@pytest.mark.parametrize("mirror", [1.0, -1.0])
def test_a_push_is_caught_and_it_stands_on_both_feet(mirror):
    result = run(push=0.5, strength=1.0, until=1.5, mirror=mirror)
    assert result.events[-1].phase_after.count("foot corner") == 4
    assert np.max(np.abs(result.v[-1])) < 0.05 and result.q[-1][1] > 0.85


def test_without_strength_it_falls_and_lies_on_the_floor():
    result = run(push=1.5, strength=0.1, until=2.0)
    assert result.q[-1][1] == pytest.approx(0.02, abs=1e-9)  # the hip, as thick as a rod
    assert result.events[-1].phase_after.count("sticking") > 6
