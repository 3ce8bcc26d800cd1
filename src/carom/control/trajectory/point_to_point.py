"""Motions from one point to another, or at one: blends, cubics, quintics, rest."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ... import errors
from ...forms import Form, Slot, Spelled
from ...quantities import Given, Real
from ._knots import length_of, like
from .polynomials import Polynomials, hermite, polynomials


def ParabolicBlends(
    start: Real | Given, end: Real | Given, duration: Real, blend: Real | None = None, most: Real | None = None
) -> Polynomials:
    """From rest to rest: constant acceleration for `blend` [s], constant velocity, constant deceleration.

    - `blend`: a tenth of the duration if left out, as the n-R manipulator paper has it; at most half of the duration
    - `most`: largest acceleration that is allowed [1/s^2 times the unit of the vector]; none by default

    The velocity between the blends is (end - start) / (duration - blend). The acceleration jumps at all four knots,
    and so do torques that follow it.
    """
    owner = "ParabolicBlends"
    q0, q1, total = _ends(owner, start, end, duration)
    blend = 0.1 * total if blend is None else blend
    errors.number(owner, "blend", blend, above=0.0)
    ramp = jnp.asarray(blend, dtype=float)
    _refuse_long_blend(ramp, total)
    speed = (q1 - q0) / (total - ramp)
    if most is not None:
        _refuse_short_blend(speed, ramp, total, most)
    rest, none = jnp.zeros_like(q0), jnp.zeros_like(q0)
    half = 0.5 * speed / ramp
    begun, ending = q0 + half * ramp**2, q1 - half * ramp**2
    rows = [(q0, rest, half), (begun, speed, none), (ending, speed, -half)]
    # Blends of half the duration leave nothing between them: a piece without length would be a knot too many.
    lengths = errors.known((ramp, total))
    if lengths is not None and 2.0 * lengths[0] >= lengths[1]:
        return polynomials([0.0 * total, ramp, total], [rows[0], rows[2]])
    return polynomials([0.0 * total, ramp, total - ramp, total], rows)


def Cubic(
    start: Real | Given,
    end: Real | Given,
    duration: Real,
    start_velocity: Real | Given | None = None,
    end_velocity: Real | Given | None = None,
) -> Polynomials:
    """Third order: positions and velocities at both ends; velocities are zero if left out."""
    owner = "Cubic"
    q0, q1, total = _ends(owner, start, end, duration)
    v0 = like(owner, "start_velocity", start_velocity, q0)
    v1 = like(owner, "end_velocity", end_velocity, q0)
    return polynomials([0.0 * total, total], [hermite(q0, q1, v0, v1, total)])


def Quintic(
    start: Real | Given,
    end: Real | Given,
    duration: Real,
    start_velocity: Real | Given | None = None,
    end_velocity: Real | Given | None = None,
    start_acceleration: Real | Given | None = None,
    end_acceleration: Real | Given | None = None,
) -> Polynomials:
    """Fifth order: positions, velocities and accelerations at both ends; zero where left out."""
    owner = "Quintic"
    q0, q1, total = _ends(owner, start, end, duration)
    v0 = like(owner, "start_velocity", start_velocity, q0)
    v1 = like(owner, "end_velocity", end_velocity, q0)
    a0 = like(owner, "start_acceleration", start_acceleration, q0)
    a1 = like(owner, "end_acceleration", end_acceleration, q0)
    # What the first three terms leave to do at the end, scaled to a duration of one.
    way = q1 - q0 - v0 * total - 0.5 * a0 * total**2
    speed = (v1 - v0 - a0 * total) * total
    bend = (a1 - a0) * total**2
    row = (
        q0,
        v0,
        0.5 * a0,
        (10.0 * way - 4.0 * speed + 0.5 * bend) / total**3,
        (-15.0 * way + 7.0 * speed - bend) / total**4,
        (6.0 * way - 3.0 * speed + 0.5 * bend) / total**5,
    )
    return polynomials([0.0 * total, total], [row])


def MinimumJerk(start: Real | Given, end: Real | Given, duration: Real) -> Polynomials:
    """The motion from rest to rest with the least integral of squared jerk (Flash and Hogan 1985): a quintic."""
    _ends("MinimumJerk", start, end, duration)
    return Quintic(start, end, duration)


def Hold(value: Given, duration: Real) -> Polynomials:
    """Stand still for a while."""
    q, _, total = _ends("Hold", value, value, duration)
    return polynomials([0.0 * total, total], [(q,)])


def _ends_form(name: str, meaning: str, *more: Slot) -> Form:
    ends = (
        Slot("start", "numbers", "values at the start, one per link [rad, or N m]"),
        Slot("end", "numbers", "values at the end"),
        Slot("duration", "number", "[s] > 0"),
    )
    return Form(name, meaning, (*ends, *more))


CUBIC = Spelled(Cubic, _ends_form("cubic", "a cubic from rest to rest"))
QUINTIC = Spelled(Quintic, _ends_form("quintic", "a quintic from rest to rest"))
MINIMUM_JERK = Spelled(MinimumJerk, _ends_form("minimum-jerk", "the least integral of squared jerk"))
PARABOLIC_BLENDS = Spelled(
    ParabolicBlends,
    _ends_form(
        "parabolic-blends",
        "acceleration constant, zero, constant",
        Slot("blend", "number", "[s]; a tenth of the duration if left out", None),
    ),
)
HOLD = Spelled(
    Hold,
    Form(
        "hold",
        "standing still",
        (Slot("value", "numbers", "one per link"), Slot("duration", "number", "[s] > 0", 1.0)),
    ),
)


def _ends(owner: str, start: Real | Given, end: Real | Given, duration: Real) -> tuple[Any, Any, Any]:
    size, other = length_of(owner, "start", start), length_of(owner, "end", end)
    if size != other:
        raise errors.CaromError(
            f"start of {owner} holds {size} numbers and end {other}; both must have one number for every joint"
        )
    _refuse_duration(owner, duration)
    q0, q1, total = (jnp.asarray(x, dtype=float) for x in (start, end, duration))
    return q0, q1, total


def _refuse_duration(owner: str, duration: Real) -> None:
    errors.number(owner, "duration", duration)
    given = errors.known(duration)
    if given is not None and not given > 0.0:
        raise errors.CaromError(
            f"duration of {owner} is {float(given):g} s; a motion takes time; it must be greater than 0"
        )


def _refuse_long_blend(blend: Real, total: Real) -> None:
    given = errors.known((blend, total))
    if given is not None and given[0] > 0.5 * given[1] * (1.0 + 1e-12):
        raise errors.CaromError(
            f"blend of ParabolicBlends is {given[0]:g} s, more than half of the duration, {given[1]:g} s; two blends "
            "must fit; make it shorter"
        )


def _refuse_short_blend(speed: Real, blend: Real, total: Real, most: Real) -> None:
    """The distance asks for an acceleration; shorter blends ask for more, down to half the duration for the least."""
    errors.number("ParabolicBlends", "most", most, above=0.0)
    given = errors.known((jnp.max(jnp.abs(speed)), blend, total, most))
    if given is None or given[0] <= given[3] * given[1]:
        return
    fastest, ramp, time, limit = (float(x) for x in given)
    distance = fastest * (time - ramp)
    rest = time**2 - 4.0 * distance / limit
    cure = f"make the duration at least {2.0 * np.sqrt(distance / limit):.4g} s"
    if rest >= 0.0:
        cure = f"make it at least {0.5 * (time - np.sqrt(rest)):.4g} s"
    raise errors.CaromError(
        f"blend of ParabolicBlends is {ramp:g} s, too short for the distance {distance:g}: it takes an acceleration of "
        f"{fastest / ramp:g}, more than `most`, {limit:g}; {cure}"
    )
