"""Measures of energy and momentum."""

from __future__ import annotations

from ...errors import CaromError
from ...hybrid.world import World
from ...study.recording import LaneMeasure, LedgerSizes, MomentumDrift
from ..experiment import Experiment
from .kind import Measure


def _energy(experiment: Experiment, p: dict[str, str]) -> float:
    return max(float(getattr(result.energy, p["field"])) for result in experiment.results)


def _momentum(experiment: Experiment, p: dict[str, str]) -> float:
    return float(getattr(experiment.result.momentum, p["field"]))


def _energy_in_lane(world: World, p: dict[str, str], ledger: bool) -> LaneMeasure:
    if not ledger:
        raise CaromError("the ledger was asked for; give settings with ledger=True")
    return LaneMeasure(LedgerSizes(), lambda columns: columns[p["field"]], "%")


def _momentum_in_lane(world: World, p: dict[str, str], ledger: bool) -> LaneMeasure:
    unit = "kg m/s" if p["field"] == "linear_drift" else "kg m^2/s"
    return LaneMeasure(MomentumDrift(), lambda columns: columns[p["field"]], unit)


MEASURES: tuple[Measure, ...] = (
    Measure(
        "energy.FIELD",
        "max_error_percent or mean_error_percent of the ledger",
        r"energy\.(?P<field>max_error_percent|mean_error_percent)",
        _energy,
        of_error=True,
        percent=True,
        lane=_energy_in_lane,
    ),
    Measure(
        "momentum.FIELD",
        "linear_drift [kg m/s] or angular_drift [kg m^2/s] of the run",
        r"momentum\.(?P<field>linear_drift|angular_drift)",
        _momentum,
        of_error=True,
        lane=_momentum_in_lane,
    ),
)
