"""Maintained contact of many: what closed contacts hold, when they open, slip or stop. _maintained.py on arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from ...hybrid._row_arrays import RowArrays
from ...hybrid.condition import ROUNDING, Condition, level, rising, unless
from ...hybrid.scene import Scene, merge
from .._sharp import NOWHERE
from ..friction._stick_slip import LEFT, OPEN, RIGHT, STICKING, sense_of
from ._crowd import Crowd, Slots, chosen, friction_slots, rubbing_at, to_contacts
from ._crowd_rows import rows_at
from ._crowd_seen import Lines, Seen, crowd_noise, lines_of, seen_at, unmoved, without
from ._handing_over import is_gone, letting_go
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


def rubbing_coefficient(crowd: Crowd, sliding: Numbers) -> Numbers:
    return crowd.rubbing(lambda friction, u: friction.coefficient(jnp.abs(u)), sliding)


def sliding_coefficient(crowd: Crowd, r: Lines) -> Any:
    """The same of the slots with friction."""
    return rubbing_at(crowd, r.slots, lambda friction, u: friction.coefficient(jnp.abs(u)), r.sliding)


def crowd_rows(crowd: Crowd, scene: Scene, modes: Any) -> RowArrays:
    """What the contacts that are closed hold: the normal direction, and the tangential one where they stick."""
    slots, _ = chosen(crowd, modes != OPEN)
    (s, links), m = seen_at(crowd, scene, slots), crowd.slots[0]
    normal = rows_at(crowd.kinds, scene.mechanism, links, s.normal, slots.place)
    mode, sliding = modes[slots.place], s.touch.sliding[:m]
    aside = rows_at(crowd.kinds, scene.mechanism, links, s.tangential, slots.place)
    across = aside[:m]
    mu, drift, left = _rubbed(crowd, slots, s.tangential_drift[:m], sliding)
    slip = -sense_of(mode[:m]) * mu
    along = jnp.concatenate([normal[:m] + slip[:, None] * across, normal[m:]])
    # What nothing moves needs no force to be held, and no force would hold it.
    moved = jnp.any(jnp.abs(normal) > unmoved(scene, aside), axis=1)
    return RowArrays(
        jnp.concatenate([slots.on & moved, slots.on[:m] & (mode[:m] == STICKING)]),
        jnp.concatenate([normal, across]),
        jnp.concatenate([along, across]),
        jnp.concatenate([s.normal_drift, drift]),
        jnp.concatenate([-s.touch.rate, left]),
        jnp.concatenate([-s.touch.indentation, jnp.zeros(m)]),
    )


def _rubbed(crowd: Crowd, slots: Slots, drift: Numbers, sliding: Numbers) -> Any:
    """Of the slots with friction: coefficients, rates of sliding to undo, and sliding that is integration's error."""
    if not crowd.slots[0]:
        return (jnp.zeros(0),) * 3

    def each(friction: Any, d: Any, u: Any) -> tuple[Any, ...]:
        return friction.coefficient(jnp.abs(u)), *friction.held(d, u)

    given = (to_contacts(crowd, slots, x) for x in (drift, sliding))
    found = crowd.rubbing_all(each, *given)
    return tuple(x[slots.place[: crowd.slots[0]]] for x in found)


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


def crowd_held(crowd: Crowd, scene: Scene, r: Lines, modes: Any, found: tuple[Any, Any, Any]) -> CrowdHeld:
    """Reactions that seem to pull, or to exceed friction, are asked again: the complementarity problem decides."""
    forces, w, sizes = found
    held, _ = chosen(crowd, modes != OPEN)  # as those who solved for the reactions did
    n, at = len(held.place), r.slots.place

    def here(values: Any, otherwise: float = 0.0) -> Any:
        return to_contacts(crowd, held, values, otherwise)[at]

    noises = crowd_noise(scene, r, scene.motion(scene.v).free)
    unit = jnp.where(jnp.asarray(crowd.turns)[at], 1.0, scene.length)
    inexact = ROUNDING + r.place / unit
    diagonal = here(jnp.diagonal(w)[:n], 1.0)
    push, rub = here(forces[:n]), here(forces[n:])
    # What a decision takes for floating must not count as pulling here: it would lift and be put back without end.
    floating = noises.rise / jnp.abs(diagonal)
    push = jnp.where(r.moved, push, -r.normal_drift)  # where nothing moves it, what bends away lifts
    noise = inexact * (jnp.abs(push) + here(sizes[:n])) + floating + NOTHING
    along = inexact * (jnp.abs(rub) + here(sizes[n:])) + NOTHING
    mode = jnp.where(r.slots.on, modes[at], OPEN)
    closed, limit = mode != OPEN, crowd.rubbing(lambda friction: friction.limit)[at]
    doubts = (closed & (push < -2.0 * noise)) | ((mode == STICKING) & (jnp.abs(rub) > limit * push + 2.0 * along))
    rubs = friction_slots(crowd)

    def again() -> tuple[Any, Any]:
        quiet = scene.still()
        senses = jnp.where(rubs, sense_of(mode), 0.0)
        found = crowd_released(crowd, quiet, lines_of(crowd, quiet, r.slots), closed, senses)
        return closed & (found.after > 2.0 * found.rise), _starting(found, senses, 2.0)

    none = (jnp.zeros(n, dtype=bool), jnp.zeros(n))
    leaves, sense = jax.lax.cond(jnp.any(doubts), again, lambda: none)
    shared = SHARED * jnp.sum(jnp.abs(forces))
    push, rub, noise, along, sense = (to_contacts(crowd, r.slots, x) for x in (push, rub, noise, along, sense))
    slopes, leaves = to_contacts(crowd, r.slots, diagonal, 1.0), to_contacts(crowd, r.slots, leaves, False)
    return CrowdHeld(push, rub, slopes, noise, along, leaves, sense, shared)


class Released(NamedTuple):
    """How contacts at rest go on, slot by slot: separation's and sliding's rates, decisions; is there one answer?"""

    after: Any
    after_along: Any
    pushes: Any
    sense: Any
    rise: Any  # rounding of the rates
    hurry: Any
    found: Any


def crowd_released(
    crowd: Crowd, scene: Scene, r: Lines, resting: Any, senses: Any, w: Any = None, lifted: Flags | None = None
) -> Released:
    """The same conditions as at a blow, one derivative higher; `w` is what the rows weigh, where that is known."""
    motion = scene.motion(scene.v)
    free = merge(motion.free) if isinstance(motion.free, tuple) else motion.free
    noise = crowd_noise(scene, r, free)
    inside, n, m = resting & r.moved, len(r.slots.place), crowd.slots[0]
    rows = jnp.concatenate([r.normal, r.tangential[:m]])
    w = rows @ motion.solve(rows.T) if w is None else w
    plain = (r.normal @ free + r.normal_drift, r.tangential @ free + r.tangential_drift)
    fixed = jnp.where(inside[:m], senses[:m], 0.0)
    noises = jnp.concatenate([noise.rise, noise.hurry[:m]])
    given = without(jnp.concatenate([plain[0], plain[1][:m]]), noises)
    problem = crowd_problem(crowd, r, inside, w, given, fixed, noises)
    solution: Solution = solve(problem._replace(lifted=lifted))
    # Reactions that cancel leave their rounding behind, where nothing else acts: at a tip wedged in a corner.
    pushed = ROUNDING * (jnp.abs(w) @ jnp.abs(jnp.concatenate([solution.normal, solution.tangential])))
    pushed = pushed + solution.kept  # in a packing both answers, pushing and leaving, may hold as well as that
    # A sliding contact whose normal force would pull it in: no answer, or two (Painleve).
    slope = jnp.diagonal(w)[:m] - fixed * problem.mu * jnp.diagonal(w[:m, n:])
    slides = jnp.abs(r.sliding[:m]) > noise.sliding[:m]
    lost = jnp.any(inside[:m] & slides & (slope <= 1e-12 * jnp.diagonal(w)[:m]))
    whole = (n - m,)
    return Released(
        jnp.where(inside, solution.after[:n], plain[0]),
        jnp.where(inside, jnp.concatenate([solution.after[n:], jnp.zeros(whole)]), plain[1]),
        inside & solution.decided.pushes,
        jnp.where(inside, jnp.concatenate([solution.decided.sense, jnp.zeros(whole)]), 0.0),
        noise.rise + jnp.where(inside, pushed[:n], 0.0),
        noise.hurry + jnp.where(inside, jnp.concatenate([pushed[n:], jnp.zeros(whole)]), 0.0),
        solution.found & ~lost,
    )


def crowd_problem(crowd: Crowd, r: Lines, on: Any, w: Any, b: Any, fixed: Any, noise: Any) -> Problem:
    """Conditions for the contacts in the slots that are on."""
    mu, static = sliding_coefficient(crowd, r), rubbing_at(crowd, r.slots, lambda friction: friction.limit)
    limit = jnp.where(fixed != 0.0, mu, static)  # stiction holds what rests; what slides has only its sliding friction
    return Problem(w, b, mu, limit, jnp.zeros(len(on)), on, fixed, tuple(range(len(mu))), noise=noise)


def _starting(found: Released, senses: Any, times: float) -> Any:
    """Senses of sliding, without those of contacts that rest and do not start to move."""
    rests = (senses == 0.0) & (jnp.abs(found.after_along) <= times * found.hurry)
    return jnp.where(rests, 0.0, found.sense)


def crowd_modes(
    crowd: Crowd, scene: Scene, r: Lines, resting: Any, senses: Any, w: Any, lifted: Flags
) -> tuple[Any, Any]:
    """Modes in which resting contacts go on: pressed or floating ones stay closed; and whether there is an answer."""
    found = crowd_released(crowd, scene, r, resting, senses, w, lifted)
    stays = resting & (found.pushes | (found.after <= found.rise))
    sense = _starting(found, senses, 1.0)
    # Three feet in a row share their load as it comes, and what one that slides has of it is its friction. Of those
    # that need not push while others do, none is held: reactions would give it a share, and stop what is to slide.
    stays = stays & ~(jnp.any(found.pushes) & ~found.pushes & (sense != 0.0))
    closed = jnp.where(sense > 0.0, RIGHT, jnp.where(sense < 0.0, LEFT, STICKING))
    return jnp.where(stays, jnp.where(friction_slots(crowd), closed, 1), OPEN), found.found


def crowd_guards(
    crowd: Crowd, s: Seen, memory: CrowdMemory, held: CrowdHeld, passes: Flags, away: Flags | None = None
) -> tuple[Condition, ...]:
    """When a contact strikes, lifts, slips, stops, or has no answer: a family each."""
    modes = memory.modes
    shared = jax.lax.stop_gradient(held.shared)
    is_open = modes == OPEN
    gap, place = -s.depth, jax.lax.stop_gradient(s.place)
    none = memory.speed  # a blow would decide that it does not close
    strike = rising(-gap, slow=2.0 * none, deep=2.0 * place, rounding=place, floor=none)
    passes, leaves, noise = passes & (-gap <= 2.0 * place), held.leaves, jax.lax.stop_gradient(held.noise)
    excess = -held.normal - 2.0 * noise
    if away is not None:
        passes, leaves, excess = passes | away, leaves | away, jnp.where(away, 1.0, excess)
    if crowd.ends:
        past = s.past
        excess = jnp.where(past > NOWHERE, letting_go(leaves, excess, past, shared + noise), excess)
        passes, leaves = passes | is_gone(past, False, crowd.yields), leaves | (past > NOWHERE)
    strikes = unless(~is_open | passes, strike)
    lifts = unless(is_open | ~leaves, level(excess, shared + noise))
    at = crowd.rubs
    if not len(at):
        return strikes, lifts
    mode, push, rub, sense = modes[at], held.normal[at], held.friction[at], held.sense[at]
    along = jax.lax.stop_gradient(held.noise_along)[at]
    most = crowd.rubbing(lambda friction: friction.limit)[at] * push + 2.0 * along
    sticks, slides = mode == STICKING, (mode == RIGHT) | (mode == LEFT)
    slips = [unless(~(sticks & (sense * way > 0.0)), level(-way * rub - most, shared + along)) for way in (1.0, -1.0)]
    stops_at = crowd.rubbing(lambda friction, e: friction.stops(e), crowd.spread(memory.sliding))[at]
    left = stops_at - sense_of(mode) * s.of_all(s.looks.numbers.touch.sliding)[at]
    slow = jax.lax.stop_gradient(jnp.maximum(memory.sliding, 0.0))
    stop = unless(~slides, rising(left, slow=2.0 * along, rounding=slow))
    paradox = unless(~slides, level(-held.slopes[at]))  # w_nn - sigma mu w_nt must stay positive
    return strikes, lifts, *slips, stop, paradox
