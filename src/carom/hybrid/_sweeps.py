"""Sizes and bounds of motion at one instant: what rounding is measured by, and how far a step can sweep."""

from __future__ import annotations

import abc
from typing import Any

import jax.numpy as jnp

from ..mechanism import Mechanism, Site
from ..mechanism.topology import Topology
from ..quantities import Coordinates, Real, Reals


class Sweeps(abc.ABC):
    """The part of a scene that bounds its motion."""

    mechanism: Mechanism
    top: Topology
    q: Coordinates
    span: Any

    @abc.abstractmethod
    def site(self, site: Site) -> tuple[Any, Any, Any, Any]:
        """Place and velocity of a site."""

    @abc.abstractmethod
    def _bending_columns(self, link: int, x: Real, y: Real, site: Site | None) -> list[tuple[int, Any, Any]]:
        """How the modes of a link move a point of it."""

    def extent(self, site: Site, along: tuple[Any, Any] = (1.0, 1.0)) -> Any:
        """Sum of the sizes [m] of what the place of a site is computed from; of its base, what lies `along` (x, y)."""
        base = self.top.base_index(self.top.trees[site.link])
        at = self.mechanism.numbers.pivot[self.top.trees[site.link]] if base is None else self.q[base : base + 2]
        place = along[0] * jnp.abs(at[0]) + along[1] * jnp.abs(at[1])
        return place + sum(lever for _, lever in self._levers(site))

    def reach(self, site: Site, speeds: Reals) -> Any:
        """Bound [m/s] of the speed of a site, if every coordinate moves at most as fast as `speeds` say."""
        base = self.top.base_index(self.top.trees[site.link])
        total = 0.0 if base is None else speeds[base] + speeds[base + 1]
        for link, lever in self._levers(site):
            index = self.top.turn_index(link)
            total = total + (0.0 if index is None else lever * speeds[index])
        for link in self._slid(site):  # the farther out, the larger the lever, up to the end of a step
            grown = self.span * sum(speeds[self.top.angle_index(k)] for k in (self.top.carriers[link],) if k >= 0)
            total = total + (1.0 + grown) * speeds[self.top.angle_index(link)]
        if self.top.elastic:
            x, y, _, _ = self.site(site)
            for index, jx, jy in self._bending_columns(site.link, x, y, site):
                total = total + 2.0 * (jnp.abs(jx) + jnp.abs(jy)) * speeds[index]
        return total

    def spins(self, site: Site, speeds: Reals) -> Any:
        """Bound [rad/s] of how fast the section at a site turns, likewise."""
        rates = [speeds[j] for j in self.top.mode_index(site.link)]
        reach = self.mechanism.numbers.site_reach[site.index]
        bends = 0.0 if reach is None else sum(jnp.abs(reach.slope[j]) * r for j, r in enumerate(rates))
        return speeds[self.top.angle_index(site.link)] + bends

    def _levers(self, site: Site) -> list[tuple[int, Any]]:
        """Links on the way to a site, and how far each carries it at most [m]."""
        n = self.mechanism.numbers
        each = [(i, jnp.abs(n.hang[s][0]) + jnp.abs(n.hang[s][1])) for i, s in self.top.paths[site.link]]
        each += [(k, 2.0 * jnp.abs(self.q[self.top.angle_index(k)])) for k in self._slid(site)]  # 2: |e_x| + |e_y|
        place = n.site[site.index]
        return [*each, (site.link, jnp.abs(place[0]) + jnp.abs(place[1]))]

    def _slid(self, site: Site) -> list[int]:
        """Links on the way to a site that slide."""
        return [k for k in (*(i for i, _ in self.top.paths[site.link]), site.link) if self.top.slides[k]]
