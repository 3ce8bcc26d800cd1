"""Laws side by side on one record: fitted on one part of it, judged on another.

    error = sqrt( mean ((measured - predicted) / noise)^2 )        over what was held out, or a mean of your own `error`
    AIC = -2 ln L + 2 k,   BIC = -2 ln L + k ln n                  of the fit to everything, L that of Gaussian noise

The records are dealt into folds; each is judged by a fit that has not seen it. How sure the ranking is: the share of
resamples (records drawn with replacement, for all laws the same) in which a law has the least held-out error. That
tells what other records of the same kind would say about these fits; it does not make records out of one.

Sources: Stone 1974, Journal of the Royal Statistical Society B 36, 111-147 (judging by what was not fitted); Akaike
1974, IEEE Transactions on Automatic Control 19, 716-723; Schwarz 1978, Annals of Statistics 6, 461-464; Efron 1979,
Annals of Statistics 7, 1-26 (resampling).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from ... import errors
from ..._arguments import Count
from ..._progress import Line
from ...quantities import Function, Real
from ._fit_input import check_confidence
from ._folds import groups_of, parts_of, resampled, whole
from ._judging import Held, judge, measured_rows
from ._observed import AbstractModel, Observations
from .estimate import Fit


@dataclasses.dataclass(frozen=True)
class Judged:
    """A law on a record."""

    error: float  # held out: root mean square in units of the noise (or of the data), or the mean of `error`
    interval: tuple[float, float]  # of the error, over resamples of the records
    wins: float  # share of resamples in which its error is the least
    behind: tuple[float, float, float]  # its error less that of the best law: as it is, and its interval
    parameters: int
    aic: float
    bic: float
    fit: Fit | None  # to everything; None for a law without parameters
    folds: tuple[Fit, ...]
    predicted: Any  # as measured: each row by a fit that has not seen it; nan where it was never held out
    trouble: str = ""  # why it could not be judged


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Laws by name, the best one first; `print` shows the table."""

    laws: dict[str, Judged]
    rows: int
    data: int
    records: int
    held_out: int  # rows that were judged
    measure: str  # what the error is
    confidence: float

    @property
    def best(self) -> str:
        return next(iter(self.laws))

    def __repr__(self) -> str:
        width = max(4, *(len(name) for name in self.laws))
        lines = [
            f"Comparison of {len(self.laws)} laws on {self.data} data of {self.records} records; held out and judged: "
            f"{self.held_out} of {self.rows} rows",
            f"  {'law':{width}} {'held-out error':>14} {f'{100 * self.confidence:g} %':>22} {'wins':>6} "
            f"{'parameters':>10} {'AIC':>10} {'BIC':>10}",
        ]
        least = [min((getattr(x, key) for x in self.laws.values()), default=0.0) for key in ("aic", "bic")]
        for name, law in self.laws.items():
            if law.trouble:
                lines.append(f"  {name:{width}} {'failed':>14}  {law.trouble}")
                continue
            spread = f"[{law.interval[0]:.4g}, {law.interval[1]:.4g}]"
            over = [f"+{value - low:.1f}" for value, low in zip((law.aic, law.bic), least, strict=True)]
            lines.append(
                f"  {name:{width}} {law.error:14.6g} {spread:>22} {100 * law.wins:4.0f} % {law.parameters:10d} "
                f"{over[0]:>10} {over[1]:>10}"
            )
        return "\n".join([*lines, f"  error: {self.measure}; AIC and BIC: above the least one", *self._verdict()])

    def _verdict(self) -> list[str]:
        """One sentence about the best law."""
        first = self.laws[self.best]
        rivals = [name for name, law in self.laws.items() if name != self.best and law.behind[1] <= 0.0]
        if first.trouble or len(self.laws) < 2:
            return []
        if not rivals:
            return [f"  {self.best} is the best of them: it wins {100 * first.wins:.0f} % of the resamples"]
        return [f"  not told apart from {self.best} by these records: {', '.join(rivals)}"]


def compare_laws(
    data: Observations,
    laws: Mapping[str, AbstractModel],
    *,
    folds: Count = 5,
    train: Count | None = None,
    seed: Count = 0,
    error: Function | None = None,
    resamples: Count = 1000,
    confidence: Real = 0.95,
    max_evaluations: int = 200,
    progress: bool | None = None,
) -> Comparison:
    """Fit every law on one part of the data and judge it on another; a table, the best one first.

    - `laws`: models by name; each has a `predict` and a `start` (`carom.Model`)
    - `folds`: how many parts; each is judged by a fit to the others. `train`: instead, so many records to fit on, drawn
      by `seed`, all others to judge on
    - `error(measured, predicted, inputs)`: of each row, what is averaged over the held-out rows; it judges, and changes
      no fit. By default root mean square of what was held out, in units of the noise
    - `resamples`: of the records, with replacement, from which the shares of wins and the intervals are

        carom.compare_laws(carom.Observations(after, before), {"newton": carom.Model(newton, {"e": 0.5})}, folds=10)
    """
    _refuse_laws(data, laws)
    check_confidence(confidence)
    whole("resamples", resamples, 10, 10_000_000, "they are what tells how sure the ranking is")
    whole("seed", seed, 0, 2**63 - 1, "it starts the draw of the folds")
    groups = groups_of(data.rows, data.groups)
    parts = parts_of(groups, folds, train, seed)
    line = Line(progress, float(len(laws) * (len(parts) + 1)), 2.0)
    try:
        found = {
            name: judge(data, model, parts, error, max_evaluations, partial(_told, line, name, k * (len(parts) + 1)))
            for k, (name, model) in enumerate(laws.items())
        }
    finally:
        line.close()
    return _ranked(data, found, groups, parts, error, resamples, seed, float(confidence))


def _told(line: Line, name: str, before: int, done: int) -> None:
    line.update(f"{name}, fit {done + 1}", float(before + done))


def _ranked(
    data: Observations,
    found: dict[str, Held],
    groups: np.ndarray,
    parts: list[np.ndarray],
    error: Function | None,
    resamples: Count,
    seed: Count,
    confidence: float,
) -> Comparison:
    judged = np.any(parts, axis=0)
    count = measured_rows(data) if error is None else (measured_rows(data) > 0).astype(float)
    names = tuple(found)
    of = np.flatnonzero(np.bincount(groups, judged) > 0)
    sums = np.stack([np.bincount(groups, np.where(judged, held.loss, 0.0))[of] for held in found.values()], axis=1)
    weight = np.bincount(groups, np.where(judged, count, 0.0))[of]
    sums = np.where(np.isnan(sums), np.inf, sums)
    shown = np.sqrt if error is None else np.asarray
    now = shown(sums.sum(axis=0) / max(weight.sum(), 1.0))
    drawn = shown(resampled(sums, weight, resamples, seed))
    drawn[:, ~np.isfinite(now)] = np.inf
    drawn = drawn[np.all(np.isfinite(drawn) | ~np.isfinite(now), axis=1)]
    order = np.argsort(now, kind="stable")
    wins = np.bincount(np.argmin(drawn, axis=1), minlength=len(names)) / max(len(drawn), 1)
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    laws = {}
    for k in order:
        held, finite = found[names[k]], bool(np.isfinite(now[k]))
        apart = drawn[:, k] - drawn[:, order[0]] if finite else np.full(1, np.inf)
        low, high = np.quantile(drawn[:, k], tails) if finite and len(drawn) else (np.inf, np.inf)
        less, more = np.quantile(apart, tails) if finite and len(drawn) else (np.inf, np.inf)
        behind = float(now[k] - now[order[0]]) if finite else np.inf
        trouble = held.trouble or ("" if finite else "it gives no number for some of the rows held out")
        laws[names[k]] = Judged(
            error=float(now[k]), interval=(float(low), float(high)), wins=float(wins[k]),
            behind=(behind, float(less), float(more)), parameters=held.parameters, aic=held.criteria[0],
            bic=held.criteria[1], fit=held.fit, folds=held.folds, predicted=data.like(held.predicted), trouble=trouble,
        )  # fmt: skip
    unit = "in units of the noise" if data.noise is not None else "in the unit of the data"
    measure = f"root mean square, {unit}" if error is None else "mean of the error that was given"
    return Comparison(
        laws, data.rows, int(measured_rows(data).sum()), int(groups.max()) + 1, int(judged.sum()), measure, confidence
    )


def _refuse_laws(data: Observations, laws: Mapping[str, AbstractModel]) -> None:
    if not isinstance(data, Observations):
        raise errors.CaromError(
            f"data of compare_laws is a {type(data).__name__}; give carom.Observations(measured, inputs)"
        )
    if not isinstance(laws, Mapping) or not laws:
        raise errors.CaromError("laws of compare_laws must be a dictionary, such as {'newton': carom.Model(...)}")
    for name, model in laws.items():
        if not isinstance(model, AbstractModel):
            raise errors.CaromError(f"law '{name}' is a {type(model).__name__}; give carom.Model(predict, start)")
