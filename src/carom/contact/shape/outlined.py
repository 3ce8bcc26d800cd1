"""What a shape is: a convex set that is fixed to a site of a link, and turns with it."""

from __future__ import annotations

import abc
import dataclasses
from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ... import errors
from ..._arguments import SiteLike
from ...hybrid.scene import Scene
from ...mechanism import Mechanism, Site
from ...quantities import Real, Reals


class Frame(NamedTuple):
    """Where a shape is: the place of its site, and its direction."""

    x: Any
    y: Any
    cos: Any
    sin: Any

    def out(self, px: Real, py: Real) -> tuple[Any, Any]:
        """A point of the shape in the world."""
        return self.x + self.cos * px - self.sin * py, self.y + self.sin * px + self.cos * py

    def turned(self, px: Real, py: Real) -> tuple[Any, Any]:
        """A direction of the shape in the world."""
        return self.cos * px - self.sin * py, self.sin * px + self.cos * py

    def inward(self, x: Real, y: Real) -> tuple[Any, Any]:
        """A direction of the world in the shape."""
        return self.cos * x + self.sin * y, self.cos * y - self.sin * x


class AbstractShape(eqx.Module):
    """A convex shape about a site; its points are given from there, along the axes of the link.

    On a link that bends it turns with the section of its site.
    """

    site: eqx.AbstractVar[Any]  # a Site, or its name until it is placed

    @property
    @abc.abstractmethod
    def outer(self) -> Any:
        """No point of it is farther from its site than this [m]."""

    @property
    @abc.abstractmethod
    def blunt(self) -> Any:
        """Over which way [m] along it the direction of its normal changes much."""

    @property
    @abc.abstractmethod
    def edges(self) -> int:
        """How many straight edges it has, and as many corners; a disk has one corner, a smooth curve none."""

    @abc.abstractmethod
    def outline(self) -> np.ndarray:
        """Points (n, 2) [m] around it, counter-clockwise and closed, as it is drawn."""

    @property
    def unplaced(self) -> bool:
        """Does it still name its site?"""
        return isinstance(self.site, str)

    def placed(self, mechanism: Mechanism) -> Any:
        """The same with a site instead of its name."""
        made = object.__new__(type(self))
        for field in dataclasses.fields(self):
            value = mechanism.site(self.site) if field.name == "site" else getattr(self, field.name)
            object.__setattr__(made, field.name, value)
        return made

    def frame(self, scene: Scene) -> Frame:
        return Frame(*scene.pose(self.site))

    def reach(self, scene: Scene, speeds: Reals) -> Any:
        """Bound [m/s] of the speed of any of its points, if coordinates move at most as fast as `speeds` say."""
        return scene.reach(self.site, speeds) + self.outer * scene.spins(self.site, speeds)

    def extent(self, scene: Scene, along: tuple[Any, Any] = (1.0, 1.0)) -> Any:
        """Sum of the sizes [m] of what the places of its points are computed from."""
        return scene.extent(self.site, along) + self.outer


def site_of(kind: str, site: SiteLike) -> Any:
    """A site, or its name."""
    if not isinstance(site, Site | str):
        raise errors.CaromError(
            f"site of {kind} is {site!r}; it must come from a mechanism, such as arm.site('...'), or be its name"
        )
    return site


def owner_of(kind: str, site: SiteLike) -> str:
    return f"{kind} at '{getattr(site, 'name', site)}'"


def wrapped(angle: Real) -> Any:
    """An angle within half a turn of zero."""
    return angle - 2.0 * jnp.pi * jnp.round(angle / (2.0 * jnp.pi))
