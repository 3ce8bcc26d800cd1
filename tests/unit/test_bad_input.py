"""Wrong bodies and trees: each is refused with one sentence that names the object, the value, the rule and the cure.

These run without the checker of annotations: the refusal has to come from carom.
"""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

import carom
from carom import Arm, Body, Disk, Fixed, Free, Joint, Link, Mechanism, PointMass, Rod

from .refusals import ARM, NAN, ROD, named, refused

pytestmark = pytest.mark.usefixtures("unchecked")


BODIES = {
    "negative mass": (lambda: Rod(length=1.0, mass=-2.0), r"mass of Rod is -2; it must be at least 0"),
    "NaN mass": (lambda: Disk(radius=1.0, mass=NAN), r"mass of Disk is nan; it must be a finite number; check"),
    "infinite mass": (lambda: PointMass(mass=np.inf, length=1.0), r"mass of PointMass is inf; it must be a finite"),
    "two masses": (lambda: Rod(length=1.0, mass=[1.0, 2.0]), r"mass of Rod has shape \(2,\); it must be a single"),
    "zero length": (lambda: Rod(length=0.0, mass=1.0), r"length of Rod is 0; it must be greater than 0"),
    "zero radius": (lambda: Disk(radius=0.0, mass=1.0), r"radius of Disk is 0; it must be greater than 0"),
    "negative string": (lambda: PointMass(mass=1.0, length=-1.0), r"length of PointMass is -1; it must be at least 0"),
    "negative inertia": (lambda: Body(mass=1.0, inertia=-1.0), r"inertia of Body is -1; it must be at least 0"),
    "inertia without mass": (
        lambda: Body(mass=0.0, inertia=2.0),
        r"inertia of Body is 2 with mass 0; no body has .* without mass; give it a mass, or inertia 0",
    ),
    "centre in space": (
        lambda: Body(mass=1.0, inertia=1.0, com=(1, 2, 3)),
        r"com of Body has shape \(3,\).* 2 numbers",
    ),
    "ragged centre": (lambda: Body(mass=1.0, inertia=1.0, com=([1.0], 2.0)), r"com of Body has shape \(ragged\)"),
    "NaN tip": (
        lambda: Body(mass=1.0, inertia=1.0, tip=(0.0, NAN)),
        r"tip of Body is \[0.0, nan\]; every entry .* finite",
    ),
    "negative spring": (lambda: Joint(stiffness=-1.0), r"stiffness of Joint is -1; it must be at least 0"),
    "negative damper": (lambda: Joint(damping=-1.0), r"damping of Joint is -1; it must be at least 0"),
    "NaN rest": (lambda: Joint(rest=NAN), r"rest of Joint is nan; it must be a finite number"),
    "NaN pivot": (lambda: Fixed(0.0, NAN), r"y of Fixed is nan; it must be a finite number"),
}

TREES = {
    "no links": (lambda: Mechanism([]), r"links is empty; a mechanism needs at least one, such as"),
    "a number for a link": (lambda: Mechanism([ROD, 5]), r"links\[1\] is a int; it must be a body or a carom.Link"),
    "a class for a body": (
        lambda: Link(Rod),
        r"body of Link is a \w+; it must be a Rod, Disk, PointMass, Body or Beam",
    ),
    "a link in a link": (lambda: Link(named("a"), name="b"), r"body of link 'b' is a Link; it must be a Rod"),
    "a number for a joint": (lambda: named("a", joint=3.0), r"joint of link 'a' is a float; it must be a carom.Joint"),
    "a point in space": (lambda: named("a", at=(1.0, 2.0, 3.0)), r"at of link 'a' has shape \(3,\).* 2 numbers"),
    "a site on a line": (lambda: named("a", sites={"hand": (1.0,)}), r"site 'hand' of link 'a' has shape \(1,\)"),
    "unknown parent": (
        lambda: Arm([named("upper"), named("lower", parent="uper")]),
        r"no link \(named as parent of 'lower'\) 'uper'; known: 'upper', 'lower'; did you mean 'upper'\?",
    ),
    "its own parent": (
        lambda: Arm([named("a", parent="a")]),
        r"parent of link 'a' is 'a', which hangs on it in turn; a tree has no cycle; close loops with .* carom.Pin",
    ),
    "circle": (
        lambda: Arm([named("a"), named("b", parent="c"), named("c", parent="b")]),
        r"parent of link 'b' is 'c', which hangs on it in turn; a tree has no cycle",
    ),
    "two links of one name": (lambda: Arm([named("a"), named("a")]), r"2 links are called 'a'; .* rename one"),
    "a name that was given": (lambda: Arm([named("link2"), ROD]), r"2 links are called 'link2'; .* rename one"),
    "two sites of one name": (
        lambda: Arm([named("a", sites={"hand": (0, 0)}), named("b", sites={"hand": (1, 0)})]),
        r"2 sites are called 'hand'; names must differ; rename one",
    ),
    "a name that cannot be printed": (
        lambda: Arm([named("a\0b")]),
        r"one of the links is called 'a\\x00b'; names hold",
    ),
    "a site that cannot be printed": (lambda: Arm([named("a", sites={"\x1b": (0, 0)})]), r"one of the sites is called"),
    "a site called tip": (lambda: Arm([named("a", sites={"a.tip": (0, 0)})]), r"2 sites are called 'a.tip'"),
    "reserved name": (
        lambda: Arm([named("base")]),
        r"a link is called 'base'; 'base' and names with a dot are reserved",
    ),
    "name with a dot": (lambda: Arm([named("a.b")]), r"a link is called 'a.b'; .* names with a dot are reserved"),
    "a pair for a base": (
        lambda: Mechanism([ROD], base=(0.0, 0.0)),
        r"base is a tuple; it must be carom.Fixed\(x, y\) or",
    ),
    "a class for a base": (lambda: Mechanism([ROD], base=Free), r"base is a \w+; it must be .* or carom.Free\(\)"),
    "a number for a base": (lambda: Arm([ROD], base=1.0), r"base of Arm has shape \(\); it must be 2 numbers"),
    "zero length": (
        lambda: Arm([PointMass(mass=1.0)]),
        r"link 'link1' has zero length and no moment of inertia; turning it moves nothing.*; give it .*weld",
    ),
    "zero length with a joint at its end": (
        lambda: Arm([Link(Body(mass=1.0, inertia=0.0), name="hinge"), ROD]),
        r"link 'hinge' has zero length and no moment of inertia",
    ),
    "nothing side by side": (
        lambda: carom.side_by_side(),
        r"side_by_side got no mechanism; give at least one, such as",
    ),
    "a rod side by side": (
        lambda: carom.side_by_side(arm=ROD),
        r"'arm' in side_by_side is a Rod; it must be a Mechanism",
    ),
    "unknown link": (
        lambda: ARM.weld("link3", ROD),
        r"no link 'link3'; known: 'link1', 'link2'; did you mean 'link\d'\?",
    ),
    "a number to weld": (lambda: ARM.weld("link1", 5.0), r"body welded to 'link1' is a float; it must be a Rod"),
    "weld in space": (lambda: ARM.weld("link1", ROD, at=(1, 2, 3)), r"at of weld to 'link1' has shape \(3,\)"),
    "weld at no angle": (lambda: ARM.weld("link1", ROD, angle=NAN), r"angle of weld to 'link1' is nan"),
    "unknown site": (lambda: ARM.site("link2.tp"), r"no site 'link2.tp'; .*did you mean 'link2.tip'\?"),
    "a far-off site": (lambda: ARM.site("xyz"), r"no site 'xyz'; known: 'link1.tip', 'link2.tip'; choose one of these"),
}


@refused(BODIES)
def test_a_wrong_body_is_refused(wrong: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(carom.CaromError, match=sentence):
        wrong()


@refused(TREES)
def test_a_wrong_tree_is_refused(wrong: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(carom.CaromError, match=sentence):
        wrong()


@pytest.mark.parametrize(
    "made",
    [
        lambda robot: carom.PostureControl(robot, [0.0, 0.0], kp=[1.0, 1.0], kd=[1.0, 1.0]),
        lambda robot: carom.StateMachine(robot, {"still": carom.Mode()}),
        lambda robot: carom.PhasedInputs(robot, "link1", 1.0, [0.0], [[1.0]]),
        lambda robot: carom.control.TorqueFunction(robot, lambda t, state, phase: {}),
        lambda robot: carom.control.FeedForward(robot, lambda t: [0.0, 0.0]),
        lambda robot: carom.control.ComputedTorque(robot, None, [1.0], [1.0]),
    ],
    ids=["posture", "machine", "phased", "function", "feedforward", "computed torque"],
)
def test_controllers_are_made_for_a_mechanism_not_for_a_world(made: Callable[[Any], Any]) -> None:
    for wrong, kind in ((carom.World(ARM), "World"), (None, "NoneType")):
        with pytest.raises(carom.CaromError, match=f"mechanism of 'control' is a {kind}; it must be a carom.Mechanism"):
            made(wrong)


def test_an_error_is_a_value_error() -> None:
    assert issubclass(carom.CaromError, ValueError)


def test_numbers_that_are_traced_cannot_be_checked_and_are_let_through() -> None:
    assert jax.jit(lambda mass: Rod(length=1.0, mass=mass).mass)(-1.0) == -1.0


def test_limits_that_are_allowed() -> None:
    Rod(length=1e-9, mass=0.0), PointMass(mass=0.0), Body(mass=0.0, inertia=0.0), Joint()
    Arm([Rod(length=1.0, mass=0.0)])  # can be held by constraints
    Arm([Disk(radius=1.0, mass=1.0), ROD])  # a spacecraft: its joint is at its own centre, and turning it needs torque
    Mechanism([named("a"), named("b", parent=carom.BASE)], base=Free())
