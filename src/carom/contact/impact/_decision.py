"""What rigid contacts decide together at an event: the blow, then which of them rest, slide or leave."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ...hybrid._reaction import Row, dot
from ...hybrid.automaton import Landing
from ...hybrid.condition import any_of
from ...hybrid.scene import Own, Scene
from ...quantities import Coordinates, Flag, Given, Real
from ..during import IGNORED, entered
from ..friction._stick_slip import OPEN
from ._bounded import at_rest
from ._impulses import blow_of, weighed
from ._impulses import driven as driven_work
from ._maintained import memory_of, phase_of, stopped
from ._phases import modes_of, total
from ._quiet import driven_senses, pressed_at, quiet, short_slides, slow_rebounds, within_bands
from ._system import Noise, System, noise_of, rubbing, system_of
from .rigid_contact import Contacts


class Fired(NamedTuple):
    """Exits that fired, as flags: strikes of every contact, the others of those with friction."""

    strikes: list[Any]
    right: list[Any]
    left: list[Any]
    stop: list[Any]
    paradox: list[Any]


def landed(
    contacts: Contacts,
    settle_speed: Real,
    friction_rule: str,
    scene: Scene,
    own: Own,
    fired: tuple[Flag, ...],
    away: list[Any] | None = None,
) -> Landing:
    """One decision for all contacts together: the blow, then who rests, slides or leaves."""
    exits = _by_kind(contacts, list(fired))
    modes, struck = modes_of(contacts, own.phase), any_of(exits.strikes)
    closed = [mode != OPEN for mode in modes]
    r, free = system_of(contacts, scene), scene.motion(scene.v).free
    noise = noise_of(contacts, scene, r, free)
    grazes = _grazes(scene, closed, r, (free, scene.acceleration), noise)
    # Who slides past the end of an edge hands over: the contact that takes its place is at its surface already.
    handed = jnp.asarray(False) if away is None else any_of([on & g for on, g in zip(closed, away, strict=True)])
    part = _taking_part(closed, exits.strikes, struck | handed, r, noise)
    if away is not None:
        inside = _inside(contacts, scene, away, r, noise)
        part = [on & ~gone & ~deep for on, gone, deep in zip(part, away, inside, strict=True)]
    # No impulse acts on what nothing moves; if it must not pass, there is no answer.
    part = [on & moved & ~passes for on, moved, passes in zip(part, r.moved, grazes, strict=False)]
    jammed = any_of([s & ~moved & ~g for s, moved, g in zip(exits.strikes, r.moved, grazes, strict=False)])
    weights = weighed(scene, r)
    pressed = pressed_at(r, weights.w, part, rubbing(contacts), (free, scene.acceleration))
    slow = slow_rebounds(settle_speed, pressed, noise)
    asked = _restitution(contacts, part, r, noise, slow)
    impulses, velocity, found = blow_of(contacts, scene, r, weights, part, asked, noise.speed, friction_rule)
    short = short_slides(contacts, weights.w, pressed, noise, struck)
    impulses = [jnp.where(struck, p, 0.0) for p in impulses]
    velocity = tuple(jnp.where(struck, new, old) for new, old in zip(velocity, scene.v, strict=True))
    after = moving(scene, velocity)
    gain = [new - old for new, old in zip(velocity, scene.v, strict=True)]
    speed = [u + dot(row, gain) for u, row in zip(r.speed, r.row, strict=True)]
    resting, senses, least = quiet(contacts, modes, part, struck, exits.stop, r.speed, speed, noise, slow, short)
    bounded = scene.bounded(after)
    if len(contacts) > 1 or rubbing(contacts) or bounded:
        # Joints that rest go with them, at the beginning too: their rates may be more than rounding (`farther`).
        settles = struck | ~any_of(fired) if bounded else struck
        still, held = [rest & settles for rest in resting], at_rest(bounded, after, settles)
        # What sticks goes on sticking: a hop that is taken away from one foot must not set the other sliding.
        along = zip(rubbing(contacts), speed[len(contacts) :], short, strict=True)
        still += [still[i] & (jnp.abs(u) <= e) for i, u, e in along]
        velocity, speed, least = _at_rest(scene, r._replace(speed=speed), still, velocity, noise, least, held)
        after = moving(scene, velocity)
        # What went with the speeds that are none may have been all of the sliding, or more than all of it.
        driven = driven_senses(contacts, modes, r.speed, speed, short)
        senses = [jnp.where(settles, new, old) for new, old in zip(driven, senses, strict=True)]
    later = system_of(contacts, after)._replace(speed=speed)
    phase = phase_of(contacts, after, later, resting, _slipping(exits, struck, senses), struck | any_of(exits.stop))
    least = _passed(grazes, r, least)
    if away is not None:
        ignored = [jnp.where(deep, IGNORED, e) for deep, e in zip(inside, least, strict=False)]
        least = (*ignored, *least[len(ignored) :])
    phase = jnp.where(any_of(exits.paradox) | (struck & ~found) | jammed, total(contacts), phase)
    kept, times = _of_the_blow(contacts, scene, own, modes, struck, impulses)
    none = jax.lax.stop_gradient(within_bands(contacts, modes_of(contacts, phase), later.speed, list(least)))
    return Landing(phase, (*kept, *none, *times), own.states, velocity, driven_work(contacts, scene, impulses))


def _by_kind(contacts: Contacts, fired: list[Any]) -> Fired:
    n, m = len(contacts), len(rubbing(contacts))
    right, left = fired[2 * n : 2 * n + m], fired[2 * n + m : 2 * n + 2 * m]
    return Fired(fired[:n], right, left, fired[2 * n + 2 * m : 2 * n + 3 * m], fired[2 * n + 3 * m :])


def _taking_part(closed: list[Any], strikes: list[Any], struck: Flag, r: System, noise: Noise) -> list[Any]:
    """Whoever is at the surface takes part, closed or not: a blow at one presses the others."""
    near = [-row.touch.indentation <= 2.0 * e for row, e in zip(r.each, noise.place, strict=True)]
    return [on | s | (close & struck) for on, s, close in zip(closed, strikes, near, strict=True)]


def _inside(contacts: Contacts, scene: Scene, away: list[Any], r: System, noise: Noise) -> list[Any]:
    """Contacts that were inside when they were switched on."""
    deep = [entered(scene, row.touch.indentation, e) for row, e in zip(r.each, noise.place, strict=True)]
    return [inside & ~gone & (c.during is not None) for c, gone, inside in zip(contacts, away, deep, strict=True)]


def _grazes(scene: Scene, closed: list[Any], r: System, motions: tuple[Any, Any], noise: Noise) -> list[Any]:
    """Open contacts that pass: they bend away again before they would be deeper than rounding.

    A pendulum as long as its pivot is high does not strike the floor; a blow would reverse it.
    """
    out = []
    for i, on in enumerate(closed):
        away = [dot(r.row[i], motion) + r.drift[i] for motion in motions]
        rise = jnp.maximum(jnp.minimum(*away) - noise.rise[i], 0.0)  # rounding bends nothing away
        shallow = r.speed[i] ** 2 <= 2.0 * rise * noise.place[i]
        out.append(~on & (r.speed[i] < 0.0) & (shallow | r.each[i].passes(scene)))
    return out


def _passed(grazes: list[Any], r: System, least: tuple[Any, ...]) -> tuple[Any, ...]:
    """The speed of a contact that passes counts as none, or it would be met again at once."""
    seen = [jnp.where(g, jnp.maximum(e, jnp.abs(u)), e) for g, e, u in zip(grazes, least, r.speed, strict=False)]
    return (*seen, *least[len(seen) :])


def _restitution(contacts: Contacts, part: list[Any], r: System, noise: Noise, slow: list[Any]) -> list[Any]:
    """Restitution of every contact: nothing rebounds that does not close, or lower than rounding."""
    asked = []
    for i, contact in enumerate(contacts):
        e = jnp.asarray(contact.law.asked_at(-r.speed[i]), dtype=float)
        closing = part[i] & (r.speed[i] < -noise.speed[i]) & (e * jnp.abs(r.speed[i]) > slow[i])
        asked.append(jnp.where(closing, e, 0.0))
    return asked


def _at_rest(
    scene: Scene,
    later: System,
    still: list[Any],
    velocity: Given,
    noise: Noise,
    least: tuple[Any, ...],
    held: list[Row],
) -> tuple[tuple[Any, ...], list[Any], tuple[Any, ...]]:
    """What counts as no speed is none, for all contacts together: velocities, speeds of all rows, least speeds."""
    velocity, speed = stopped(later, still, velocity, scene.motion(scene.v).solve, held)
    none = [jnp.where(on, e, old) for on, e, old in zip(still, noise.speed, least, strict=False)]
    return velocity, speed, (*none, *least[len(still) :])


def _slipping(exits: Fired, struck: Flag, senses: list[Any]) -> list[Any]:
    """Senses of sliding. The exit that fired decides: what it saw is less than what a decision can tell."""
    out = []
    for right, left, sense in zip(exits.right, exits.left, senses, strict=True):
        slips = jnp.where(right, 1.0, jnp.where(left, -1.0, sense))
        out.append(jnp.where(struck, sense, slips))
    return out


def _of_the_blow(
    contacts: Contacts, scene: Scene, own: Own, modes: list[Any], struck: Flag, impulses: list[Any]
) -> tuple[tuple[Any, ...], list[Any]]:
    """What is remembered of the last blow: its impulses, and when each contact was last struck while open [s]."""
    before = memory_of(contacts, own.memory)
    kept = tuple(jnp.where(struck, p, old) for p, old in zip(impulses, before.impulses, strict=True))
    last = zip(modes, impulses, before.strikes, strict=False)
    times = [jnp.where(struck & (mode == OPEN) & (p > 0.0), scene.t, old) for mode, p, old in last]
    return kept, times


def moving(scene: Scene, velocity: Coordinates) -> Scene:
    """The same place with other velocities."""
    out = Scene(scene.mechanism, scene.t, scene.q, velocity)
    out.length, out.motion, out.bounded = scene.length, scene.motion, scene.bounded
    return out
