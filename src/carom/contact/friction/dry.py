"""Dry friction without smoothing: a contact sticks, or slides one way or the other; events lead from one to another.

While it sticks, its force is a reaction: whatever keeps the sliding velocity at zero, up to mu_s F_n. When that is used
up it slides; when sliding stops it sticks again, or turns round if sticking would take too much.
"""

from __future__ import annotations

import abc
from typing import Any

import jax.numpy as jnp

from ... import errors
from ...quantities import Real
from .friction_law import AbstractFriction

FADES = 10.0  # [1/s] rate at which sliding within a band of speeds fades


class AbstractDry(AbstractFriction):
    """A law with a static limit mu_s F_n and a sliding force mu(v) F_n + c v."""

    @property
    def dry(self) -> AbstractDry:
        return self

    @property
    @abc.abstractmethod
    def limit(self) -> Any:
        """mu_s: the largest ratio of friction to normal force while it sticks."""

    @abc.abstractmethod
    def coefficient(self, speed: Real) -> Any:
        """mu at a sliding speed [m/s]."""

    @property
    def drag(self) -> Any:
        """c [N s/m]: the viscous part."""
        return 0.0

    @property
    def stops_at(self) -> Any:
        """Sliding has stopped when the speed falls to this [m/s]."""
        return 0.0

    def held(self, drift: Real, sliding: Real) -> tuple[Any, Any]:
        """Of a sticking contact: rate of the sliding to undo, and the sliding that is the integration's error.

        Where sticking begins at a speed, what is left of that speed fades away while the contact holds.
        """
        left = jnp.asarray(self.stops_at > 0.0)
        return drift + jnp.where(left, FADES, 0.0) * sliding, jnp.where(left, 0.0, sliding)

    def stops(self, least: Real) -> Any:
        """Speed [m/s] at which sliding stops; zero once it could not stick within its band (then `least` < 0)."""
        return jnp.where(jnp.asarray(least) < 0.0, 0.0, self.stops_at)

    def force(self, normal: Real, sliding: Real) -> Any:
        return -self.coefficient(jnp.abs(sliding)) * normal * jnp.sign(sliding) - self.drag * sliding


def check_limit(owner: str, mu: Real, static: Real) -> None:
    """Refuse a static coefficient below the sliding one: such a contact could neither stick nor slide."""
    errors.number(owner, "mu", mu, least=0.0)
    if static is None:
        return
    errors.number(owner, "static", static, least=0.0)
    errors.refuse_if(
        static < mu,
        lambda: (
            f"static of {owner} is {float(static):g}, less than mu, {float(mu):g}; it must be at least mu; "
            "leave it out to use mu"
        ),
        field="static",
    )
