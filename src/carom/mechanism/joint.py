"""How a link moves on its parent: it turns on a hinge, or slides along an axis."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp

from .. import errors


class Joint(eqx.Module):
    """A hinge, with spring and damper that act on the angle relative to the parent.

    - `stiffness` [N m/rad] >= 0, `rest` [rad] the relative angle without spring torque
    - `damping` [N m s/rad] >= 0
    - `rotor_inertia` J [kg m^2] >= 0 of a motor that the parent carries and `gear` n: it turns at theta_p' + n q', with
      q' the joint's rate. What the rotor adds by its mass belongs to the parent's body, J does not
    - `friction` [N m] >= 0: dry friction while it turns; `static_friction` [N m] >= friction: the most that holds it at
      rest, equal to friction if left out. It sticks and slips exactly, by events
    - `effort_limit` [N m] > 0: the largest torque that a controller gets here, besides the controller's own limit
    """

    stiffness: Any = 0.0
    rest: Any = 0.0
    damping: Any = 0.0
    rotor_inertia: Any = 0.0
    gear: Any = 1.0
    friction: Any = 0.0
    static_friction: Any = None
    effort_limit: Any = None

    def __check_init__(self) -> None:
        _refuse_numbers(self)


class Slider(eqx.Module):
    """A joint by which a link moves along its parent: its coordinate is the displacement [m], and it does not turn.

    - `axis`: direction in the parent's frame, of any length but zero; along the parent by default. On a fixed base
      these are the directions of the world
    - `angle` [rad] of the body in its frame, which stays parallel to that of the parent
    - `stiffness` [N/m] >= 0, `rest` [m] the displacement without spring force
    - `damping` [N s/m] >= 0
    - `rotor_inertia` J [kg m^2] >= 0 of a motor that the parent carries and `gear` n [rad/m]: it turns at
      theta_p' + n s'
    - `friction`, `static_friction`, `effort_limit` [N], as of a hinge

    At displacement 0 the body's origin is where the link hangs (`Link(at=...)`).

        carom.Link(carom.Rod(0.5, 1.0), name="piston", joint=carom.Slider(axis=(1.0, 0.0)))
    """

    axis: Any = (1.0, 0.0)
    angle: Any = 0.0
    stiffness: Any = 0.0
    rest: Any = 0.0
    damping: Any = 0.0
    rotor_inertia: Any = 0.0
    gear: Any = 1.0
    friction: Any = 0.0
    static_friction: Any = None
    effort_limit: Any = None

    def __check_init__(self) -> None:
        errors.vector("Slider", "axis", self.axis, 2)
        errors.refuse_if(
            (self.axis[0] == 0.0) & (self.axis[1] == 0.0),
            lambda: "axis of Slider is (0, 0), which has no direction; give one in the parent's frame, such as (1, 0)",
            field="axis",
        )
        errors.number("Slider", "angle", self.angle)
        _refuse_numbers(self)

    @property
    def direction(self) -> tuple[Any, Any]:
        """The axis, of length 1."""
        x, y = (jnp.asarray(part, dtype=float) for part in self.axis)
        largest = jnp.maximum(jnp.abs(x), jnp.abs(y))  # squares of small numbers vanish
        x, y = x / largest, y / largest
        length = jnp.sqrt(x * x + y * y)
        return x / length, y / length


AnyJoint = Joint | Slider


def _refuse_numbers(joint: AnyJoint) -> None:
    owner = type(joint).__name__
    errors.number(owner, "stiffness", joint.stiffness, least=0.0)
    errors.number(owner, "rest", joint.rest)
    errors.number(owner, "damping", joint.damping, least=0.0)
    errors.number(owner, "rotor_inertia", joint.rotor_inertia, least=0.0)
    errors.number(owner, "gear", joint.gear)
    errors.number(owner, "friction", joint.friction, least=0.0)
    if joint.effort_limit is not None:
        errors.number(owner, "effort_limit", joint.effort_limit, above=0.0)
    if joint.static_friction is None:
        return
    errors.number(owner, "static_friction", joint.static_friction, least=0.0)
    errors.refuse_if(
        joint.static_friction < joint.friction,
        lambda: (
            f"static_friction of {owner} is {float(joint.static_friction):g}, less than friction, "
            f"{float(joint.friction):g}; it must be at least friction; leave it out to use friction"
        ),
        field="static_friction",
    )


def has_rotor(joint: AnyJoint) -> bool:
    """Is there one, as far as is known?"""
    inertia = errors.known(joint.rotor_inertia)
    return inertia is None or bool(inertia != 0.0)


def stiction_of(joint: AnyJoint) -> Any:
    """The most that holds it at rest."""
    return joint.friction if joint.static_friction is None else joint.static_friction


def has_friction(joint: AnyJoint) -> bool:
    """Has it dry friction, as far as is known?"""
    most = errors.known(stiction_of(joint))
    return most is None or bool(most != 0.0)


def has_limit(joint: AnyJoint) -> bool:
    """Is the effort of its actuator limited?"""
    return joint.effort_limit is not None


def largest_effort(joint: AnyJoint) -> Any:
    return jnp.inf if joint.effort_limit is None else joint.effort_limit
