"""Phases of rigid contacts: open, sticking or sliding, one digit for each in the number of all together."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp

from ... import errors
from ...hybrid.reporting import Phase, Tone
from ...quantities import PhaseNumber
from ..friction._stick_slip import WORDS
from .rigid_contact import Contacts, RigidContact

LOST_WORDS = "no motion, or more than one (Painleve)"


def told_phases(contact: RigidContact) -> tuple[Phase, ...]:
    """Phases of one contact, with the tones in which they are drawn; in the last one no motion was found."""
    lost = Phase(LOST_WORDS, "lost")
    without = (Phase("open", "open"), Phase("closed", "closed"), lost)
    tones: tuple[Tone, ...] = ("open", "stick", "slide", "slide")
    rubs = tuple(Phase(word, tone) for word, tone in zip(WORDS, tones, strict=True))
    return without if contact.friction is None else (*rubs, lost)


def _kinds(contacts: Contacts) -> tuple[int, ...]:
    """Number of phases of each contact; one without friction is open or closed."""
    return tuple(2 if c.friction is None else 4 for c in contacts)


def total(contacts: Contacts) -> int:
    """How many combinations there are; the number of the phase in which no motion, or more than one, was found."""
    return math.prod(_kinds(contacts))


def modes_of(contacts: Contacts, phase: PhaseNumber) -> list[Any]:
    """Phase of every contact."""
    out, rest = [], errors.library_for(phase).minimum(phase, total(contacts) - 1)
    for kind in _kinds(contacts):
        out.append(rest % kind)
        rest = rest // kind
    return out


def number_of(contacts: Contacts, modes: list[Any]) -> Any:
    """The inverse of `modes_of`."""
    number, weight = jnp.asarray(0), 1
    for mode, kind in zip(modes, _kinds(contacts), strict=True):
        number, weight = number + weight * mode, weight * kind
    return number
