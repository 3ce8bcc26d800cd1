"""The flow: what the state does between events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ..dynamics import _elastic_energy as elastic_energy
from ..dynamics import _linear as linear
from ..dynamics import explicit
from ..dynamics.forward_inverse import EXPLICIT_UP_TO, formalism_of
from ..mechanism import Mechanism
from ..quantities import Coordinates, Flag, Memories, Phases, Real
from ._bonds import bond_rows, bound
from ._coupled import Coupled, bounded_rows, coupled, mine_of, with_own
from ._flow_arrays import array_accelerations, array_joints, array_reactions, array_restored, array_rows, like
from ._reaction import Reactions, Row, react, restore
from ._row_arrays import ManyReactions
from .automaton import AbstractAutomaton, touch_of
from .scene import Continuous, Load, Own, Scene, merge
from .world import World, any_striking, owns, scene_of, with_owns


class FreeMotion(NamedTuple):
    """The motion without reactions, and the means to change it: `solve` applies the inverse mass matrix."""

    free: Any  # accelerations
    solve: Callable[[list[Any]], list[Any]] | None
    rates: tuple[tuple[Any, ...], ...]
    powers: tuple[Any, ...]


def free_motion(world: World, t: Real, y: Continuous, phases: Phases, memory: Memories) -> FreeMotion:
    """Accelerations under everything but reactions."""
    scene = scene_of(world, t, y, phases)
    load, gravity, rates, powers = _loaded(world, scene, y, phases, memory)
    free, solve = _accelerations(world, scene, y, load, gravity)
    return FreeMotion(free, solve, rates, powers)


def _loaded(world: World, scene: Scene, y: Continuous, phases: Phases, memory: Memories) -> Any:
    """The load of everything but reactions, the weight that acts, rates of own states, and powers."""
    load = Load(world.mechanism)
    acting = 1.0 - any_striking(world, phases) if world.pause_in_impact else 1.0
    rates, powers = [], []
    each = owns(y, phases, memory)
    with_owns(world, scene, each)
    scene.touch = lambda name: touch_of(world.automata, scene, each.__getitem__, name)
    for automaton, own in zip(world.automata, each, strict=True):
        if world.pause_in_impact and automaton.anatomy.pausable:
            aside = Load(world.mechanism)
            flow = automaton.force(scene, own, aside)
            load.add_all(aside, acting)
            powers += [p * acting for p in flow.powers]
        else:
            flow = automaton.force(scene, own, load)
            powers += list(flow.powers)
        rates.append(tuple(flow.rates))
    powers += _passive(world, scene, y, load)
    gravity = (acting * world.gravity[0], acting * world.gravity[1])
    if world.pause_in_impact:  # the potential energy goes on counting weight that does not act
        powers.append((acting - 1.0) * _weight_power(world, scene))
    return load, gravity, tuple(rates), tuple(powers)


def driven(world: World, t: Real, y: Continuous, phases: Phases, memory: Memories) -> Any:
    """Accelerations under weight and motors alone: without contacts, springs and dampers."""
    scene, load = scene_of(world, t, y, phases), Load(world.mechanism)
    with_owns(world, scene, owns(y, phases, memory))
    for automaton, own in zip(world.automata, scene.owns, strict=True):
        if automaton.report.drive is not None:
            automaton.force(scene, own, load)
    return _accelerations(world, scene, y, load, (world.gravity[0], world.gravity[1]))[0]


def derivative(world: World, t: Real, y: Continuous, phases: Phases, memory: Memories) -> Continuous:
    """d/dt of the whole state in the given phases."""
    motion = free_motion(world, t, y, phases, memory)
    powers = tuple(jnp.asarray(p, dtype=float) for p in motion.powers)
    acceleration = motion.free
    if world.row_count:
        # A branch: most of a run nothing is held.
        acceleration, powers = jax.lax.cond(
            any_holding(world, phases),
            lambda: _held(world, t, y, phases, memory, motion),
            lambda: (jax.tree.map(lambda a: jnp.asarray(a, dtype=float), motion.free), powers),
        )
    return Continuous(q=y.v, v=acceleration, extra=motion.rates, work=powers if y.work else ())


def brought_back(world: World, t: Real, y: Continuous, phases: Phases, memory: Memories, accept: Flag) -> Continuous:
    """The state with contacts and constraints put back to where they are held: a step leaves them off by its error.

    So contact holds its place for hours, and what rests has no velocity.
    """
    if not world.row_count and not world.constraints:
        return y

    def back() -> Continuous:
        scene = scene_of(world, t, y, phases)
        if world.arrays:
            return array_restored(world, scene, y, owns(y, phases, memory))
        lower, _, _ = explicit.terms(world.mechanism, y.q, y.v, (0.0, 0.0))
        rows = [*bond_rows(world, scene), *_rows(world, scene, owns(y, phases, memory))]
        q, v = restore(rows, y.q, y.v, linear.ldl_factor(lower))
        return y._replace(q=q, v=v)

    same = y._replace(q=jax.tree.map(jnp.asarray, y.q), v=jax.tree.map(jnp.asarray, y.v))
    held = jnp.asarray(True) if world.constraints else any_holding(world, phases)
    return jax.lax.cond(held & accept, back, lambda: same)


def any_holding(world: World, phases: Phases) -> Any:
    total = jnp.asarray(False)
    for automaton, phase in zip(world.automata, phases, strict=True):
        if automaton.holding.count:
            total = total | automaton.holding.active(phase)
    return total


def _held(
    world: World, t: Real, y: Continuous, phases: Phases, memory: Memories, motion: FreeMotion
) -> tuple[Any, tuple[Any, ...]]:
    """Accelerations and powers with the reactions."""
    scene = scene_of(world, t, y, phases)
    each = owns(y, phases, memory)
    found: Any = _reactions(world, scene, each, motion)
    powers = _with_shares(world, scene, each, found.forces, list(motion.powers)) if y.work else motion.powers
    if world.arrays:
        acceleration = like(y, found.acceleration)
    else:
        acceleration = tuple(jnp.asarray(a, dtype=float) for a in found.acceleration)
    return acceleration, tuple(jnp.asarray(p, dtype=float) for p in powers)


def scene_with_motion(world: World, t: Real, y: Continuous, phases: Phases, memory: Memories) -> Scene:
    """A scene in which an automaton can ask how the world moves, also if the automaton were in another phase.

    `scene.still()` is the same scene for decisions, which have no derivatives.
    """
    scene = scene_of(world, t, y, phases)
    if not all(automaton.anatomy.arrays for automaton in world.automata):
        scene.frame(0)  # now, and not first within a branch, from which nothing may be kept
    known: list[Any] = []  # velocities and their motion: everybody asks for the same one

    def motion(v: Coordinates) -> FreeMotion:
        if not any(v is old for old, _ in known):
            known.append((v, free_motion(world, t, y._replace(v=v), phases, memory)))
        return next(found for old, found in known if v is old)

    scene.motion = motion
    each = owns(y, phases, memory)
    with_owns(world, scene, each)
    pairs = list(zip(world.automata, each, strict=True))
    scene.struck = lambda: {name: blow.time for a, own in pairs for name, blow in a.report.blows(own).items()}

    def reactions(automaton: AbstractAutomaton, own: Own) -> tuple[Any, Any, Any]:
        """Reactions of this automaton's rows, its block of W, and the sizes of their terms, if it were so."""
        i, mixed = with_own(world, each, automaton, own)
        motion = free_motion(world, t, y, tuple(o.phase for o in mixed), tuple(o.memory for o in mixed))
        found: Any = _reactions(world, scene, mixed, motion)
        mine = mine_of(world, i)
        if automaton.anatomy.arrays:
            at = slice(mine.start, mine.stop)
            return found.forces[at], found.weights[at, at], found.sizes[at]
        block = [[found.weights[j][k] for k in mine] for j in mine]
        return [found.forces[k] for k in mine], block, [found.sizes[k] for k in mine]

    scene.reactions = reactions
    scene.bounded = lambda at: bounded_rows(pairs, at)

    def coupled_rows(automaton: AbstractAutomaton, own: Own) -> Coupled:
        i, mixed = with_own(world, each, automaton, own)
        motion = free_motion(world, t, y, tuple(o.phase for o in mixed), tuple(o.memory for o in mixed))
        rows = array_rows(world, scene, mixed) if world.arrays else _rows(world, scene, mixed)
        return coupled(rows, motion.free, _inverse(motion), mine_of(world, i))

    scene.coupled = coupled_rows
    scene.still = lambda: scene_with_motion(world, *jax.lax.stop_gradient((t, y, phases, memory)))
    return scene


def _inverse(motion: FreeMotion) -> Callable[[list[Any]], list[Any]]:
    assert motion.solve is not None  # _accelerations keeps the factors where there are rows
    return motion.solve


def _reactions(world: World, scene: Scene, each: list[Own], motion: FreeMotion) -> Reactions | ManyReactions:
    """Reactions of all rows, written out or on arrays."""
    if world.arrays:
        return array_reactions(world, scene, each, motion.free, _inverse(motion))
    return react(_rows(world, scene, each), motion.free, _inverse(motion))


def _rows(world: World, scene: Scene, each: list[Own]) -> list[Row]:
    found: list[Row] = []
    for automaton, own in zip(world.automata, each, strict=True):
        rows = automaton.holding.rows(scene, own)
        assert isinstance(rows, list)  # arrays go another way
        found += rows
    return found


def _with_shares(world: World, scene: Scene, each: list[Own], forces: Any, powers: list[Any]) -> list[Any]:
    """Powers with those of the reactions added, each to its automaton's channels."""
    out, row, channel = list(powers), 0, 0
    for automaton, own in zip(world.automata, each, strict=True):
        holding = automaton.holding
        if holding.count:
            added = holding.powers(scene, own, forces[row : row + holding.count])
            for k, power in enumerate(added):
                out[channel + k] = out[channel + k] + power
        row, channel = row + holding.count, channel + len(automaton.anatomy.channels)
    return out


def _passive(world: World, scene: Scene, y: Continuous, load: Load) -> list[Any]:
    """Springs and dampers of joints and elastic links; powers of the dampers."""
    powers = [array_joints(scene, load) if world.arrays else _joints(scene, load)]
    if world.mechanism.topology.elastic:
        forces, power = elastic_energy.bending(world.mechanism, y.q, y.v)
        for index, force in forces:
            load.add(index, force)
        powers.append(power)
    return powers


def _joints(scene: Scene, load: Load) -> Any:
    """Springs and dampers of the joints; returns the dampers' power."""
    n, power = scene.mechanism.numbers, 0.0
    for k in range(scene.top.links):
        rate = scene.relative_rate(k)
        drag = -n.damping[k] * rate
        scene.turn(load, k, drag - n.stiffness[k] * (scene.relative_angle(k) - n.rest[k]))
        power = power + drag * rate
    return power


def _accelerations(world: World, scene: Scene, y: Continuous, load: Load, gravity: tuple[Any, Any]) -> tuple[Any, Any]:
    """Accelerations and, for small mechanisms, the inverse mass matrix as a function, both with the constraints."""
    mechanism, held = world.mechanism, world.row_count or world.constraints
    if world.row_count and world.arrays:
        return array_accelerations(world, y, load, gravity)
    if isinstance(y.q, tuple) and (held or mechanism.topology.links <= EXPLICIT_UP_TO):
        free, solve = _unbound(mechanism, y, load, gravity)
        if world.constraints:
            free, solve, _ = bound(bond_rows(world, scene), free, solve)
        return tuple(free), solve
    chosen = formalism_of(None, mechanism.topology.links)
    out = chosen.accelerations(mechanism, merge(y.q), merge(y.v), load.vector(), jnp.stack(gravity))
    return (tuple(out[i] for i in range(mechanism.dof)) if isinstance(y.q, tuple) else out), None


def _unbound(mechanism: Mechanism, y: Continuous, load: Load, gravity: tuple[Any, Any]) -> tuple[list[Any], Any]:
    """Accelerations and the inverse mass matrix of the open tree."""
    lower, bias, weight = explicit.terms(mechanism, y.q, y.v, gravity)
    right = [load.entries[i] + weight[i] - bias[i] for i in range(mechanism.dof)]
    solve = linear.ldl_factor(lower)
    return solve(right), solve


def bond_forces(world: World, t: Real, y: Continuous, phases: Phases, memory: Memories) -> list[Any]:
    """Forces along the rows of all constraints. Reactions of contacts act on the open tree as any load does."""
    scene = scene_of(world, t, y, phases)
    load, gravity, _, _ = _loaded(world, scene, y, phases, memory)
    if world.row_count:
        rows = _rows(world, scene, owns(y, phases, memory))
        found = react(rows, *_accelerations(world, scene, y, load, gravity))
        for row, force in zip(rows, found.forces, strict=True):
            for i, x in enumerate(row.along):
                load.add(i, jnp.where(row.active, force * x, 0.0))
    free, solve = _unbound(world.mechanism, y, load, gravity)
    return bound(bond_rows(world, scene), free, solve).forces


def _weight_power(world: World, scene: Scene) -> Any:
    """Power of the full weight on all links."""
    n, total = world.mechanism.numbers, 0.0
    if scene.top.elastic:
        each = elastic_energy.first_moments(world.mechanism, scene.q, scene.v)
        return sum(world.gravity[0] * p[0] + world.gravity[1] * p[1] for _, _, p, _ in each)
    for k in range(scene.top.links):
        _, _, vx, vy = scene.point(k, n.com[k][0], n.com[k][1])
        total = total + n.mass[k] * (world.gravity[0] * vx + world.gravity[1] * vy)
    return total
