"""Routh's path: one contact with friction, followed over its normal impulse P.

Velocities of the contact point change linearly with the impulses, u_n' = w_nn + w_nt tau, u_t' = w_tn + w_tt tau, where
tau = dP_t/dP is -mu times the sense of sliding. When sliding stops, at P = stop, the contact sticks for the rest of the
blow if |w_tn/w_tt| <= mu_s (then tau = -w_tn/w_tt), else it slides the other way. So u_n is linear in two pieces, and
every law of restitution has a closed form on it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp

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
    second: Any
    stop: Any  # impulse at which sliding stops [N s]
    ratios: tuple[Any, Any]  # tau in both pieces

    def speed(self, impulse: Any) -> Any:
        early, late = jnp.minimum(impulse, self.stop), jnp.maximum(impulse - self.stop, 0.0)
        return self.approach + self.first * early + self.second * late

    def impulse(self, speed: Any) -> Any:
        """Where u_n has risen to `speed`."""
        corner = self.speed(self.stop)
        early = (corner >= speed) & (self.first > 0.0)
        at_once = (speed - self.approach) / jnp.where(early, self.first, 1.0)
        return jnp.where(early, at_once, self.stop + (speed - corner) / self.second)

    def work(self, impulse: Any) -> Any:
        """Integral of u_n from the beginning [J]: minus what was compressed."""
        early, late = jnp.minimum(impulse, self.stop), jnp.maximum(impulse - self.stop, 0.0)
        corner = self.speed(early)
        return early * (self.approach + 0.5 * self.first * early) + late * (corner + 0.5 * self.second * late)

    def impulse_after(self, begin: Any, work: Any) -> Any:
        """Where the integral of u_n from `begin`, the end of compression, has grown to `work`."""
        until = jnp.maximum(self.stop - begin, 0.0)
        # u_n is zero at `begin`; up to the stop it grows with the first slope, beyond it with the second.
        early = 0.5 * self.first * until**2
        slope = jnp.where(self.first > 0.0, self.first, 1.0)
        within = begin + _root(2.0 * work / slope)
        corner, rest = self.first * until, jnp.maximum(work - early, 0.0)
        beyond = begin + until + (_root(corner**2 + 2.0 * self.second * rest) - corner) / self.second
        return jnp.where((until > 0.0) & (work <= early), within, beyond)

    def friction(self, impulse: Any) -> Any:
        """Tangential impulse that goes with a normal one."""
        early, late = jnp.minimum(impulse, self.stop), jnp.maximum(impulse - self.stop, 0.0)
        return self.ratios[0] * early + self.ratios[1] * late


def _root(x: Any) -> Any:
    """Square root with a finite derivative at zero."""
    positive = x > 0.0
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, x, 1.0)), 0.0)


def path(w: Weights, approach: Any, sliding: Any, mu: Any, limit: Any) -> Path:
    """The path of a blow with velocities u_n = `approach` < 0 and u_t = `sliding` at its beginning."""
    sense = jnp.sign(sliding)
    before = -sense * mu
    slowing = sense * (w.nt + w.tt * before)  # rate of |u_t|
    stops = slowing < 0.0
    stop = jnp.where(sense == 0.0, 0.0, jnp.where(stops, jnp.abs(sliding) / jnp.where(stops, -slowing, 1.0), FAR))
    holding = -w.nt / w.tt
    after = jnp.where(jnp.abs(holding) <= limit, holding, -jnp.sign(w.nt) * mu)
    return Path(approach, w.nn + w.nt * before, w.nn + w.nt * after, stop, (before, after))
