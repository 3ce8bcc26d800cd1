"""Measures of impacts."""

from __future__ import annotations

import dataclasses

import numpy as np

from ...errors import CaromError, name_in
from ...hybrid.world import World
from ...result.impacts import Impact
from ...study.recording import LaneMeasure, count_of_impacts, first_impacts
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


# -- in a lane of a batch ----------------------------------------------------------------------------------------------


def _nth_in_lane(world: World, p: dict[str, str], ledger: bool) -> LaneMeasure:
    number, field = int(p["number"]), p["field"]
    if number < 1:
        raise CaromError("impact 0 was asked for; the first one is 1")
    return first_impacts(world, number, field, ledger, row=number - 1)


def _energy_in_lane(world: World, p: dict[str, str], ledger: bool) -> LaneMeasure:
    name_in("link", p["link"], world.mechanism.topology.names)
    return _nth_in_lane(world, p | {"field": f"kinetic_energy_{p['side']}.{p['link']}"}, ledger)


def _ratio_in_lane(world: World, p: dict[str, str], ledger: bool) -> LaneMeasure:
    if "link" in p:
        before, after = (_energy_in_lane(world, p | {"side": side}, ledger) for side in ("before", "after"))
    else:
        before, after = (
            _nth_in_lane(world, p | {"field": f"kinetic_energy_{side}"}, ledger) for side in ("before", "after")
        )
    return LaneMeasure(
        before.recorder.joined(after.recorder), lambda columns: np.sqrt(after.read(columns) / before.read(columns))
    )


def _count_in_lane(world: World, p: dict[str, str], ledger: bool) -> LaneMeasure:
    if "contact" in p:
        name_in("contact", p["contact"], [contact.name for contact in world.contacts])
    return count_of_impacts(p.get("contact", ""), float(p.get("before", "inf")))


MEASURES: tuple[Measure, ...] = (
    Measure(
        "impacts.count",
        "how many impacts; of one contact with .CONTACT, before T [s] with .before.T",
        r"impacts\.count(\.(?!before\.)(?P<contact>.+?))?(\.before\.(?P<before>[0-9.]+))?",
        _count,
        lane=_count_in_lane,
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
        lane=_ratio_in_lane,
    ),
    Measure(
        "impact.N.kinetic_energy_before.LINK",
        "kinetic energy of one link before (after) impact N [J]",
        r"impact\.(?P<number>\d{1,6})\.kinetic_energy_(?P<side>before|after)\.(?P<link>.+)",
        _impact_energy,
        lane=_energy_in_lane,
    ),
    Measure(
        "impact.N.FIELD",
        "a column of impacts.csv for impact N, counted without rows that are not struck",
        rf"impact\.(?P<number>\d{{1,6}})\.(?P<field>{'|'.join(NUMBERS)})",
        _impact,
        lane=_nth_in_lane,
    ),
)
