"""Pairs that can touch: a site (with a round tip) against a surface, or two round bodies."""

from __future__ import annotations

import abc
from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp

from .. import errors
from ..hybrid.scene import Load, Scene
from ..mechanism import Site
from .surfaces import AbstractSurface


class Touching(NamedTuple):
    """Kinematics of a pair at one instant."""

    indentation: Any  # [m], negative while apart
    rate: Any  # of the indentation [m/s]
    sliding: Any  # velocity of the first body over the second, along (n_y, -n_x) [m/s]
    x: Any  # contact point
    y: Any
    normal: tuple[Any, Any]  # from the second body into the first

    @property
    def tangent(self) -> tuple[Any, Any]:
        return self.normal[1], -self.normal[0]


class AbstractPair(eqx.Module):
    """Two things that can touch."""

    @property
    @abc.abstractmethod
    def name(self) -> str: ...

    @abc.abstractmethod
    def touching(self, scene: Scene) -> Touching: ...

    @abc.abstractmethod
    def push(self, scene: Scene, load: Load, k: Touching, normal: Any, drag: Any) -> None:
        """Apply a normal force (pushing apart) and a friction force (on the first body, along the tangent)."""

    def gap(self, scene: Scene) -> Any:
        return -self.touching(scene).indentation

    @abc.abstractmethod
    def row(self, scene: Scene) -> list[Any]:
        """Gradient of the gap with respect to the coordinates."""


def _centre(scene: Scene, site: Site) -> tuple[Any, Any]:
    """Position of a site."""
    point = scene.mechanism.numbers.site[site.index]
    x, y, _, _ = scene.point(site.link, point[0], point[1])
    return x, y


def _tip(scene: Scene, site: Site, radius: Any, nx: Any, ny: Any) -> tuple[Any, Any, Any, Any]:
    """Position and velocity of the point of a round tip that faces against (nx, ny)."""
    point = scene.mechanism.numbers.site[site.index]
    x, y, vx, vy = scene.point(site.link, point[0], point[1])
    rate = scene.frame(site.link).rate
    return x - radius * nx, y - radius * ny, vx + rate * radius * ny, vy - rate * radius * nx


class SiteOnSurface(AbstractPair):
    """A site with a round tip of some radius (zero: a point) against a surface."""

    site: Site = eqx.field(static=True)
    surface: AbstractSurface
    radius: Any

    @property
    def name(self) -> str:
        return self.site.name

    def touching(self, scene: Scene) -> Touching:
        cx, cy = _centre(scene, self.site)
        nx, ny = self.surface.normal(cx, cy)
        x, y, vx, vy = _tip(scene, self.site, self.radius, nx, ny)
        depth = self.radius - self.surface.gap(cx, cy)
        return Touching(depth, -(vx * nx + vy * ny), vx * ny - vy * nx, x, y, (nx, ny))

    def push(self, scene: Scene, load: Load, k: Touching, normal: Any, drag: Any) -> None:
        (nx, ny), (tx, ty) = k.normal, k.tangent
        scene.push(load, self.site.link, k.x, k.y, normal * nx + drag * tx, normal * ny + drag * ty)

    def row(self, scene: Scene) -> list[Any]:
        x, y = _centre(scene, self.site)
        load = Load(scene.mechanism)
        scene.push(load, self.site.link, x, y, *self.surface.normal(x, y))  # what a unit normal force does
        return load.entries


class DiskOnDisk(AbstractPair):
    """Two round bodies: disks of given radii about two sites of different links."""

    first: Site = eqx.field(static=True)
    second: Site = eqx.field(static=True)
    first_radius: Any
    second_radius: Any

    @property
    def name(self) -> str:
        return f"{self.first.name} on {self.second.name}"

    def touching(self, scene: Scene) -> Touching:
        (ax, ay), (bx, by) = _centre(scene, self.first), _centre(scene, self.second)
        dx, dy = ax - bx, ay - by
        apart = jnp.sqrt(dx * dx + dy * dy)
        nx, ny = dx / apart, dy / apart
        x, y, ux, uy = _tip(scene, self.first, self.first_radius, nx, ny)
        _, _, wx, wy = _tip(scene, self.second, -self.second_radius, nx, ny)
        vx, vy = ux - wx, uy - wy
        depth = self.first_radius + self.second_radius - apart
        return Touching(depth, -(vx * nx + vy * ny), vx * ny - vy * nx, x, y, (nx, ny))

    def push(self, scene: Scene, load: Load, k: Touching, normal: Any, drag: Any) -> None:
        (nx, ny), (tx, ty) = k.normal, k.tangent
        fx, fy = normal * nx + drag * tx, normal * ny + drag * ty
        scene.push(load, self.first.link, k.x, k.y, fx, fy)
        scene.push(load, self.second.link, k.x, k.y, -fx, -fy)

    def row(self, scene: Scene) -> list[Any]:
        (ax, ay), (bx, by) = _centre(scene, self.first), _centre(scene, self.second)
        dx, dy = ax - bx, ay - by
        apart = jnp.sqrt(dx * dx + dy * dy)
        nx, ny = dx / apart, dy / apart
        load = Load(scene.mechanism)
        scene.push(load, self.first.link, ax, ay, nx, ny)
        scene.push(load, self.second.link, bx, by, -nx, -ny)
        return load.entries


def pair_of(owner: str, site: Any, against: Any, radius: Any, other_radius: Any) -> AbstractPair:
    """The pair that a user means by (site, surface) or (site, site)."""
    if not isinstance(site, Site):
        raise errors.CaromError(f"site of {owner} is {site!r}; it must come from a mechanism: arm.tip, arm.site('...')")
    errors.number(f"{owner} at '{site.name}'", "radius", radius, least=0.0)
    if isinstance(against, AbstractSurface):
        return SiteOnSurface(site, against, jnp.asarray(radius, dtype=float))
    if isinstance(against, Site):
        errors.number(f"{owner} at '{site.name}'", "other_radius", other_radius, least=0.0)
        if site.link == against.link:
            raise errors.CaromError(
                f"{owner} joins two sites of one link ('{site.name}', '{against.name}'); they cannot meet"
            )
        return DiskOnDisk(site, against, jnp.asarray(radius, dtype=float), jnp.asarray(other_radius, dtype=float))
    raise errors.CaromError(
        f"{owner} of '{site.name}' is against a {type(against).__name__}; it must be a surface such as "
        "carom.Plane(height=0.0), or a site of another link"
    )
