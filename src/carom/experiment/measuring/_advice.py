"""What measurement would settle what a record does not determine: the signal that changes most along that direction."""

from __future__ import annotations

import dataclasses

import numpy as np

from ...errors import CaromError
from ...scenario._build import world_of
from ...study.fitting import Fit
from ._channels import ImpactChannel, SeriesChannel, impact_channel, series_channel, signal_names
from ._recorded_runs import Records
from ._run_predictor import RunPredictor

INSTANTS, ROWS = 101, 3  # over a run, and impacts, that are looked at
SEEN = 1e-6  # share of a signal's own size below which a change is none
CHANGE = 0.1  # of a parameter's own size, with which signals are compared
PLACES = ("angle", "slide", "x", "y")
PLAIN = 0.5  # share of the largest change with which an earlier signal, easier to record, is preferred
FIELDS = ("t_start", "normal_velocity_before", "normal_velocity_after", "tangential_velocity_after", "normal_impulse")


def advice_for(predictor: RunPredictor, found: Fit) -> tuple[str, ...]:
    """A sentence for every direction that the data do not show."""
    out: list[str] = []
    p = np.array([float(found.parameters[name]) for name in found.names])
    for d in found.directions:
        way = _by_its_own_size(d, p)
        told = None
        for wanted in (PLACES, ()):  # where things are is recorded most easily; then everything
            other = dataclasses.replace(predictor, records=_candidates(predictor, wanted))
            told = _most_moved(other, p, way, set(predictor.records.measured))
            if told is not None:
                break
        touched = [name for name, x in zip(found.names, way / _sizes(p), strict=True) if abs(x) > 0.05 * CHANGE]
        if told is None:
            out.append(
                f"no signal of this run would tell {' and '.join(touched)}: measure one of them by itself, "
                "for instance by weighing, and do not vary it"
            )
            continue
        name, unit, size, share = told
        out.append(
            f"to tell {' and '.join(touched)}, record {name}: it would change by {size:.3g} {unit}, "
            f"{100 * share:.2g} % of its largest value, where what was recorded stays the same"
        )
    return tuple(dict.fromkeys(out))


def _most_moved(
    predictor: RunPredictor, p: np.ndarray, way: np.ndarray, measured: set[str]
) -> tuple[str, str, float, float] | None:
    """A signal, its unit, how much it moves along a direction, and what share of its own size that is."""
    values, slopes = predictor.linearised(p)
    moves = {name: float(np.max(np.abs(np.nan_to_num(x @ way)))) for name, x in slopes.items() if name not in measured}
    shares = {name: x / max(float(np.max(np.abs(np.nan_to_num(values[name])))), 1e-300) for name, x in moves.items()}
    most = max(shares.values(), default=0.0)
    best = next((name for name, share in shares.items() if share >= PLAIN * most), "")
    if not best or shares[best] < SEEN:
        return None
    return best, predictor.records.unit[best], moves[best], shares[best]


def _by_its_own_size(d: np.ndarray, p: np.ndarray) -> np.ndarray:
    """The direction as a change of 10 % of the parameter that changes most."""
    return CHANGE * d / float(np.max(np.abs(d / _sizes(p))))


def _sizes(p: np.ndarray) -> np.ndarray:
    return np.where(p == 0.0, 1.0, np.abs(p))


def _candidates(predictor: RunPredictor, kinds: tuple[str, ...]) -> Records:
    """What could be recorded of these runs; of these kinds of signals, or of all."""
    world, records = world_of(predictor.scenario), predictor.records
    series = tuple(
        series_channel(world, "", name) for name in signal_names(world) if not kinds or name.partition(".")[0] in kinds
    )
    impacts: list[ImpactChannel] = []
    for field in FIELDS if world.contacts and not kinds else ():
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
