"""What happens within the spells of a contact: its forces between touch-down and lift-off, and what they do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from .. import native
from ..hybrid._flow import scene_with_motion
from ..hybrid.scene import Continuous, Own, split
from ..hybrid.world import World
from ..quantities import Memories, Phases, Real
from ._dense import over
from ._records import States
from ._spells import Spell

if TYPE_CHECKING:
    from .result import Result

SAMPLES = 401  # instants looked at within a spell
NEARER = 41  # instants looked at around the largest of them
TOGETHER = 500  # spells looked at in one go; their samples take some 10 MB


class Course(NamedTuple):
    """A spell in numbers. `energy_lost` [J] is what the contact's forces took."""

    max_indentation: float
    max_normal_force: float
    normal_impulse: float
    tangential_impulse: float
    energy_lost: float


class _Columns(NamedTuple):
    """Of a contact, over instants."""

    depth: Any
    rate: Any
    sliding: Any
    push: Any
    drag: Any


def course_of(result: Result, strikes: Sequence[Spell]) -> list[Course]:
    """Strikes: smooth from nothing to nothing, but for the instants at which the law changes its phase."""
    return [
        c for begin in range(0, len(strikes), TOGETHER) for c in _strikes(result, strikes[begin : begin + TOGETHER])
    ]


def _strikes(result: Result, spells: Sequence[Spell]) -> list[Course]:
    # The ends belong to the events, where the phase is the one before or after.
    inner = np.linspace([s.begin for s in spells], [s.end for s in spells], SAMPLES, axis=1)[:, 1:-1]
    bends = [t for s in spells for t in s.bends]
    found = _over(result, spells[0], np.concatenate([inner.ravel(), bends]))
    each = _Columns(*(column[: inner.size].reshape(inner.shape) for column in found))
    at_bends = np.split(found.push[inner.size :], np.cumsum([len(s.bends) for s in spells])[:-1])
    near_depth, near_push = (_nearer(inner, values) for values in (each.depth, each.push))
    again = _over(result, spells[0], np.concatenate([near_depth.ravel(), near_push.ravel()]))
    depths = again.depth[: near_depth.size].reshape(near_depth.shape)
    pushes = again.push[near_depth.size :].reshape(near_push.shape)
    out = []
    for k, s in enumerate(spells):
        step = (s.end - s.begin) / (SAMPLES - 1)
        c = _Columns(*(column[k] for column in each))
        course = Course(
            max_indentation=_refined_peak(depths[k]),
            max_normal_force=_peak_with_bends(near_push[k], pushes[k], np.array(s.bends), at_bends[k]),
            normal_impulse=step * float(np.sum(c.push)),
            tangential_impulse=step * float(np.sum(c.drag)),
            energy_lost=_lost(result, s, step * float(np.sum(c.push * c.rate - c.drag * c.sliding))),
        )
        out.append(course)
    return out


def carried_in(result: Result, stances: Sequence[Spell]) -> list[Course]:
    """Stances: forces may leap at both ends, and wherever sticking turns to sliding."""
    out = []
    for begin in range(0, len(stances), TOGETHER):
        spells = stances[begin : begin + TOGETHER]
        grids = [_grid(s) for s in spells]
        found = _over(result, spells[0], np.concatenate(grids))
        cuts = np.cumsum([len(grid) for grid in grids])[:-1]
        for s, t, *columns in zip(spells, grids, *(np.split(column, cuts) for column in found), strict=True):
            c = _Columns(*columns)
            course = Course(
                max_indentation=float(np.max(c.depth)),
                max_normal_force=float(np.max(c.push)),
                normal_impulse=float(np.trapezoid(c.push, t)),
                tangential_impulse=float(np.trapezoid(c.drag, t)),
                energy_lost=_lost(result, s, float(np.trapezoid(c.push * c.rate - c.drag * c.sliding, t))),
            )
            out.append(course)
    return out


def _grid(s: Spell) -> np.ndarray:
    """Even instants, and both sides of every bend; at an instant of an event values are those after it."""
    bends = np.array(s.bends)
    inside = np.nextafter(s.end, s.begin) if s.ended else s.end
    return np.unique(np.concatenate([np.linspace(s.begin, inside, SAMPLES), bends, np.nextafter(bends, s.begin)]))


def _lost(result: Result, s: Spell, sampled: float) -> float:
    """By the ledger, where the contact has channels of its own; else as sampled."""
    name = result.world.automata[s.automaton].report.contacts[s.contact].name
    own = [k for k, c in enumerate(result.world.channels) if c.contact == name and c.kind == "dissipative"]
    if not own or not result.final.y.work:
        return sampled
    marks, end = result.marks.before.work, result.final.y.work
    begin = sum(float(marks[k][s.first]) for k in own) if s.begun else 0.0
    return begin - sum(float(marks[k][s.last] if s.ended else end[k]) for k in own)


def _over(result: Result, s: Spell, times: np.ndarray) -> _Columns:
    return _Columns(*over(result, times, _forces, (s.automaton, s.contact)))


def _forces(i: int, j: int, world: World, states: States) -> Any:
    """Kinematics and forces of contact j of automaton i at every one of the states."""

    def one(s: States) -> Any:
        y = Continuous(split(world.mechanism, s.q), split(world.mechanism, s.v), s.extra, ())
        return forces_at(i, j, world, s.t, y, s.phases, s.memory)

    return native.rows(one)(states)


def forces_at(
    i: int, j: int, world: World, t: Real, y: Continuous, phases: Phases, memory: Memories
) -> tuple[Any, ...]:
    """Indentation and its rate, sliding velocity, normal and friction force of contact j of automaton i."""
    scene = scene_with_motion(world, t, y, phases, memory)
    k, push, drag = world.automata[i].report.touches(scene, Own(phases[i], memory[i], y.extra[i]))[j]
    return tuple(jnp.asarray(x, dtype=float) for x in (k.indentation, k.rate, k.sliding, push, drag))


def _nearer(times: np.ndarray, values: np.ndarray) -> np.ndarray:
    """For every spell, instants close to its largest sample: a parabola through three of 401 errs in the 8th digit."""
    top = np.argmax(values, axis=1)
    rows, last = np.arange(len(times)), times.shape[1] - 1
    begin, end = times[rows, np.maximum(top - 1, 0)], times[rows, np.minimum(top + 1, last)]
    return np.linspace(begin, end, NEARER, axis=1)


def _refined_peak(values: np.ndarray) -> float:
    """Largest value of a smooth sampled curve: the vertex of the parabola through the top three samples."""
    k = int(np.argmax(values))
    if k in (0, len(values) - 1):
        return float(values[k])
    a, b, c = values[k - 1 : k + 2]
    bend = a - 2.0 * b + c
    return float(b if bend == 0.0 else b - (a - c) ** 2 / (8.0 * bend))


def _peak_with_bends(times: np.ndarray, values: np.ndarray, bends: np.ndarray, at_bends: np.ndarray) -> float:
    """Largest value of a curve that is smooth between its bends: no parabola is laid across one of them."""
    k = int(np.argmax(values))
    step = times[1] - times[0]
    near = bool(np.any(np.abs(bends - times[k]) <= step))
    top = float(values[k]) if near else _refined_peak(values)
    return max(top, float(np.max(at_bends, initial=0.0)))
