"""An experiment in numbers: what summary.json, impacts.csv and energy.csv hold."""

from __future__ import annotations

import csv
import dataclasses
import io
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..result._columns import IMPACTS, STANCES, Column, record
from ..result._json_values import clean
from ..result.convergence import Convergence
from ..result.impacts import Impact
from . import _converge as converge
from .experiment import Experiment
from .measures import Measured

MOST_ROWS = 20_000  # of energy.csv: an hour of bouncing has millions of steps


def summary(experiment: Experiment, quantities: list[Measured], holds: Convergence | None = None) -> dict[str, Any]:
    """Everything that a program wants to know about a run."""
    from importlib.metadata import version

    digits = {} if holds is None else {row.name: row.digits for row in reversed(holds.rows)}  # quantities come first
    return clean(
        {
            "scenario": experiment.scenario.name,
            "title": experiment.scenario.title,
            "version": version("carom"),
            "outcome": experiment.outcome,
            "finished": experiment.finished,
            "warnings": [w for result in experiment.results for w in result.warnings],
            "impacts": [impact_record(i) for i in experiment.impacts],
            "stances": [record(stance, STANCES) for stance in experiment.stances],
            "energy": _energy(experiment),
            "penetration": _penetration(experiment),
            "momentum": _momentum(experiment),
            "final_state": _final(experiment),
            "solver": _solver(experiment),
            "quantities": {m.name: _quantity(m, digits.get(m.name)) for m in quantities},
            "variants": {name: _variant(other) for name, other in experiment.others.items()},
        }
        | ({} if holds is None else {"converge": converge.record(holds)})
        | ({} if experiment.identified is None else {"identified": experiment.identified.record()})
    )


def impact_record(impact: Impact) -> dict[str, Any]:
    """An impact by the names of its columns."""
    return record(impact, IMPACTS) | {
        "kinetic_energy_by_link_before": list(impact.kinetic_energy_by_link_before),
        "kinetic_energy_by_link_after": list(impact.kinetic_energy_by_link_after),
    }


def _energy(experiment: Experiment) -> dict[str, Any]:
    if not experiment.scenario.run.ledger:
        return {}
    ledgers = [result.energy for result in experiment.results]
    works: dict[str, float] = {}
    for ledger in ledgers:
        for name, work in ledger.works.items():
            works[name] = works.get(name, 0.0) + float(work[-1])
    return {
        "unit": "J",
        "initial": ledgers[0].start,
        "final": float(ledgers[-1].total[-1]),
        "max_error_percent": max(ledger.max_error_percent for ledger in ledgers),
        "mean_error_percent": max(ledger.mean_error_percent for ledger in ledgers),
        "works": works,
    }


def _penetration(experiment: Experiment) -> dict[str, Any]:
    """How far rigid contacts were ever inside their surfaces; nothing where there are none."""
    results = [r for r in experiment.results if any(contact.rigid for contact in r.world.contacts)]
    if not results:
        return {}
    units = {contact.pair.length_unit for contact in results[0].world.contacts if contact.rigid}
    return {"largest": max(r.penetration for r in results), "unit": " or ".join(sorted(units))}


def _momentum(experiment: Experiment) -> dict[str, Any]:
    m = experiment.result.momentum
    return {
        "linear_initial": m.linear[0].tolist(),
        "linear_final": m.linear[-1].tolist(),
        "angular_initial": float(m.angular[0]),
        "angular_final": float(m.angular[-1]),
        "linear_drift": m.linear_drift,
        "angular_drift": m.angular_drift,
        "units": {"linear": "kg m/s", "angular": "kg m^2/s, about the world's origin"},
    }


def _final(experiment: Experiment) -> dict[str, Any]:
    result = experiment.result
    top = result.world.mechanism.topology
    q, v = np.asarray(result.q[-1]), np.asarray(result.v[-1])
    bends = top.base_dof + top.links
    out: dict[str, Any] = {
        "t": experiment.clips[-1].end,
        "angles": {top.names[k]: float(q[top.angle_index(k)]) for k in top.hinged},
        "rates": {top.names[k]: float(v[top.angle_index(k)]) for k in top.hinged},
        "units": {"t": "s", "angles": "rad", "rates": "rad/s", "base": "m", "base_velocity": "m/s", "bending": "m"},
    }
    if top.sliding:
        out |= {"slides": {top.names[k]: float(q[top.angle_index(k)]) for k in top.slid}}
        out |= {"slide_rates": {top.names[k]: float(v[top.angle_index(k)]) for k in top.slid}}
        out["units"] |= {"slides": "m", "slide_rates": "m/s"}
    if top.base_dof:
        base, speed = (x[: top.base_dof].reshape(-1, 2).tolist() for x in (q, v))
        out |= {"base": base, "base_velocity": speed}
    if top.elastic:
        out |= {"bending": q[bends:].tolist(), "bending_rates": v[bends:].tolist()}
    return out


def _solver(experiment: Experiment) -> dict[str, Any]:
    each = [result.statistics for result in experiment.results]
    names = ("steps", "rejected", "events", "compile_seconds", "run_seconds")
    run = experiment.scenario.run
    back_ends = ", ".join(dict.fromkeys(s.back_end for s in each))
    settings = {"name": run.solver, "rtol": run.rtol, "atol": run.atol, "back_end": back_ends}
    return settings | {name: sum(getattr(s, name) for s in each) for name in names}


def _quantity(m: Measured, digits: int | None = None) -> dict[str, Any]:
    fields = dataclasses.asdict(m) | {"digits": digits}
    out = {key: value for key, value in fields.items() if key not in ("name",) and value not in (None, "")}
    return out if m.agrees is None else out | {"difference": m.difference, "agrees": m.agrees, "verdict": m.verdict}


def _variant(other: Experiment) -> dict[str, Any]:
    from .measures import measured

    return {"outcome": other.outcome, "quantities": {m.name: _quantity(m) for m in measured(other)}}


# -- tables ------------------------------------------------------------------------------------------------------------


def impacts_csv(experiment: Experiment) -> str:
    """One row per impact; units in the head."""
    return _csv(IMPACTS, experiment.impacts)


def stances_csv(experiment: Experiment) -> str:
    """One row per stance; units in the head."""
    return _csv(STANCES, experiment.stances)


def _csv(columns: tuple[Column, ...], rows: Sequence[Any]) -> str:
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow([f"{c.field} [{c.unit}]" if c.unit else c.field for c in columns])
    for row in rows:
        table.writerow([_cell(c.read(row)) for c in columns])
    return out.getvalue()


def energy_csv(experiment: Experiment) -> str:
    """The ledger at accepted steps, MOST_ROWS of them at most, evenly chosen; units in the head."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    ledgers = [(clip.t0, clip.result.energy) for clip in experiment.clips if clip.t0 >= 0.0]
    names = list(ledgers[0][1].works)
    table.writerow(["t [s]", "kinetic [J]", "potential [J]", *(f"{n} [J]" for n in names), "not accounted for [J]"])
    for t0, ledger in ledgers:
        works = [ledger.works.get(name, np.zeros_like(ledger.t)) for name in names]
        columns = (ledger.t + t0, ledger.kinetic, ledger.potential, *works, ledger.error)
        chosen = np.unique(np.linspace(0, len(ledger.t) - 1, min(len(ledger.t), MOST_ROWS)).astype(int))
        for row in np.stack(columns, axis=1)[chosen].tolist():
            table.writerow([_cell(x) for x in row])
    return out.getvalue()


def _cell(value: object) -> Any:
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else ""  # as null in summary.json
    return value
