"""An orbit with feedback about it: gains, the controller and its world, and what became of the multipliers."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from .. import errors
from ..mechanism import State
from ..quantities import Given
from ._riccati import NEUTRAL

if TYPE_CHECKING:
    from ..control.phased_inputs import PhasedInputs
    from ..hybrid.world import World


@dataclasses.dataclass(frozen=True)
class Stabilised:
    """A periodic motion and the feedback that holds it.

    - `before`, `after`: multipliers of the world without and with the controller, largest first. Both are eigenvalues
      of the derivative of the map from event to event; `after` is that of the world with the controller in it
    - `model`: multipliers after, as the linearisation that the gains were made from says; they agree with `after`
    - `controller`: goes into any world with the same parts, last of its controllers; `world` has it
    - `start`: the state just after the event, to start simulations of `world` from
    - `times` (N) [s] since the event, `gains` (N, inputs, size), `about` (N, size), `inputs` (N, inputs)
    - `cost` (size, size): what a small deviation x just after the event costs until it is gone, x^T cost x; `residual`
      of the Riccati equation
    - `names` of the entries of x
    """

    world: World
    controller: PhasedInputs
    start: State
    period: float
    before: np.ndarray
    after: np.ndarray
    model: np.ndarray
    times: np.ndarray
    inputs: np.ndarray
    gains: np.ndarray
    about: np.ndarray
    cost: np.ndarray
    residual: float
    names: tuple[str, ...]

    @property
    def stable(self) -> bool:
        """Do small disturbances die out with the controller?"""
        return bool(np.abs(self.after[0]) < 1.0 - NEUTRAL)

    def cost_of(self, deviation: Given) -> float:
        """What a small deviation just after the event costs until it is gone."""
        errors.vector("Stabilised", "deviation", deviation, len(self.names))
        x = np.asarray(deviation, dtype=float)
        return float(x @ self.cost @ x)

    def __str__(self) -> str:
        was, now = (", ".join(f"{abs(m):.4g}" for m in each[:3]) for each in (self.before, self.after))
        return (
            f"{'stable' if self.stable else 'unstable'} with {len(self.times)} samples since the event, period "
            f"{self.period:.9g} s\n  |multipliers| {was} before, {now} after\n  residual of the Riccati equation "
            f"{self.residual:.1e}"
        )
