"""What a pair is: two things that can touch, and how a force between them acts."""

from __future__ import annotations

import abc
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax.numpy as jnp

from ...hybrid.condition import ROUNDING
from ...hybrid.reporting import Shape
from ...hybrid.reporting import Touching as Touching
from ...hybrid.scene import Load, Scene
from ...mechanism import Mechanism, Site
from ...quantities import Flag, Point, Real, Reals
from .._sharp import NOWHERE
from ..surfaces import AbstractSurface


class Stop(NamedTuple):
    """A joint's stop: its angle or displacement, [rad] or [m]; sign +1 for a lower limit, -1 for an upper."""

    link: int
    link_name: str
    angle: Any
    sign: float
    unit: str


class AbstractPair(eqx.Module):
    """Two things that can touch.

    Forces and velocities belong together: the power of a normal force N and a friction force T on the mechanism is
    -N rate + T sliding + N u_n + T u_t, where (u_n, u_t) is what `carried` says.
    """

    other: ClassVar[str] = ""  # what the second one is, where files know it

    @property
    @abc.abstractmethod
    def name(self) -> str: ...

    @property
    def words(self) -> str:
        """Who meets whom."""
        return f"'{self.name}'"

    @abc.abstractmethod
    def touching(self, scene: Scene) -> Touching: ...

    @abc.abstractmethod
    def push(self, scene: Scene, load: Load, k: Touching, normal: Real, drag: Real) -> None:
        """Apply a normal force (pushing apart) and a friction force (on the first body, along the tangent)."""

    @abc.abstractmethod
    def place(self, scene: Scene, k: Touching) -> tuple[Any, Any]:
        """The contact point in the frame of the second body, for laws that remember where something happened."""

    def carried(self, scene: Scene, k: Touching) -> tuple[Any, Any]:
        """Prescribed velocity (u_n, u_t) [m/s] of the second body there, along normal and tangent; zero at rest."""
        return 0.0, 0.0

    @property
    def moves(self) -> bool:
        """Is the second body's motion prescribed? It then does work that the ledger shows apart."""
        return False

    @abc.abstractmethod
    def size(self, scene: Scene, k: Touching) -> Any:
        """Sum of the sizes of what the indentation is computed from; its rounding is measured by it."""

    def rounding(self, scene: Scene, k: Touching) -> Any:
        """What rounding does to the indentation: to what it is computed from, and to the steps that led there.

        A point on the axis of a body, at the world's origin, would be exact by its terms alone.
        """
        least = 1.0 if self.length_unit == "rad" else scene.length
        return ROUNDING * jnp.maximum(self.size(scene, k), least)

    @abc.abstractmethod
    def pace(self, scene: Scene, speeds: Reals) -> Any:
        """Bound of the rate of the indentation, if every coordinate moves at most as fast as `speeds` say.

        Of a second body whose motion is prescribed, `swing` counts apart.
        """

    @property
    def bounded(self) -> bool:
        """Has it a bound of its gap that costs less than the gap itself? Not of disks: theirs is no more work."""
        return False

    @property
    def couple(self) -> tuple[Any, ...]:
        """What the bound is about: pairs of corners of the same two shapes share one."""
        return (self,)

    def apart(self, scene: Scene) -> Any:
        """The gap [m] is not smaller than this; asked of bounded pairs alone."""
        return -jnp.inf

    def bend(self, scene: Scene, swing: Real) -> Any:
        """Over which way [m] the direction of the normal changes much: a radius; infinite where it does not.

        `swing` is how far [m] the second body may be from where it is now, by itself.
        """
        return jnp.inf

    def along(self, is_open: Flag, pace: Real) -> Any:
        """How fast the contact may move along the second body while it is closed; 0 where unasked."""
        return 0.0

    @property
    def longest(self) -> Any:
        """The longest step [s] that sees how the second body moves, while the two touch."""
        return jnp.inf

    def touching_edge(self, scene: Scene) -> tuple[Touching, Any]:
        """`touching`, and how far, in roundings, a sharp corner is past the end of the edge that it is on.

        From zero on a closed contact opens, and that of the corner it has passed takes over.
        """
        return self.touching(scene), NOWHERE

    @property
    def edged(self) -> bool:
        """Has it edges whose ends a corner can pass?"""
        return False

    @property
    def yields(self) -> bool:
        """Where a corner meets a corner, is it the other one's contact that counts?"""
        return False

    def sure(self, scene: Scene, k: Touching) -> Any:
        """The indentation is not larger than this; None where it is exact however far apart the two are."""
        return None

    def swing(self, scene: Scene) -> tuple[Any, Any]:
        """How far [m] the second body swings by itself, and at which angular frequency [rad/s] at most."""
        return 0.0, 0.0

    def check(self, mechanism: Mechanism) -> None:
        """Refuse a mechanism that this pair cannot serve."""

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """What is drawn of it: round tips, bars, rings."""
        return ()

    @property
    def ground(self) -> AbstractSurface | None:
        """The surface that is drawn, if there is one."""
        return None

    @property
    def stop(self) -> Stop | None:
        """The joint's stop that it is, if it is one."""
        return None

    @property
    def length_unit(self) -> str:
        """Unit of the indentation: 'm', or 'rad' where the normal force is a torque."""
        return "m"


def centre(scene: Scene, site: Site) -> tuple[Any, Any]:
    """Position of a site."""
    x, y, _, _ = scene.site(site)
    return x, y


def met(depth: Real, x: Real, y: Real, normal: tuple[Any, Any], first: Point, second: Point) -> Touching:
    """Kinematics from the velocities of both materials *at one point*: else forces there would not do their work."""
    (nx, ny), vx, vy = normal, first[0] - second[0], first[1] - second[1]
    return Touching(depth, -(vx * nx + vy * ny), vx * ny - vy * nx, x, y, normal)


def force(k: Touching, normal: Real, drag: Real) -> tuple[Any, Any]:
    """The force on the first body."""
    (nx, ny), (tx, ty) = k.normal, k.tangent
    return normal * nx + drag * tx, normal * ny + drag * ty


def between(scene: Scene, load: Load, sites: tuple[Site, Site], k: Touching, normal: Real, drag: Real) -> None:
    """Action on the first body, reaction on the second."""
    fx, fy = force(k, normal, drag)
    scene.push(load, sites[0].link, k.x, k.y, fx, fy, sites[0])
    scene.push(load, sites[1].link, k.x, k.y, -fx, -fy, sites[1])


def in_frame(scene: Scene, link: int, x: Real, y: Real) -> tuple[Any, Any]:
    """A point of the world in the frame of a link."""
    f = scene.frame(link)
    dx, dy = x - f.x, y - f.y
    return f.cos * dx + f.sin * dy, f.cos * dy - f.sin * dx
