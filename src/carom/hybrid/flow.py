"""The flow: what the state does between events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp

from ..dynamics import explicit, linear
from ..dynamics.motion import EXPLICIT_UP_TO, formalism_of
from .scene import Load, Scene, State, merge
from .world import World, any_striking, owns, scene_of


class Motion(NamedTuple):
    """The motion without rigid contacts, and the means to change it: `solve` applies the inverse mass matrix."""

    free: Any  # accelerations
    solve: Callable[[list[Any]], list[Any]] | None
    rates: tuple[tuple[Any, ...], ...]
    powers: tuple[Any, ...]


def free_motion(world: World, t: Any, y: State, phases: Any, memory: Any) -> Motion:
    """Accelerations under everything but rigid contacts."""
    scene = scene_of(world, t, y, phases)
    load = Load(world.mechanism)
    acting = 1.0 - any_striking(world, phases) if world.pause_in_impact else 1.0
    rates, powers = [], []
    for automaton, own in zip(world.automata, owns(y, phases, memory), strict=True):
        if world.pause_in_impact and automaton.pausable:
            aside = Load(world.mechanism)
            flow = automaton.force(scene, own, aside)
            load.add_all(aside, acting)
            powers += [p * acting for p in flow.powers]
        else:
            flow = automaton.force(scene, own, load)
            powers += list(flow.powers)
        rates.append(tuple(flow.rates))
    powers.append(_joints(scene, load))
    gravity = (acting * world.gravity[0], acting * world.gravity[1])
    free, solve = _accelerations(world, y, load, gravity)
    if world.pause_in_impact:  # the potential energy goes on counting weight that does not act
        powers.append((acting - 1.0) * _weight_power(world, scene))
    return Motion(free, solve, tuple(rates), tuple(powers))


def derivative(world: World, t: Any, y: State, phases: Any, memory: Any) -> State:
    """d/dt of the whole state in the given phases."""
    motion = free_motion(world, t, y, phases, memory)
    acceleration = motion.free
    scene = scene_with_motion(world, t, y, phases, memory)
    for automaton, own in zip(world.automata, owns(y, phases, memory), strict=True):
        if automaton.constrains:
            acceleration = automaton.react(scene, own, motion)
    work = tuple(jnp.asarray(p, dtype=float) for p in motion.powers) if y.work else ()
    return State(q=y.v, v=acceleration, extra=motion.rates, work=work)


def scene_with_motion(world: World, t: Any, y: State, phases: Any, memory: Any) -> Scene:
    """A scene in which rigid contacts can ask how the world would move at other velocities."""
    scene = scene_of(world, t, y, phases)
    scene.motion = lambda v: free_motion(world, t, y._replace(v=v), phases, memory)
    return scene


def _joints(scene: Scene, load: Load) -> Any:
    """Springs and dampers of the joints; returns the dampers' power."""
    n, power = scene.mechanism.numbers, 0.0
    for k in range(scene.top.links):
        rate = scene.relative_rate(k)
        drag = -n.damping[k] * rate
        scene.turn(load, k, drag - n.stiffness[k] * (scene.relative_angle(k) - n.rest[k]))
        power = power + drag * rate
    return power


def _accelerations(world: World, y: State, load: Load, gravity: tuple[Any, Any]) -> tuple[Any, Any]:
    """Accelerations and, for small mechanisms, the inverse mass matrix as a function."""
    mechanism = world.mechanism
    rigid = any(automaton.constrains for automaton in world.automata)
    if isinstance(y.q, tuple) and (rigid or mechanism.topology.links <= EXPLICIT_UP_TO):
        lower, bias, weight = explicit.terms(mechanism, y.q, y.v, gravity)
        right = [load.entries[i] + weight[i] - bias[i] for i in range(mechanism.dof)]
        solve = linear.ldl_factor(lower)
        return tuple(solve(right)), solve
    chosen = formalism_of(None, mechanism.topology.links)
    out = chosen.accelerations(mechanism, merge(y.q), merge(y.v), load.vector(), jnp.stack(gravity))
    return (tuple(out[i] for i in range(mechanism.dof)) if isinstance(y.q, tuple) else out), None


def _weight_power(world: World, scene: Scene) -> Any:
    """Power of the full weight on all links."""
    n, total = world.mechanism.numbers, 0.0
    for k in range(scene.top.links):
        _, _, vx, vy = scene.point(k, n.com[k][0], n.com[k][1])
        total = total + n.mass[k] * (world.gravity[0] * vx + world.gravity[1] * vy)
    return total
