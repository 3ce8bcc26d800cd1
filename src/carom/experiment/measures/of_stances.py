"""Measures of stances: contacts that carry for so long that weight, motors or the motion itself press on them."""

from __future__ import annotations

import dataclasses

from ...errors import CaromError
from ...result.stances import Stance
from ..experiment import Experiment
from .kind import Measure

NUMBERS = (*(f.name for f in dataclasses.fields(Stance) if f.type == "float"), "duration")


def _stance(experiment: Experiment, p: dict[str, str]) -> float:
    found, number = experiment.result.stances, int(p["number"])
    if not 1 <= number <= len(found):
        raise CaromError(f"stance {number} was asked for; the run has {len(found)}")
    return float(getattr(found[number - 1], p["field"]))


def _count(experiment: Experiment, p: dict[str, str]) -> float:
    contact = p.get("contact")
    return float(sum(contact in (None, s.contact) for s in experiment.result.stances))


MEASURES = (
    Measure(
        "stances.count",
        "how many stances; of one contact with .CONTACT",
        r"stances\.count(\.(?P<contact>.+))?",
        _count,
    ),
    Measure(
        "stance.N.FIELD",
        "a column of stances.csv for stance N",
        rf"stance\.(?P<number>\d{{1,6}})\.(?P<field>{'|'.join(NUMBERS)})",
        _stance,
    ),
)
