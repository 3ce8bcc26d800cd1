"""Bilateral constraints: pins, closed loops, points held on curves, locked angles; their errors and rows."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .. import errors
from .._arguments import SiteLike
from ..forms import Form, Slot
from ..mechanism import Mechanism
from ..quantities import Function, Point, Real, Vector
from .kinematics import site_position

if TYPE_CHECKING:
    from ..hybrid.scene import Scene
else:
    Scene = Any


class Held(NamedTuple):
    """One quantity that stays zero: its gradient, its second derivative in time without accelerations, its value."""

    across: list[Any]
    drift: Any
    error: Any


class AbstractConstraint(eqx.Module):
    """Something that stays zero. Derivatives are taken automatically."""

    @abc.abstractmethod
    def error(self, mechanism: Mechanism, q: Float[Array, " dof"]) -> Float[Array, " rows"]:
        """The quantities that must vanish [m or rad]."""

    @abc.abstractmethod
    def describe(self) -> str:
        """A few words for messages."""

    @property
    def sites(self) -> tuple[str, ...]:
        """Sites that are drawn as pins."""
        return ()

    @property
    def pivot(self) -> Any:
        """A point (x, y) of the world that is drawn as a pivot; None where there is none."""
        return None

    @property
    def ground(self) -> Any:
        """A surface that is drawn; None where there is none."""
        return None

    def rows(self, scene: Scene) -> list[Held]:
        """Its rows at an instant of a run, by differentiating the error; carom's own constraints know theirs."""
        q, v = (jnp.stack([jnp.asarray(x, dtype=float) for x in values]) for values in (scene.q, scene.v))
        error = self.error(scene.mechanism, q)
        matrix, gamma = constraint_rows(scene.mechanism, [self], q, v)
        return [Held(list(matrix[i]), -gamma[i], error[i]) for i in range(error.shape[0])]


def site_name(owner: str, site: SiteLike) -> str:
    name = getattr(site, "name", site)
    if not isinstance(name, str):
        raise errors.CaromError(f"site of {owner} is {site!r}; it must be a site of a mechanism, or its name")
    return name


def _told_pin(pin: Pin, note: object) -> dict[str, Any]:
    return {"site": pin.site, "other": pin.point if pin.other is None else pin.other}


class Pin(AbstractConstraint):
    """Two sites coincide (a closed loop), or a site stays at a point (x, y) [m] of the world."""

    form: ClassVar[Form] = Form(
        "pin",
        "two sites coincide, or a site stays at a point",
        (
            Slot("site", "site", "name of the site"),
            Slot("other", "place", "a point of the world (x, y) [m], or the name of another site"),
        ),
        _told_pin,
    )
    site: str = eqx.field(static=True)
    other: str | None = eqx.field(static=True)  # the other site
    point: Any  # or a point

    def __init__(self, site: SiteLike, other: SiteLike | Point) -> None:
        self.site = site_name("Pin", site)
        found = other if isinstance(other, str) else getattr(other, "name", other)
        self.other, self.point = (found, None) if isinstance(found, str) else (None, found)
        if self.other is None:
            errors.vector(f"Pin of '{self.site}'", "other", self.point, 2)
            self.point = jnp.asarray(self.point, dtype=float)

    def error(self, mechanism: Mechanism, q: Float[Array, " dof"]) -> Float[Array, " rows"]:
        target = self.point if self.other is None else site_position(mechanism, q, self.other)
        return site_position(mechanism, q, self.site) - target

    def rows(self, scene: Scene) -> list[Held]:
        first = _moving(scene, self.site)
        second = _resting(scene, self.point) if self.other is None else _moving(scene, self.other)
        return [
            Held([a - b for a, b in zip(x.across, y.across, strict=True)], x.drift - y.drift, x.error - y.error)
            for x, y in zip(first, second, strict=True)
        ]

    def describe(self) -> str:
        where = "a fixed point" if self.other is None else f"'{self.other}'"
        return f"Pin('{self.site}' to {where})"

    @property
    def sites(self) -> tuple[str, ...]:
        return (self.site,)

    @property
    def pivot(self) -> Any:
        return self.point


class OnCurve(AbstractConstraint):
    """A site stays on the curve where `curve(x, y)` = 0, any smooth function; its gradient must not vanish there.

    A value in metres (a signed distance) makes the multiplier a force in newtons.
    """

    site: str = eqx.field(static=True)
    curve: Function = eqx.field(static=True)

    def __init__(self, site: SiteLike, curve: Function) -> None:
        self.site, self.curve = site_name("OnCurve", site), curve
        if not callable(curve):
            raise errors.CaromError(
                f"curve of OnCurve of '{self.site}' is a {type(curve).__name__}; it must be a function of x and y, "
                "zero on the curve, such as lambda x, y: y"
            )

    def error(self, mechanism: Mechanism, q: Float[Array, " dof"]) -> Float[Array, " rows"]:
        x, y = site_position(mechanism, q, self.site)
        return jnp.stack([jnp.asarray(self.curve(x, y), dtype=float)])

    def rows(self, scene: Scene) -> list[Held]:
        x, y = _moving(scene, self.site)
        speeds = tuple(sum(a * v for a, v in zip(r.across, scene.v, strict=True)) for r in (x, y))

        def value(a: Real, b: Real) -> Any:
            return jnp.asarray(self.curve(a, b), dtype=float)

        def slopes(a: Real, b: Real) -> Any:
            return jax.grad(value, argnums=(0, 1))(a, b)

        here = (jnp.asarray(x.error, dtype=float), jnp.asarray(y.error, dtype=float))
        (gx, gy), (hx, hy) = jax.jvp(slopes, here, tuple(jnp.asarray(v, dtype=float) for v in speeds))
        across = [gx * a + gy * b for a, b in zip(x.across, y.across, strict=True)]
        bends = hx * speeds[0] + hy * speeds[1]
        return [Held(across, bends + gx * x.drift + gy * y.drift, value(*here))]

    def describe(self) -> str:
        return f"OnCurve('{self.site}')"

    @property
    def sites(self) -> tuple[str, ...]:
        return (self.site,)


class Locked(AbstractConstraint):
    """The angle of a link relative to another (or, with None, to the world) stays at `angle` [rad]."""

    form: ClassVar[Form] = Form(
        "locked",
        "the angle of a link to another, or to the world, stays as it is",
        (
            Slot("link", "link", "name of the link"),
            Slot("other", "link", "name of the other link; the world if left out", None),
            Slot("angle", "number", "[rad]", 0.0),
        ),
        lambda locked, note: {"link": locked.link, "other": locked.other, "angle": locked.angle},
    )
    link: str = eqx.field(static=True)
    other: str | None = eqx.field(static=True, default=None)
    angle: Any = 0.0

    def __check_init__(self) -> None:
        errors.number(f"Locked of '{self.link}'", "angle", self.angle)

    def error(self, mechanism: Mechanism, q: Float[Array, " dof"]) -> Float[Array, " rows"]:
        turned = jnp.asarray(-self.angle, dtype=float)
        for index, sign in self._turning(mechanism):
            turned = turned + sign * q[index]
        return jnp.stack([turned])

    def rows(self, scene: Scene) -> list[Held]:
        error, across = -self.angle, [0.0] * scene.mechanism.dof
        for index, sign in self._turning(scene.mechanism):
            error, across[index] = error + sign * scene.q[index], sign
        return [Held(across, 0.0, error)]

    def _turning(self, mechanism: Mechanism) -> list[tuple[int, float]]:
        """Which coordinates make up the angle, and their signs; refused where nothing turns."""
        top = mechanism.topology
        first = top.turn_index(top.link(self.link))
        second = None if self.other is None else top.turn_index(top.link(self.other))
        if first == second:
            raise errors.CaromError(
                f"{self.describe()} locks an angle that cannot change: '{self.link}' is on a Slider, which does not "
                "turn; leave it out"
            )
        return [(index, sign) for index, sign in ((first, 1.0), (second, -1.0)) if index is not None]

    def describe(self) -> str:
        return f"Locked('{self.link}' to '{self.other or 'the world'}')"


def _moving(scene: Scene, name: str) -> list[Held]:
    """Coordinates x and y of a site."""
    mechanism = scene.mechanism
    site = mechanism.site(name)

    def motion(q: Vector) -> tuple[Any, ...]:
        found = type(scene)(mechanism, scene.t, q, scene.v).site(site)
        return tuple(jnp.asarray(x, dtype=float) for x in found)

    (x, y, _, _), (_, _, ax, ay) = jax.jvp(motion, (scene.q,), (scene.v,))
    across: list[list[Any]] = [[0.0] * mechanism.dof, [0.0] * mechanism.dof]
    for index, jx, jy in scene.jacobian(site.link, x, y, site):
        across[0][index], across[1][index] = across[0][index] + jx, across[1][index] + jy
    return [Held(across[0], ax, x), Held(across[1], ay, y)]


def _resting(scene: Scene, point: Point) -> list[Held]:
    """Coordinates of a point of the world."""
    none = [0.0] * scene.mechanism.dof
    return [Held(none, 0.0, point[0]), Held(none, 0.0, point[1])]


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
