"""Where the links of a mechanism are, over time: plain NumPy, nothing to compile."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from ..mechanism import Mechanism, Site
from ..mechanism._bending import Reach
from ..quantities import Point

BENDS = 13  # points of an elastic link's axis


class Skeleton:
    """Where the links of a mechanism are, for coordinates (times, dof): plain NumPy, nothing to compile."""

    def __init__(self, mechanism: Mechanism, q: np.ndarray) -> None:
        self.numbers = n = jax.tree.map(np.asarray, mechanism.numbers)
        self.mechanism, self.q, top = mechanism, q, mechanism.topology
        carriers = np.asarray(top.carriers)
        angle = np.where(carriers >= 0, q[:, top.base_dof + np.maximum(carriers, 0)], 0.0)
        self.cos, self.sin = np.cos(angle), np.sin(angle)
        self.origin: list[Any] = [None] * top.links
        for k in top.order:
            parent, at = top.parents[k], top.base_index(top.trees[k])
            hang = np.asarray(n.hang[k])
            if top.slides[k]:
                hang = hang + q[:, top.angle_index(k), None] * np.asarray(n.axis[k])
            if parent >= 0:
                self.origin[k] = self.point(parent, hang, n.hang_reach[k])
            elif at is None:
                self.origin[k] = np.broadcast_to(np.asarray(n.pivot[top.trees[k]]) + hang, (len(q), 2))
            else:
                self.origin[k] = q[:, at : at + 2] + hang

    def point(self, link: int, at: Point, reach: Reach | None = None) -> np.ndarray:
        """A point (x, y) of the straight link, where the bent one has it: (times, 2)."""
        own = np.broadcast_to(np.asarray(at, dtype=float), (len(self.q), 2))
        if reach is not None:
            own = own + self._bent(link, np.asarray(reach.shape), np.asarray(reach.short))
        return self.turned(link, own)

    def turned(self, link: int, own: np.ndarray) -> np.ndarray:
        cos, sin = self.cos[:, link], self.sin[:, link]
        x, y = own[..., 0], own[..., 1]
        return self.origin[link] + np.stack([cos * x - sin * y, sin * x + cos * y], axis=-1)

    def _bent(self, link: int, shape: np.ndarray, short: np.ndarray) -> np.ndarray:
        """Displacement of a point by the bending: sum d_j u_j, and back along the axis by d^T H d / 2."""
        d = self.q[:, list(self.mechanism.topology.mode_index(link))]
        moved = d @ shape
        moved[:, 0] -= 0.5 * np.einsum("ti,ij,tj->t", d, short, d)
        return moved

    def site(self, index: int) -> np.ndarray:
        n, top = self.numbers, self.mechanism.topology
        return self.point(top.site_links[index], n.site[index], n.site_reach[index])

    def fixed(self, site: Site, points: np.ndarray) -> np.ndarray:
        """Points (n, 2) that are fixed to a site, and turn with its section: (times, n, 2)."""
        top, reach = self.mechanism.topology, self.numbers.site_reach[site.index]
        angle = self.q[:, top.angle_index(site.link)]
        if reach is not None:
            angle = angle + self.q[:, list(top.mode_index(site.link))] @ np.asarray(reach.slope)
        cos, sin, (x, y) = np.cos(angle)[:, None], np.sin(angle)[:, None], points.T
        return self.site(site.index)[:, None] + np.stack([cos * x - sin * y, sin * x + cos * y], axis=-1)

    def end(self, end: Site | tuple[Any, Any]) -> np.ndarray:
        """A site over time, or a point of the world."""
        return self.site(end.index) if isinstance(end, Site) else np.asarray([float(x) for x in end])

    def axis(self, link: int) -> np.ndarray:
        """The bent axis of an elastic link: (times, points, 2)."""
        flex = self.numbers.flex[link]
        assert flex is not None
        nodes = flex.nodes
        place = np.asarray(nodes.place)
        # The quadrature's nodes on the axis, not those that fill it up nor what is welded to it.
        real = np.flatnonzero((np.asarray(nodes.mass) > 0.0) & (place[:, 1] == 0.0))
        real = real[np.argsort(place[real, 0])]
        real = real[np.unique(np.linspace(0, len(real) - 1, BENDS - 2).round().astype(int))]
        shape, short = np.asarray(nodes.shape), np.asarray(nodes.short)
        inner = [self.turned(link, place[g] + self._bent(link, shape[g], short[g])) for g in real]
        tip = self.mechanism.topology.site_names.index(f"{self.mechanism.topology.names[link]}.tip")
        return np.stack([self.origin[link], *inner, self.site(tip)], axis=1)
