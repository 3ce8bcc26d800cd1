"""Mistakes of users: each is refused with one sentence that names the object, the value, the rule and the cure.

These run without the checker of annotations: the refusal has to come from carom.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom import Arm, Body, Disk, Fixed, Free, Joint, Link, Mechanism, OnCurve, Pin, PointMass, Rod, dynamics

pytestmark = pytest.mark.usefixtures("unchecked")

NAN = float("nan")
ROD = Rod(length=1.0, mass=1.0)
ARM = Arm([ROD, ROD])
FLYER = Mechanism([ROD, ROD], base=Free())
Q, V = jnp.array([0.1, 0.2]), jnp.array([1.0, 2.0])


def named(name: str, **more: Any) -> Link:
    return Link(ROD, name=name, **more)


def move(**more: Any) -> Any:
    return dynamics.forward_dynamics(ARM, Q, V, **more)


def hold(*constraints: Any, **more: Any) -> Any:
    return dynamics.constrained_dynamics(ARM, list(constraints), Q, V, **more)


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
    "a class for a body": (lambda: Link(Rod), r"body of Link is a \w+; it must be a Rod, Disk, PointMass or Body"),
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
        r"parent of link 'a' is 'a', which hangs on it in turn; a tree has no circle; close loops with .* carom.Pin",
    ),
    "circle": (
        lambda: Arm([named("a"), named("b", parent="c"), named("c", parent="b")]),
        r"parent of link 'b' is 'c', which hangs on it in turn; a tree has no circle",
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

STATES = {
    "three angles": (lambda: ARM.coordinates([1.0, 2.0, 3.0]), r"angles of mechanism has shape \(3,\).* 2 numbers"),
    "NaN angle": (lambda: ARM.coordinates([1.0, NAN]), r"angles of mechanism is \[1.0, nan\]; every entry .* finite"),
    "a base too many": (lambda: ARM.coordinates([1.0, 2.0], base=(0.0, 0.0)), r"base of mechanism has shape \(2,\)"),
    "half a base": (
        lambda: FLYER.coordinates([1.0, 2.0], base=[0.0]),
        r"base of mechanism has shape \(1,\).* 2 numbers",
    ),
    "angles of another": (lambda: ARM.angles(jnp.zeros(4)), r"q of mechanism has shape \(4,\); it must be 2 numbers"),
    "base of another": (lambda: FLYER.base(jnp.zeros(2)), r"q of mechanism has shape \(2,\); it must be 4 numbers"),
    "long q": (lambda: dynamics.forward_dynamics(ARM, jnp.zeros(3), V), r"q of mechanism has shape \(3,\).* 2 numbers"),
    "short v": (lambda: dynamics.forward_dynamics(ARM, Q, V[:1]), r"v of mechanism has shape \(1,\).* 2 numbers"),
    "a batch": (lambda: dynamics.forward_dynamics(ARM, jnp.zeros((5, 2)), V), r"q of mechanism has shape \(5, 2\)"),
    "NaN q": (lambda: dynamics.forward_dynamics(ARM, Q * NAN, V), r"q of mechanism is \[nan, nan\]; every entry"),
    "long a": (lambda: dynamics.inverse_dynamics(ARM, Q, V, jnp.zeros(3)), r"a of mechanism has shape \(3,\)"),
    "forces in a wrong state": (lambda: dynamics.generalized_force(ARM, Q[:1], V), r"q of mechanism has shape \(1,\)"),
    "one torque": (lambda: move(torques=[1.0]), r"torques of mechanism has shape \(1,\); it must be 2 numbers"),
    "NaN torque": (lambda: move(torques=[1.0, NAN]), r"torques of mechanism is \[1.0, nan\]; every entry"),
    "force at no site": (lambda: move(forces={"link2.tpi": (1, 2)}), r"no site 'link2.tpi'; .*mean 'link2.tip'\?"),
    "force in space": (
        lambda: move(forces={"link2.tip": (1, 2, 3)}),
        r"forces\['link2.tip'\] has shape \(3,\).* 2 numb",
    ),
    "push on a fixed base": (lambda: move(base_force=(1.0, 2.0)), r"base_force of mechanism has shape \(2,\)"),
    "gravity in space": (lambda: move(gravity=(0.0, 0.0, -9.81)), r"gravity of world has shape \(3,\).* 2 numbers"),
    "NaN gravity": (lambda: move(gravity=NAN), r"gravity of world is nan; it must be a finite number"),
    "unknown formalism": (lambda: move(formalism="lagrang"), r"no formalism 'lagrang'; .*did you mean 'lagrange'\?"),
    "unknown formalism of M": (
        lambda: dynamics.mass_matrix(ARM, Q, "newton"),
        r"no formalism 'newton'; known: 'explicit'",
    ),
    "massless tip": (
        lambda: dynamics.forward_dynamics(Arm([ROD, Rod(length=1.0, mass=0.0)]), Q, V),
        r"link 'link2' with all it carries has no inertia about its joint; .*give it a mass, or .*constrained_dynamics",
    ),
    "a massless rod in line with its bob": (
        lambda: dynamics.forward_dynamics(Arm([Rod(length=1.0, mass=0.0), PointMass(mass=1.0, length=1.0)]), 0 * Q, V),
        r"accelerations at q = \[0.0, 0.0\] are not finite; the mass matrix is singular .*; give every link a mass",
    ),
    "zero length with a site": (
        lambda: dynamics.forward_dynamics(
            Arm([Link(PointMass(mass=1.0), name="hinge", sites={"hand": (1.0, 0.0)})]), Q[:1], V[:1]
        ),
        r"link 'hinge' with all it carries has no inertia about its joint",
    ),
    "a massless link that carries at its joint": (
        lambda: dynamics.forward_dynamics(
            Arm([Link(Body(mass=0.0, inertia=0.0, tip=(1.0, 0.0)), name="hinge"), Link(ROD, at=(0.0, 0.0))]), Q, V
        ),
        r"link 'hinge' with all it carries has no inertia about its joint",
    ),
    "no constraint": (lambda: hold(), r"constraints is empty; give at least one, or use .*forward_dynamics"),
    "pin in space": (lambda: Pin("link2.tip", (1, 2, 3)), r"other of Pin of 'link2.tip' has shape \(3,\).* 2 numbers"),
    "pin at no site": (lambda: hold(Pin("link2.tp", (0, 0))), r"no site 'link2.tp'; .*did you mean 'link2.tip'\?"),
    "pin to no site": (lambda: hold(Pin("link2.tip", "link1.tp")), r"no site 'link1.tp'; .*did you mean 'link1.tip'\?"),
    "curve at no site": (lambda: hold(OnCurve("hand", lambda x, y: y)), r"no site 'hand'; known: 'link1.tip'"),
    "lock of no link": (lambda: hold(carom.Locked("link3")), r"no link 'link3'; known: 'link1', 'link2'"),
    "held in a wrong state": (
        lambda: dynamics.constrained_dynamics(ARM, [Pin("link2.tip", (0, 0))], jnp.zeros(3), V),
        r"q of mechanism has shape \(3,\); it must be 2 numbers",
    ),
}

# Things of the wrong kind.
NUMBER = r"it must be a (single |finite )?number"
KINDS = {
    "a word for a mass": (lambda: Rod(length=1.0, mass="heavy"), rf"mass of Rod is 'heavy'; {NUMBER}"),
    "nothing for a mass": (lambda: Rod(length=1.0, mass=None), rf"mass of Rod is None; {NUMBER}"),
    "a complex mass": (lambda: Rod(length=1.0, mass=1 + 2j), rf"mass of Rod is \(1\+2j\); {NUMBER}"),
    "a word for gravity": (lambda: move(gravity="earth"), rf"gravity of world is 'earth'; {NUMBER}"),
    "words for torques": (lambda: move(torques=["a", "b"]), r"torques of mechanism is \['a', 'b'\]; .* number"),
    "a number for links": (lambda: Mechanism(5), r"links is a int; it must be a list"),
    "a list for sites": (lambda: named("a", sites=[(0, 1)]), r"sites of link 'a' is a list; .* such as \{"),
    "a number for a name": (lambda: Arm([Link(ROD, name=3)]), r"name of .*Link is 3; it must be a word"),
    "a number for a parent": (lambda: Arm([ROD, named("b", parent=0)]), r"parent of .*'b'.* is 0; .*name"),
    "a number for a site": (lambda: ARM.site(3), r"site .*3; .*name"),
    "a number for a formalism": (lambda: move(formalism=3), r"formalism .*3; .*name"),
    "a list for forces": (lambda: move(forces=[(1, 2)]), r"forces is a list; .* such as \{"),
    "a site of another mechanism": (
        lambda: dynamics.site_position(ARM, Q, Mechanism([named("a", sites={"hand": (0.1, 0)}), ROD]).site("hand")),
        r"site 'hand'.*another mechanism|no site 'hand'",
    ),
    "below a circle": (
        lambda: Arm([named("z", parent="b"), named("a", parent="b"), named("b", parent="a")]),
        r"parent of link 'a' is 'b', which hangs on it in turn",
    ),
    "two roots apart on a point": (
        lambda: Mechanism([named("a"), named("b", parent=carom.BASE, at=(1.0, 0.0))], base=Free()),
        r"link 'b' hangs at \(1, 0\) of a free base.*point.*Body",
    ),
    "one constraint without a list": (
        lambda: dynamics.constrained_dynamics(ARM, Pin("link2.tip", (0, 0)), Q, V),
        r"constraints is a Pin; it must be a list",
    ),
    "a word for a constraint": (lambda: hold("pin"), r"constraints\[0\] is a str; it must be .*Pin"),
    "a number for a pinned site": (lambda: Pin(5, (0.0, 0.0)), r"site of Pin is 5; .*name"),
    "a word for an angle": (lambda: carom.Locked("link1", angle="x"), rf"angle of Locked.* is 'x'; {NUMBER}"),
    "nothing for a curve": (lambda: OnCurve("link2.tip", None), r"curve of OnCurve.* is a NoneType; .*function"),
    "nothing to assemble": (lambda: dynamics.assemble(ARM, [], Q), r"constraints is empty"),
    "assembled in a wrong state": (
        lambda: dynamics.assemble(ARM, [Pin("link2.tip", (1.0, 1.0))], jnp.zeros(3)),
        r"q of mechanism has shape \(3,\); it must be 2 numbers",
    ),
    **{
        f"{name} of a wrong state": (
            lambda f=f: f(jnp.zeros(3)),
            r"q of mechanism has shape \(3,\); it must be 2 numbers",
        )
        for name, f in {
            "mass_matrix": lambda q: dynamics.mass_matrix(ARM, q),
            "bias": lambda q: dynamics.bias(ARM, q, V),
            "gravity_force": lambda q: dynamics.gravity_force(ARM, q),
            "kinetic_energy": lambda q: dynamics.kinetic_energy(ARM, q, V),
            "momentum": lambda q: dynamics.momentum(ARM, q, V),
            "centre_of_mass": lambda q: dynamics.centre_of_mass(ARM, q),
            "site_position": lambda q: dynamics.site_position(ARM, q, "link1.tip"),
            "site_velocity": lambda q: dynamics.site_velocity(ARM, q, V, "link1.tip"),
            "site_jacobian": lambda q: dynamics.site_jacobian(ARM, q, "link1.tip"),
            "site_bias": lambda q: dynamics.site_bias(ARM, q, V, "link1.tip"),
            "to_relative": lambda q: ARM.to_relative(q),
            "to_absolute": lambda q: ARM.to_absolute(q),
        }.items()
    },
}


def refused(table: dict[str, tuple[Callable[[], Any], str]]) -> Any:
    return pytest.mark.parametrize(("wrong", "sentence"), table.values(), ids=table.keys())


@refused(BODIES)
def test_a_wrong_body_is_refused(wrong: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(carom.CaromError, match=sentence):
        wrong()


@refused(TREES)
def test_a_wrong_tree_is_refused(wrong: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(carom.CaromError, match=sentence):
        wrong()


@refused(STATES)
def test_a_wrong_state_or_effort_is_refused(wrong: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(carom.CaromError, match=sentence):
        wrong()


@refused(KINDS)
def test_a_thing_of_the_wrong_kind_is_refused(wrong: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(carom.CaromError, match=sentence):
        wrong()


def test_an_error_is_a_value_error() -> None:
    assert issubclass(carom.CaromError, ValueError)


def test_numbers_that_are_traced_cannot_be_checked_and_are_let_through() -> None:
    assert jax.jit(lambda mass: Rod(length=1.0, mass=mass).mass)(-1.0) == -1.0


def test_limits_that_are_allowed() -> None:
    Rod(length=1e-9, mass=0.0), PointMass(mass=0.0), Body(mass=0.0, inertia=0.0), Joint()
    Arm([Rod(length=1.0, mass=0.0)])  # can be held by constraints
    Arm([Disk(radius=1.0, mass=1.0), ROD])  # a spacecraft: its joint is at its own centre, and turning it needs torque
    Mechanism([named("a"), named("b", parent=carom.BASE)], base=Free())


# -- a target outside a joint limit ------------------------------------------------------------------------------------


def stopped(targets: Any, stop: Any, rigid: bool = False, **options: Any) -> carom.World:
    """An arm whose elbow has a stop, under posture control."""
    contact = carom.Contact(stop, normal=0.0) if rigid else None
    law = carom.HuntCrossley(stiffness=1e4, restitution=0.9)
    control = carom.PostureControl(ARM, targets, **{"kp": [9.0, 9.0], "kd": [1.0, 1.0], **options})
    return carom.World(ARM, contacts=contact or carom.Contact(stop, normal=law), control=control)


UPPER = carom.JointLimit(ARM, "link2", upper=1.0)
LOWER = carom.JointLimit(ARM, "link2", lower=-0.5)
TWO = [carom.control.AtTime(1.0), carom.control.AtTime(2.0)]
BEYOND = {
    "absolute": (
        lambda: stopped([0.2, 1.5], UPPER),
        r"target 1 of 'control' asks link 'link2' for 1\.3 rad relative to its parent, beyond its upper JointLimit, "
        r"1 rad; bring the target within the limit, or move the stop",
    ),
    "lower, second": (
        lambda: stopped([[0.2, 0.5], [0.2, -0.6]], LOWER, schedule=TWO),
        r"target 2 of 'control' asks link 'link2' for -0\.8 rad .* beyond its lower JointLimit, -0\.5 rad",
    ),
    "relative": (lambda: stopped([0.2, 1.1], UPPER, relative=True), r"for 1\.1 rad .* upper JointLimit, 1 rad"),
    "rigid": (lambda: stopped([0.2, 1.5], UPPER, rigid=True), r"beyond its upper JointLimit"),
    "integral only": (lambda: stopped([0.2, 1.5], UPPER, kp=[0.0, 0.0], ki=[1.0, 1.0]), r"beyond its upper JointLimit"),
}


@refused(BEYOND)
def test_a_target_beyond_a_stop_is_refused(wrong: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(carom.CaromError, match=sentence):
        wrong()


def test_targets_that_no_stop_hinders() -> None:
    stopped([0.2, 1.2], UPPER), stopped([0.2, -0.3], LOWER)  # at the stop itself
    stopped([0.2, 1.5], UPPER, kp=[9.0, 0.0]), stopped([0.2, 1.5], UPPER, kp=[0.0, 9.0])  # nobody goes there
    jax.jit(lambda x: stopped([0.2, x], UPPER).gravity)(1.5)  # a traced target has no value to check
