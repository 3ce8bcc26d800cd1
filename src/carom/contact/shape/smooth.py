"""Smooth convex shapes, by their support functions: how far they reach in every direction."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ... import errors
from ..._arguments import SiteLike
from ...forms import Form, Slot
from ...quantities import Real
from ..surfaces.curve import numbers, probed, refuse_function
from .outlined import AbstractShape, owner_of, site_of

LOOKS = 720  # directions in which a support function is tried out
DRAWN = 121  # points of the outline


class AbstractSmooth(AbstractShape):
    """A convex curve with one point for every direction of its normal, at an angle phi [rad] from the link's axis."""

    site: eqx.AbstractVar[Any]

    @property
    def edges(self) -> int:
        return 0

    @property
    @abc.abstractmethod
    def flattest(self) -> Any:
        """Largest radius of curvature [m]."""

    @abc.abstractmethod
    def support(self, phi: Real) -> tuple[Any, Any, Any]:
        """How far it reaches [m] in a direction [rad], h = max n . p, and its derivatives h' and h''."""

    @abc.abstractmethod
    def seed(self, part: Real) -> Any:
        """Directions [rad] from which to look, as `part` goes from 0 to 1: dense where it is straight."""

    def point(self, phi: Real) -> tuple[Any, Any]:
        """The point with that normal: h n + h' t."""
        h, slope, _ = self.support(phi)
        c, s = jnp.cos(phi), jnp.sin(phi)
        return h * c - slope * s, h * s + slope * c

    def outline(self) -> np.ndarray:
        x, y = jax.vmap(self.point)(jax.vmap(self.seed)(jnp.linspace(0.0, 1.0, DRAWN)))
        return np.stack([np.asarray(x), np.asarray(y)], axis=1)


class Ellipse(AbstractSmooth):
    """Semi-axes a and b [m] > 0 about a site; the first makes an `angle` [rad] with the link's axis."""

    form: ClassVar[Form] = Form(
        "ellipse",
        "an ellipse about a site",
        (
            Slot("site", "site", "its centre"),
            Slot("a", "number", "semi-axis along the link, or at the angle [m] > 0"),
            Slot("b", "number", "the other semi-axis [m] > 0"),
            Slot("angle", "number", "of the first from the link's axis [rad]", 0.0),
        ),
        lambda shape: {"site": shape.site.name, "a": shape.a, "b": shape.b, "angle": shape.angle},
    )
    site: Any = eqx.field(static=True)
    a: Any
    b: Any
    angle: Any

    def __init__(self, site: SiteLike, a: Real, b: Real, angle: Real = 0.0) -> None:
        self.site, owner = site_of("Ellipse", site), owner_of("Ellipse", site)
        errors.number(owner, "a", a, above=0.0)
        errors.number(owner, "b", b, above=0.0)
        errors.number(owner, "angle", angle)
        self.a, self.b, self.angle = (jnp.asarray(x, dtype=float) for x in (a, b, angle))

    @property
    def outer(self) -> Any:
        return jnp.maximum(self.a, self.b)

    @property
    def blunt(self) -> Any:
        return jnp.minimum(self.a, self.b)

    @property
    def flattest(self) -> Any:
        return self.outer**2 / self.blunt

    def support(self, phi: Real) -> tuple[Any, Any, Any]:
        c, s = jnp.cos(phi - self.angle), jnp.sin(phi - self.angle)
        a, b = self.a**2, self.b**2
        h = jnp.sqrt(a * c * c + b * s * s)
        # h h' = (b - a) s c, and the radius of curvature h + h'' is a b / h^3.
        return h, (b - a) * s * c / h, a * b / h**3 - h

    def seed(self, part: Real) -> Any:
        turn = 2.0 * jnp.pi * part
        return self.angle + jnp.arctan2(self.a * jnp.sin(turn), self.b * jnp.cos(turn))


class Oval(AbstractSmooth):
    """Any smooth convex curve by its support function h(phi, *parameters) [m], written with jax.numpy.

    h is how far the curve reaches from the site in the direction phi [rad] from the link's axis; a shift by (x, y) adds
    x cos(phi) + y sin(phi). The radius of curvature h + h'' must be positive everywhere, and h the same after a turn.

        carom.Oval("egg.tip", lambda phi: 0.1 + 0.01 * jnp.cos(phi))
    """

    site: Any = eqx.field(static=True)
    function: Callable[..., Any] = eqx.field(static=True)
    parameters: tuple[Any, ...]

    def __init__(self, site: SiteLike, function: Callable[..., Any], parameters: Any = ()) -> None:
        self.site, owner = site_of("Oval", site), owner_of("Oval", site)
        refuse_function(owner, "function", function, "lambda phi: 0.1 + 0.01 * jnp.cos(phi)")
        self.function, self.parameters = function, numbers(owner, parameters)
        probed(owner, "function", function, (jnp.asarray(0.0), *self.parameters), 1, "phi = 0")
        phi = jnp.linspace(0.0, 2.0 * jnp.pi, LOOKS + 1)
        h, _, second = jax.vmap(self.support)(phi)
        least = jnp.min(h + second)
        errors.refuse_if(
            ~(least > 0.0),
            lambda: (
                f"function of {owner} has a radius of curvature of {float(least):g} m somewhere; h + h'' must be "
                "greater than 0 in all directions, else the shape is not smooth and convex"
            ),
        )
        errors.refuse_if(
            jnp.abs(h[-1] - h[0]) > 1e-9 * jnp.max(jnp.abs(h)),
            lambda: f"function of {owner} differs by {float(h[-1] - h[0]):g} m between 0 and 2 pi; it must be periodic",
        )

    @property
    def outer(self) -> Any:
        return self._sizes()[0]

    @property
    def blunt(self) -> Any:
        return self._sizes()[1]

    def _sizes(self) -> tuple[Any, Any]:
        """The largest and the smallest reach about the middle; looked at in many directions."""
        phi = jnp.linspace(0.0, 2.0 * jnp.pi, LOOKS // 10 + 1)
        h, slope, second = jax.lax.stop_gradient(jax.vmap(self.support)(phi))
        return 1.01 * jnp.max(jnp.hypot(h, slope)), jnp.min(h + second)

    @property
    def flattest(self) -> Any:
        phi = jnp.linspace(0.0, 2.0 * jnp.pi, LOOKS + 1)
        h, _, second = jax.lax.stop_gradient(jax.vmap(self.support)(phi))
        return jnp.max(h + second)

    def support(self, phi: Real) -> tuple[Any, Any, Any]:
        def h(phi: Real) -> Any:
            return jnp.asarray(self.function(phi, *self.parameters), dtype=float)

        def slope(phi: Real) -> tuple[Any, Any]:
            return jax.jvp(h, (phi,), (jnp.ones_like(phi),))

        phi = jnp.asarray(phi, dtype=float)
        (value, first), (_, second) = jax.jvp(slope, (phi,), (jnp.ones_like(phi),))
        return value, first, second

    def seed(self, part: Real) -> Any:
        return 2.0 * jnp.pi * part
