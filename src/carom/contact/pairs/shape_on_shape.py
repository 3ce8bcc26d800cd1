"""Two shapes: a corner of one on the other, by its distance from the hull (_hull.py), or a smooth one on any.

Smooth ones: two convex sets A and B are apart by the largest of n . (b - a) - h_A(n) - h_B(-n) over all directions n;
negative where they overlap, by the smallest translation that separates them. Its derivatives with respect to poses and
sizes are those at the best direction held fixed, and the velocities of the nearest points give its rate.
"""

from __future__ import annotations

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp

from ...hybrid.condition import ROUNDING
from ...hybrid.reporting import Shape
from ...hybrid.scene import Load, Scene
from ...quantities import Real, Reals, Vector
from .._hull import AbstractHull
from .._sharp import Arms, arms_of, on_edge, past_end
from .._vectors import direction
from ..shape import AbstractCornered, AbstractShape, AbstractSmooth
from ..shape._climb import SEEDS, newton, summit
from ..shape.outlined import Frame, wrapped
from .pair import AbstractPair, Touching, between, centre, in_frame, met
from .shape_on_surface import around, seen

NEAR = 0.1  # [rad] of the direction that was found: a corner's own best one may be behind it


class AbstractShapePair(AbstractPair):
    """What pairs of shapes share."""

    first: eqx.AbstractVar[AbstractShape]
    second: eqx.AbstractVar[AbstractShape]
    group: eqx.AbstractVar[str]  # name of the contact that several pairs belong to

    @property
    def name(self) -> str:
        return f"{self.first.site.name} on {self.second.site.name}"

    @property
    def shapes(self) -> tuple[Shape, ...]:
        return seen(self.first), seen(self.second)

    def push(self, scene: Scene, load: Load, k: Touching, normal: Real, drag: Real) -> None:
        between(scene, load, (self.first.site, self.second.site), k, normal, drag)

    def place(self, scene: Scene, k: Touching) -> tuple[Any, Any]:
        return in_frame(scene, self.second.site.link, k.x, k.y)

    def size(self, scene: Scene, k: Touching) -> Any:
        return self.first.extent(scene) + self.second.extent(scene)

    def pace(self, scene: Scene, speeds: Reals) -> Any:
        return self.first.reach(scene, speeds) + self.second.reach(scene, speeds)

    @property
    def bounded(self) -> bool:
        return not self.first.edges == self.second.edges == 1

    @property
    def couple(self) -> tuple[Any, ...]:
        return self.first, self.second

    def apart(self, scene: Scene) -> Any:
        """Discs about their sites."""
        (ax, ay), (bx, by) = centre(scene, self.first.site), centre(scene, self.second.site)
        return direction(ax - bx, ay - by)[0] - self.first.outer - self.second.outer

    def bend(self, scene: Scene, swing: Real) -> Any:
        return self.first.blunt + self.second.blunt


class CornerOnShape(AbstractShapePair):
    """One corner of a shape, sharp or round, on another shape with corners. `turned`: the contact names it second."""

    other: ClassVar[str] = "shape on shape"
    first: AbstractCornered
    second: AbstractCornered
    corner: tuple[Any, Any]
    arms: Arms
    held: Any  # not 0 while it is closed
    group: str = eqx.field(static=True)
    turned: bool = eqx.field(static=True)

    def __init__(
        self, first: AbstractCornered, second: AbstractCornered, index: int, group: str, turned: bool = False
    ) -> None:
        self.first, self.second, self.group, self.turned = first, second, group, turned
        self.corner, self.arms, self.held = first.corners[index], arms_of(first, index), jnp.asarray(0.0)

    @property
    def yields(self) -> bool:
        return self.turned and self.first.edges > 1  # else there is no other

    def _on_second(self, scene: Scene) -> tuple[Any, tuple[Any, Any], Any]:
        """Distance of the corner, the normal in the world, and how far past the end of an edge, in roundings."""
        a, b = self.first.frame(scene), self.second.frame(scene)
        cx, cy = a.out(*self.corner)
        rounding = ROUNDING * jnp.maximum(self.first.extent(scene) + self.second.extent(scene), scene.length)
        arms = tuple(b.inward(*a.turned(*arm)) for arm in self.arms)
        x, y = b.inward(cx - b.x, cy - b.y)
        gap, normal, beyond = on_edge(self.second, x, y, arms, scene.length, rounding, self.held)
        past = past_end(beyond, rounding, self.first.radius + self.second.radius, self.yields)
        return gap, b.turned(*normal), past

    @property
    def edged(self) -> bool:
        return self.second.edges > 2

    def touching(self, scene: Scene) -> Touching:
        return self.touching_edge(scene)[0]

    def touching_edge(self, scene: Scene) -> tuple[Touching, Any]:
        cx, cy = self.first.frame(scene).out(*self.corner)
        gap, (nx, ny), past = self._on_second(scene)
        depth = self.first.radius + self.second.radius - gap
        arm = self.first.radius - 0.5 * depth
        x, y = cx - arm * nx, cy - arm * ny
        both = (scene.velocity(s.site, x, y) for s in (self.first, self.second))
        return met(depth, x, y, (nx, ny), *both), past


class SmoothOnShape(AbstractShapePair):
    """A smooth shape on any other: their nearest points, one each."""

    other: ClassVar[str] = "shape on shape"
    first: AbstractSmooth
    second: AbstractSmooth | AbstractCornered
    group: str = eqx.field(static=True)
    turned: bool = eqx.field(static=True, default=False)

    def touching(self, scene: Scene) -> Touching:
        gap, (nx, ny), (x, y) = nearest_of(self.first, self.second, self.first.frame(scene), self.second.frame(scene))
        x, y = x + 0.5 * gap * nx, y + 0.5 * gap * ny
        return met(-gap, x, y, (-nx, -ny), *(scene.velocity(s.site, x, y) for s in (self.first, self.second)))


View = tuple[Any, Any, Any, Any, Any]  # both shapes, place and angle of the second in the first one's frame


def nearest_of(
    first: AbstractSmooth, second: AbstractShape | AbstractHull, a: Frame, b: Frame
) -> tuple[Any, tuple[Any, Any], tuple[Any, Any]]:
    """How far a smooth shape is from another shape or hull, the direction that leads there, and its nearest point."""
    dx, dy = a.inward(b.x - a.x, b.y - a.y)
    turn = jnp.arctan2(b.sin * a.cos - b.cos * a.sin, b.cos * a.cos + b.sin * a.sin)
    view = (first, second, dx, dy, turn)
    phi = _facing(view)
    return _apart(view, phi)[0], a.turned(jnp.cos(phi), jnp.sin(phi)), a.out(*first.point(phi))


def _apart(view: View, phi: Real) -> tuple[Any, Any, Any]:
    """How far the shapes are apart in a direction of the first one's frame, and the first two derivatives."""
    first, second, dx, dy, turn = view
    c, s = jnp.cos(phi), jnp.sin(phi)
    own, other = first.support(phi), second.support(phi + jnp.pi - turn)
    along, across = c * dx + s * dy, c * dy - s * dx
    return along - own[0] - other[0], across - own[1] - other[1], -along - own[2] - other[2]


def _facing(view: View) -> Any:
    """The direction in which they are farthest apart."""
    still = jax.lax.stop_gradient(view)
    first, second, _, _, turn = still

    normals = _normals(second) if second.edges > 1 else None

    def seeds(i: Any) -> tuple[Any, Any, Any]:
        own = around(first, i)
        if second.edges == 1:
            return own
        others = around(second, i) if normals is None else _beside(normals, i - SEEDS)
        here, left, right = (jnp.where(i < SEEDS, a, b + jnp.pi + turn) for a, b in zip(own, others, strict=True))
        return here, left, right

    def value(p: Any) -> Any:
        return _apart(still, p)[0]

    count = SEEDS if second.edges == 1 else 2 * SEEDS + second.edges
    phi = summit(value, lambda p: _apart(still, p)[1:], seeds, count)
    if normals is not None:  # the peak at a normal may be as narrow as the edge is long
        for k in range(second.edges):
            square = normals[k] + jnp.pi + turn
            phi = jnp.where(value(square) > value(phi), square, phi)
    phi = jax.lax.stop_gradient(phi)
    if not second.edges:
        for _ in range(2):  # as `settled` does
            phi = phi + newton(*_apart(view, phi)[1:])
        return phi
    return _at_corner(view, phi)


def _normals(hull: AbstractHull) -> Any:
    """Directions [rad] of the outer normals of edges, in the hull's frame."""
    return jnp.stack([jnp.arctan2(ny, nx) for _, _, nx, ny in hull.sides])


def _beside(normals: Vector, k: Any) -> tuple[Any, Any, Any]:
    """Directions all around, then the normals; and what lies to both sides."""
    part = 2.0 * jnp.pi / SEEDS
    here = jnp.where(k < SEEDS, k * part, normals[k % len(normals)])
    return here, here - part, here + part


def _at_corner(view: View, phi: Real) -> Any:
    """The same near a direction, on the corner that is nearest there; or along the edge beside it."""
    first, second, dx, dy, turn = view
    facing = phi + jnp.pi - turn
    x, y, low, high = second.farthest(jax.lax.stop_gradient(facing))
    for _ in range(2):
        c, s = jnp.cos(phi), jnp.sin(phi)
        tx, ty = jnp.cos(turn), jnp.sin(turn)
        px, py = dx + tx * x - ty * y, dy + ty * x + tx * y  # the corner
        _, slope, second_slope = first.support(phi)
        step = newton(c * py - s * px - slope, -(c * px + s * py) - second_slope)
        phi = phi + jnp.clip(step, -NEAR, NEAR)
        if second.edges > 1:
            facing = phi + jnp.pi - turn
            # Limits of the corner's directions: its own angle from the lower one, and no more than the arc.
            middle = low + 0.5 * (high - low + 2.0 * jnp.pi * (high < low))
            half = 0.5 * (high - low + 2.0 * jnp.pi * (high < low))
            phi = jnp.clip(wrapped(facing - middle), -half, half) + middle - jnp.pi + turn
    return phi
