"""The flow: what the state does between events."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ..dynamics import explicit, linear
from ..dynamics.motion import EXPLICIT_UP_TO, formalism_of
from .scene import Load, Scene, State, merge
from .world import World, any_striking, owns, scene_of


def derivative(world: World, t: Any, y: State, phases: Any, memory: Any) -> State:
    """d/dt of the whole state in the given phases."""
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
    acceleration = _accelerations(world, y, load, gravity)
    if world.pause_in_impact:  # the potential energy goes on counting weight that does not act
        powers.append((acting - 1.0) * _weight_power(world, scene))
    work = tuple(jnp.asarray(p, dtype=float) for p in powers) if y.work else ()
    return State(q=y.v, v=acceleration, extra=tuple(rates), work=work)


def _joints(scene: Scene, load: Load) -> Any:
    """Springs and dampers of the joints; returns the dampers' power."""
    n, power = scene.mechanism.numbers, 0.0
    for k in range(scene.top.links):
        rate = scene.relative_rate(k)
        drag = -n.damping[k] * rate
        scene.turn(load, k, drag - n.stiffness[k] * (scene.relative_angle(k) - n.rest[k]))
        power = power + drag * rate
    return power


def _accelerations(world: World, y: State, load: Load, gravity: tuple[Any, Any]) -> Any:
    mechanism = world.mechanism
    if isinstance(y.q, tuple) and mechanism.topology.links <= EXPLICIT_UP_TO:
        lower, bias, weight = explicit.terms(mechanism, y.q, y.v, gravity)
        right = [load.entries[i] + weight[i] - bias[i] for i in range(mechanism.dof)]
        return tuple(linear.ldl_solve(lower, right))
    chosen = formalism_of(None, mechanism.topology.links)
    out = chosen.accelerations(mechanism, merge(y.q), merge(y.v), load.vector(), jnp.stack(gravity))
    return tuple(out[i] for i in range(mechanism.dof)) if isinstance(y.q, tuple) else out


def _weight_power(world: World, scene: Scene) -> Any:
    """Power of the full weight on all links."""
    n, total = world.mechanism.numbers, 0.0
    for k in range(scene.top.links):
        _, _, vx, vy = scene.point(k, n.com[k][0], n.com[k][1])
        total = total + n.mass[k] * (world.gravity[0] * vx + world.gravity[1] * vy)
    return total
