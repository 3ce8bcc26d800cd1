"""A shape on a surface: by its corners, by its edges, or by the one point of a smooth curve that is nearest."""

from __future__ import annotations

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp

from ... import errors
from ...hybrid.reporting import Shape
from ...hybrid.scene import Scene
from ...mechanism import Mechanism, Site
from ...quantities import Real, Reals
from .._sharp import NOWHERE, Arms, arms_of
from ..shape import AbstractCornered, AbstractShape, AbstractSmooth
from ..shape._climb import SEEDS, newton, summit
from ..shape.outlined import Frame, wrapped
from ..surfaces import AbstractSurface
from .pair import Touching, met
from .site_on_surface import SiteOnSurface, held_on


def seen(shape: AbstractShape) -> Shape:
    """A shape as it is drawn."""
    if shape.edges == 1:
        return Shape("tip", shape.outer, (shape.site,))
    return Shape("outline", 0.0, (shape.site,), shape.outline)


class AbstractShapeOnSurface(SiteOnSurface):
    """What shapes on surfaces share; `radius` is how far the shape reaches from what `middle` gives."""

    other: ClassVar[str] = "shape on surface"
    site: Site = eqx.field(static=True)
    surface: AbstractSurface
    radius: Any
    held: Any
    shape: eqx.AbstractVar[AbstractShape]
    group: str = eqx.field(static=True)  # name of the contact that several pairs belong to

    @property
    def shapes(self) -> tuple[Shape, ...]:
        return (seen(self.shape),)

    def reach(self, scene: Scene, speeds: Reals) -> Any:
        return self.shape.reach(scene, speeds)

    def size(self, scene: Scene, k: Touching) -> Any:
        return super().size(scene, k) + self.shape.outer


class CornerOnSurface(AbstractShapeOnSurface):
    """One corner of a shape, sharp or round, on a surface."""

    other: ClassVar[str] = "shape on surface"
    shape: AbstractCornered
    corner: tuple[Any, Any]  # a number, not a place in the list: corners are then contacts of one kind
    own_arms: Arms

    def __init__(self, shape: AbstractCornered, surface: AbstractSurface, index: int, group: str) -> None:
        self.site, self.surface, self.radius = shape.site, surface, shape.radius
        self.shape, self.corner, self.group = shape, shape.corners[index], group
        self.own_arms, self.held = arms_of(shape, index) if surface.hull is not None else (), held_on(surface)

    @property
    def arms(self) -> Arms:
        return self.own_arms

    def middle(self, scene: Scene) -> tuple[Any, Any]:
        return self.shape.frame(scene).out(*self.corner)


class EdgesOnSurface(AbstractShapeOnSurface):
    """The point of some edges of a shape that is nearest to a surface that bulges: all of them, or one."""

    other: ClassVar[str] = "shape on surface"
    shape: AbstractCornered
    index: int | None = eqx.field(static=True)

    def __init__(self, shape: AbstractCornered, surface: AbstractSurface, index: int | None, group: str) -> None:
        self.site, self.surface, self.radius, self.held = shape.site, surface, shape.outer, None
        self.shape, self.index, self.group = shape, index, group

    @property
    def name(self) -> str:
        return self.site.name if self.index is None else f"{self.site.name} edge {self.index + 1}"

    def touching(self, scene: Scene) -> Touching:
        frame, t = self.shape.frame(scene), scene.t
        edges = range(1 if self.shape.edges == 2 else self.shape.edges) if self.index is None else (self.index,)
        best: Any = None
        for i in edges:
            x, y = _on_edge(self.shape, self.surface, frame, t, i)
            gap, (nx, ny) = self.surface.locate(x, y, t)
            here = (gap, x, y, nx, ny)
            lower = True if best is None else gap < best[0]
            best = here if best is None else tuple(jnp.where(lower, a, b) for a, b in zip(here, best, strict=True))
        gap, x, y, nx, ny = best
        x, y = x - self.shape.radius * nx, y - self.shape.radius * ny
        drift = self.surface.drift(x, y, t)
        return met(self.shape.radius - gap, x, y, (nx, ny), scene.velocity(self.site, x, y), drift)

    def touching_edge(self, scene: Scene) -> tuple[Touching, Any]:
        return self.touching(scene), NOWHERE

    def sure(self, scene: Scene, k: Touching) -> Any:
        return None if self.surface.exact else _sure(self, scene)


def _sure(pair: AbstractShapeOnSurface, scene: Scene) -> Any:
    """What no point of the shape is deeper than, by how far its site is."""
    x, y = pair.middle(scene)
    return pair.shape.outer - pair.surface.clearance(x, y, scene.t, pair.surface.gap(x, y, scene.t))


def _on_edge(shape: AbstractCornered, surface: AbstractSurface, frame: Frame, t: Real, i: int) -> tuple[Any, Any]:
    """The point of an edge that is nearest to a surface."""

    def at(shape: AbstractCornered, frame: Frame, s: Real) -> tuple[Any, Any]:
        (x, y), (ex, ey, _, _) = shape.corners[i], shape.sides[i]
        return frame.out(x + s * ex, y + s * ey)

    def slope(shape: AbstractCornered, surface: AbstractSurface, frame: Frame, t: Real, s: Real) -> tuple[Any, Any]:
        def rise(s: Real) -> Any:
            tx, ty = frame.turned(*shape.sides[i][:2])
            nx, ny = surface.locate(*at(shape, frame, s), t)[1]
            return -(tx * nx + ty * ny)

        s = jnp.asarray(s, dtype=float)
        return jax.jvp(rise, (s,), (jnp.ones_like(s),))

    still = jax.lax.stop_gradient((shape, surface, frame, jnp.asarray(t, dtype=float)))
    part = 1.0 / (SEEDS - 1)

    def seeds(k: Any) -> tuple[Any, Any, Any]:
        s = k * part
        return s, jnp.maximum(s - part, 0.0), jnp.minimum(s + part, 1.0)

    def value(s: Real) -> Any:
        return -still[1].gap(*at(still[0], still[2], s), still[3])

    s = summit(value, lambda s: slope(*still, s), seeds, SEEDS, inner=True)
    s = jax.lax.stop_gradient(s)
    for _ in range(2):  # as `settled` does
        s = jnp.clip(s + newton(*slope(shape, surface, frame, t, s)), 0.0, 1.0)
    return at(shape, frame, s)


class SmoothOnSurface(AbstractShapeOnSurface):
    """The point of a smooth shape that is nearest to a surface, which must bend less than the shape does."""

    other: ClassVar[str] = "shape on surface"
    shape: AbstractSmooth

    def __init__(self, shape: AbstractSmooth, surface: AbstractSurface, group: str) -> None:
        self.site, self.surface, self.radius, self.held = shape.site, surface, shape.outer, None
        self.shape, self.group = shape, group

    def touching(self, scene: Scene) -> Touching:
        frame = self.shape.frame(scene)
        x, y = frame.out(*self.shape.point(_facing(self.shape, self.surface, frame, scene.t)))
        gap, normal = self.surface.locate(x, y, scene.t)
        return met(-gap, x, y, normal, scene.velocity(self.site, x, y), self.surface.drift(x, y, scene.t))

    def touching_edge(self, scene: Scene) -> tuple[Touching, Any]:
        return self.touching(scene), NOWHERE

    def sure(self, scene: Scene, k: Touching) -> Any:
        return None if self.surface.exact else _sure(self, scene)

    def bend(self, scene: Scene, swing: Real) -> Any:
        return jnp.minimum(super().bend(scene, swing), self.shape.blunt)

    def check(self, mechanism: Mechanism) -> None:
        super().check(mechanism)
        if self.surface.relief != "hollow":
            return
        radius, flattest = self.surface.bound().bend, self.shape.flattest
        errors.refuse_if(
            radius <= flattest,
            lambda: (
                f"contact '{self.group}': the hollow has a radius of {float(radius):g} m and the shape one of "
                f"{float(flattest):g} m where it is flattest; it would touch twice; use a polygon, or a wider hollow"
            ),
        )


def _facing(shape: AbstractSmooth, surface: AbstractSurface, frame: Frame, t: Real) -> Any:
    """Direction [rad], in the shape's frame, in which it is nearest to a surface."""
    if surface.relief == "flat":
        nx, ny = frame.inward(*surface.normal(frame.x, frame.y, t))
        return jnp.arctan2(-ny, -nx)

    def slope(shape: AbstractSmooth, surface: AbstractSurface, frame: Frame, t: Real, phi: Real) -> tuple[Any, Any]:
        def rise(phi: Real) -> Any:
            tx, ty = frame.turned(-jnp.sin(phi), jnp.cos(phi))
            nx, ny = surface.locate(*frame.out(*shape.point(phi)), t)[1]
            return -(tx * nx + ty * ny)

        phi = jnp.asarray(phi, dtype=float)
        return jax.jvp(rise, (phi,), (jnp.ones_like(phi),))

    still = jax.lax.stop_gradient((shape, surface, frame, jnp.asarray(t, dtype=float)))
    own, ground, place, now = still

    phi = summit(
        lambda phi: -ground.gap(*place.out(*own.point(phi)), now),
        lambda phi: slope(*still, phi),
        lambda i: around(own, i),
        SEEDS,
    )
    phi = jax.lax.stop_gradient(phi)
    for _ in range(2):  # as `settled` does
        phi = phi + newton(*slope(shape, surface, frame, t, phi))
    return phi


def around(shape: AbstractSmooth, i: Any) -> tuple[Any, Any, Any]:
    """A direction from which to look, and its neighbours to both sides."""
    here = shape.seed(i / SEEDS)
    left, right = shape.seed((i - 1.0) / SEEDS), shape.seed((i + 1.0) / SEEDS)
    return here, here + wrapped(left - here), here + wrapped(right - here)
