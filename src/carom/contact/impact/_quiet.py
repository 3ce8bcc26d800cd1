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


def slow_rebounds(
    contacts: Contacts, settle_speed: Real, r: System, motions: tuple[Any, Any], noise: Noise
) -> list[Any]:
    """Rebounds [m/s] that are none: slower than the user says, or a hop lower than rounding where it is pressed.

    What presses is the motion without reactions, or the one before: a ball on a ball that rests on the floor.
    """
    out = []
    for i in range(len(contacts)):
        toward = [-(dot(r.row[i], motion) + r.drift[i]) for motion in motions]
        pressed = jnp.maximum(jnp.maximum(*toward), 0.0)
        hop = jnp.sqrt(2.0 * pressed * HOP * noise.place[i] + 1e-300)
        out.append(jax.lax.stop_gradient(jnp.maximum(settle_speed, hop)))
    return out


def driven_senses(contacts: Contacts, modes: list[Any], before: list[Any], speed: list[Any], noise: Noise) -> list[Any]:
    """Senses of sliding after a blow, 0 where there is none; `before` it, what stuck had the integration's error."""
    n, senses = len(contacts), []
    for k, i in enumerate(rubbing(contacts)):
        u, drift = speed[n + k], jnp.where(modes[i] == STICKING, 2.0 * jnp.abs(before[n + k]), 0.0)
        moves = slides(contacts, k, u, jnp.maximum(noise.speed[n + k], drift))
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
    driven = driven_senses(contacts, modes, before, speed, noise)
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
