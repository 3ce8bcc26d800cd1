"""Strikes of many rigid contacts, as they are seen inside a step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Bool

from ...hybrid.condition import NEVER, SHALLOW, Watch
from ...hybrid.scene import Scene
from ...quantities import Vector
from ._crowd import Crowd
from ._crowd_near import SURELY
from ._crowd_switched import away, inexact
from ._lane_scene import LaneScene
from .rigid_contact import RigidContact

Met = Callable[[RigidContact, LaneScene], Any]
Flags = Bool[Array, " contacts"]


def crowd_watch(crowd: Crowd, scene: Scene, is_open: Flags) -> Watch:
    fast = jnp.stack(scene.fastest) if isinstance(scene.fastest, list) else scene.fastest
    rough, gone = inexact(crowd), away(crowd, scene)
    found, vague = _looked(crowd, scene, is_open, fast, _met_roughly if rough else _met)
    depth, pace, swing, beat, bend, place, sure, along = found
    pace, along = (jnp.zeros_like(x) if fast is None else x for x in (pace, along))
    if gone is not None:
        depth, is_open = jnp.where(gone, NEVER, depth), is_open & ~gone
    return Watch(
        jnp.where(is_open, depth, NEVER),
        jnp.where(is_open, pace, 0.0),
        jnp.where(is_open, swing, 0.0),
        beat,
        bend,
        4.0 * place,
        depth,
        jnp.where(is_open, sure, NEVER) if rough else None,
        jnp.where(is_open, 0.0, along),
        jnp.where(crowd.turns, SHALLOW, 0.0),
        vague if vague is None else vague & is_open,
    )


def _looked(
    crowd: Crowd, scene: Scene, is_open: Flags, fast: Vector | None, met: Met
) -> tuple[tuple[Any, ...], Flags | None]:
    """Numbers of all contacts; which of them may have no more than bounds at this instant, unless they are wanted."""
    if not crowd.sifted:
        return crowd.looked(met, scene, fast), None
    bounds = crowd.bounds(scene, fast)
    # What is wanted does not depend on the instant: of several side by side, the same pieces are left out.
    wanted = bounds.within(scene.t, scene.length) if scene.wanted is None else scene.wanted | ~crowd.siftable
    near = ~is_open | wanted
    lanes = crowd.looked_closely(met, scene, near, fast)
    # Two bodies apart: what is inside at most, no surface that moves by itself, nothing that slides.
    far: tuple[Any, ...] = (-bounds.apart, bounds.pace, 0.0, 0.0, bounds.bend, bounds.place, -bounds.apart, 0.0)
    each = tuple(lanes.spread(x, near, y) for x, y in zip(lanes.numbers, far, strict=True))
    return each, ~bounds.within(scene.t, scene.length, SURELY)


def _met(c: RigidContact, scene: LaneScene, rough: bool = False) -> tuple[Any, ...]:
    """What a watch is made of."""
    pair = c.pair
    touch = pair.touching(scene)
    swing, beat = pair.swing(scene)
    sure = pair.sure(scene, touch) if rough else None
    pace = pair.pace(scene, scene.speeds)
    along = pair.along(jnp.asarray(False), pace)
    bend, place = pair.bend(scene, swing), pair.rounding(scene, touch)
    return touch.indentation, pace, swing, beat, bend, place, touch.indentation if sure is None else sure, along


def _met_roughly(c: RigidContact, scene: LaneScene) -> tuple[Any, ...]:
    return _met(c, scene, rough=True)
