"""Impacts: of compliant contacts from touch to release, of rigid ones at an instant.

A blow at one rigid contact sends impulses through all that are closed: they are listed beside it, as not `struck`.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..contact import AbstractPair, CompliantContact, RigidContact, RigidContacts
from ..dynamics.energy import kinetic_energy_by_link
from ..hybrid.automaton import Own
from ..hybrid.flow import scene_with_motion
from ..hybrid.run import EventRow
from ..hybrid.scene import Continuous, Scene, split
from ..hybrid.world import World
from ..mechanism import Mechanism
from .dense import chunked, over

if TYPE_CHECKING:
    from .result import Event, Result

SAMPLES = 401  # instants looked at within an impact for its largest force
ROUNDING = 1e-9  # of the largest indentation
SHARE = 1e-12  # of the largest impulse of a blow: a contact that takes less takes no part
TOGETHER = 500  # impacts looked at in one go; their samples take some 10 MB


@dataclasses.dataclass(frozen=True)
class Impact:
    """One impact. Velocities are those of the contact point, normal positive away from the surface.

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
    kinetic_energy_by_link_before: tuple[float, ...]
    kinetic_energy_by_link_after: tuple[float, ...]
    struck: bool = True

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
    """Pair every touch with its release; an impact still in progress at the end is left out."""
    found: list[Impact] = []
    happened: dict[str, list[Event]] = defaultdict(list)
    for event in result.events:
        happened[event.automaton].append(event)
    for i, automaton in enumerate(result.world.automata):
        if isinstance(automaton, CompliantContact):
            spans = _spans(happened[automaton.name])
            for begin in range(0, len(spans), TOGETHER):
                found += _impacts(result, i, automaton, spans[begin : begin + TOGETHER])
        elif isinstance(automaton, RigidContacts):
            for contact, shares in zip(automaton.contacts, _taking_part(result, i, automaton), strict=True):
                strikes = [e for e in happened[automaton.name] if e.exit == f"strike {contact.name}"]
                found += _blows(result, contact, strikes) + _blows(result, contact, shares, struck=False)
    return sorted(found, key=lambda impact: (impact.t_start, not impact.struck))


def _taking_part(result: Result, i: int, automaton: RigidContacts) -> list[list[Event]]:
    """For every contact the blows of others in which it took an impulse."""
    exits, marks = {event: g for g, event in enumerate(result.world.events)}, result.marks
    if not len(marks.t):
        return [[] for _ in automaton.contacts]
    count = range(len(automaton.contacts))  # strikes come first among exits, their impulses first in the memory
    fired = np.stack([np.asarray(marks.fired[exits[i, j]], dtype=bool) for j in count], axis=1)
    push = np.abs(np.stack([marks.memory_after[i][j] for j in count], axis=1))
    part = np.any(fired, axis=1, keepdims=True) & ~fired & (push > SHARE * np.max(push, axis=1, keepdims=True))
    return [[result.event(int(r), i, j) for r in np.flatnonzero(part[:, j])] for j in count]


@dataclasses.dataclass(frozen=True)
class _Side:
    """Contact points and energies on one side of many impacts."""

    normal: np.ndarray
    tangential: np.ndarray
    depth: np.ndarray
    energies: np.ndarray


def _side(world: World, pair: AbstractPair, t: list[float], q: list[np.ndarray], v: list[np.ndarray]) -> _Side:
    columns = (np.array(t), np.array(q), np.array(v))
    rate, sliding, depth, energies = chunked(_touch, (), (world.mechanism, pair), columns)
    return _Side(-rate, sliding, depth, energies)


def _touch(mechanism: Mechanism, pair: AbstractPair, t: Any, q: Any, v: Any) -> tuple[Any, ...]:
    def one(t: Any, q: Any, v: Any) -> tuple[Any, ...]:
        k = pair.touching(Scene(mechanism, t, split(mechanism, q), split(mechanism, v)))
        motion = tuple(jnp.asarray(x, dtype=float) for x in (k.rate, k.sliding, k.indentation))
        return (*motion, kinetic_energy_by_link(mechanism, q, v))

    return tuple(jax.vmap(one)(t, q, v))


def _blows(result: Result, contact: RigidContact, strikes: list[Event], struck: bool = True) -> list[Impact]:
    """Instantaneous impacts: their force is infinite, their impulse is not."""
    if not strikes:
        return []
    t = [e.t for e in strikes]
    before = _side(result.world, contact.pair, t, [e.q for e in strikes], [e.v for e in strikes])
    after = _side(result.world, contact.pair, t, [e.q_after for e in strikes], [e.v_after for e in strikes])
    return [
        Impact(
            contact=contact.name,
            t_start=e.t,
            t_end=e.t,
            **_velocities(before, after, k),
            max_indentation=0.0,
            residual_indentation=0.0,
            max_normal_force=float("inf"),
            normal_impulse=e.memory[f"last impulse {contact.name}"],
            tangential_impulse=e.memory.get(f"last friction impulse {contact.name}", 0.0),
            struck=struck,
        )
        for k, e in enumerate(strikes)
    ]


def _velocities(before: _Side, after: _Side, k: int) -> dict[str, Any]:
    return {
        "normal_velocity_before": float(before.normal[k]),
        "normal_velocity_after": float(after.normal[k]),
        "tangential_velocity_before": float(before.tangential[k]),
        "tangential_velocity_after": float(after.tangential[k]),
        "kinetic_energy_by_link_before": tuple(before.energies[k].tolist()),
        "kinetic_energy_by_link_after": tuple(after.energies[k].tolist()),
    }


class _Span(NamedTuple):
    """A touch, its release, and the instants between them at which the law changed its phase."""

    touch: Event
    release: Event
    bends: list[float]


def _spans(events: list[Event]) -> list[_Span]:
    """From every touch to its release."""
    out: list[_Span] = []
    opened: Event | None = None
    bends: list[float] = []
    for event in events:
        if event.exit == "touch":
            opened, bends = event, []
        elif opened is not None and event.exit == "release":
            out.append(_Span(opened, event, [t for t in bends if opened.t < t < event.t]))
            opened = None
        else:
            bends.append(event.t)
    return out


def _impacts(result: Result, i: int, contact: CompliantContact, spans: list[_Span]) -> list[Impact]:
    """Impacts that take time; many at once, so that each chunk of the dense output is full."""
    ends = [(s.touch, s.release) for s in spans]
    before, after = (
        _side(result.world, contact.pair, *map(list, zip(*((e.t, e.q, e.v) for e in side), strict=True)))
        for side in zip(*ends, strict=True)
    )
    # The ends belong to the events, where the phase is the one before or after.
    inner = np.linspace([s.touch.t for s in spans], [s.release.t for s in spans], SAMPLES, axis=1)[:, 1:-1]
    bends = [t for s in spans for t in s.bends]
    values = over(result, np.concatenate([inner.ravel(), bends]), _forces, (i,))
    depth, push, drag = (column[: inner.size].reshape(inner.shape) for column in values)
    at_bends = np.split(values[1][inner.size :], np.cumsum([len(s.bends) for s in spans])[:-1])
    out = []
    for k, span in enumerate(spans):
        step = (span.release.t - span.touch.t) / (SAMPLES - 1)
        impact = Impact(
            contact=contact.name,
            t_start=span.touch.t,
            t_end=span.release.t,
            **_velocities(before, after, k),
            max_indentation=_refined_peak(depth[k]),
            residual_indentation=_left(float(after.depth[k]), float(np.max(depth[k]))),
            max_normal_force=_peak_with_bends(inner[k], push[k], np.array(span.bends), at_bends[k]),
            normal_impulse=step * float(np.sum(push[k])),
            tangential_impulse=step * float(np.sum(drag[k])),
        )
        out.append(impact)
    return out


def _left(depth: float, most: float) -> float:
    """What is left of the indentation at the release; rounding is none."""
    return depth if depth > ROUNDING * most else 0.0


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


def _forces(i: int, world: World, states: Any) -> Any:
    """Indentation and forces of contact i at every one of the states."""
    contact = world.automata[i]
    assert isinstance(contact, CompliantContact)

    def one(s: Any) -> Any:
        y = Continuous(split(world.mechanism, s.q), split(world.mechanism, s.v), s.extra, ())
        scene = scene_with_motion(world, s.t, y, s.phases, s.memory)
        own = Own(s.phases[i], s.memory[i], s.extra[i])
        k, push, drag, _ = contact.forces(scene, own)
        if contact.row_count:  # what holds it while it sticks
            drag = drag + scene.reactions(contact, own)[0][0]
        return k.indentation, push, drag

    return jax.vmap(one)(states)


def beyond_their_laws(world: World, marks: EventRow) -> list[str]:
    """Contacts whose laws were asked for more than they were made for."""
    out = []
    for i, contact in enumerate(world.automata):
        sentence = contact.normal.beyond(marks.memory_after[i]) if isinstance(contact, CompliantContact) else None
        if sentence is not None:
            out.append(f"contact '{contact.name}': {sentence}")
    return out
