"""Bilateral constraints: pins, closed loops, points held on curves, locked angles; their errors and rows."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .. import errors
from ..mechanism import Mechanism
from ..quantities import Vector
from .kinematics import site_position


class AbstractConstraint(eqx.Module):
    """Something that stays zero. Derivatives are taken automatically."""

    @abc.abstractmethod
    def error(self, mechanism: Mechanism, q: Float[Array, " dof"]) -> Float[Array, " rows"]:
        """The quantities that must vanish [m or rad]."""

    @abc.abstractmethod
    def describe(self) -> str:
        """A few words for messages."""


def _site_name(owner: str, site: Any) -> str:
    name = getattr(site, "name", site)
    if not isinstance(name, str):
        raise errors.CaromError(f"site of {owner} is {site!r}; it must be a site of a mechanism, or its name")
    return name


class Pin(AbstractConstraint):
    """Two sites coincide (a closed loop), or a site stays at a point (x, y) [m] of the world."""

    site: str = eqx.field(static=True)
    other: Any

    def __init__(self, site: Any, other: Any) -> None:
        self.site = _site_name("Pin", site)
        self.other = other if isinstance(other, str) else getattr(other, "name", other)
        if not isinstance(self.other, str):
            errors.vector(f"Pin of '{self.site}'", "other", self.other, 2)
            self.other = jnp.asarray(self.other, dtype=float)

    def error(self, mechanism: Mechanism, q: Float[Array, " dof"]) -> Float[Array, " rows"]:
        target = site_position(mechanism, q, self.other) if isinstance(self.other, str) else self.other
        return site_position(mechanism, q, self.site) - target

    def describe(self) -> str:
        where = f"'{self.other}'" if isinstance(self.other, str) else "a fixed point"
        return f"Pin('{self.site}' to {where})"


class OnCurve(AbstractConstraint):
    """A site stays on the curve where `curve(x, y)` = 0, any smooth function; its gradient must not vanish there.

    A value in metres (a signed distance) makes the multiplier a force in newtons.
    """

    site: str = eqx.field(static=True)
    curve: Any

    def __init__(self, site: Any, curve: Any) -> None:
        self.site, self.curve = _site_name("OnCurve", site), curve
        if not callable(curve):
            raise errors.CaromError(
                f"curve of OnCurve of '{self.site}' is a {type(curve).__name__}; it must be a function of x and y, "
                "zero on the curve, such as lambda x, y: y"
            )

    def error(self, mechanism: Mechanism, q: Float[Array, " dof"]) -> Float[Array, " rows"]:
        x, y = site_position(mechanism, q, self.site)
        return jnp.stack([jnp.asarray(self.curve(x, y), dtype=float)])

    def describe(self) -> str:
        return f"OnCurve('{self.site}')"


class Locked(AbstractConstraint):
    """The angle of a link relative to another (or, with None, to the world) stays at `angle` [rad]."""

    link: str = eqx.field(static=True)
    other: str | None = eqx.field(static=True, default=None)
    angle: Any = 0.0

    def __check_init__(self) -> None:
        errors.number(f"Locked of '{self.link}'", "angle", self.angle)

    def error(self, mechanism: Mechanism, q: Float[Array, " dof"]) -> Float[Array, " rows"]:
        top = mechanism.topology
        turned = q[top.angle_index(top.link(self.link))] - self.angle
        if self.other is not None:
            turned = turned - q[top.angle_index(top.link(self.other))]
        return jnp.stack([turned])

    def describe(self) -> str:
        return f"Locked('{self.link}' to '{self.other or 'the world'}')"


Constraints = Sequence[AbstractConstraint]


def constraint_error(mechanism: Mechanism, constraints: Constraints, q: Float[Array, " dof"]) -> Float[Array, " rows"]:
    """All errors, one after the other."""
    return jnp.concatenate([c.error(mechanism, q) for c in constraints])


def constraint_rows(
    mechanism: Mechanism, constraints: Constraints, q: Float[Array, " dof"], v: Float[Array, " dof"]
) -> tuple[Float[Array, "rows dof"], Float[Array, " rows"]]:
    """A, and gamma = -A' v, by differentiating the errors."""

    def rate(q: Vector) -> Array:
        return jax.jvp(lambda q: constraint_error(mechanism, constraints, q), (q,), (v,))[1]

    matrix = jax.jacfwd(lambda q: constraint_error(mechanism, constraints, q))(q)
    return matrix, -jax.jvp(rate, (q,), (v,))[1]
