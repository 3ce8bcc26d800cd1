"""Links that passed through a surface although no contact was declared between the two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from .. import native
from ..hybrid.condition import SHALLOW
from ..quantities import Vector
from ._dense import chunked
from ._skeleton import Skeleton

if TYPE_CHECKING:
    from .result import Result

MOST = 2_000  # instants that are looked at


def passages(result: Result) -> list[str]:
    """A sentence for every surface that links went into; one that was never on the free side is not counted."""
    world, top = result.world, result.world.mechanism.topology
    grounds: dict[str, Any] = {}
    declared: dict[str, set[int]] = {}
    for contact in world.contacts:
        ground = contact.pair.ground
        if ground is not None:
            grounds[ground.words] = ground
            own = {site.link for shape in contact.pair.shapes for site in shape.sites}
            declared.setdefault(ground.words, set()).update(own)
    if not grounds or all(len(links) == top.links for links in declared.values()):
        return []
    rows = np.unique(np.linspace(0, len(result.t) - 1, min(len(result.t), MOST)).astype(int))
    body, times = Skeleton(world.mechanism, result.q[rows]), result.t[rows]
    depth = SHALLOW * float(world.length)
    out = []
    for words, ground in grounds.items():
        found = []
        for k in (k for k in range(top.links) if k not in declared[words]):
            tip = body.site(top.site_names.index(f"{top.names[k]}.tip"))
            gaps = np.stack([_gaps(ground, points, times) for points in (tip, body.point(k, body.numbers.com[k]))])
            deepest = float(np.min(gaps))
            if np.any((np.min(gaps, axis=1) < -depth) & (np.max(gaps, axis=1) > depth)):
                found.append(f"'{top.names[k]}' (by up to {-deepest:.3g} m)")
        if found:
            out.append(
                f"{words} was passed through by {', '.join(found)}, between which and it no contact is declared; give "
                "one, or carom.Ground for all links, or take it as it is"
            )
    return out


def _gaps(ground: PyTree, points: np.ndarray, times: np.ndarray) -> np.ndarray:
    return np.asarray(chunked(_gap_of, (), (ground,), (points[:, 0], points[:, 1], times)))


def _gap_of(ground: PyTree, x: Vector, y: Vector, t: Vector) -> Any:
    return native.rows(lambda *at: jnp.asarray(ground.gap(*at), dtype=float))(x, y, t)
