"""Sharp corners that slide past the end of an edge: their contact opens, that of the corner they pass takes over."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp

from ...hybrid.scene import Scene
from ...quantities import Flag, Real
from .._sharp import ABSENT
from ..friction._stick_slip import OPEN
from .rigid_contact import Contacts


def knowing(contacts: Contacts, modes: list[Any]) -> Contacts:
    """The contacts, told which of them are closed: these are on the line of their edge, past its end too."""
    return tuple(
        eqx.tree_at(lambda c: c.pair.held, c, jnp.where(mode != OPEN, 1.0, 0.0)) if c.pair.edged else c
        for c, mode in zip(contacts, modes, strict=True)
    )


def handed_over(contacts: Contacts, scene: Scene, modes: list[Any], away: list[Any] | None) -> list[Any] | None:
    """Which contacts are not there now: those that are away, and those of corners that are past an end."""
    if not any(c.pair.edged for c in contacts):
        return away
    gone = [jnp.asarray(False)] * len(contacts) if away is None else away
    return [
        g | is_gone(c.pair.touching_edge(scene)[1], mode != OPEN, c.pair.yields) if c.pair.edged else g
        for c, mode, g in zip(contacts, modes, gone, strict=True)
    ]


def is_gone(past: Real, closed: Flag, yields: Any) -> Any:
    """A corner that comes from outside meets the other corner, unless it is the other's contact that counts.

    Decided a rounding before the exit: what landed there is then put back to its line, and may end a last bit short.
    """
    return ((past >= -1.0) & (closed | yields)) | (past >= ABSENT)


def letting_go(leaves: Flag, excess: Real, past: Real, noise: Real) -> Any:
    """What lifts a contact: a reaction that pulls where it would leave, or its end; both measured in their noise."""
    ends = past * noise
    return jnp.where(leaves, jnp.maximum(excess, ends), ends)
