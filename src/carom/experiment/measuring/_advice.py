"""What measurement would settle what a record does not determine: the signal that changes most along that direction."""

from __future__ import annotations

import dataclasses

import numpy as np

from ...errors import CaromError
from ...scenario._build import world_of
from ...study.fitting import Fit
from ._channels import ImpactChannel, SeriesChannel, impact_channel, series_channel, signal_names
from ._records import Records
from ._run_predictor import RunPredictor

INSTANTS, ROWS = 101, 3  # over a run, and impacts, that are looked at
SEEN = 1e-6  # share of a signal's own size below which a change is none
PLAIN = 0.5  # share of the largest change with which an earlier signal, easier to record, is preferred
FIELDS = ("t_start", "normal_velocity_before", "normal_velocity_after", "tangential_velocity_after", "normal_impulse")


def advice_for(predictor: RunPredictor, found: Fit) -> tuple[str, ...]:
    """A sentence for every direction that the data do not show."""
    if not len(found.directions):
        return ()
    other = dataclasses.replace(predictor, records=_everything(predictor))
    p = np.array([float(found.parameters[name]) for name in found.names])
    values, slopes = other.linearised(p)
    unit = other.records.unit
    out = []
    for d in found.directions:
        way = _by_its_own_size(d, p)
        changes = {name: np.nan_to_num(slope @ way) for name, slope in slopes.items()}
        shares = {
            name: float(np.max(np.abs(x))) / max(float(np.nanmax(np.abs(values[name]), initial=0.0)), 1e-300)
            for name, x in changes.items()
            if name not in predictor.records.measured
        }
        most = max(shares.values(), default=0.0)
        best = next((name for name, share in shares.items() if share >= PLAIN * most), "")
        touched = [name for name, x in zip(found.names, way, strict=True) if abs(x) > 0.05 * np.max(np.abs(way))]
        if not best or shares[best] < SEEN:
            out.append(
                f"no signal of this run would tell {' and '.join(touched)}: measure one of them by itself, "
                "for instance by weighing, and do not vary it"
            )
            continue
        largest = float(np.max(np.abs(changes[best])))
        out.append(
            f"to tell {' and '.join(touched)}, record {best}: it would change by {largest:.3g} {unit[best]}, "
            f"{100 * shares[best]:.2g} % of its largest value, where what was recorded stays the same"
        )
    return tuple(dict.fromkeys(out))


def _by_its_own_size(d: np.ndarray, p: np.ndarray) -> np.ndarray:
    """The direction as a change of 10 % of the parameter that changes most."""
    size = np.where(p == 0.0, 1.0, np.abs(p))
    return 0.1 * d / float(np.max(np.abs(d / size)))


def _everything(predictor: RunPredictor) -> Records:
    """All that could be recorded of these runs."""
    world, records = world_of(predictor.scenario), predictor.records
    series = tuple(series_channel(world, "", name) for name in signal_names(world))
    impacts: list[ImpactChannel] = []
    for field in FIELDS if world.contacts else ():
        try:
            impacts.append(impact_channel(world, "", field))
        except CaromError:  # a lane cannot know it
            continue
    runs, rows = len(records.names), max(ROWS, records.rows)
    times = np.linspace(0.0, predictor.until, INSTANTS, axis=1)
    return dataclasses.replace(
        records,
        times=times,
        series=series,
        impacts=tuple(impacts),
        runs=(),
        rows=rows,
        measured=_empty(series, runs, INSTANTS) | _empty(impacts, runs, rows),
    )


def _empty(channels: tuple[SeriesChannel, ...] | list[ImpactChannel], runs: int, width: int) -> dict[str, np.ndarray]:
    return {c.name: np.full((runs, width), np.nan) for c in channels}
