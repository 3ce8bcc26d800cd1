"""Routh's path: one contact with friction, followed over its normal impulse P.

Velocities of the contact point change linearly with the impulses, u_n' = w_nn + w_nt tau, u_t' = w_tn + w_tt tau, where
tau = dP_t/dP is -mu times the sense of sliding. When sliding stops, at P = stop, the contact sticks for the rest of the
blow if |w_tn/w_tt| <= mu_s (then tau = -w_tn/w_tt), else it slides the other way. So u_n is linear in two pieces, and
every law of restitution has a closed form on it.

The second slope is never negative, as w_nn w_tt >= w_nt^2. It is zero where the contact sticks and both rows depend on
each other, as they do for one degree of freedom: then u_t = c u_n, both velocities vanish together, at the end of
compression, and a contact that sticks there is wedged. No impulse moves it again, so no law gets anything back: Newton
and Stronge end with compression, and what Poisson adds changes no velocity. A contact that cannot stick there slides
back, with the slope w_nn - mu |w_nt| > 0. Slopes within rounding of zero count as zero.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp

from ...hybrid.condition import ROUNDING
from ...quantities import Real

SOLVED = 1e-9  # of all data: what may be left of a velocity that is to vanish, where rows depend on each other
FAR = 1e100  # an impulse that is never reached; its square times any inverse mass is still a number


class Weights(NamedTuple):
    """Inverse inertia seen from the contact point [1/kg]."""

    nn: Any
    nt: Any
    tt: Any


class Path(NamedTuple):
    """The normal velocity u_n as a function of the normal impulse: slope `first` up to `stop`, then `second`."""

    approach: Any  # u_n at the beginning [m/s], negative
    first: Any
    second: Any  # not negative; exactly zero where the contact is wedged
    stop: Any  # impulse at which sliding stops [N s]
    ratios: tuple[Any, Any]  # tau in both pieces

    def speed(self, impulse: Real) -> Any:
        early, late = jnp.minimum(impulse, self.stop), jnp.maximum(impulse - self.stop, 0.0)
        return self.approach + self.first * early + self.second * late

    @property
    def corner(self) -> Any:
        """u_n where sliding stops, without rounding's share."""
        speed = self.speed(self.stop)
        return jnp.where(jnp.abs(speed) > -ROUNDING * self.approach, speed, 0.0)

    @property
    def found(self) -> Any:
        """Does compression end? Not if it is wedged while its surface still drives it in."""
        return (self.second > 0.0) | (self.corner >= SOLVED * self.approach)

    def impulse(self, speed: Real) -> Any:
        """Where u_n has risen to `speed`; a wedged contact gets no further than to the stop."""
        corner = self.corner
        early = (corner >= speed) & (self.first > 0.0)
        at_once = (speed - self.approach) / jnp.where(early, self.first, 1.0)
        rises = self.second > 0.0
        late = jnp.where(rises, (speed - corner) / jnp.where(rises, self.second, 1.0), 0.0)
        return jnp.where(early, at_once, self.stop + late)

    def work(self, impulse: Real) -> Any:
        """Integral of u_n from the beginning [J]: minus what was compressed."""
        early, late = jnp.minimum(impulse, self.stop), jnp.maximum(impulse - self.stop, 0.0)
        corner = self.speed(early)
        return early * (self.approach + 0.5 * self.first * early) + late * (corner + 0.5 * self.second * late)

    def impulse_after(self, begin: Real, work: Real) -> Any:
        """Where the integral of u_n from `begin`, the end of compression, has grown to `work`; `begin` if nowhere."""
        until = jnp.maximum(self.stop - begin, 0.0)
        # u_n is zero at `begin`; up to the stop it grows with the first slope, beyond it with the second.
        early = 0.5 * self.first * until**2
        slope = jnp.where(self.first > 0.0, self.first, 1.0)
        within = begin + _root(2.0 * work / slope)
        # Beyond: corner P + second P^2 / 2 = rest, in the form that also holds without a second slope.
        corner, rest = jnp.where(until > 0.0, jnp.maximum(self.corner, 0.0), 0.0), jnp.maximum(work - early, 0.0)
        rate = _root(corner**2 + 2.0 * self.second * rest) + corner
        rises = rate > 0.0
        beyond = begin + until + jnp.where(rises, 2.0 * rest / jnp.where(rises, rate, 1.0), 0.0)
        return jnp.where((until > 0.0) & (work <= early), within, beyond)

    def friction(self, impulse: Real) -> Any:
        """Tangential impulse that goes with a normal one."""
        early, late = jnp.minimum(impulse, self.stop), jnp.maximum(impulse - self.stop, 0.0)
        return self.ratios[0] * early + self.ratios[1] * late


def straight(inverse: Real, approach: Real) -> Path:
    """The path of a blow without friction, for the inverse inertia w_nn: u_n is one straight line."""
    return Path(approach, inverse, inverse, jnp.zeros_like(approach), (0.0, 0.0))


def _root(x: Real) -> Any:
    """Square root with a finite derivative at zero."""
    positive = x > 0.0
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, x, 1.0)), 0.0)


def path(w: Weights, approach: Real, sliding: Real, mu: Real, limit: Real) -> Path:
    """The path of a blow with velocities u_n = `approach` < 0 and u_t = `sliding` at its beginning."""
    sense = jnp.sign(sliding)
    before = -sense * mu
    slowing = sense * (w.nt + w.tt * before)  # rate of |u_t|
    stops = slowing < 0.0
    until = jnp.minimum(jnp.abs(sliding) / jnp.where(stops, -slowing, 1.0), FAR)  # the slowest is as good as none
    stop = jnp.where(sense == 0.0, 0.0, jnp.where(stops, until, FAR))
    mobile = w.tt > 0.0
    holding = jnp.where(mobile, -w.nt / jnp.where(mobile, w.tt, 1.0), 0.0)
    after = jnp.where(jnp.abs(holding) <= limit, holding, -jnp.sign(w.nt) * mu)
    slope = w.nn + w.nt * after
    second = jnp.where(slope > ROUNDING * w.nn, slope, 0.0)
    return Path(approach, w.nn + w.nt * before, second, stop, (before, after))
