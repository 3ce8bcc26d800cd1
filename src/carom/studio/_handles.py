"""What can be dragged on the picture: joints and bases at the start, each with the field that it sets."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..hybrid.world import World
from ..mechanism import State
from ..result._skeleton import Skeleton
from ..scenario.model import Scenario


def handles_of(scenario: Scenario, world: World, start: State) -> list[dict[str, Any]]:
    """For every link that a hand can move, which it is in the drawing, and what is set by moving it.

    - `turn`: its angle about `at`; `per` is how much of the field a radian is
    - `slide`: its displacement along the direction `way`
    - `move`: its free base

    Captures and gaits begin with a pose that is not the first that is seen: they have none.
    """
    if scenario.start is None or scenario.capture is not None or scenario.crawl is not None:
        return []
    top = world.mechanism.topology
    body = Skeleton(world.mechanism, np.asarray(start.q)[None, :])
    per = 180.0 / math.pi if scenario.start.degrees else 1.0
    base = scenario.start.base
    nested = bool(base) and isinstance(base[0], list)  # type: ignore[index]
    free = [tree for tree in range(len(top.free)) if top.free[tree]]
    out: list[dict[str, Any]] = []
    for k in range(top.links):
        if base and top.parents[k] < 0 and top.free[top.trees[k]]:
            order = free.index(top.trees[k])
            where = [f"start.base.{order}.{axis}" if nested else f"start.base.{2 * order + axis}" for axis in (0, 1)]
            out.append({"kind": "move", "link": k, "paths": where})
        if k in top.hinged:
            path = f"start.angles.{list(top.hinged).index(k)}"
            out.append({"kind": "turn", "link": k, "path": path, "per": per, "at": _point(body.origin[k])})
        elif scenario.start.slides is not None:
            path = f"start.slides.{list(top.slid).index(k)}"
            out.append({"kind": "slide", "link": k, "path": path, "way": _axis(world, start, k)})
    return out


def _point(places: np.ndarray) -> list[float]:
    return [float(x) for x in places[0]]


def _axis(world: World, start: State, k: int) -> list[float]:
    """The direction in which a slider's link moves, found by moving it."""
    top, q = world.mechanism.topology, np.asarray(start.q)
    own = top.angle_index(k)
    further = q + np.eye(len(q))[own]
    both = Skeleton(world.mechanism, np.stack([q, further])).origin[k]
    return [float(x) for x in both[1] - both[0]]
