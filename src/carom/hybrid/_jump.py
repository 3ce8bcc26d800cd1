"""The jump: what changes at an event."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import PyTree

from ..dynamics.energy import kinetic_energy
from ..quantities import Coordinates, Flag, Memories, Phases, Real
from ._flow import scene_with_motion
from .automaton import blank
from .condition import any_of
from .scene import Continuous, Own, merge
from .world import World


def serve(
    world: World,
    t: Real,
    y: Continuous,
    rate: Continuous,
    phases: Phases,
    memory: Memories,
    fired: tuple[Any, ...],
    first: Real,
) -> tuple[Continuous, Any, Any]:
    """Let every automaton with a fired exit jump, in the order of the list; each sees the state its forerunner left.

    `rate` is that of the state before. `first`: nothing fired; it is the beginning, and all that look again do.
    """
    done, channel = 0, 0
    for i, automaton in enumerate(world.automata):
        mine = fired[done : done + len(automaton.anatomy.exits)]
        if mine:
            y, phases, memory = _serve_one(world, i, channel, t, y, rate, phases, memory, mine, first)
        if mine and automaton.anatomy.impulsive:
            phases, memory = _jolt(world, i, t, y, phases, memory, any_of(mine))
        done += len(automaton.anatomy.exits)
        channel += len(automaton.anatomy.channels)
    return y, phases, memory


def _serve_one(
    world: World,
    i: int,
    channel: int,
    t: Real,
    y: Continuous,
    rate: Continuous,
    phases: Phases,
    memory: Memories,
    mine: tuple[Flag, ...],
    first: Real,
) -> tuple[Continuous, Any, Any]:
    automaton = world.automata[i]
    old = Own(phases[i], memory[i], y.extra[i])
    scene = scene_with_motion(world, t, y, phases, memory)
    scene.acceleration = rate.v
    new = automaton.jump(scene, old, mine)
    hit = any_of(mine) | first if automaton.anatomy.looks_again else any_of(mine)

    def keep(a: PyTree, b: PyTree) -> Any:
        return jax.tree.map(lambda x, z: jnp.where(hit, x, z), a, b)

    phases = _replace(phases, i, keep(jnp.asarray(new.phase, dtype=old.phase.dtype), old.phase))
    memory = _replace(memory, i, keep(tuple(jnp.asarray(m, dtype=float) for m in new.memory), old.memory))
    extra = _replace(y.extra, i, keep(tuple(new.states), old.states))
    velocity, work = y.v, y.work
    if automaton.anatomy.impulsive:
        velocity = keep(new.velocity, y.v)
        if y.work:  # the energy that the blow took (negative) or gave
            gain = _kinetic(world, y.q, velocity) - _kinetic(world, y.q, y.v)
            if new.driven is not None:
                driven, last = jnp.where(hit, new.driven, 0.0), channel + len(automaton.anatomy.channels) - 1
                work, gain = _replace(work, last, work[last] + driven), gain - driven
            work = _replace(work, channel, work[channel] + gain)
    return Continuous(y.q, velocity, extra, work), phases, memory


def _jolt(world: World, i: int, t: Real, y: Continuous, phases: Phases, memory: Memories, hit: Flag) -> tuple[Any, Any]:
    """After a blow of automaton i the others look again at what moves: what stuck may slide now."""
    for j, automaton in enumerate(world.automata):
        if j != i and automaton.anatomy.looks_again and not automaton.anatomy.impulsive:
            old, none = Own(phases[j], memory[j], y.extra[j]), blank(automaton.anatomy.families, False)
            new = automaton.jump(scene_with_motion(world, t, y, phases, memory), old, none)
            phases = _replace(phases, j, jnp.where(hit, new.phase, old.phase))
            kept = tuple(jnp.where(hit, a, b) for a, b in zip(new.memory, old.memory, strict=True))
            memory = _replace(memory, j, kept)
    return phases, memory


def _kinetic(world: World, q: Coordinates, v: Coordinates) -> Any:
    return kinetic_energy(world.mechanism, merge(q), merge(v))


def _replace(items: tuple[Any, ...], i: int, value: PyTree) -> tuple[Any, ...]:
    return (*items[:i], value, *items[i + 1 :])
