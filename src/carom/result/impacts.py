"""Impacts of compliant contacts: from touch to release, with what happened in between."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from ..contact import Contact
from ..dynamics.energy import kinetic_energy_by_link
from ..hybrid.automaton import Own
from ..hybrid.run import executable
from ..hybrid.scene import Scene, split
from ..hybrid.world import World

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
    return sorted(found, key=lambda impact: impact.t_start)


def _impact(result: Result, i: int, contact: Contact, touch: Any, release: Any) -> Impact:
    world = result.world
    times = np.linspace(touch.t, release.t, SAMPLES)
    inner = times[1:-1]  # the ends belong to the events, where the phase is the one before or after
    depth, force, drag = _sampled(result, i, contact, inner)
    first, last = _kinematics(world, contact, touch), _kinematics(world, contact, release)
    weights = np.full(len(inner), times[1] - times[0])
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
        max_normal_force=_refined_peak(force),
        normal_impulse=float(np.sum(weights * force)),
        tangential_impulse=float(np.sum(weights * drag)),
        kinetic_energy_by_link_before=_by_link(world, touch),
        kinetic_energy_by_link_after=_by_link(world, release),
    )


def _refined_peak(values: np.ndarray) -> float:
    """Largest value of a smooth sampled curve: the vertex of the parabola through the top three samples."""
    k = int(np.argmax(values))
    if k in (0, len(values) - 1):
        return float(values[k])
    a, b, c = values[k - 1 : k + 2]
    bend = a - 2.0 * b + c
    return float(b if bend == 0.0 else b - (a - c) ** 2 / (8.0 * bend))


def _sampled(result: Result, i: int, contact: Contact, times: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Indentation, normal force and friction force at the given times."""
    states = result.at(times)
    own = Own(states.phases[i], states.memory[i], ())
    args = (result.world, contact, states.q, states.v, own)
    depth, push, drag = executable(_forces, (), *args)(*args)
    return np.asarray(depth), np.asarray(push), np.asarray(drag)


def _forces(world: World, contact: Contact, q: Any, v: Any, own: Own) -> Any:
    def one(q: Any, v: Any, own: Own) -> Any:
        k, push, drag = contact.forces(Scene(world.mechanism, jnp.asarray(0.0), q, v), own)
        return k.indentation, push, drag

    return jax.vmap(one)(q, v, own)


def _kinematics(world: World, contact: Contact, event: Any) -> tuple[float, float, float]:
    m = world.mechanism
    k = contact.touching(Scene(m, jnp.asarray(event.t), split(m, jnp.asarray(event.q)), split(m, jnp.asarray(event.v))))
    return float(k.rate), float(k.sliding), float(k.indentation)


def _by_link(world: World, event: Any) -> tuple[float, ...]:
    energies = kinetic_energy_by_link(world.mechanism, jnp.asarray(event.q), jnp.asarray(event.v))
    return tuple(float(e) for e in energies)
