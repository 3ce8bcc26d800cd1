"""Inverse dynamics in contact: postures, motions and plans that are refused, each with a sentence."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom import CaromError
from carom.contact import ContactInverse
from carom.control import Quintic
from carom.crawl import ClosedMotion, SlidingPlan

from .chains_on_surfaces import G, arm_on

pytestmark = pytest.mark.usefixtures("unchecked")


@pytest.fixture(scope="module")
def floor():
    return arm_on(carom.Plane(height=0.0))


@pytest.fixture(scope="module")
def moving(floor):
    return floor.close([0.9, -0.2, -0.9], [0.5, 0.1, 0.0], [0.0, 0.0, 0.0])


def test_a_singular_posture_is_named(floor):
    """The reaction's line passes through the last joint where cos phi + mu sin phi = 0 while the tip goes right."""
    phi = -np.arctan(1.0 / 0.4)
    height = 0.2 + 0.5 * np.sin(phi)
    q = np.array([np.arcsin(-height / 0.5), 0.0, phi])
    q, v, a = floor.close(q, [0.0, 0.1, 0.0], follow=["link3"])
    assert float(floor.solve(q, v, a, throw=False).sliding[0]) < 0.0
    assert float(floor.solve(q, v, a).normal[0]) > 0.0  # to the left all is well
    with pytest.raises(CaromError, match=r"joint 'link3' has no torque .* in the posture q = .*another passive joint"):
        floor.solve(q, -v, a)


def test_a_motion_that_leaves_the_surface_is_refused_with_its_error(floor, moving):
    q, v, a = moving
    with pytest.raises(
        CaromError, match=r"leaves the surface of 'tip': gap .*, its rate .* m/s, its acceleration 0\.\d+ m/s"
    ):
        floor.solve(q, v, a.at[2].add(1.0))
    with pytest.raises(CaromError, match=r"leaves the surface of 'tip': gap 0\.0\d+ m"):
        floor.solve(q.at[2].add(0.1), v, a)


def test_at_rest_the_sense_must_be_given(floor, moving):
    q = moving[0]
    still = jnp.zeros(3)
    with pytest.raises(CaromError, match=r"'tip' is at rest.*senses"):
        floor.solve(q, still, still)
    right, left = (float(floor.solve(q, still, still, senses=s).normal[0]) for s in (1, -1))
    # The passive link is a lever under its own weight: N (cos phi + sigma mu sin phi) = m g cos phi / 2
    cos, sin = np.cos(float(q[2])), np.sin(float(q[2]))
    assert right == pytest.approx(0.5 * G * cos / (cos + 0.4 * sin), rel=1e-12)
    assert left == pytest.approx(0.5 * G * cos / (cos - 0.4 * sin), rel=1e-12)
    sign = float(jnp.sign(floor.solve(*moving).sliding[0]))
    with pytest.raises(CaromError, match="contradict the motion"):
        floor.solve(*moving, senses=[-sign])


def test_under_jit_the_refusal_is_a_runtime_error(floor, moving):
    q, v, a = moving
    with pytest.raises(Exception, match="leaves the surface of 'tip'"):
        jax.block_until_ready(jax.jit(lambda a: floor.solve(q, v, a))(a + 1.0))


def test_sentences():
    arm = carom.Arm([carom.Rod(length=0.5, mass=1.0)] * 3)
    tip = carom.Contact(arm.tip, carom.Plane(height=0.0), 0.0, carom.Coulomb(0.4), name="tip")
    side = carom.Contact(arm.site("link2.tip"), carom.Plane(height=0.0), 0.0, name="side")
    wrong = {
        r"5 unknowns|4 unknowns for 3 equations.*make 1 more joint\(s\) passive, such as 'link3'": lambda: (
            ContactInverse(arm, tip)
        ),
        "2 unknowns for 3 equations; give 'link2' a motor": lambda: ContactInverse(arm, tip, ["link2", "link3"]),
        "passive joint 'link3' carries nothing.*make 'link2' passive instead": lambda: ContactInverse(
            arm, side, ["link3"]
        ),
        "there is no link 'link9'": lambda: ContactInverse(arm, tip, ["link9"]),
        "passive is 3; it must be a list of names": lambda: ContactInverse(arm, tip, 3),
        "contact 'side' is to stick but has no friction": lambda: ContactInverse(arm, side, ["link1"], ["side"]),
        "there is no sticking contact 'tap'": lambda: ContactInverse(arm, tip, ["link1"], ["tap"]),
        "contacts of ContactInverse is empty": lambda: ContactInverse(arm, [], ["link3"]),
        "contacts of ContactInverse holds a Plane": lambda: ContactInverse(arm, [carom.Plane(height=0.0)], ["link3"]),
        "mechanism of ContactInverse is a int": lambda: ContactInverse(3, tip, ["link3"]),
        "joint 'link3' cannot bring 'tip' onto its surface": lambda: ContactInverse(arm, tip, "link3").close(
            [1.5, 1.5, 0.0]
        ),
        "joint 'link3' is to follow but carries nothing": lambda: ContactInverse(arm, side, "link2").close(
            [0.0, 0.0, 0.0], follow=["link3"]
        ),
        "2 joints follow .* but 1 contacts slide": lambda: ContactInverse(arm, tip, "link3").close(
            [0.1, 0.1, -0.3], follow=["link2", "link3"]
        ),
        "senses of motion are": lambda: ContactInverse(arm, tip, "link3").solve(*np.zeros((3, 3)), senses=[0.5]),
        "free base needs more to stand on": lambda: ContactInverse(
            carom.Mechanism([carom.Rod(length=1.0, mass=1.0)] * 3, base=carom.Free()), tip
        ),
    }
    for words, act in wrong.items():
        with pytest.raises(CaromError, match=words):
            act()


def test_plans_refuse_what_a_surface_cannot_do(floor):
    lift = ClosedMotion(floor, Quintic([0.9, -0.2], [0.3, -0.6], 0.08), [-0.9])
    with pytest.raises(CaromError, match=r"reaction of 'tip' is -.* N at t = .*only pushes"):
        SlidingPlan(floor, lift)
    assert float(SlidingPlan(floor, lift, pull=True).senses[0]) != 0.0
    turning = ClosedMotion(floor, Quintic([0.6, -0.2], [0.5, -0.3], 1.0, start_velocity=[0.6, 0.0]), [-0.9])
    with pytest.raises(CaromError, match="slides against its sense"):
        SlidingPlan(floor, turning)
    with pytest.raises(CaromError, match=r"from t = .* on, joint 'link3' cannot keep its tip"):
        ClosedMotion(floor, Quintic([0.9, -0.2], [1.5, 1.5], 1.0), [-0.9])
    with pytest.raises(CaromError, match="it must move the 2 coordinates that do not follow"):
        ClosedMotion(floor, Quintic([0.9], [1.5], 1.0), [-0.9])
