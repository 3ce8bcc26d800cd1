"""Torques need something to act against: a parent, a pivot, or what the user declares to be there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from .. import errors
from .._arguments import Names
from ..hybrid.automaton import AbstractAutomaton
from ..hybrid.scene import Own, Scene, split
from ..mechanism import Mechanism
from ..quantities import Real

if TYPE_CHECKING:
    from .actuator import AbstractActuator

TRIED_AT = 0.1234  # [s] a time at which rules are tried


def without_joint(mechanism: Mechanism, anchored: tuple[str, ...]) -> tuple[int, ...]:
    """Links at which no torque can act."""
    top = mechanism.topology
    return tuple(k for k in top.loose if top.names[k] not in anchored)


def names_of(owner: str, given: Names) -> tuple[str, ...]:
    """Names of links; one alone may stand without brackets."""
    names = (given,) if isinstance(given, str) else tuple(given)
    for name in names:
        if not isinstance(name, str):
            raise errors.CaromError(f"anchored of '{owner}' holds {name!r}; it must hold names of links")
    return names


def refuse_anchors(control: AbstractActuator, mechanism: Mechanism, others: Sequence[AbstractAutomaton]) -> None:
    """Refuse anchors of links that have a joint, and rules that ask for a torque where there is none.

    A rule is code; it is tried in one state that has nothing special about it, without weight.
    """
    names, first = mechanism.topology.names, mechanism.topology.loose
    for name in control.anchored:
        errors.name_in(f"link (anchored of '{control.name}')", name, names)
        if names.index(name) not in first:
            raise errors.CaromError(
                f"anchored of '{control.name}' names '{name}', which has a joint: its torque acts there; only links of "
                "free bases can be anchored"
            )
    loose = without_joint(mechanism, control.anchored)
    asked = _tried(control, mechanism, others) if loose else []
    for k in loose:
        _refuse_torque(control.name, names[k], jnp.asarray(asked[k], dtype=float))


def _refuse_torque(owner: str, link: str, torque: Real) -> None:
    errors.refuse_if(
        torque != 0.0,
        lambda: (
            f"'{owner}' asks for a torque on '{link}' ({float(torque):.3g} N m in a trial), the first link of a free "
            "base: it has no joint, and nothing to be turned against; ask for none there (gains 0), or say "
            f"anchored=['{link}'] if something outside of the robot turns it"
        ),
    )


def _tried(control: AbstractActuator, mechanism: Mechanism, others: Sequence[AbstractAutomaton]) -> list[Any]:
    some = np.arange(1.0, mechanism.dof + 1.0)
    place, speed = split(mechanism, jnp.asarray(0.3 * np.sin(some))), split(mechanism, jnp.asarray(0.2 * np.cos(some)))
    scene = Scene(mechanism, jnp.asarray(TRIED_AT), place, speed)
    scene.gravity, scene.automata = jnp.zeros(2), tuple(others)
    has = control.anatomy
    zeros, ones = (jnp.asarray(0.0),) * len(has.memory), (jnp.asarray(1.0),) * len(has.states)
    return list(control.asked(scene, Own(jnp.asarray(0), zeros, ones)))
