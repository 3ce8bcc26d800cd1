"""Measures of impacts."""

from __future__ import annotations

import dataclasses

import numpy as np

from ...errors import CaromError, name_in
from ...result.impacts import Impact
from ..experiment import Experiment
from .kind import Measure

SAME_SPEED = 0.01  # share by which regular impacts may differ
ADDED = ("duration", "restitution", "kinetic_energy_before", "kinetic_energy_after", "kinetic_energy_lost")
NUMBERS = (*(f.name for f in dataclasses.fields(Impact) if f.type == "float"), *ADDED)  # of an impact


def _impact(experiment: Experiment, p: dict[str, str]) -> float:
    chosen = _nth(experiment, int(p["number"]))
    if p["field"] == "kinetic_energy_lost":  # of the whole mechanism; `energy_lost` is what the contact took
        return chosen.kinetic_energy_before - chosen.kinetic_energy_after
    return float(getattr(chosen, p["field"]))


def _impact_energy(experiment: Experiment, p: dict[str, str]) -> float:
    links = experiment.result.world.mechanism.topology.names
    name_in("link", p["link"], links)
    each = getattr(_nth(experiment, int(p["number"])), f"kinetic_energy_by_link_{p['side']}")
    return float(each[links.index(p["link"])])


def _nth(experiment: Experiment, number: int) -> Impact:
    found = experiment.strikes
    if not 1 <= number <= len(found):
        raise CaromError(f"impact {number} was asked for; the run has {len(found)}")
    return found[number - 1]


def _count(experiment: Experiment, p: dict[str, str]) -> float:
    contact, end = p.get("contact"), float(p.get("before", "inf"))
    return float(sum(contact in (None, i.contact) and i.t_start < end for i in experiment.strikes))


def _regular(experiment: Experiment, p: dict[str, str]) -> float:
    """Number of the impact after which the striking velocity hardly changes; nan if it always does."""
    speeds = np.array([i.normal_velocity_before for i in experiment.strikes])
    small = np.abs(np.diff(speeds)) < SAME_SPEED * np.abs(speeds[:-1])
    rough = np.flatnonzero(~small)
    first = int(rough[-1]) + 2 if len(rough) else 1
    return float(first) if len(speeds) > first else float("nan")


def _ratio(experiment: Experiment, p: dict[str, str]) -> float:
    """Square root of kinetic energy after over before, of one link or of all."""
    if "link" not in p:
        i = _nth(experiment, int(p["number"]))
        return float(np.sqrt(i.kinetic_energy_after / i.kinetic_energy_before))
    before, after = (_impact_energy(experiment, p | {"side": side}) for side in ("before", "after"))
    return float(np.sqrt(after / before))


MEASURES: tuple[Measure, ...] = (
    Measure(
        "impacts.count",
        "how many impacts; of one contact with .CONTACT, before T [s] with .before.T",
        r"impacts\.count(\.(?!before\.)(?P<contact>.+?))?(\.before\.(?P<before>[0-9.]+))?",
        _count,
    ),
    Measure(
        "impacts.regular_after",
        "number of the impact after which the striking velocity changes by less than 1 %",
        r"impacts\.regular_after",
        _regular,
    ),
    Measure(
        "impact.N.kinetic_energy_ratio",
        "square root of kinetic energy after over before; of one link with .LINK",
        r"impact\.(?P<number>\d{1,6})\.kinetic_energy_ratio(\.(?P<link>.+))?",
        _ratio,
    ),
    Measure(
        "impact.N.kinetic_energy_before.LINK",
        "kinetic energy of one link before (after) impact N [J]",
        r"impact\.(?P<number>\d{1,6})\.kinetic_energy_(?P<side>before|after)\.(?P<link>.+)",
        _impact_energy,
    ),
    Measure(
        "impact.N.FIELD",
        "a column of impacts.csv for impact N, counted without rows that are not struck",
        rf"impact\.(?P<number>\d{{1,6}})\.(?P<field>{'|'.join(NUMBERS)})",
        _impact,
    ),
)
