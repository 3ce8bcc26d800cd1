"""Impacts: of compliant contacts from touch to release, of rigid ones at an instant."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from ..contact import AbstractPair, Contact, RigidContact, RigidContacts
from ..dynamics.energy import kinetic_energy_by_link
from ..hybrid.automaton import Own
from ..hybrid.flow import scene_with_motion
from ..hybrid.run import executable
from ..hybrid.scene import Scene, State, split
from ..hybrid.world import World
from ..mechanism import Mechanism

if TYPE_CHECKING:
    from .result import Result

SAMPLES = 401  # instants looked at within an impact for its largest force


@dataclasses.dataclass(frozen=True)
class Impact:
    """One impact. Velocities are those of the contact point, normal positive away from the surface."""

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

    @property
    def duration(self) -> float:
        return self.t_end - self.t_start

    @property
    def restitution(self) -> float:
        return -self.normal_velocity_after / self.normal_velocity_before

    @property
    def kinetic_energy_before(self) -> float:
        return sum(self.kinetic_energy_by_link_before)

    @property
    def kinetic_energy_after(self) -> float:
        return sum(self.kinetic_energy_by_link_after)


def find(result: Result) -> list[Impact]:
    """Pair every touch with its release; an impact still in progress at the end is left out."""
    found = []
    for i, automaton in enumerate(result.world.automata):
        if isinstance(automaton, Contact):
            opened = None
            for event in result.events:
                if event.automaton == automaton.name and event.exit == "touch":
                    opened = event
                elif event.automaton == automaton.name and event.exit == "release" and opened is not None:
                    found.append(_impact(result, i, automaton, opened, event))
                    opened = None
        elif isinstance(automaton, RigidContacts):
            found += [
                _blow(result, c, e) for c in automaton.contacts for e in result.events if _struck(automaton, c, e)
            ]
    return sorted(found, key=lambda impact: impact.t_start)


def _struck(automaton: RigidContacts, contact: RigidContact, event: Any) -> bool:
    return event.automaton == automaton.name and event.exit == f"strike {contact.name}"


def _blow(result: Result, contact: RigidContact, event: Any) -> Impact:
    """An impact in no time: its force is infinite, its impulse is not."""
    world, m = result.world, result.world.mechanism
    after = dataclasses.replace(event, q=event.q_after, v=event.v_after)
    first, last = _kinematics(world, contact.pair, event), _kinematics(world, contact.pair, after)
    return Impact(
        contact=contact.name,
        t_start=event.t,
        t_end=event.t,
        normal_velocity_before=-first[0],
        normal_velocity_after=-last[0],
        tangential_velocity_before=first[1],
        tangential_velocity_after=last[1],
        max_indentation=0.0,
        residual_indentation=0.0,
        max_normal_force=float("inf"),
        normal_impulse=event.memory[f"last impulse {contact.name}"],
        tangential_impulse=event.memory.get(f"last friction impulse {contact.name}", 0.0),
        kinetic_energy_by_link_before=_by_link(m, event.q, event.v),
        kinetic_energy_by_link_after=_by_link(m, event.q_after, event.v_after),
    )


def _impact(result: Result, i: int, contact: Contact, touch: Any, release: Any) -> Impact:
    world = result.world
    times = np.linspace(touch.t, release.t, SAMPLES)
    inner = times[1:-1]  # the ends belong to the events, where the phase is the one before or after
    depth, force, drag = _sampled(result, i, contact, inner)
    first, last = _kinematics(world, contact.pair, touch), _kinematics(world, contact.pair, release)
    weights = np.full(len(inner), times[1] - times[0])
    # Where the law changes its phase the force has a kink, or its peak.
    bends = [e.t for e in result.events if e.automaton == contact.name and touch.t < e.t < release.t]
    at_bends = _sampled(result, i, contact, np.array(bends))[1] if bends else np.zeros(0)
    return Impact(
        contact=contact.name,
        t_start=touch.t,
        t_end=release.t,
        normal_velocity_before=-first[0],
        normal_velocity_after=-last[0],
        tangential_velocity_before=first[1],
        tangential_velocity_after=last[1],
        max_indentation=_refined_peak(depth),
        residual_indentation=max(last[2], 0.0),
        max_normal_force=_peak_with_bends(inner, force, np.array(bends), at_bends),
        normal_impulse=float(np.sum(weights * force)),
        tangential_impulse=float(np.sum(weights * drag)),
        kinetic_energy_by_link_before=_by_link(world.mechanism, touch.q, touch.v),
        kinetic_energy_by_link_after=_by_link(world.mechanism, release.q, release.v),
    )


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


def _sampled(result: Result, i: int, contact: Contact, times: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Indentation, normal force and friction force at the given times."""
    args = (result.world, result.at(times))
    depth, push, drag = executable(_forces, (i,), *args)(*args)
    return np.asarray(depth), np.asarray(push), np.asarray(drag)


def _forces(i: int, world: World, states: Any) -> Any:
    """Indentation and forces of contact i at every one of the states."""
    contact = world.automata[i]
    assert isinstance(contact, Contact)

    def one(s: Any) -> Any:
        y = State(split(world.mechanism, s.q), split(world.mechanism, s.v), s.extra, ())
        scene = scene_with_motion(world, s.t, y, s.phases, s.memory)
        own = Own(s.phases[i], s.memory[i], s.extra[i])
        k, push, drag, _ = contact.forces(scene, own)
        if contact.row_count:  # what holds it while it sticks
            drag = drag + scene.reactions(contact, own)[0][0]
        return k.indentation, push, drag

    return jax.vmap(one)(states)


def _kinematics(world: World, pair: AbstractPair, event: Any) -> tuple[float, float, float]:
    args = (world.mechanism, pair, np.asarray(event.t), np.asarray(event.q), np.asarray(event.v))
    rate, sliding, depth = executable(_touch, (), *args)(*args)
    return float(rate), float(sliding), float(depth)


def _touch(mechanism: Mechanism, pair: AbstractPair, t: Any, q: Any, v: Any) -> tuple[Any, Any, Any]:
    k = pair.touching(Scene(mechanism, t, split(mechanism, q), split(mechanism, v)))
    return tuple(jnp.asarray(x, dtype=float) for x in (k.rate, k.sliding, k.indentation))  # type: ignore[return-value]


def _by_link(mechanism: Mechanism, q: Any, v: Any) -> tuple[float, ...]:
    args = (mechanism, np.asarray(q), np.asarray(v))
    return tuple(float(e) for e in executable(kinetic_energy_by_link, (), *args)(*args))
