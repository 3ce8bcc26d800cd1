"""After a blow: which rebounds are none, which contacts may rest, and which way those with friction slide."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp

from ...hybrid._reaction import dot
from ...hybrid.condition import any_of
from ...quantities import Flag, Real
from ..friction._stick_slip import OPEN, STICKING, sense_of
from ._groups import linked_of
from ._system import Noise, System, friction_at, rubbing, slides
from .rigid_contact import Contacts

HOP = 16.0  # roundings of the gap: a hop lower than this is none


def within_bands(contacts: Contacts, modes: list[Any], speed: list[Any], least: list[Any]) -> tuple[Any, ...]:
    """Speeds that counted as none; negative for a contact that slides within its band as it could not stick."""
    n = len(contacts)
    for k, i in enumerate(rubbing(contacts)):
        band = friction_at(contacts, k).stops_at
        slides = (modes[i] != OPEN) & (modes[i] != STICKING) & (jnp.abs(speed[n + k]) <= band) & (band > 0.0)
        least[n + k] = jnp.where(slides, -1.0, least[n + k])
    return tuple(least)


def pressed_at(
    r: System, w: list[list[Any]], part: list[Any], rubs: tuple[int, ...], motions: tuple[Any, Any]
) -> list[Any]:
    """How contacts are pressed [m/s^2], by the motion without reactions or by the one before, themselves or by others.

    A ball on a ball that rests on the floor; boxes of a stack fall alike, and a heel may be free to rise: what presses
    one contact of a group presses through it on the others. Accelerations compare by what a force does there.
    """
    toward = [[-(dot(r.row[i], motion) + r.drift[i]) for motion in motions] for i in range(len(part))]
    own = [jnp.maximum(jnp.maximum(*each), 0.0) for each in toward]
    if len(part) == 1:
        return jax.lax.stop_gradient(own)
    on = [jnp.asarray(takes & (w[i][i] > 0.0)) for i, takes in enumerate(part)]
    root = [jnp.sqrt(jnp.where(takes, w[i][i], 1.0)) for i, takes in enumerate(on)]
    energy = jnp.stack([jnp.where(takes, a / u, 0.0) for takes, a, u in zip(on, own, root, strict=True)])
    most = jnp.max(jnp.where(linked_of(w, on, rubs), energy[None, :], 0.0), axis=1)
    shared = [jnp.where(takes, u * most[i], 0.0) for i, (takes, u) in enumerate(zip(on, root, strict=True))]
    return jax.lax.stop_gradient([jnp.maximum(a, b) for a, b in zip(own, shared, strict=True)])


def slow_rebounds(settle_speed: Real, pressed: list[Any], noise: Noise) -> list[Any]:
    """Rebounds [m/s] that are none: slower than the user says, or a hop lower than rounding where it is pressed."""
    hops = [jnp.sqrt(2.0 * a * HOP * e + 1e-300) for a, e in zip(pressed, noise.place, strict=True)]
    return [jax.lax.stop_gradient(jnp.maximum(settle_speed, hop)) for hop in hops]


def short_slides(contacts: Contacts, w: list[list[Any]], pressed: list[Any], noise: Noise, struck: Flag) -> list[Any]:
    """Sliding [m/s] that is none after a blow on several: friction ends it within a hop that is none, u^2 <= 2 a s.

    Else two feet that rock, each set sliding by the blow of the other, would go on so without end at 1e-9 m/s; and a
    stretched leg would jam.
    """
    n, short = len(contacts), []
    for k, i in enumerate(rubbing(contacts)):
        own = jnp.where(w[i][i] > 0.0, w[i][i], jnp.inf)
        ends = friction_at(contacts, k).limit * pressed[i] * w[n + k][n + k] / own
        speed = jax.lax.stop_gradient(jnp.sqrt(2.0 * ends * HOP * noise.place[i] + 1e-300))
        short.append(jnp.maximum(noise.speed[n + k], jnp.where(struck, speed, 0.0)) if n > 1 else noise.speed[n + k])
    return short


def driven_senses(
    contacts: Contacts, modes: list[Any], before: list[Any], speed: list[Any], short: list[Any]
) -> list[Any]:
    """Senses of sliding after a blow, 0 where it is too short; `before` it, what stuck had the integration's error."""
    n, senses = len(contacts), []
    for k, i in enumerate(rubbing(contacts)):
        u, drift = speed[n + k], jnp.where(modes[i] == STICKING, 2.0 * jnp.abs(before[n + k]), 0.0)
        moves = slides(contacts, k, u, jnp.maximum(short[k], drift))
        senses.append(jnp.where(moves, jnp.sign(u), 0.0))
    return senses


def quiet(
    contacts: Contacts,
    modes: list[Any],
    part: list[Any],
    struck: Flag,
    stop: list[Any],
    before: list[Any],
    speed: list[Any],
    noise: Noise,
    slow: list[Any],
    short: list[Any],
) -> tuple[list[Any], list[Any], tuple[Any, ...]]:
    """Contacts that may rest, senses of sliding (0: none), and the speeds that counted as none.

    A contact that was held stays so unless a blow threw it off: what moves it is the integration's error.
    """
    n, resting, least = len(contacts), [], []
    for i, mode in enumerate(modes):
        drift = jnp.where(mode != OPEN, 2.0 * jnp.abs(before[i]), 0.0)
        none = jnp.maximum(noise.speed[i], jnp.maximum(slow[i], drift))
        resting.append(part[i] & ((jnp.abs(speed[i]) <= none) | ((mode != OPEN) & ~struck)))
        least.append(jnp.maximum(noise.speed[i], jnp.where(resting[i], jnp.abs(speed[i]), 0.0)))
    senses = []
    # What those that stop still have: the integration's error.
    slowest = functools.reduce(
        jnp.maximum, [jnp.where(s, jnp.abs(u), 0.0) for s, u in zip(stop, speed[n:], strict=True)], jnp.asarray(0.0)
    )
    driven = driven_senses(contacts, modes, before, speed, short)
    for k, i in enumerate(rubbing(contacts)):
        u, mode = speed[n + k], modes[i]
        kept = jnp.where(mode == STICKING, 0.0, sense_of(mode))
        kept = jnp.where(mode == OPEN, driven[k], kept)
        sense = jnp.where(struck, driven[k], kept)
        # Feet of one link stop together, though rounding may show it of one of them first.
        ends = stop[k] | (any_of(stop) & (jnp.abs(u) <= noise.speed[n + k] + 2.0 * slowest))
        sense = jnp.where(ends & ~struck, 0.0, sense)
        senses.append(sense)
        least.append(jnp.maximum(noise.speed[n + k], jnp.where(sense == 0.0, jnp.abs(u), 0.0)))
    return resting, senses, tuple(least)
