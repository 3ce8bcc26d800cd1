"""Sharp corners on hulls with sharp edges: which edge a corner is on, and when it slides past its end.

Where a corner meets a corner, distance has no direction: rounding would choose one. An edge is chosen instead on which
the corner can stand, that is, on whose outer side its own two edges lie. A box on a box of the same width, its corners
on those below, is then held from below.

        \\ arm   arm /
         \\       /
          \\     /
           corner            beyond < 0: over the edge;  > 0: past its end
    ------------------ edge
"""

from __future__ import annotations

import functools
from typing import Any

import jax.numpy as jnp

from ..quantities import Real
from ._hull import AbstractHull, least, located
from ._vectors import direction

Arms = tuple[tuple[Any, Any], ...]

NEAR = 1e-6  # of the world's length: nearer to two edges, the one is taken on which the corner can stand
TURNED = 1e-8  # [rad] by which an arm may dip below the edge
OVER = 16.0  # roundings past the end of an edge: a corner is still on it
WELL_ON = 4.0  # roundings from the end: a corner that is nearer leaves the place to the corner of the other
NOWHERE, ABSENT = -1e30, 1e30  # past no end; at an edge on which it cannot stand: others touch first


def arms_of(hull: AbstractHull, index: int) -> Arms:
    """Directions from a corner of a hull to those before and after it; a point has none."""
    n, (x, y) = len(hull.corners), hull.corners[index]
    beside = [hull.corners[(index + step) % n] for step in (-1, 1)] if n > 1 else []
    return tuple(direction(ax - x, ay - y)[1] for ax, ay in beside)


def on_edge(
    hull: AbstractHull, x: Real, y: Real, arms: Arms, length: Real, rounding: Real, held: Real = 0.0
) -> tuple[Any, tuple[Any, Any], Any]:
    """Signed distance of a corner from a hull, the normal there, and how far beyond the end of its edge it is [m].

    All in the frame of the hull. `beyond` is `NOWHERE` where no edge is near, and `ABSENT` where the corner cannot
    stand on one that is: it lies over its end, with its own edge on the other's corner. A corner that is `held` (not 0)
    is so by the straight line of its edge, past its end too: steps that look for the end go there.
    """
    if hull.edges < 3:  # a point, or a bar, whose two sides are one line
        return *hull.locate(x, y), jnp.asarray(NOWHERE)
    lines = hull.lines
    gap, normal = located(lines, x, y)
    px, py, tx, ty, size = lines
    height, along = (x - px) * ty - (y - py) * tx, (x - px) * tx + (y - py) * ty
    beyond = jnp.maximum(-along, along - size)
    dips = functools.reduce(jnp.maximum, [tx * ay - ty * ax for ax, ay in arms], jnp.zeros_like(height))
    near = jnp.abs(height) <= NEAR * length
    stands, lies = near & (dips < TURNED), near & (beyond <= NEAR * length)
    # Past an end, the edge that it left is preferred to the next one, which is as near.
    score = jnp.abs(height) + NEAR * length * dips + 0.5 * jnp.maximum(beyond, 0.0)
    # Of the edges on which it stands the one that is nearest, and least below its own edges.
    best = least(jnp.where(stands, score, jnp.inf), height, ty, -tx, jnp.where(stands, beyond, NOWHERE))
    _, height, mx, my, beyond = best
    on = (beyond > NOWHERE) & ((beyond <= OVER * rounding) | (held != 0.0))
    gap, nx, ny = (jnp.where(on, a, b) for a, b in zip((height, mx, my), (gap, *normal), strict=True))
    return gap, (nx, ny), jnp.where(jnp.any(lies) & ~on, ABSENT, beyond)


def past_end(beyond: Real, rounding: Real, blunt: Real, yields: bool) -> Any:
    """Is a corner past the end of its edge? From zero on, in roundings; round corners roll over without a jump."""
    past = beyond / rounding + (WELL_ON if yields else -OVER)
    return jnp.where(blunt > 0.0, NOWHERE, jnp.where(jnp.abs(beyond) >= ABSENT, beyond, past))
