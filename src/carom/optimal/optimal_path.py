"""What a search for optimal inputs found."""

from __future__ import annotations

import dataclasses

import numpy as np

from .stepping import Rollout


@dataclasses.dataclass(frozen=True, eq=False)
class OptimalPath:
    """The best path that was found, and how the search ended; `print` shows it.

    - `t` (N + 1,) [s], `x` (N + 1, size), `u` (N, inputs): instants, states (as in `Stepping.x`), inputs
    - `gains` (N, inputs, size): how inputs should answer to states beside the path, u + gains (x - path);
      `stepping.rollout(carry, path.u, path.gains, path.rollout)` applies them
    - `cost`; `history`: that of every accepted path of the start that won, the first guess to begin with
    - `gradient` (N, inputs): exact derivatives of the cost; `gradient_norm`: their size without what presses on limits
    - `on_limits`: how many of the inputs are at a limit
    - `events`: how many events (strikes, releases, ..) happened on the way
    - `converged`, `reason`: does a quadratic model promise no more? Why did it end?
    - `ends`: costs where the searches from all guesses ended; infinite where a guess led nowhere
    """

    t: np.ndarray
    x: np.ndarray
    u: np.ndarray
    gains: np.ndarray
    cost: float
    history: tuple[float, ...]
    gradient: np.ndarray
    gradient_norm: float
    on_limits: int
    converged: bool
    reason: str
    rollouts: int
    ends: tuple[float, ...]
    rollout: Rollout

    @property
    def iterations(self) -> int:
        """How often a better path was found."""
        return len(self.history) - 1

    @property
    def events(self) -> int:
        """How many events happened on the path."""
        return int(self.rollout.events[-1] - self.rollout.events[0])

    def __repr__(self) -> str:
        steps, inputs = self.u.shape
        lines = [
            f"OptimalPath: {steps} steps, {inputs} input{'s' * (inputs != 1)}, {self.events} "
            f"event{'s' * (self.events != 1)}",
            f"  cost      {self.history[0]:.6g} -> {self.cost:.6g} in {self.iterations} iterations, "
            f"{self.rollouts} rollouts",
            f"  gradient  {self.gradient_norm:.3g}; {self.on_limits} of {self.u.size} inputs at a limit",
            f"  ended     {self.reason}",
        ]
        if len(self.ends) > 1:
            lines.append(f"  guesses   ended at {', '.join(f'{end:.6g}' for end in self.ends)}")
        return "\n".join(lines)
