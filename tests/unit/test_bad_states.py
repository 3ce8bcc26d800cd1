"""States, efforts and things of the wrong kind: each is refused with one sentence that has the value and the rule.

These run without the checker of annotations: the refusal has to come from carom.
"""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import pytest

import carom
from carom import Arm, Body, Free, Link, Mechanism, OnCurve, Pin, PointMass, Rod, dynamics

from .refusals import ARM, NAN, ROD, Q, V, named, refused

pytestmark = pytest.mark.usefixtures("unchecked")

FLYER = Mechanism([ROD, ROD], base=Free())


def move(**more: Any) -> Any:
    return dynamics.forward_dynamics(ARM, Q, V, **more)


def hold(*constraints: Any, **more: Any) -> Any:
    return dynamics.constrained_dynamics(ARM, list(constraints), Q, V, **more)


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


@refused(STATES)
def test_a_wrong_state_or_effort_is_refused(wrong: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(carom.CaromError, match=sentence):
        wrong()


@refused(KINDS)
def test_a_thing_of_the_wrong_kind_is_refused(wrong: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(carom.CaromError, match=sentence):
        wrong()
