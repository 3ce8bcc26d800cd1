"""Maintained contact: what closed contacts hold, the friction of those that slide, when they open, slip or stop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ...hybrid._reaction import Row, dot, least, masked
from ...hybrid.condition import ROUNDING, Condition, any_of, level, rising, unless
from ...hybrid.scene import Scene
from ...quantities import Flag, Flags, Given, PhaseNumber, Real, Reals
from ..friction._stick_slip import LEFT, OPEN, RIGHT, STICKING, mode_of, sense_of
from ._bounded import solved
from ._handing_over import is_gone, letting_go
from ._phases import modes_of, number_of, total
from ._several import Decided, Solution
from ._system import Noise, System, friction_at, noise_of, problem_of, rubbing, system_of
from .rigid_contact import Contacts


class Memory(NamedTuple):
    """What rigid contacts remember: impulses of the last blow, speeds that counted as none after it, last strikes."""

    impulses: tuple[Any, ...]
    speed: tuple[Any, ...]  # normal, one per contact [m/s]
    sliding: tuple[Any, ...]  # one per contact with friction [m/s]
    strikes: tuple[Any, ...]  # when each was last struck while open [s]; -1: never


def memory_of(contacts: Contacts, numbers: tuple[Any, ...]) -> Memory:
    """The memory by its parts."""
    n, m = len(contacts), len(rubbing(contacts))
    ends = (n + m, 2 * n + m, 2 * n + 2 * m)
    return Memory(numbers[: ends[0]], numbers[ends[0] : ends[1]], numbers[ends[1] : ends[2]], numbers[ends[2] :])


def held_rows(contacts: Contacts, scene: Scene, phase: PhaseNumber) -> list[Row]:
    """What the contacts that are closed hold: the normal direction, and the tangential one where they stick."""
    modes, r, n = modes_of(contacts, phase), system_of(contacts, scene), len(contacts)
    along = list(r.row[:n])
    for k, i in enumerate(rubbing(contacts)):
        slip = -sense_of(modes[i]) * friction_at(contacts, k).coefficient(jnp.abs(r.speed[n + k]))
        along[i] = [a + slip * b for a, b in zip(r.row[i], r.row[n + k], strict=True)]
    gap = [-r.each[i].touch.indentation for i in range(n)]
    # What nothing moves needs no force to be held, and no force would hold it.
    closed = [(mode != OPEN) & moved for mode, moved in zip(modes, r.moved, strict=False)]
    out = [Row(closed[i], r.row[i], along[i], r.drift[i], r.speed[i], gap[i]) for i in range(n)]
    for k, i in enumerate(rubbing(contacts)):
        row, held = r.row[n + k], friction_at(contacts, k).held(r.drift[n + k], r.speed[n + k])
        out.append(Row(modes[i] == STICKING, row, row, *held, jnp.asarray(0.0)))
    return out


def friction_force(contacts: Contacts, i: int, mode: PhaseNumber, sliding: Real, push: Real, holding: list[Any]) -> Any:
    """Friction force of a contact from its reactions."""
    if i not in rubbing(contacts):
        return 0.0
    k = rubbing(contacts).index(i)
    slides = -sense_of(mode) * friction_at(contacts, k).coefficient(jnp.abs(sliding)) * push
    return jnp.where(mode == STICKING, holding[k], slides)


NOTHING = 1e-300  # [N] so that a force of exactly zero neither pulls nor exceeds anything
SHARED = 4e-11  # of all forces: the tolerance of _several.py, and a margin


class Held(NamedTuple):
    """Closed contacts at one instant: their reactions, and which of them would leave or slide if they were free to."""

    forces: list[Any]  # normal, then holding friction
    slopes: list[Any]  # of every contact: how its separation answers to its force; not positive: Painleve
    noise: list[Any]  # of the forces
    leaves: list[Any]  # flags
    sense: list[Any]  # of the contacts with friction
    shared: Any  # what the complementarity problem cannot tell from zero; none where no load is shared


def held_of(contacts: Contacts, scene: Scene, modes: list[Any], found: tuple[Any, Any, Any]) -> Held:
    """Reactions that seem to pull, or to exceed friction, are asked again: the complementarity problem decides.

    One of three feet in a row may have a negative share of the load although nothing moves.
    """
    n, rubs, (forces, w, sizes) = len(contacts), rubbing(contacts), found
    # Levers are differences of places: far from the origin they are less exact, and so is what acts through them.
    units = [1.0 if c.pair.length_unit == "rad" else scene.length for c in contacts]
    far = [c.pair.rounding(scene, c.pair.touching(scene)) / u for c, u in zip(contacts, units, strict=True)]
    inexact = [ROUNDING + e for e in (*far, *(far[i] for i in rubs))]
    # What a decision takes for floating must not count as pulling here: it would lift and be put back without end.
    r, free = system_of(contacts, scene), scene.motion(scene.v).free
    rises = noise_of(contacts, scene, r, free).rise
    floating = [rise / jnp.abs(w[i][i]) for i, rise in enumerate(rises[:n])]
    floating += [0.0] * len(rubs)  # friction decides by its exit
    # No force holds what nothing moves: where it bends away, that is what lifts.
    lifted = [jnp.where(moved, f, -drift) for f, drift, moved in zip(forces, r.drift, r.moved, strict=False)]
    forces = [*lifted[:n], *forces[n:]]
    terms = zip(inexact, forces, sizes, floating, strict=True)
    noise = [e * (jnp.abs(f) + size) + rounds + NOTHING for e, f, size, rounds in terms]
    closed = [m != OPEN for m in modes]
    doubts = [on & (f < -2.0 * e) for on, f, e in zip(closed, forces, noise, strict=False)]
    for k, i in enumerate(rubs):
        most = friction_at(contacts, k).limit * forces[i] + 2.0 * noise[n + k]
        doubts.append((modes[i] == STICKING) & (jnp.abs(forces[n + k]) > most))
    zero, no = jnp.zeros_like(forces[0]), jnp.zeros_like(doubts[0])
    if n == 1 and not scene.bounded(scene):  # it shares its load with no other
        sense = [-jnp.sign(forces[n + k]) for k in range(len(rubs))]
        return Held(forces, [w[0][0]], noise, closed, sense, zero)
    shared = SHARED * sum(jnp.abs(f) for f in forces)

    def again() -> tuple[list[Any], list[Any]]:
        senses, quiet = [sense_of(modes[i]) for i in rubs], scene.still()
        found, noise = released(contacts, quiet, system_of(contacts, quiet), closed, senses, jnp.asarray(False))
        leaves = [on & (u > 2.0 * e) for on, u, e in zip(closed, found.after, noise.rise, strict=False)]
        starts = _really(found, noise.rise[n:], senses, 2.0)
        return leaves, [s + zero for s in _answered(contacts, w, found.decided.pushes, starts)]

    leaves, sense = jax.lax.cond(any_of(doubts), again, lambda: ([no] * n, [zero] * len(rubs)))
    return Held(forces, [w[i][i] for i in range(n)], noise, leaves, sense, shared)


def guards(
    contacts: Contacts, scene: Scene, modes: list[Any], held: Held, memory: Memory, away: list[Any] | None = None
) -> tuple[Condition, ...]:
    """When a contact strikes, lifts, slips, stops, or has no answer; those that are switched off strike never."""
    n, shared = len(contacts), jax.lax.stop_gradient(held.shared)
    r = system_of(contacts, scene)
    strikes, lifts = [], []
    for i, contact in enumerate(contacts):
        touch, past = contact.pair.touching_edge(scene)
        gap, noise = -touch.indentation, jax.lax.stop_gradient(contact.pair.rounding(scene, touch))
        none = memory.speed[i]  # a blow would decide that it does not close
        strike = rising(-gap, slow=2.0 * none, deep=2.0 * noise, rounding=noise, floor=none)
        passes = r.each[i].passes(scene) & (-gap <= 2.0 * noise)
        leaves, excess = held.leaves[i], -held.forces[i] - 2.0 * jax.lax.stop_gradient(held.noise[i])
        if away is not None and contact.during is not None:
            passes = passes | away[i]
            leaves, excess = leaves | away[i], jnp.where(away[i], 1.0, excess)
        if contact.pair.edged:
            excess = letting_go(leaves, excess, past, shared + jax.lax.stop_gradient(held.noise[i]))
            passes, leaves = passes | is_gone(past, False, contact.pair.yields), True
        strikes.append(unless((modes[i] != OPEN) | passes, strike))
        pulls = level(excess, shared + jax.lax.stop_gradient(held.noise[i]))
        lifts.append(unless((modes[i] == OPEN) | jnp.logical_not(leaves), pulls))
    slips: tuple[list[Condition], ...] = ([], [], [], [])
    for k, i in enumerate(rubbing(contacts)):
        friction, sliding = friction_at(contacts, k), contacts[i].pair.touching(scene).sliding
        sticks = modes[i] == STICKING
        slides = (modes[i] == RIGHT) | (modes[i] == LEFT)
        noise = jax.lax.stop_gradient(held.noise[n + k])
        most = friction.limit * held.forces[i] + 2.0 * noise
        for side, way in enumerate((1.0, -1.0)):
            driven = sticks & (held.sense[k] * way > 0.0)
            slips[side].append(unless(~driven, level(-way * held.forces[n + k] - most, shared + noise)))
        left = friction.stops(memory.sliding[k]) - sense_of(modes[i]) * sliding
        # A foot may be called sliding although nothing moves: rounding of its speed or acceleration stops nothing.
        none = jax.lax.stop_gradient(jnp.maximum(memory.sliding[k], 0.0))
        slips[2].append(unless(~slides, rising(left, slow=2.0 * noise, rounding=none)))
        slips[3].append(unless(~slides, level(-held.slopes[i])))  # w_nn - sigma mu w_nt must stay positive
    return (*strikes, *lifts, *slips[0], *slips[1], *slips[2], *slips[3])


def stopped(
    r: System, which: list[Any], velocity: Given, solve: Callable[[Reals], Reals], held: Sequence[Row] = ()
) -> tuple[tuple[Any, ...], list[Any]]:
    """Velocities, and speeds of all rows, without those of these contacts: the nearest motion in which they rest.

    And in which others that are `held` do.

    Nearest in the metric of inertia, so that no energy is gained. Who is stopped alone may set another one moving: two
    feet of a bar would hand a speed that counts as none to each other, at one instant and without end.
    """
    rows, on = [*r.row[: len(which)], *(row.across for row in held)], [*which, *(row.active for row in held)]
    speeds = [*r.speed[: len(which)], *(row.speed for row in held)]
    through = [solve(row) for row in rows]
    weights = masked([[dot(row, t) for t in through] for row in rows], on)
    steps = least(weights, [jnp.where(rests, -u, 0.0) for rests, u in zip(on, speeds, strict=True)])
    change = [sum(s * t[j] for s, t in zip(steps, through, strict=True)) for j in range(len(velocity))]
    after = tuple(v + c for v, c in zip(velocity, change, strict=True))
    return after, [u + dot(row, change) for u, row in zip(r.speed, r.row, strict=True)]


def released(
    contacts: Contacts, scene: Scene, r: System, resting: list[Any], senses: list[Any], anew: Flag
) -> tuple[Solution, Noise]:
    """How contacts at rest go on: the same conditions as at a blow, one derivative higher; and its rounding.

    `anew`: are joints with dry friction asked too, whatever moved so far?
    """
    n, motion = len(contacts), scene.motion(scene.v)
    through = [motion.solve(row) for row in r.row]
    w = [[dot(row, t) for t in through] for row in r.row]
    rise = [dot(row, motion.free) + drift for row, drift in zip(r.row, r.drift, strict=True)]
    resting = [on & moved for on, moved in zip(resting, r.moved, strict=False)]
    bounded = scene.bounded(scene)
    if n == 1 and not rubbing(contacts) and not bounded:  # one contact without friction pushes, or leaves
        pushes = resting[0] & (rise[0] < 0.0)
        push = jnp.where(pushes, -rise[0] / w[0][0], 0.0)
        alone = Solution([push], [], [jnp.where(pushes, 0.0, rise[0])], Decided([pushes], []), jnp.asarray(True))
        return alone, noise_of(contacts, scene, r, motion.free)
    noise = noise_of(contacts, scene, r, motion.free)
    problem = problem_of(contacts, w, rise, resting, [jnp.asarray(0.0)] * n, senses, r.speed)._replace(noise=noise.rise)
    solution, pushed = solved(problem, scene, r, bounded, anew)
    lost = ~solution.found
    # Reactions that cancel leave their rounding behind, where nothing else acts: at a tip wedged in a corner.
    # And among several both answers, pushing and leaving, may hold as well as conditions can tell. (One contact lifts
    # by its own reaction, which is told from none as exactly as it is computed.)
    kept = solution.kept if n > 1 or bounded else [0.0] * len(pushed)
    terms = zip(noise.rise, pushed, kept, strict=True)
    noise = noise._replace(rise=[e + ROUNDING * size + k for e, size, k in terms])
    for k, i in enumerate(rubbing(contacts)):
        # A sliding contact whose normal force would pull it in: no answer, or two (Painleve). One that only starts to
        # slide may be leaving, as its force vanishes together with its friction.
        slope, slides = w[i][i] - senses[k] * problem.mu[k] * w[i][n + k], jnp.abs(r.speed[n + k]) > noise.speed[n + k]
        lost = lost | (resting[i] & slides & (slope <= 1e-12 * w[i][i]))
    return solution._replace(found=~lost), noise


def _really(solution: Solution, noise: list[Any], senses: list[Any], times: float) -> list[Any]:
    """Senses of sliding, without those of contacts that rest and do not start to move.

    Two feet of one link stick or slide together. Where they hold, a solution may call one of them sliding, and which is
    a matter of rounding; but stiction holds more than sliding friction, and both rest.
    """
    sense = solution.decided.sense
    starts = solution.after[len(solution.after) - len(senses) :]
    return [
        jnp.where((fixed == 0.0) & (jnp.abs(start) <= times * e), 0.0, s)
        for s, start, e, fixed in zip(sense, starts, noise, senses, strict=True)
    ]


def _answered(contacts: Contacts, w: list[list[Any]], pushes: Flags, senses: list[Any]) -> list[Any]:
    """Senses of sliding, without those of contacts that need not push and would feed their own force as they slide.

    A foot that only one coordinate moves is let go in both directions at once: it lifts. What counts as none
    of its normal force is more than what does of friction: it would first be called sliding, without an answer.
    """
    n, out = len(contacts), []
    for k, (i, s) in enumerate(zip(rubbing(contacts), senses, strict=True)):
        slope = w[i][i] - s * friction_at(contacts, k).limit * w[i][n + k]
        out.append(jnp.where(~pushes[i] & (slope <= 0.0), 0.0, s))
    return out


def phase_of(contacts: Contacts, scene: Scene, r: System, resting: list[Any], senses: list[Any], anew: Flag) -> Any:
    """Phase in which resting contacts go on: pressed or floating ones stay closed, leaving ones open."""
    solution, noise = released(contacts, scene, r, resting, senses, anew)
    found, modes = _really(solution, noise.rise[len(contacts) :], senses, 1.0), []
    some = any_of([resting[i] & solution.decided.pushes[i] for i in range(len(contacts))])
    for i, contact in enumerate(contacts):
        floats = solution.after[i] <= noise.rise[i]
        if contact.friction is not None and len(contacts) > 1:
            # Three feet in a row share their load as it comes, and what one that slides has of it is its friction. Of
            # those that need not push while others do, none is held: its share would stop what is to slide.
            floats = floats & ~(some & (found[rubbing(contacts).index(i)] != 0.0))
        stays = resting[i] & (solution.decided.pushes[i] | floats)
        sense = 1.0 if contact.friction is None else found[rubbing(contacts).index(i)]
        closed = 1 if contact.friction is None else mode_of(sense)
        modes.append(jnp.where(stays, closed, OPEN))
    return jnp.where(solution.found, number_of(contacts, modes), total(contacts))
