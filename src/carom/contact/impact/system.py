"""All rigid contacts at one instant: gaps, rows, velocities, and the conditions that their impulses or forces obey."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp

from ...hybrid.scene import Scene
from ..friction import AbstractDry
from ..friction.dry import SLOW
from ..rows import Rows, rows_of
from .contact import Contacts
from .several import Problem


class System(NamedTuple):
    """All contacts at one instant: normal rows, then tangential ones of contacts with friction."""

    each: list[Rows]
    row: list[list[Any]]
    drift: list[Any]
    speed: list[Any]


def rubbing(contacts: Contacts) -> tuple[int, ...]:
    """Contacts with friction."""
    return tuple(i for i, c in enumerate(contacts) if c.friction is not None)


def friction_at(contacts: Contacts, k: int) -> AbstractDry:
    """Friction of the contact that is number k of those with friction."""
    friction = contacts[rubbing(contacts)[k]].friction
    assert friction is not None
    return friction


def system_of(contacts: Contacts, scene: Scene) -> System:
    each = [rows_of(c.pair, scene) for c in contacts]
    rubs = [each[i] for i in rubbing(contacts)]
    return System(
        each,
        [*(r.normal for r in each), *(r.tangential for r in rubs)],
        [*(r.normal_drift for r in each), *(r.tangential_drift for r in rubs)],
        [*(r.separation for r in each), *(r.touch.sliding for r in rubs)],
    )


def gaps_of(contacts: Contacts, scene: Scene) -> list[Any]:
    return [-c.pair.touching(scene).indentation for c in contacts]


def senses_of(contacts: Contacts, speed: list[Any]) -> list[Any]:
    """Which way the contacts with friction slide; 0 where they do not."""
    sliding = speed[len(contacts) :]
    return [jnp.where(slides(contacts, k, u), jnp.sign(u), 0.0) for k, u in enumerate(sliding)]


def slides(contacts: Contacts, k: int, speed: Any) -> Any:
    return jnp.abs(speed) > jnp.maximum(SLOW, friction_at(contacts, k).stops_at)


def problem_of(
    contacts: Contacts,
    w: Any,
    b: list[Any],
    part: list[Any],
    offset: list[Any],
    fixed: list[Any],
    speed: Any,
) -> Problem:
    """Conditions for the contacts that take part, in forces: those of impulses at a blow, one derivative higher."""
    n = len(contacts)
    mu = [friction_at(contacts, k).coefficient(jnp.abs(speed[n + k])) for k in range(len(rubbing(contacts)))]
    # Stiction holds what rests; what slides has only its sliding friction.
    limit = [
        jnp.where(slides(contacts, k, speed[n + k]), mu[k], friction_at(contacts, k).limit)
        for k in range(len(rubbing(contacts)))
    ]
    return Problem(w, b, mu, limit, offset, part, fixed, rubbing(contacts))


def any_of(flags: list[Any]) -> Any:
    total = jnp.asarray(False)
    for flag in flags:
        total = total | flag
    return total
