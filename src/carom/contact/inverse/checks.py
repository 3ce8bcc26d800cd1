"""Checks of a motion: does it stay on its surfaces, slide as it is said to, and determine its torques?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ... import errors
from ...hybrid.scene import length_of
from ...quantities import Given, Real, Vector
from .problem import InverseProblem, listed
from .reactions import ContactEfforts

Out = TypeVar("Out")

NO_LEVER = 1e-6  # sine of the angle between reaction and lever below which a joint has no say
OFF = 1e-8  # of the mechanism's length, and of the speeds and accelerations of its motion: farther is off the surface
SLOW = 1e-9  # of the speeds of the motion: slower sliding is none


def _raise_if(out: Out, wrong: Array, message: Callable[[], str], static: str) -> Out:
    """A sentence with numbers outside jit; equinox's runtime error, which cannot know them, inside."""
    if isinstance(wrong, jax.core.Tracer):
        return eqx.error_if(out, wrong, static)
    if bool(wrong):
        raise errors.CaromError(message())
    return out


def senses_of(problem: InverseProblem, senses: Given | None) -> Any:
    if senses is None:
        return None
    count = len(problem.contacts)
    one = np.ndim(senses) == 0 and count == 1
    values = [senses] if one else senses
    errors.vector("motion", "senses", values, count)
    given = errors.known(values)
    if given is not None and not np.all(np.isin(given, (-1.0, 0.0, 1.0))):
        raise errors.CaromError(
            f"senses of motion are {given.tolist()}; each must be +1 (slides along (n_y, -n_x)), -1, or 0 without "
            "friction"
        )
    return jnp.asarray(values, dtype=float)


def checked(
    problem: InverseProblem, state: tuple[Any, ...], senses: Given | None, out: ContactEfforts
) -> ContactEfforts:
    q, v, a = state
    quick, rough = _speeds(problem, v, a)
    out = _kept(problem, quick, rough, out)
    out = _sensible(problem, senses, quick, out)
    return _regular(problem, q, out)


def _speeds(problem: InverseProblem, v: Vector, a: Vector) -> tuple[Any, Any]:
    """Speed [m/s] and acceleration [m/s^2] by which to measure the motion: at least those of one radian per second."""
    top, length = problem.mechanism.topology, length_of(problem.mechanism)

    def largest(rates: Vector) -> Any:
        return length * jnp.max(jnp.abs(rates[top.angles])) + jnp.max(jnp.abs(rates[: top.base_dof]), initial=0.0)

    quick = length + largest(v)
    return quick, quick**2 / length + largest(a)


def _kept(problem: InverseProblem, quick: Real, rough: Real, out: ContactEfforts) -> ContactEfforts:
    """The motion must stay on its surfaces, and stick where it is said to."""
    length = length_of(problem.mechanism)
    misses = (out.gap / length, out.gap_rate / quick, out.gap_acceleration / rough, out.creep / quick)
    off = jnp.max(jnp.abs(jnp.stack([*misses, out.creep_acceleration / rough])), axis=0)

    def message() -> str:
        i = int(np.argmax(np.asarray(off)))
        numbers = [float(x[i]) for x in (out.gap, out.gap_rate, out.gap_acceleration)]
        text = "the motion leaves the surface of '{}': gap {:.3g} m, its rate {:.3g} m/s, its acceleration {:.3g} m/s^2"
        text = text.format(problem.contacts[i].name, *numbers)
        if i in problem.sticking:
            text += f"; it slides at {float(out.creep[i]):.3g} m/s, {float(out.creep_acceleration[i]):.3g} m/s^2"
        return f"{text}; all must be 0; find the joints that must follow with close()"

    names = listed(c.name for c in problem.contacts)
    static = f"the motion leaves the surface of {names}; find the joints that must follow with close()"
    return _raise_if(out, jnp.any(~(off < OFF)), message, static)


def _sensible(problem: InverseProblem, senses: Given | None, quick: Real, out: ContactEfforts) -> ContactEfforts:
    """Friction needs to know which way; at rest the motion does not tell."""
    rubs = np.asarray([c.friction is not None and i not in problem.sticking for i, c in enumerate(problem.contacts)])
    names = listed(c.name for c, on in zip(problem.contacts, rubs, strict=True) if on)
    if senses is None:
        text = f"{names} is at rest, so that the direction of its friction is not known; say which way it is about to "
        text += "slide with senses=[+1] or [-1], or that it sticks with sticking=[...]"
        return _raise_if(out, jnp.any(rubs & (jnp.abs(out.sliding) < SLOW * quick)), lambda: text, text)
    against = rubs & (senses * out.sliding < -SLOW * quick)
    text = f"senses of {names} contradict the motion, which slides the other way"
    cure = "change the sign, or leave senses out"
    rates = lambda: ", ".join(f"{float(x):.3g}" for x in out.sliding)  # noqa: E731
    return _raise_if(out, jnp.any(against), lambda: f"{text} (at {rates()} m/s); {cure}", f"{text}; {cure}")


def _regular(problem: InverseProblem, q: Vector, out: ContactEfforts) -> ContactEfforts:
    top = problem.mechanism.topology
    labels = [
        f"the free base, along {top.labels[i]}" if i < top.base_dof else f"joint '{top.labels[i]}'"
        for i in problem.idle
    ]
    cure = "choose another posture, another passive joint, or the other sense of sliding"

    def message() -> str:
        return (
            f"{labels[int(out.weakest)]} has no torque and the reactions cannot move it in the posture "
            f"q = {np.asarray(q).tolist()}: with friction their line passes through it (leverage "
            f"{float(out.leverage):.1e} of 1); {cure}"
        )

    static = f"the reactions cannot move {', '.join(labels)}, which have no torque, in this posture; {cure}"
    return _raise_if(out, ~(out.leverage > NO_LEVER), message, static)


def reached(
    problem: InverseProblem, links: tuple[int, ...], out: tuple[Vector, ...], gap: Real, leverage: Array
) -> Any:
    """A closed motion must lie on its surfaces, and its followers must move their tips across them."""
    who, tips = listed(problem.mechanism.topology.names[k] for k in links), listed(c.name for c in problem.sliding)
    out = _raise_if(
        out,
        jnp.any(~(jnp.abs(gap) < OFF)),
        lambda: (
            f"joint {who} cannot bring {tips} onto its surface from this posture: a gap of "
            f"{float(np.max(np.abs(np.asarray(gap)))):.3g} m is left; start nearer, or check the link lengths"
        ),
        f"joint {who} cannot bring {tips} onto its surface; start nearer, or check the link lengths",
    )
    message = f"joint {who} moves {tips} only along its surface in this posture, so its rates have no solution"
    cure = "choose another posture, or let another joint follow"
    return _raise_if(
        out,
        ~(leverage > NO_LEVER),
        lambda: f"{message} (leverage {float(leverage):.1e} of 1, q = {np.asarray(out[0]).tolist()}); {cure}",
        f"{message}; {cure}",
    )
