"""What a search for the best numbers found."""

from __future__ import annotations

import dataclasses

from ...scenario.model import Scenario


@dataclasses.dataclass(frozen=True)
class Held:
    """One limit at the end: what was asked for, what is, and what it costs.

    - `active`: does it hold the result where it is? `met`: does it hold?
    - `price`: by how much the least cost would rise for every unit that the bound rises
    """

    text: str
    value: float
    bound: float
    unit: str
    active: bool
    met: bool
    price: float


@dataclasses.dataclass(frozen=True, eq=False)
class Optimum:
    """The best numbers that were found; `print` shows them.

    - `parameters`: by name; `on_bounds`: those on their `least` or `largest` value, `prices` the cost's slopes there
    - `cost`, `first_cost`: at the end and at the start; `measures`: all that was asked for, at the end
    - `limits`: what had to hold, each with its value and price; `feasible`: does all of it hold?
    - `exact`, `differences`: measures with exact slopes, and those whose slopes are differences of runs
    - `left`: share of the slopes of the cost that limits and bounds do not explain: 0 at a minimum
    - `ends`: costs where the searches from all starts ended; infinite where a start led nowhere, or limits do not hold
    - `scenario`: with the numbers in it; None for a world of one's own
    """

    parameters: dict[str, float]
    cost: float
    first_cost: float
    goal: str
    measures: dict[str, float]
    limits: tuple[Held, ...]
    on_bounds: dict[str, str]
    prices: dict[str, float]
    exact: tuple[str, ...]
    differences: tuple[str, ...]
    evaluations: int
    converged: bool
    reason: str
    left: float
    ends: tuple[float, ...]
    scenario: Scenario | None

    @property
    def feasible(self) -> bool:
        """Does everything hold that had to?"""
        return all(limit.met for limit in self.limits)

    @property
    def active(self) -> tuple[str, ...]:
        """Limits that hold the result where it is."""
        return tuple(limit.text for limit in self.limits if limit.active)

    def __repr__(self) -> str:
        width = max(len(name) for name in self.parameters)
        lines = [f"Optimum: {self.goal} {self.first_cost:.6g} -> {self.cost:.6g}, {self.evaluations} evaluations"]
        for name, value in self.parameters.items():
            edge = f"  on its {self.on_bounds[name]} value" if name in self.on_bounds else ""
            lines.append(f"  {name:{width}} {value:14.6g}{edge}")
        for held in self.limits:
            unit = f" {held.unit}" if held.unit not in ("", "-") else ""
            state = "does NOT hold" if not held.met else f"active, price {held.price:.4g}" if held.active else "holds"
            lines.append(f"  {held.text}: {held.value:.6g}{unit}, {state}")
        lines.append(f"  ended: {self.reason}")
        if self.differences:
            lines.append(f"  slopes by differences of runs: {', '.join(self.differences)}")
        if len(self.ends) > 1:
            lines.append(f"  starts ended at {', '.join(f'{end:.6g}' for end in self.ends)}")
        return "\n".join(lines)
