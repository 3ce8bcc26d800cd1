"""Impacts: blows that change velocities. Of compliant contacts from touch to release, of rigid ones at an instant.

A blow at one rigid contact sends impulses through all that are closed: they are listed beside it, as not `struck`.
What a contact carries over a longer time is a stance (stances.py).
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from .. import native, registry
from ..dynamics.energy import kinetic_energy_by_link
from ..hybrid._run import EventRow
from ..hybrid.reporting import ContactReport, Pair
from ..hybrid.scene import Continuous, Own, Scene, split
from ..hybrid.world import World
from ..mechanism import Mechanism
from ..quantities import Columns, Real, Vector
from ._dense import chunked
from ._spells import Spell, spells_of, stances_among
from ._within import course_of

if TYPE_CHECKING:
    from .result import Result

SHARE = 1e-12  # of the largest impulse of a blow: a contact that takes less takes no part
SHALLOWEST = 1e-9  # of the largest indentation


@dataclasses.dataclass(frozen=True)
class Impact:
    """One impact. Velocities are those of the contact point, normal positive away from the surface.

    `energy_lost` [J] is the energy that this contact took, by its normal force and by friction; what happens elsewhere
    at the same time is not in it. The kinetic energies are those of the whole mechanism.
    A rigid contact that was closed, or at its surface, when another struck, and took an impulse then, is not `struck`.
    """

    contact: str
    t_start: float
    t_end: float
    normal_velocity_before: float
    normal_velocity_after: float
    tangential_velocity_before: float
    tangential_velocity_after: float
    max_indentation: float
    residual_indentation: float
    max_normal_force: float
    normal_impulse: float
    tangential_impulse: float
    energy_lost: float
    kinetic_energy_by_link_before: tuple[float, ...]
    kinetic_energy_by_link_after: tuple[float, ...]
    struck: bool = True

    _repr_html_ = registry.shown

    @property
    def duration(self) -> float:
        return self.t_end - self.t_start

    @property
    def restitution(self) -> float:
        """Speed after over speed before; nan where the contact did not close."""
        if not self.struck or self.normal_velocity_before == 0.0:
            return float("nan")
        return -self.normal_velocity_after / self.normal_velocity_before

    @property
    def kinetic_energy_before(self) -> float:
        return sum(self.kinetic_energy_by_link_before)

    @property
    def kinetic_energy_after(self) -> float:
        return sum(self.kinetic_energy_by_link_after)


def find(result: Result) -> list[Impact]:
    """Every impact, in order; a contact that is closed at the start or at the end stands there (stances.py)."""
    found: list[Impact] = []
    for i, automaton in enumerate(result.world.automata):
        contacts = automaton.report.contacts
        rigid = [j for j, contact in enumerate(contacts) if contact.rigid]
        if rigid:
            found += _blows(result, i, rigid)
        for j, contact in enumerate(contacts):
            if not contact.rigid:
                spells = spells_of(result, i, j)
                strikes = [s for s, stands in zip(spells, stances_among(result, spells), strict=True) if not stands]
                found += _lasting(result, contact, strikes)
    return sorted(found, key=lambda impact: (impact.t_start, not impact.struck))


# -- instantaneous -----------------------------------------------------------------------------------------------------


def _blows(result: Result, i: int, rigid: list[int]) -> list[Impact]:
    """Blows of the rigid contacts of an automaton: those that struck, and those that took a share."""
    marks, report = result.marks, result.world.automata[i].report
    if not len(marks.t):
        return []
    contacts = [report.contacts[j] for j in rigid]
    told = report.blows(Own(marks.phases_after[i], marks.memory_after[i], ()))
    push = np.stack([np.asarray(told[c.name].normal) for c in contacts], axis=1)
    drag = np.stack([np.asarray(told[c.name].friction) for c in contacts], axis=1)
    fired = np.stack([_fired(result.world, marks, i, c.begins) for c in contacts], axis=1)
    largest = np.max(np.abs(push), axis=1, keepdims=True)
    part = np.any(fired, axis=1, keepdims=True) & ~fired & (np.abs(push) > SHARE * largest)
    out = []
    for k, contact in enumerate(contacts):
        for rows, struck in ((np.flatnonzero(fired[:, k]), True), (np.flatnonzero(part[:, k]), False)):
            out += _blows_at(result, contact, rows, push[rows, k], drag[rows, k], struck)
    return out


def _fired(world: World, marks: EventRow, i: int, exit: str) -> np.ndarray:
    return np.asarray(
        marks.fired[world.events.index((i, world.automata[i].anatomy.exit_names.index(exit)))], dtype=bool
    )


def _blows_at(
    result: Result, contact: ContactReport, rows: np.ndarray, push: np.ndarray, drag: np.ndarray, struck: bool
) -> list[Impact]:
    """Instantaneous impacts: their force is infinite, their impulse is not."""
    if not len(rows):
        return []
    t = np.asarray(result.marks.t)[rows]
    before, after = (side_of(result.world, contact.pair, t, y, rows) for y in (result.marks.before, result.marks.after))
    # The work of an impulse is that of the mean of the velocities before and after, contact by contact.
    normal, along = 0.5 * (before.normal + after.normal), 0.5 * (before.tangential + after.tangential)
    lost = -(push * normal + drag * along)
    return [
        Impact(
            contact=contact.name,
            t_start=float(t[k]),
            t_end=float(t[k]),
            **_velocities(before, after, k),
            max_indentation=0.0,
            residual_indentation=0.0,
            max_normal_force=float("inf"),
            normal_impulse=float(push[k]),
            tangential_impulse=float(drag[k]),
            energy_lost=float(lost[k]),
            struck=struck,
        )
        for k in range(len(rows))
    ]


# -- lasting -----------------------------------------------------------------------------------------------------------


def _lasting(result: Result, contact: ContactReport, spells: list[Spell]) -> list[Impact]:
    """Impacts that take time."""
    if not spells:
        return []
    ends = [np.array([s.first for s in spells]), np.array([s.last for s in spells])]
    times = np.asarray(result.marks.t)
    before, after = (side_of(result.world, contact.pair, times[r], result.marks.before, r) for r in ends)
    out = []
    for k, (spell, c) in enumerate(zip(spells, course_of(result, spells), strict=True)):
        left = float(after.depth[k])
        impact = Impact(
            contact=contact.name,
            t_start=spell.begin,
            t_end=spell.end,
            **_velocities(before, after, k),
            max_indentation=c.max_indentation,
            residual_indentation=left if left > SHALLOWEST * c.max_indentation else 0.0,
            max_normal_force=c.max_normal_force,
            normal_impulse=c.normal_impulse,
            tangential_impulse=c.tangential_impulse,
            energy_lost=c.energy_lost,
        )
        out.append(impact)
    return out


# -- both sides --------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Side:
    """Contact points and energies on one side of many impacts."""

    normal: np.ndarray
    tangential: np.ndarray
    depth: np.ndarray
    energies: np.ndarray


def side_of(world: World, pair: Pair, t: np.ndarray, y: Continuous, rows: np.ndarray) -> Side:
    """Of the marks' states `y` in these rows."""
    q, v = (_stacked(x, rows) for x in (y.q, y.v))
    rate, sliding, depth, energies = chunked(_touch, (), (world.mechanism, pair), (t, q, v))
    return Side(-rate, sliding, depth, energies)


def _stacked(columns: Columns, rows: np.ndarray) -> np.ndarray:
    if isinstance(columns, tuple):
        return np.stack([np.asarray(column)[rows] for column in columns], axis=1)
    return np.asarray(columns)[rows]


def _touch(mechanism: Mechanism, pair: Pair, t: Vector, q: Vector, v: Vector) -> tuple[Any, ...]:
    return tuple(native.rows(lambda t, q, v: touch_at(mechanism, pair, t, q, v))(t, q, v))


def touch_at(mechanism: Mechanism, pair: Pair, t: Real, q: Vector, v: Vector) -> tuple[Any, ...]:
    """Rate of the indentation, sliding velocity, indentation, and kinetic energies of the links."""
    k = pair.touching(Scene(mechanism, t, split(mechanism, q), split(mechanism, v)))
    motion = tuple(jnp.asarray(x, dtype=float) for x in (k.rate, k.sliding, k.indentation))
    return (*motion, kinetic_energy_by_link(mechanism, q, v))


def _velocities(before: Side, after: Side, k: int) -> dict[str, Any]:
    return {
        "normal_velocity_before": float(before.normal[k]),
        "normal_velocity_after": float(after.normal[k]),
        "tangential_velocity_before": float(before.tangential[k]),
        "tangential_velocity_after": float(after.tangential[k]),
        "kinetic_energy_by_link_before": tuple(before.energies[k].tolist()),
        "kinetic_energy_by_link_after": tuple(after.energies[k].tolist()),
    }
