"""What a controller wants the link angles to be."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..capture.hold import HoldPose
from ..control import ComputedTorque, FeedForward, PostureControl
from ..result.dense import states


def targets_of(result: Any, times: np.ndarray) -> np.ndarray | None:
    """Wanted absolute angles [rad], (times, links), of the first controller that has any; None where none has."""
    m = result.world.mechanism
    for i, control in enumerate(result.world.automata):
        if isinstance(control, PostureControl):
            wanted = np.asarray(control.targets)[states(result, times).phases[i]]
            return _absolute(m, wanted) if control.relative else wanted
        if isinstance(control, HoldPose):
            pose = np.asarray(m.to_absolute(control.target))[m.topology.angles]
            return np.broadcast_to(pose, (len(times), len(pose)))
        if isinstance(control, ComputedTorque):
            return np.asarray(jax.vmap(lambda t, c=control: c.motion.at(t).q)(jnp.asarray(times)))
        if isinstance(control, FeedForward) and control.reference is not None:
            found = np.asarray(jax.vmap(control.reference.at)(jnp.asarray(times)).q)
            wanted = found[:, control.offset : control.offset + control.links]
            return _absolute(m, wanted) if control.relative else wanted
    return None


def _absolute(mechanism: Any, relative: np.ndarray) -> np.ndarray:
    """Angles relative to the parents as absolute ones, for straight links."""
    top = mechanism.topology
    full = np.zeros((len(relative), top.dof))
    full[:, top.angles] = relative
    return np.asarray(jax.vmap(mechanism.to_absolute)(jnp.asarray(full)))[:, top.angles]
