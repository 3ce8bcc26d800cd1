"""How many digits of a scenario's numbers hold: it is run again at a tenth of its tolerance."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

from ..result.convergence import Convergence, Number, compared, number, tighter
from ..scenario import model
from .experiment import Experiment, Say, perform
from .measures import Measured, kind_of, measured


def repeated(found: Experiment, say: Say = lambda words: None, progress: bool | None = None) -> Convergence | None:
    """Run a finished experiment again, without its variants, and compare; None where Ctrl-C stopped that."""
    say("running again at a tenth of the tolerance")
    try:
        again = perform(tightened(found.scenario), say, progress)
    except KeyboardInterrupt:
        return None
    return None if again.interrupted else of_experiments(found, again)


def tightened(scenario: model.Scenario) -> model.Scenario:
    """The scenario with a tenth of its tolerances, and room for the steps that they need."""
    run = scenario.run
    tight = {"rtol": tighter(run.rtol), "atol": tighter(run.atol), "max_steps": 10 * run.max_steps}
    return scenario.model_copy(update={"run": run.model_copy(update=tight), "compare": []})


def of_experiments(first: Experiment, second: Experiment) -> Convergence:
    """Quantities first, then the numbers of every run."""
    rows = _quantities(first, second)
    runs = list(zip(first.results, second.results, strict=False))
    found = [compared(a, b) for a, b in runs]
    several = len(runs) > 1
    for k, each in enumerate(found, start=1):
        rows += [dataclasses.replace(row, name=f"step {k}, {row.name}") if several else row for row in each.rows]
    told = [f"step {k}: {c.differs}" if several else c.differs for k, c in enumerate(found, start=1) if c.differs]
    differs = told[0] if told else ""
    return Convergence(found[0].rtol, found[0].atol, tuple(rows), differs)


def _quantities(first: Experiment, second: Experiment) -> list[Number]:
    """What the scenario reports; a number near zero is judged by the largest one of its unit."""
    asked = [(m, n) for m, n in zip(measured(first), measured(second), strict=True) if _holds(first, m)]
    rows = []
    for m, n in asked:
        others = [abs(other.value) for other, _ in asked if other.unit == m.unit and math.isfinite(other.value)]
        rows.append(number(m.name, m.unit, m.value, n.value, max(others, default=0.0)))
    return [row for row in rows if row is not None]


def _holds(found: Experiment, m: Measured) -> bool:
    if m.missing:
        return True
    return not kind_of(found.scenario.quantities[m.name].measure)[0].of_error


def record(found: Convergence) -> dict[str, Any]:
    """What summary.json holds of it."""
    return {
        "sentence": found.sentence,
        "digits": found.digits,
        "differs": found.differs,
        "rtol": found.rtol,
        "atol": found.atol,
        "numbers": [dataclasses.asdict(row) for row in found.rows],
    }


def kept(folder: Path) -> Convergence | None:
    """What an older summary.json says of it; None where it says nothing that can be read."""
    try:
        old = json.loads((folder / "summary.json").read_text(encoding="utf-8"))["converge"]
        rows = tuple(Number(**row) for row in old["numbers"])
        return Convergence(float(old["rtol"]), float(old["atol"]), rows, str(old["differs"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
