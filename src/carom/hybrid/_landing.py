"""What becomes of an attempt: accepted, an event at its end, or tried again with another length.

A condition that holds at the end of a step, and not at its beginning, became true in between: the bracket from one to
the other is narrowed until it is as wide as time is exact.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import PyTree

from ..quantities import Flag, Real
from ._carry import Attempt, Carry, Verdict
from ._locate import ahead, holding, in_sight, just_now, together, topped, turned, width_of
from .condition import any_of
from .scene import Continuous

CROSSING = 1e-6  # of the proposed step: a condition whose value is zero within this crosses zero there


def settle(c: Carry, a: Attempt) -> Verdict:
    """Accept the step, land on an event, or try again with another length.

    A branch: nearly every attempt has no event in sight.
    """
    t, guard, ends = jax.lax.stop_gradient((a.t, c.guard, a.asked.ends))  # decisions have no derivatives
    c, a = c._replace(guard=guard), a._replace(t=t, asked=a.asked._replace(ends=ends))
    none = tuple(jnp.zeros_like(on) for on in c.armed)
    never, zero = jnp.full_like(a.span, jnp.inf), jnp.zeros_like(a.span)
    return jax.lax.cond(
        nothing_in_sight(c, a),
        lambda: Verdict(a.norm <= 1.0, jnp.zeros_like(c.fresh), none, never, zero, never, c.hint),
        lambda: _settled(c, a),
    )


def nothing_in_sight(c: Carry, a: Attempt) -> Any:
    """Is no condition near, at the end or inside, and none searched for?"""
    within = jnp.isfinite(c.high) | (jnp.minimum(a.unseen, a.cut) < a.span)
    return ~jax.lax.stop_gradient(within | any_of(in_sight(a.asked, width_of(a.t))))


def _settled(c: Carry, a: Attempt) -> Verdict:
    """What becomes of an attempt with something in sight."""
    width = width_of(a.t)
    good = a.norm <= 1.0
    true = holding(a.asked, c.armed, width)
    near = together(a.asked, c.armed, true, width)
    true = tuple(jnp.where(a.last, n, h) for n, h in zip(near, true, strict=True))  # nothing comes after the horizon
    # A step of no length follows a jump: what its beginning showed was another phase.
    over = tuple(o & ~c.fresh for o in topped(c.guard, a.asked))
    sought = tuple(t | o for t, o in zip(true, over, strict=True))
    met, behind = good & any_of(true), good & any_of(over)
    bracket = jnp.isfinite(c.high) & (a.span < c.high)
    low = jnp.where(good & ~met & ~behind & bracket, a.span, jnp.where(good, c.low, 0.0))
    high = jnp.where(met | behind, a.span, jnp.where(good, c.high, jnp.inf))
    # An event counts at the end of a step that begins where nothing had happened: one width before, nothing has.
    narrow = a.span - c.low <= width
    landed = (met & ~behind & (c.fresh | just_now(a.asked, true, width))) | ((met | behind) & narrow)
    clear = good & ~met & ~behind & ~bracket
    # What may have come and gone inside is looked at first.
    done = landed | clear
    blind = good & ~c.fresh & jnp.isinf(c.high) & (a.cut < a.span - width) & (a.cut > width)
    peek = (done & ~c.fresh & (a.unseen < a.span - width) & (a.unseen > width)) | blind
    look = jnp.where(blind, a.cut, a.unseen)
    accept, hit = done & ~peek, landed & ~peek
    aim, hint = _aim(c, a, sought, met | behind, low, high, width)
    aim = jnp.where(accept | ~good, jnp.inf, jnp.where(peek, look, aim))
    low = jnp.where(accept | peek, 0.0, low)
    high = jnp.where(accept | peek, jnp.inf, high)
    return Verdict(accept, hit, tuple((n | o) & hit for n, o in zip(near, over, strict=True)), aim, low, high, hint)


def _aim(
    c: Carry, a: Attempt, true: tuple[Flag, ...], met: Flag, low: Real, high: Real, width: Real
) -> tuple[Any, Any]:
    """Where to try next: half a width behind the estimate, so that it lands; every third time in the middle.

    The bracket is halved at least every third attempt, so that landing takes at most 3 log2(h / width) + 6 of them.
    Also returns the estimate from the far end, which is used again after an attempt that says nothing.
    """
    hint = jnp.where(met, turned(c.guard, a.asked, true, a.span, low) + 0.5 * width, c.hint)
    coming = ahead(a.asked, a.span, high) + 0.5 * width
    guess = jnp.where(~met & (coming < high), coming, hint)
    middle = 0.5 * (low + high)
    usable = (guess > low) & (guess < high) & ((c.tries % 3 != 0) | (c.tries == 0))
    # What is left is one width: the end of it, where the condition is known to hold.
    return jnp.where(high - low <= width, high, jnp.where(usable, guess, middle)), hint


def exact(c: Carry, a: Attempt, verdict: Verdict) -> tuple[Any, Continuous]:
    """One last Newton step onto the event, or onto the instant to arrive at, whose value is zero.

    Its derivative is not: it is what makes event times, and states at them, differentiable (the step length itself is a
    constant for derivatives). Of several conditions met at one instant, the first in the list counts.
    """
    dt, found = jnp.where(a.arrives, a.late, 0.0), a.arrives
    for fired, value, rate, rounding in zip(verdict.fired, *a.asked.ends, a.asked.rounding, strict=True):
        # A jump onto a condition (a step of no length, or a value far from zero) has no crossing to correct. Forces are
        # rounded by what they are made of (a spring a kilometre away), which nobody knows here: hence a share of h.
        near = 2.0 * rounding + (8.0 * width_of(a.t) + CROSSING * c.h) * jnp.abs(rate)
        crossing = (a.span > 0.0) & (jnp.abs(value) <= near)
        usable = fired & (rate > 0.0) & crossing
        guess = -value / jnp.where(usable, rate, 1.0)
        if jnp.ndim(usable):  # of a family, the first in its list
            at = jnp.argmax(usable)
            usable, guess = usable[at], guess[at]
        dt = jnp.where(usable & ~found, guess, dt)
        found = found | usable
    t, y = _moved((a.t, a.y), dt, (jnp.ones_like(a.t), a.rate))
    return jnp.where(a.arrives, a.t, t), y


@jax.custom_jvp
def _moved(x: PyTree, dt: Real, rate: PyTree) -> Any:
    """x, which moves when dt does."""
    return x


@_moved.defjvp
def _moving(given: tuple[PyTree, Real, PyTree], change: tuple[PyTree, Real, PyTree]) -> Any:
    """Along dt, whose value is nothing but rounding, x moves at its rate."""
    (x, dt, rate), (dx, ddt, turn) = given, change
    # The last term is nothing but rounding, too; its own derivative is not.
    return x, jax.tree.map(lambda d, r, s: d + ddt * r + dt * s, dx, rate, turn)
