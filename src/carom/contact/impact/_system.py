"""All rigid contacts at one instant: gaps, rows, velocities, and the conditions that their impulses or forces obey."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp

from ...hybrid.scene import Scene
from ...quantities import Coordinates, Real, Reals
from .._rows import Rows, noise_of_row, rows_of
from ..friction import AbstractDry
from ._several import Problem
from .rigid_contact import Contacts


class System(NamedTuple):
    """All contacts at one instant: normal rows, then tangential ones of contacts with friction."""

    each: list[Rows]
    row: list[list[Any]]
    drift: list[Any]
    speed: list[Any]
    moved: list[Any]  # flags of the contacts: can any motion of the robot change the gap? Not under a stretched leg


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
        [r.normal_moves(scene) for r in each],
    )


def gaps_of(contacts: Contacts, scene: Scene) -> list[Any]:
    return [-c.pair.touching(scene).indentation for c in contacts]


class Noise(NamedTuple):
    """What rounding does to the numbers of every contact, measured by the sizes of their terms."""

    place: list[Any]  # of the gap [m]
    speed: list[Any]  # of the velocities of all rows [m/s]
    rise: list[Any]  # of their rates [m/s^2]


def noise_of(contacts: Contacts, scene: Scene, system: System, free: Coordinates) -> Noise:
    """`free` are the accelerations without reactions."""
    place = [c.pair.rounding(scene, r.touch) for c, r in zip(contacts, system.each, strict=True)]
    every = [*place, *(place[i] for i in rubbing(contacts))]
    terms = zip(system.row, system.drift, system.speed, every, strict=True)
    both = [noise_of_row(scene, free, row, drift, speed, place) for row, drift, speed, place in terms]
    return Noise(place, [speed for speed, _ in both], [rise for _, rise in both])


def slides(contacts: Contacts, k: int, speed: Real, noise: Real) -> Any:
    """Does the contact that is number k of those with friction slide at this speed?"""
    return jnp.abs(speed) > jnp.maximum(noise, friction_at(contacts, k).stops_at)


def problem_of(
    contacts: Contacts,
    w: list[list[Any]],
    b: list[Any],
    part: list[Any],
    offset: list[Any],
    fixed: list[Any],
    speed: Reals,
) -> Problem:
    """Conditions for the contacts that take part, in forces: those of impulses at a blow, one derivative higher."""
    n = len(contacts)
    mu = [friction_at(contacts, k).coefficient(jnp.abs(speed[n + k])) for k in range(len(rubbing(contacts)))]
    # Stiction holds what rests; what slides has only its sliding friction.
    limit = [jnp.where(fixed[k] != 0.0, mu[k], friction_at(contacts, k).limit) for k in range(len(rubbing(contacts)))]
    return Problem(w, b, mu, limit, offset, part, fixed, rubbing(contacts))
