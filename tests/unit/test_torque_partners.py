"""A torque acts between a link and its parent; nothing turns a free robot against the void. Weight is the world's."""

import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom.control import ComputedTorque, FeedForward, MinimumJerk

LINKS = [carom.Link(carom.Rod(length=1.0, mass=1.0), name=name) for name in ("hull", "upper", "fore")]
FLYER = carom.Mechanism(LINKS, base=carom.Free())
ARM = carom.Arm([carom.Rod(length=1.0, mass=1.0), carom.Rod(length=0.7, mass=0.5)])
KP, KD, TARGET = [0.0, 30.0, 20.0], [0.0, 3.0, 2.0], [0.1, 0.9, -0.4]
TIGHT = carom.Settings(solver="dopri8", rtol=1e-13, atol=1e-15)  # momentum of what turns is exact to the tolerance
PLAN, MOTION = MinimumJerk([0.0, 9.0, 1.0], [0.0, 4.0, 0.5], 0.2), MinimumJerk(TARGET, [0.0, 0.5, 0.2], 0.4)

CONTROLLERS = {
    "posture": lambda **o: carom.PostureControl(FLYER, TARGET, KP, KD, **o),
    "posture, relative": lambda **o: carom.PostureControl(FLYER, TARGET, KP, KD, relative=True, **o),
    "posture, integral": lambda **o: carom.PostureControl(FLYER, TARGET, KP, KD, [0.0, 5.0, 5.0], **o),
    "posture, weight": lambda **o: carom.PostureControl(FLYER, TARGET, KP, KD, compensate_weight=True, **o),
    "feed-forward": lambda **o: FeedForward(FLYER, PLAN, MOTION, KP, KD, **o),
}


def spin(world):
    """Largest change of the angular momentum about the centre of mass, relative to its largest value."""
    start = world.state([0.3, -0.2, 0.5], [0.4, -1.0, 2.0], base_velocity=[(0.3, 0.1)])
    run = carom.simulate(world, start, until=0.5, settings=TIGHT)
    p = run.momentum
    return p.angular_drift / np.max(np.abs(p.angular))


LIMIT, RATE = {"limit": [1.0, 4.0, 2.0]}, {"rate": 40.0}
QUICK = [("posture", LIMIT), ("posture, relative", RATE), ("posture, weight", {}), ("feed-forward", LIMIT)]
SLOW = [(name, options) for name in CONTROLLERS for options in ({}, LIMIT, RATE) if (name, options) not in QUICK]


@pytest.mark.parametrize(("name", "options"), [*QUICK, *(pytest.param(*x, marks=pytest.mark.slow) for x in SLOW)])
def test_a_free_robot_keeps_its_angular_momentum(name, options):
    assert spin(carom.World(FLYER, control=CONTROLLERS[name](**options), gravity=0.0)) < 1e-12


def test_in_a_capture_controller_joints_alone_keep_it():
    control = carom.HoldPose(FLYER, FLYER.state(TARGET).q, kp=9.0, base="free-floating")
    assert spin(carom.World(FLYER, control=control, gravity=0.0)) < 1e-12


def test_a_gain_on_the_first_link_of_a_free_base_is_refused():
    control = carom.PostureControl(FLYER, TARGET, [1.0, 30.0, 20.0], KD)
    with pytest.raises(carom.CaromError, match=r"asks for a torque on 'hull'.* anchored=\['hull'\]"):
        carom.World(FLYER, control=control)


def test_a_plan_with_a_torque_on_it_is_refused():
    control = FeedForward(FLYER, MinimumJerk([1.0, 9.0, 1.0], [0.0, 4.0, 0.5], 0.2))
    with pytest.raises(carom.CaromError, match=r"asks for a torque on 'hull'"):
        carom.World(FLYER, control=control)


def test_what_is_anchored_is_turned_against_the_world():
    control = carom.PostureControl(FLYER, TARGET, [1.0, 30.0, 20.0], KD, anchored="hull")
    assert spin(carom.World(FLYER, control=control, gravity=0.0)) > 1e-3


def test_anchors_are_links_of_free_bases():
    with pytest.raises(carom.CaromError, match="'upper', which has a joint"):
        carom.World(FLYER, control=carom.PostureControl(FLYER, TARGET, KP, KD, anchored=["upper"]))
    with pytest.raises(carom.CaromError, match="hul"):
        carom.World(FLYER, control=carom.PostureControl(FLYER, TARGET, KP, KD, anchored=["hul"]))
    with pytest.raises(carom.CaromError, match="anchored of 'control' holds 3; it must hold names of links"):
        carom.PostureControl(FLYER, TARGET, KP, KD, anchored=[3])


def test_a_lane_with_such_a_gain_fails():
    def make(gain):
        kp = jnp.stack([gain, 30.0, 20.0])
        return carom.World(FLYER, control=carom.PostureControl(FLYER, TARGET, kp, KD), gravity=0.0)

    ends = carom.batch(make, jnp.array([0.0, 1.0]), FLYER.state(TARGET), until=0.05, throw=False)
    assert list(np.asarray(ends.outcome) == carom.hybrid.outcome.FINISHED) == [True, False]


@pytest.mark.parametrize("field", ["stiffness", "damping"])
def test_the_first_link_of_a_free_base_has_no_joint(field):
    link = carom.Link(carom.Rod(length=1.0, mass=1.0), name="hull", joint=carom.Joint(**{field: 2.0}))
    with pytest.raises(carom.CaromError, match=f"the joint of 'hull' has {field} 2, but 'hull' is the first link"):
        carom.World(carom.Mechanism([link], base=carom.Free()))


# -- one gravity -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gravity", [1.62, 9.81, (2.0, -3.0)])
@pytest.mark.parametrize("name", ["posture", "computed torque", "hold pose"])
def test_weight_is_that_of_the_world(name, gravity):
    """A robot whose weight is compensated, and that is where it should be, stays there."""
    target = [0.4, -0.3]
    control = {
        "posture": lambda: carom.PostureControl(ARM, target, [1.0, 1.0], [0.1, 0.1], compensate_weight=True),
        "computed torque": lambda: ComputedTorque(ARM, MinimumJerk(target, target, 1.0), [1.0, 1.0], [1.0, 1.0]),
        "hold pose": lambda: carom.HoldPose(ARM, target, kp=1.0),
    }[name]()
    world = carom.World(ARM, control=control, gravity=gravity)
    end = carom.simulate(world, world.state(target), until=2.0)
    np.testing.assert_allclose(end.q[-1], target, atol=1e-10)
