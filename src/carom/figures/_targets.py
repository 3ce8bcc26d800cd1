"""What a controller wants the link angles to be."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from ..mechanism import Mechanism
from ..result._signals import effort_signals
from ..result.result import Result


def targets_of(result: Result, times: np.ndarray) -> np.ndarray | None:
    """Wanted absolute angles [rad], (times, links), of the first controller that has any; None where none has."""
    if not any(a.report.drive is not None and a.report.drive.wanted is not None for a in result.world.automata):
        return None
    driven = next(e for e in effort_signals(result, times).values() if e.wanted is not None)
    assert driven.wanted is not None
    return _absolute(result.world.mechanism, driven.wanted) if driven.relative else driven.wanted


def _absolute(mechanism: Mechanism, relative: np.ndarray) -> np.ndarray:
    """Angles relative to the parents as absolute ones, for straight links."""
    top = mechanism.topology
    full = np.zeros((len(relative), top.dof))
    full[:, top.angles] = relative
    return np.asarray(jax.vmap(mechanism.to_absolute)(jnp.asarray(full)))[:, top.angles]
