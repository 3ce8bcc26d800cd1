"""Maintained contact: what closed contacts hold, the friction of those that slide, when they open, slip or stop."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ...hybrid.automaton import NEVER
from ...hybrid.reaction import NO_PULL, STILL, Row, dot
from ...hybrid.scene import Scene
from .contact import Contacts
from .phases import LEFT, OPEN, RIGHT, STICKS, mode_of, modes_of, number_of, sense_of, total
from .several import solve
from .system import friction_at, gaps_of, problem_of, rubbing, system_of


def held_rows(contacts: Contacts, scene: Scene, phase: Any) -> list[Row]:
    """What the contacts that are closed hold: the normal direction, and the tangential one where they stick."""
    modes, r, n = modes_of(contacts, phase), system_of(contacts, scene), len(contacts)
    along = list(r.row[:n])
    for k, i in enumerate(rubbing(contacts)):
        slip = -sense_of(modes[i]) * friction_at(contacts, k).coefficient(jnp.abs(r.speed[n + k]))
        along[i] = [a + slip * b for a, b in zip(r.row[i], r.row[n + k], strict=True)]
    # Rounding is brought back, so that contact holds its place for hours.
    normal = [r.drift[i] + 2.0 * STILL * r.speed[i] - STILL**2 * r.each[i].touch.indentation for i in range(n)]
    out = [Row(modes[i] != OPEN, r.row[i], along[i], normal[i]) for i in range(n)]
    for k, i in enumerate(rubbing(contacts)):
        row = r.row[n + k]
        out.append(Row(modes[i] == STICKS, row, row, r.drift[n + k] + STILL * r.speed[n + k]))
    return out


def friction_force(contacts: Contacts, i: int, mode: Any, sliding: Any, push: Any, holding: list[Any]) -> Any:
    """Friction force of a contact from its reactions."""
    if i not in rubbing(contacts):
        return 0.0
    k = rubbing(contacts).index(i)
    slides = -sense_of(mode) * friction_at(contacts, k).coefficient(jnp.abs(sliding)) * push
    return jnp.where(mode == STICKS, holding[k], slides)


def guards(
    contacts: Contacts, scene: Scene, modes: list[Any], forces: list[Any], w: list[list[Any]]
) -> tuple[Any, ...]:
    """Functions of the state that rise through zero when a contact strikes, lifts, slips, stops, or has no answer."""
    n = len(contacts)
    strikes = [jnp.where(m == OPEN, -gap, NEVER) for m, gap in zip(modes, gaps_of(contacts, scene), strict=True)]
    lifts = [jnp.where(m == OPEN, NEVER, -force - NO_PULL) for m, force in zip(modes, forces[:n], strict=True)]
    slips: tuple[list[Any], ...] = ([], [], [], [])
    for k, i in enumerate(rubbing(contacts)):
        friction, sliding = friction_at(contacts, k), contacts[i].pair.touching(scene).sliding
        sticks = modes[i] == STICKS
        slides = (modes[i] == RIGHT) | (modes[i] == LEFT)
        most = friction.limit * forces[i] + NO_PULL
        slips[0].append(jnp.where(sticks, -forces[n + k] - most, NEVER))
        slips[1].append(jnp.where(sticks, forces[n + k] - most, NEVER))
        slips[2].append(jnp.where(slides, friction.stops_at - sense_of(modes[i]) * sliding, NEVER))
        slips[3].append(jnp.where(slides, -w[i][i], NEVER))  # w_nn - sigma mu w_nt must stay positive
    return (*strikes, *lifts, *slips[0], *slips[1], *slips[2], *slips[3])


def phase_of(contacts: Contacts, scene: Scene, resting: list[Any], senses: list[Any]) -> Any:
    """Phase in which resting contacts go on: the same conditions as at a blow, one derivative higher."""
    n = len(contacts)
    r, motion = system_of(contacts, scene), scene.motion(scene.v)
    through = [motion.solve(row) for row in r.row]
    w = [[dot(row, t) for t in through] for row in r.row]
    rise = [dot(row, motion.free) + drift for row, drift in zip(r.row, r.drift, strict=True)]
    problem = problem_of(contacts, w, rise, resting, [jnp.asarray(0.0)] * n, senses, r.speed)
    solution = solve(problem)
    modes, lost = [], ~solution.found
    for i, contact in enumerate(contacts):
        floats = solution.after[i] <= 1e-9 * (1.0 + jnp.abs(rise[i]))  # neither pressed nor leaving
        stays = resting[i] & (solution.decided.pushes[i] | floats)
        if contact.friction is None:
            modes.append(jnp.where(stays, 1, OPEN))
            continue
        k = rubbing(contacts).index(i)
        modes.append(jnp.where(stays, mode_of(solution.decided.sense[k]), OPEN))
        # A sliding contact whose normal force would pull it in: no answer, or two (Painleve).
        slope = w[i][i] - senses[k] * problem.mu[k] * w[i][n + k]
        lost = lost | (resting[i] & (slope <= 1e-12 * w[i][i]))
    return jnp.where(lost, total(contacts), number_of(contacts, modes))
