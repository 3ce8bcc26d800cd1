"""How long steps are: by the error of the last ones, and from one impact to the next by what was good before."""

from __future__ import annotations

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..quantities import Flag, Real
from ._carry import Attempt, Carry, Verdict
from .condition import NEVER, SHALLOW, TURNS, ULP, Watch, any_of, most_of
from .scene import Continuous
from .settings import Integration
from .solvers import error_norm
from .world import World, any_striking

# Of the step-size controller; exponents in units of 1 / order
SAFETY, INTEGRAL, PROPORTIONAL = 0.95, 0.6, 0.2
LEAST = math.log(1e-4)  # of the last error's logarithm: a step that happened to be far better says no more than that
BLURRED = 4.0 * ULP  # of a coordinate: what rounding does to it within a step


def error_of(world: World, integration: Integration, before: Continuous, after: Continuous, error: Continuous) -> Any:
    """Error of a step in units of the tolerance. Motion and ledger are each held to it; neither dilutes the other."""
    rtol, atol = integration.rtol, integration.atol
    before, after, error = jax.lax.stop_gradient((before, after, error))
    units, places = _units(world, after)

    def moving(unit: Real, a: Real, b: Real) -> Any:
        return atol * unit + rtol * jnp.maximum(jnp.abs(a), jnp.abs(b))

    def located(unit: Real, a: Real, b: Real) -> Any:
        # Far away, what rounding does to a place is no error of the step: no shorter one would mend it.
        return jnp.maximum((atol + rtol) * unit, BLURRED * jnp.maximum(jnp.abs(a), jnp.abs(b)))

    scales = (
        jax.tree.map(
            lambda place, unit, a, b: jnp.where(place, located(unit, a, b), moving(unit, a, b)),
            places,
            units,
            before.q,
            after.q,
        ),
        jax.tree.map(moving, units, before.v, after.v),
        jax.tree.map(
            moving, tuple(tuple(a.anatomy.states.values()) for a in world.automata), before.extra, after.extra
        ),
    )
    norm = error_norm((error.q, error.v, error.extra), scales)
    if after.work:
        unit = world.mass * world.length**2
        works = jax.tree.map(lambda a, b: moving(unit, a, b), before.work, after.work)
        norm = jnp.maximum(norm, error_norm(error.work, works))
    return norm


def _units(world: World, like: Continuous) -> tuple[Any, Any]:
    """What errors of the coordinates are measured by, and which of them are places or angles.

    Those are measured by the world's length and by a radian, not by their distance from an origin: a robot that stands
    a kilometre away, or has turned a hundred times, is integrated as one at home. What bends is measured by itself too.
    """
    top = world.mechanism.topology
    turns, places = [top.angle_index(k) for k in top.hinged], top.base_dof + top.links
    if not isinstance(like.q, tuple):
        number = np.arange(top.dof)
        return jnp.where(np.isin(number, turns), 1.0, world.length), number < places
    units = [jnp.asarray(1.0) if i in turns else world.length for i in range(top.dof)]
    return tuple(units), tuple(np.asarray(i < places) for i in range(top.dof))


def units_of_all(world: World, y: Continuous) -> Continuous:
    """What changes of the state are measured by; of the ledger nothing."""
    units, _ = _units(world, y)
    return Continuous(units, units, tuple(tuple(a.anatomy.states.values()) for a in world.automata), ())


def passed(look: list[Watch | None], span: Real) -> Any:
    """Length to which a step is cut that slides or rolls along a surface farther than it takes to bend; or infinity.

    A contact that is held meets nothing: a hump between two stages of the solver would not be felt.
    """
    where: Any = jnp.full_like(span, jnp.inf)
    for w in look:
        if w is not None and not isinstance(w.along, float):
            far = w.along * span > 1.01 * TURNS * w.bend
            cut = TURNS * w.bend / jnp.where(far, w.along, 1.0)
            if jnp.ndim(far):
                where = jnp.minimum(where, jnp.min(jnp.where(far, cut, jnp.inf)))
            else:
                where = jnp.where(far, jnp.minimum(where, cut), where)
    return where


def sunk(world: World, look: list[Watch | None]) -> Any:
    """How far a step let what is held sink, in units of what is allowed: an error of the step like any other.

    Whatever the tolerance, nothing is inside by more than counts as none: it is put back where steps end, not before.
    """
    total = jnp.asarray(0.0)
    for w in look:
        if w is not None and w.room is not None:
            place, slight = 0.5 * SHALLOW * world.length, w.slight  # no length measures an angle
            if jnp.ndim(slight):
                allowed: Any = jnp.where(slight > 0.0, 0.2 * slight, place)
            else:
                allowed = 0.2 * slight if slight else place
            total = jnp.maximum(total, most_of(jnp.where(w.value == NEVER, w.depth - w.room, 0.0) / allowed))
    return total


def most_turned(world: World, before: Continuous, after: Continuous) -> Any:
    """The largest angle [rad] by which a link turned."""
    top = world.mechanism.topology
    if not isinstance(after.q, tuple):
        return jnp.max(jnp.abs(after.q - before.q)[top.angles])
    angles = [jnp.abs(after.q[top.angle_index(k)] - before.q[top.angle_index(k)]) for k in top.hinged]
    return functools.reduce(jnp.maximum, angles, jnp.asarray(0.0))


def next_step(order: int, c: Carry, a: Attempt, accept: Flag) -> tuple[Any, Any]:
    """Proportional-integral step-size control; a step that was cut short says nothing about the next one's length.

    The gains settle at a norm of SAFETY^(order / INTEGRAL), about 0.5; weaker ones settle at 0.05 and take a
    quarter more steps (measured on the arm paper's 15 strikes).
    """
    # Powers by logarithms: one exponential instead of three powers.
    size = jnp.log(jnp.where(jnp.isfinite(a.norm), jnp.maximum(a.norm, 1e-10), 1e10))
    bad, again = size > 0.0, c.last_size > 0.0
    last = jnp.clip(c.last_size, LEAST, 0.0)
    smooth = math.log(SAFETY) + (PROPORTIONAL * last - (INTEGRAL + PROPORTIONAL) * size) / order
    plain = math.log(0.9) - size / order
    factor = jnp.exp(jnp.where(accept, smooth, plain))
    grown = a.span * jnp.clip(factor, 0.2, 8.0)
    # A second rejection: the error does not fall as the order promises, as over the first instants of a contact.
    shrunk = a.span * jnp.clip(jnp.where(again, 0.2 * factor, factor), 0.1, 0.9)
    full = a.span >= c.h
    proposed = jnp.where(bad, shrunk, jnp.where(full, grown, jnp.maximum(c.h, grown)))
    h = jnp.where(c.fresh, c.h, proposed)
    return h, jnp.where(c.fresh, 0.0, jnp.where(full | bad, size, c.last_size))


def restart(
    world: World, c: Carry, new: Carry, a: Attempt, accept: Flag, verdict: Verdict, h: Real
) -> tuple[Any, Any, Any]:
    """The first step after an event: as long as the one after the last event of its kind, else half as long as before.

    A step that is far too long is not only rejected many times; once in a few hundred impacts its error estimate passes
    through zero, and it is accepted. An instantaneous blow leaves a motion behind that is as smooth as before: no step
    is cut.
    """
    hit = verdict.hit
    was, now = any_striking(world, c.phases) > 0.0, any_striking(world, new.phases) > 0.0
    turned = hit & (was != now)  # an impact begins or ends
    full = accept & ~c.fresh & ~c.begun & (a.span >= c.h)
    flight = jnp.where(full & ~was, a.span, c.first[0])
    impact = jnp.where(full & was, a.span, c.first[1])
    remembered = jnp.where(now, impact, flight)
    jolted = jnp.where(hit & (a.span > 0.0) & ~_blow(world, verdict), 0.5 * jnp.minimum(h, c.h), h)
    h = jnp.where(turned & jnp.isfinite(remembered), remembered, jolted)
    return h, (flight, impact), jnp.where(turned, False, c.begun | full)


def _blow(world: World, verdict: Verdict) -> Any:
    """Was everything that happened instantaneous?"""
    soft: list[Flag] = []
    at = 0
    for automaton in world.automata:
        count = len(automaton.anatomy.exits)
        soft += [] if automaton.anatomy.impulsive else verdict.fired[at : at + count]
        at += count
    return ~any_of(soft)
