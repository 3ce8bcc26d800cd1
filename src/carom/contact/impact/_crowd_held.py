"""Maintained contact of many: what closed contacts hold, when they open, slip or stop. _maintained.py on arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from ...hybrid._row_arrays import RowArrays
from ...hybrid.condition import ROUNDING, Condition, level, rising, unless
from ...hybrid.scene import Scene, merge
from ..friction._stick_slip import LEFT, OPEN, RIGHT, STICKING, sense_of
from ._crowd import Crowd, CrowdNoise, Lines, Slots, chosen, crowd_noise, lines_of, rows_at, seen, unmoved
from ._maintained import NOTHING, SHARED
from ._several import Problem, Solution, solve

Numbers = Float[Array, " contacts"]
Flags = Bool[Array, " contacts"]


class CrowdMemory(NamedTuple):
    """What many contacts remember, one array each; of those with friction alone where it is about sliding."""

    modes: Any
    normal: Any  # impulses of the last blow
    tangential: Any
    speed: Any  # that counted as none after it
    sliding: Any
    strikes: Any  # when each was last struck while open [s]; -1: never


def spread(crowd: Crowd, of_rubs: Any) -> Any:
    """Numbers of the contacts with friction, with zeros for the others."""
    return jnp.zeros(crowd.size).at[crowd.rubs].set(of_rubs)


def to_contacts(crowd: Crowd, slots: Slots, values: Any, otherwise: Any = 0.0) -> Any:
    """Numbers of the slots in use, given to their contacts."""
    out = jnp.full(crowd.size, otherwise, dtype=jnp.asarray(values).dtype)
    index = slots.place[: len(values)]
    return out.at[index].set(jnp.where(slots.on[: len(values)], values, out[0]))


def rubbing_coefficient(crowd: Crowd, sliding: Numbers) -> Numbers:
    return crowd.rubbing(lambda friction, u: friction.coefficient(jnp.abs(u)), sliding)


def crowd_rows(crowd: Crowd, scene: Scene, modes: Any) -> RowArrays:
    """What the contacts that are closed hold: the normal direction, and the tangential one where they stick."""
    slots, _ = chosen(crowd, modes != OPEN)
    s, at, m = seen(crowd, scene), slots.place, crowd.slots[0]
    normal = rows_at(crowd, scene.mechanism, s.links, s.normal[at], at)
    mode, sliding = modes[at], s.touch.sliding
    aside = rows_at(crowd, scene.mechanism, s.links, s.tangential[at], at)
    across = aside[:m]
    slip = -sense_of(mode[:m]) * rubbing_coefficient(crowd, sliding)[at[:m]]
    along = normal.at[:m].add(slip[:, None] * across)
    # What nothing moves needs no force to be held, and no force would hold it.
    moved = jnp.any(jnp.abs(normal) > unmoved(scene, aside), axis=1)
    drift, left = _stuck(crowd, s.tangential_drift, sliding)
    return RowArrays(
        jnp.concatenate([slots.on & moved, slots.on[:m] & (mode[:m] == STICKING)]),
        jnp.concatenate([normal, across]),
        jnp.concatenate([along, across]),
        jnp.concatenate([s.normal_drift[at], drift[at[:m]]]),
        jnp.concatenate([-s.touch.rate[at], left[at[:m]]]),
        jnp.concatenate([-s.touch.indentation[at], jnp.zeros(m)]),
    )


def _stuck(crowd: Crowd, drift: Numbers, sliding: Numbers) -> tuple[Numbers, Numbers]:
    """Rate of the sliding to undo, and the sliding that is the integration's error, of sticking contacts."""
    return (
        crowd.rubbing(lambda friction, d, u: friction.held(d, u)[0], drift, sliding),
        crowd.rubbing(lambda friction, d, u: friction.held(d, u)[1], drift, sliding),
    )


class CrowdHeld(NamedTuple):
    """Closed contacts at one instant: reactions, and which would leave or slide if they were free to."""

    normal: Numbers
    friction: Numbers
    slopes: Numbers  # how separation answers to the force; not positive: Painleve
    noise: Numbers  # of the normal forces
    noise_along: Numbers  # of friction
    leaves: Flags
    sense: Numbers
    shared: Any  # what the complementarity problem cannot tell from zero


def crowd_held(crowd: Crowd, scene: Scene, modes: Any, found: tuple[Any, Any, Any]) -> CrowdHeld:
    """Reactions that seem to pull, or to exceed friction, are asked again: the complementarity problem decides."""
    forces, w, sizes = found
    slots, _ = chosen(crowd, modes != OPEN)
    n = len(slots.place)
    r = lines_of(crowd, scene)
    noises = crowd_noise(scene, r, scene.motion(scene.v).free)
    unit = jnp.where(crowd.turns, 1.0, scene.length)
    inexact = ROUNDING + r.seen.place / unit
    diagonal = to_contacts(crowd, slots, jnp.diagonal(w)[:n], 1.0)
    push, rub = to_contacts(crowd, slots, forces[:n]), to_contacts(crowd, slots, forces[n:])
    # What a decision takes for floating must not count as pulling here: it would lift and be put back without end.
    floating = noises.rise / jnp.abs(diagonal)
    push = jnp.where(r.moved, push, -r.seen.normal_drift)  # where nothing moves it, what bends away lifts
    noise = inexact * (jnp.abs(push) + to_contacts(crowd, slots, sizes[:n])) + floating + NOTHING
    along = inexact * (jnp.abs(rub) + to_contacts(crowd, slots, sizes[n:])) + NOTHING
    closed, limit = modes != OPEN, crowd.rubbing(lambda friction: friction.limit)
    doubts = (closed & (push < -2.0 * noise)) | ((modes == STICKING) & (jnp.abs(rub) > limit * push + 2.0 * along))
    rubs = crowd.rub_flags

    def again() -> tuple[Any, Any]:
        quiet = scene.still()
        senses = jnp.where(rubs, sense_of(modes), 0.0)
        found = crowd_released(crowd, quiet, lines_of(crowd, quiet), closed, senses)
        return closed & (found.after > 2.0 * found.rise), _starting(found, senses, 2.0)

    none = (jnp.zeros(crowd.size, dtype=bool), jnp.zeros(crowd.size))
    leaves, sense = jax.lax.cond(jnp.any(doubts), again, lambda: none)
    shared = SHARED * jnp.sum(jnp.abs(forces))
    return CrowdHeld(push, rub, diagonal, noise, along, leaves, sense, shared)


class Released(NamedTuple):
    """How contacts at rest go on: separation's and sliding's rates, decisions, and whether there is one answer."""

    after: Numbers
    after_along: Numbers
    pushes: Flags
    sense: Numbers
    rise: Numbers  # rounding of the rates
    hurry: Numbers
    found: Any


def crowd_released(crowd: Crowd, scene: Scene, r: Lines, resting: Flags, senses: Numbers) -> Released:
    """The same conditions as at a blow, one derivative higher."""
    motion = scene.motion(scene.v)
    free = merge(motion.free) if isinstance(motion.free, tuple) else motion.free
    noise = crowd_noise(scene, r, free)
    slots, over = chosen(crowd, resting & r.moved)
    at, m = slots.place, crowd.slots[0]
    rub = at[:m]
    rows = jnp.concatenate([r.normal[at], r.tangential[rub]])
    w = rows @ motion.solve(rows.T)
    rise = rows @ free + jnp.concatenate([r.seen.normal_drift[at], r.seen.tangential_drift[rub]])
    fixed = jnp.where(slots.on[:m], senses[rub], 0.0)
    problem = crowd_problem(crowd, r, slots, w, rise, fixed, jnp.concatenate([noise.rise[at], noise.hurry[rub]]))
    solution: Solution = solve(problem)
    n = len(at)
    # Reactions that cancel leave their rounding behind, where nothing else acts: at a tip wedged in a corner.
    pushed = ROUNDING * (jnp.abs(w) @ jnp.abs(jnp.concatenate([solution.normal, solution.tangential])))
    # A sliding contact whose normal force would pull it in: no answer, or two (Painleve).
    slope = jnp.diagonal(w)[:m] - fixed * problem.mu * jnp.diagonal(w[:m, n:])
    slides = jnp.abs(r.sliding[rub]) > noise.sliding[rub]
    lost = jnp.any(slots.on[:m] & slides & (slope <= 1e-12 * jnp.diagonal(w)[:m]))
    plain = (r.normal @ free + r.seen.normal_drift, r.tangential @ free + r.seen.tangential_drift)
    inside = to_contacts(crowd, slots, jnp.ones(n)) > 0.0
    return Released(
        jnp.where(inside, to_contacts(crowd, slots, solution.after[:n]), plain[0]),
        jnp.where(inside, to_contacts(crowd, slots, solution.after[n:]), plain[1]),
        to_contacts(crowd, slots, solution.decided.pushes, False),
        to_contacts(crowd, slots, solution.decided.sense),
        noise.rise + to_contacts(crowd, slots, pushed[:n]),
        noise.hurry + to_contacts(crowd, slots, pushed[n:]),
        solution.found & ~lost & ~over,
    )


def crowd_problem(crowd: Crowd, r: Lines, slots: Slots, w: Any, b: Any, fixed: Any, noise: Any) -> Problem:
    """Conditions for the contacts in the slots."""
    m, n = crowd.slots[0], len(slots.place)
    mu = rubbing_coefficient(crowd, r.sliding)[slots.place[:m]]
    static = crowd.rubbing(lambda friction: friction.limit)[slots.place[:m]]
    limit = jnp.where(fixed != 0.0, mu, static)  # stiction holds what rests; what slides has only its sliding friction
    return Problem(w, b, mu, limit, jnp.zeros(n), slots.on, fixed, tuple(range(m)), noise=noise)


def _starting(found: Released, senses: Numbers, times: float) -> Numbers:
    """Senses of sliding, without those of contacts that rest and do not start to move."""
    rests = (senses == 0.0) & (jnp.abs(found.after_along) <= times * found.hurry)
    return jnp.where(rests, 0.0, found.sense)


def crowd_modes(crowd: Crowd, scene: Scene, r: Lines, resting: Flags, senses: Numbers) -> tuple[Any, Any]:
    """Modes in which resting contacts go on: pressed or floating ones stay closed; and whether there is an answer."""
    found = crowd_released(crowd, scene, r, resting, senses)
    stays = resting & (found.pushes | (found.after <= found.rise))
    sense = _starting(found, senses, 1.0)
    rubs = crowd.rub_flags
    closed = jnp.where(sense > 0.0, RIGHT, jnp.where(sense < 0.0, LEFT, STICKING))
    return jnp.where(stays, jnp.where(rubs, closed, 1), OPEN), found.found


def crowd_guards(crowd: Crowd, scene: Scene, held: CrowdHeld, memory: CrowdMemory) -> tuple[Condition, ...]:
    """When a contact strikes, lifts, slips, stops, or has no answer: a family each."""
    modes, r = memory.modes, lines_of(crowd, scene)
    shared = jax.lax.stop_gradient(held.shared)
    is_open = modes == OPEN
    gap, place = -r.seen.touch.indentation, jax.lax.stop_gradient(r.seen.place)
    none = memory.speed  # a blow would decide that it does not close
    strike = rising(-gap, slow=2.0 * none, deep=2.0 * place, rounding=place, floor=none)
    strikes = unless(~is_open | (r.passes & (-gap <= 2.0 * place)), strike)
    noise = jax.lax.stop_gradient(held.noise)
    lifts = unless(is_open | ~held.leaves, level(-held.normal - 2.0 * noise, shared + noise))
    at = crowd.rubs
    if not len(at):
        return strikes, lifts
    mode, push, rub, sense = modes[at], held.normal[at], held.friction[at], held.sense[at]
    along = jax.lax.stop_gradient(held.noise_along)[at]
    most = crowd.rubbing(lambda friction: friction.limit)[at] * push + 2.0 * along
    sticks, slides = mode == STICKING, (mode == RIGHT) | (mode == LEFT)
    slips = [unless(~(sticks & (sense * way > 0.0)), level(-way * rub - most, shared + along)) for way in (1.0, -1.0)]
    stops_at = crowd.rubbing(lambda friction, e: friction.stops(e), spread(crowd, memory.sliding))[at]
    left = stops_at - sense_of(mode) * r.sliding[at]
    slow = jax.lax.stop_gradient(jnp.maximum(memory.sliding, 0.0))
    stop = unless(~slides, rising(left, slow=2.0 * along, rounding=slow))
    paradox = unless(~slides, level(-held.slopes[at]))  # w_nn - sigma mu w_nt must stay positive
    return strikes, lifts, *slips, stop, paradox


def noise_and_lines(crowd: Crowd, scene: Scene) -> tuple[Lines, CrowdNoise, Any]:
    """Rows, their rounding, and the accelerations without reactions."""
    r, free = lines_of(crowd, scene), scene.motion(scene.v).free
    free = merge(free) if isinstance(free, tuple) else free
    return r, crowd_noise(scene, r, free), free
