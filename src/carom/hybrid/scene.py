"""What an automaton sees while it acts: time, coordinates, velocities, and where the sites are.

Everything is scalar by scalar: under vmap each scalar becomes a vector over the batch (see mechanism/walk.py).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp

from ..dynamics.kinematics import LinkMotion as Frame
from ..dynamics.kinematics import link_motion
from ..mechanism import Mechanism, walk


class State(NamedTuple):
    """The continuous state: coordinates, velocities, the automata's own states, works of the ledger.

    `q` and `v` are tuples of scalars for small mechanisms and arrays for large ones; both are indexed alike.
    """

    q: Any
    v: Any
    extra: tuple[tuple[Any, ...], ...]  # one tuple per automaton
    work: tuple[Any, ...]  # one scalar per channel of the ledger


class Load:
    """Generalized force under construction. Local to one evaluation; never escapes it."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self.entries: list[Any] = [0.0] * mechanism.dof

    def add(self, index: int, value: Any) -> None:
        self.entries[index] = self.entries[index] + value

    def add_all(self, other: Load, factor: Any) -> None:
        self.entries = [a + factor * b for a, b in zip(self.entries, other.entries, strict=True)]

    def vector(self) -> Any:
        return jnp.stack([jnp.asarray(x, dtype=float) for x in self.entries])


class Scene:
    """Kinematics of one instant, computed once and shared by all automata."""

    def __init__(
        self, mechanism: Mechanism, t: Any, q: Any, v: Any, phases: tuple[Any, ...] = (), names: tuple[str, ...] = ()
    ) -> None:
        self.mechanism, self.t, self.q, self.v = mechanism, t, q, v
        self.phases = dict(zip(names, phases, strict=True))  # of all automata, by name
        self.top = mechanism.topology
        self.motion: Any = None  # velocities -> the motion without reactions
        self.reactions: Any = None  # (automaton, own) -> its reactions if it were so
        self._frames: list[Frame] | None = None

    def angle(self, link: int) -> Any:
        return self.q[self.top.angle_index(link)]

    def rate(self, link: int) -> Any:
        return self.v[self.top.angle_index(link)]

    def frame(self, link: int) -> Frame:
        """Frame of a link; all frames are computed on the first request."""
        if self._frames is None:
            self._frames = self._outward()
        return self._frames[link]

    def _outward(self) -> list[Frame]:
        n, top = self.mechanism.numbers, self.top
        if not walk.small(top):
            columns = link_motion(self.mechanism, self.q, self.v)
            return [Frame(*(column[k] for column in columns)) for k in range(top.links)]
        found: list[Any] = [None] * top.links
        for k in top.order:
            parent, at = top.parents[k], top.base_index(top.trees[k])
            if parent >= 0:
                up = found[parent]
            elif at is None:
                pivot = n.pivot[top.trees[k]]
                up = Frame(pivot[0], pivot[1], 0.0, 0.0, 1.0, 0.0, 0.0)
            else:
                up = Frame(self.q[at], self.q[at + 1], self.v[at], self.v[at + 1], 1.0, 0.0, 0.0)
            hx, hy = n.hang[k][0], n.hang[k][1]
            rx, ry = up.cos * hx - up.sin * hy, up.sin * hx + up.cos * hy
            angle, rate = self.angle(k), self.rate(k)
            found[k] = Frame(
                up.x + rx, up.y + ry, up.vx - up.rate * ry, up.vy + up.rate * rx, jnp.cos(angle), jnp.sin(angle), rate
            )
        return found

    def point(self, link: int, px: Any, py: Any) -> tuple[Any, Any, Any, Any]:
        """World position and velocity (x, y, vx, vy) of the point (px, py) of a link."""
        f = self.frame(link)
        rx, ry = f.cos * px - f.sin * py, f.sin * px + f.cos * py
        return f.x + rx, f.y + ry, f.vx - f.rate * ry, f.vy + f.rate * rx

    def jacobian(self, link: int, x: Any, y: Any) -> list[tuple[int, Any, Any]]:
        """Nonzero columns (index, d x/dq, d y/dq) of the material point of `link` now at (x, y)."""
        columns: list[tuple[int, Any, Any]] = []
        base = self.top.base_index(self.top.trees[link])
        if base is not None:
            columns += [(base, 1.0, 0.0), (base + 1, 0.0, 1.0)]
        for i, s in self.top.paths[link]:  # an ancestor moves the point as it moves its own child's joint
            f, child = self.frame(i), self.frame(s)
            columns.append((self.top.angle_index(i), -(child.y - f.y), child.x - f.x))
        own = self.frame(link)
        columns.append((self.top.angle_index(link), -(y - own.y), x - own.x))
        return columns

    def push(self, load: Load, link: int, x: Any, y: Any, fx: Any, fy: Any) -> None:
        """Apply the force (fx, fy) to the point of `link` now at (x, y)."""
        for index, jx, jy in self.jacobian(link, x, y):
            load.add(index, jx * fx + jy * fy)

    def turn(self, load: Load, link: int, torque: Any) -> None:
        """Apply the torque of the parent on a link, and its reaction on the parent."""
        load.add(self.top.angle_index(link), torque)
        parent = self.top.parents[link]
        if parent >= 0:
            load.add(self.top.angle_index(parent), -torque)

    def relative_rate(self, link: int) -> Any:
        parent = self.top.parents[link]
        return self.rate(link) - (self.rate(parent) if parent >= 0 else 0.0)

    def relative_angle(self, link: int) -> Any:
        parent = self.top.parents[link]
        return self.angle(link) - (self.angle(parent) if parent >= 0 else 0.0)


def split(mechanism: Mechanism, vector: Any) -> Any:
    """Coordinate vector as the engine carries it: scalars for small mechanisms, the array itself for large ones."""
    if walk.small(mechanism.topology):
        return tuple(vector[i] for i in range(mechanism.dof))
    return jnp.asarray(vector)


def merge(values: Any) -> Any:
    """The inverse of `split`."""
    return jnp.stack([jnp.asarray(x, dtype=float) for x in values]) if isinstance(values, tuple) else values
