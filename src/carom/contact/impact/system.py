"""All rigid contacts at one instant: gaps, rows, velocities, and the conditions that their impulses or forces obey."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp

from ...hybrid.condition import ROUNDING, ULP
from ...hybrid.scene import Scene
from ...quantities import Real
from ..friction import AbstractDry
from ..rows import Rows, angles_of, rows_of
from .rigid_contact import Contacts
from .several import Problem


class System(NamedTuple):
    """All contacts at one instant: normal rows, then tangential ones of contacts with friction."""

    each: list[Rows]
    row: list[list[Any]]
    drift: list[Any]
    speed: list[Any]
    moved: list[Any]  # flags: can any motion of the robot change this? Not the gap under a leg that is stretched


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
        [*(r.normal_moves(scene) for r in each), *(r.tangential_moves(scene) for r in rubs)],
    )


def gaps_of(contacts: Contacts, scene: Scene) -> list[Any]:
    return [-c.pair.touching(scene).indentation for c in contacts]


class Noise(NamedTuple):
    """What rounding does to the numbers of every contact, measured by the sizes of their terms."""

    place: list[Any]  # of the gap [m]
    speed: list[Any]  # of the velocities of all rows [m/s]
    rise: list[Any]  # of their rates [m/s^2]


def noise_of(contacts: Contacts, scene: Scene, system: System, free: Any) -> Noise:
    """`free` are the accelerations without reactions."""
    place = [c.pair.rounding(scene, r.touch) for c, r in zip(contacts, system.each, strict=True)]
    every = [*place, *(place[i] for i in rubbing(contacts))]
    rise = [_sizes(row, free) + jnp.abs(drift) for row, drift in zip(system.row, system.drift, strict=True)]
    # Levers are differences of places, and rounded as these are: far away, what turns has less exact speeds.
    turning = sum(jnp.abs(scene.v[i]) for i in angles_of(scene))
    turned = turning * turning + sum(jnp.abs(free[i]) for i in angles_of(scene))
    # A speed is also off by what it changes within the last bits of time.
    late = 32.0 * ULP * jnp.abs(scene.t)
    speed = [
        ROUNDING * (_sizes(row, scene.v) + jnp.abs(u)) + late * r + turning * e
        for row, u, r, e in zip(system.row, system.speed, rise, every, strict=True)
    ]
    return Noise(place, speed, [ROUNDING * r + turned * e for r, e in zip(rise, every, strict=True)])


def _sizes(row: list[Any], values: Any) -> Any:
    return sum(jnp.abs(x * v) for x, v in zip(row, values, strict=True))


def slides(contacts: Contacts, k: int, speed: Real, noise: Real) -> Any:
    """Does the contact that is number k of those with friction slide at this speed?"""
    return jnp.abs(speed) > jnp.maximum(noise, friction_at(contacts, k).stops_at)


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
    limit = [jnp.where(fixed[k] != 0.0, mu[k], friction_at(contacts, k).limit) for k in range(len(rubbing(contacts)))]
    return Problem(w, b, mu, limit, offset, part, fixed, rubbing(contacts))
