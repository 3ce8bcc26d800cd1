"""Worlds that cannot be: refused when they are built."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from .. import errors
from ..mechanism import Mechanism
from ..quantities import Real
from .reporting import ContactReport


def refuse_loose_joints(mechanism: Mechanism) -> None:
    """Springs and dampers act between a link and its parent; the first link of a free base has none."""
    n, names = mechanism.numbers, mechanism.topology.names
    for k in mechanism.topology.loose:
        for field, given in (("stiffness", n.stiffness), ("damping", n.damping)):
            values = errors.library_for(given).asarray(given)
            errors.refuse_if(
                values[k] != 0.0,
                partial(_loose_joint, names[k], field, values[k]),
            )


def _loose_joint(link: str, field: str, value: Real) -> str:
    return (
        f"the joint of '{link}' has {field} {float(value):g}, but '{link}' is the first link of a free base: it has no "
        f"joint, and nothing for a spring or damper to act against; leave {field} at 0 there"
    )


def refuse_crossed_stops(contacts: Sequence[ContactReport]) -> None:
    """A joint between two stops needs room: the lower one is below the upper one."""
    stops = [contact.pair.stop for contact in contacts if contact.pair.stop is not None]
    for low in stops:
        for high in stops:
            if low.link == high.link and low.sign > 0.0 > high.sign:
                errors.refuse_if(low.angle >= high.angle, partial(_crossed, low, high))


def _crossed(low: Any, high: Any) -> str:
    return (
        f"the lower JointLimit of '{low.link_name}' is {float(low.angle):g} {low.unit}, not below its upper one, "
        f"{float(high.angle):g} {high.unit}; there is no room between them; exchange them"
    )
