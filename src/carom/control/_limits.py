"""Torques with limits: every joint is free or held at one of its two limits, and an event leads from one to another.

    side 0          torque = asked        until |asked| = limit
    side -1 or 1    torque = side limit   until side asked = limit, on the way back

Within a side the torque is smooth, so no step straddles the corner of a clipped torque and derivatives are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp

from .._arguments import GainsLike
from ..quantities import Flag, Memory

SLOP = 0.05  # of the limit: farther beyond than this, the limit decides and not the side that is remembered


def least_limits(links: int, own: GainsLike | Sequence[Any], joints: tuple[Any, ...] | None) -> tuple[Any, ...]:
    """The largest effort of every joint, by the controller's own limits and those of the joints; None: any."""
    mine: Any = (None,) * links if own is None else own
    theirs = (None,) * links if joints is None else joints
    return tuple(b if a is None else a if b is None else jnp.minimum(a, b) for a, b in zip(mine, theirs, strict=True))


class Limits(NamedTuple):
    """Limits [N m] or [N], one for every joint, or None; the last entries of a controller's memory are their sides."""

    limit: tuple[Any, ...]

    @property
    def joints(self) -> tuple[int, ...]:
        """Joints with a limit."""
        return tuple(k for k, m in enumerate(self.limit) if m is not None)

    @property
    def exits(self) -> tuple[str, ...]:
        return tuple(f"limit {k + 1}" for k in self.joints)

    @property
    def memory(self) -> tuple[str, ...]:
        return tuple(f"side {k + 1}" for k in self.joints)

    def clipped(self, asked: list[Any]) -> list[Any]:
        """What is asked for, cut at the limits; for torques that are held between samples."""
        return [x if m is None else jnp.clip(x, -m, m) for x, m in zip(asked, self.limit, strict=True)]

    def sides(self, asked: Callable[[], list[Any]]) -> tuple[Any, ...]:
        """On which side each torque is that is asked for now."""
        return tuple(jnp.sign(x) * (jnp.abs(x) > m) for x, m in self._pairs(asked))

    def torques(self, asked: list[Any], memory: Memory) -> list[Any]:
        """What the joints get. The stages of a step may see a little beyond the corner, as if it were not there."""
        out = list(asked)
        for k, side, (x, m) in zip(self.joints, self._own(memory), self._pairs(lambda: asked), strict=True):
            by_side = jnp.where(side == 0.0, x, side * m)
            clipped = jnp.clip(x, -m, m)
            out[k] = jnp.where(jnp.abs(by_side - clipped) <= SLOP * m, by_side, clipped)
        return out

    def guards(self, asked: Callable[[], list[Any]], memory: Memory) -> list[Any]:
        """One for each joint [N m]: how far a free torque is beyond its limit, or a held one back from it."""
        pairs = zip(self._own(memory), self._pairs(asked), strict=True)
        return [jnp.where(side == 0.0, jnp.abs(x) - m, m - side * x) for side, (x, m) in pairs]

    def jump(
        self, asked: Callable[[], list[Any]], memory: Memory, fired: tuple[Flag, ...], switched: Flag
    ) -> tuple[Any, ...]:
        """New sides: of joints whose exit fired, and of all where the rule itself has `switched` to another."""
        out = []
        for side, (x, m), fresh, hit in zip(
            self._own(memory), self._pairs(asked), self.sides(asked), fired, strict=True
        ):
            # A blow may throw a torque from one limit beyond the other.
            back = jnp.where(-side * x > m, -side, 0.0)
            crossed = jnp.where(side == 0.0, jnp.sign(x), back)
            out.append(jnp.where(switched, fresh, jnp.where(hit, crossed, side)))
        return tuple(out)

    def _own(self, memory: Memory) -> tuple[Any, ...]:
        return memory[len(memory) - len(self.joints) :]

    def _pairs(self, asked: Callable[[], list[Any]]) -> list[tuple[Any, Any]]:
        """Torques with their limits; what is asked is not computed where nothing is limited."""
        if not self.joints:
            return []
        each = asked()
        return [(each[k], self.limit[k]) for k in self.joints]
