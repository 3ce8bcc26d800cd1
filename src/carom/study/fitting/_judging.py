"""A law on a record: fitted to everything, and to each part's complement; its errors on what those fits did not see."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import errors
from ...quantities import Function
from ._observed import AbstractModel, Observations
from .estimate import Fit

if TYPE_CHECKING:
    from .comparing_laws import Comparison


@dataclasses.dataclass(frozen=True)
class Held:
    """A law's predictions of rows that its fits had not seen."""

    fit: Fit | None
    folds: tuple[Fit, ...]
    parameters: int
    predicted: dict[str, np.ndarray]
    loss: np.ndarray  # of each row: a sum, or the user's error; nan where it was not judged
    criteria: tuple[float, float]
    trouble: str = ""


def judge(
    data: Observations,
    model: AbstractModel,
    parts: list[np.ndarray],
    error: Function | None,
    max_evaluations: int,
    told: Function,
) -> Held:
    """One law: fitted to everything, and to each part's complement."""
    predicted = {name: np.full(x.shape, np.nan) for name, x in data.channels.items()}
    fitted: list[Fit] = []
    count = 0
    try:
        for k, rows in enumerate([np.zeros(data.rows, dtype=bool), *parts]):
            told(k)
            found = model.fitted(data, data.without(rows), max_evaluations)
            named = model.predicted(data, found)
            if found is not None:
                fitted.append(found)
                count = len(found.names)
            if k == 0:
                everything = named
                continue
            for name, x in named.items():
                predicted[name][rows] = x[rows]
    except errors.CaromError as refusal:
        nothing = np.full(data.rows, np.nan)
        return Held(None, (), count, predicted, nothing, (np.inf, np.inf), str(refusal))
    loss = _losses(data, predicted, error, np.any(parts, axis=0))
    first, others = (fitted[0], tuple(fitted[1:])) if fitted else (None, ())
    return Held(first, others, count, predicted, loss, _criteria(data, everything, count))


def _losses(
    data: Observations, predicted: dict[str, np.ndarray], error: Function | None, judged: np.ndarray
) -> np.ndarray:
    """Of each row: its sum of squares in units of the noise, or the user's; infinite where nothing is predicted."""
    if error is None:
        out = np.zeros(data.rows)
        for name, x in data.channels.items():
            r = ((x - predicted[name]) / data.weighed(name)) ** 2
            there = np.isfinite(x)
            out += np.sum(np.where(there, np.where(np.isfinite(r), r, np.inf), 0.0).reshape(data.rows, -1), axis=1)
    else:
        given = error(data.measured, data.like(predicted), data.inputs)
        out = np.asarray(given, dtype=float)
        if out.shape != (data.rows,):
            raise errors.CaromError(
                f"error of compare_laws returns shape {out.shape} for {data.rows} rows; it must be a number for each"
            )
        out = np.where(np.isfinite(out), out, np.where(measured_rows(data) > 0, np.inf, 0.0))
    return np.where(judged, out, np.nan)


def measured_rows(data: Observations) -> np.ndarray:
    """How many data every row has."""
    return np.sum([np.isfinite(x).reshape(data.rows, -1).sum(axis=1) for x in data.channels.values()], axis=0)


def _criteria(data: Observations, predicted: dict[str, np.ndarray], parameters: int) -> tuple[float, float]:
    """AIC and BIC; where the noise is not known, its level is one more parameter."""
    r = np.concatenate([((x - predicted[n]) / data.weighed(n))[np.isfinite(x)] for n, x in data.channels.items()])
    squares, n = float(r @ r), len(r)
    if not np.isfinite(squares):
        return np.inf, np.inf
    known = data.noise is not None
    twice = squares if known else n * float(np.log(max(squares, np.finfo(float).tiny) / n))
    k = parameters + (not known)
    return twice + 2 * k, twice + k * float(np.log(n))


def numbers_of(comparison: Comparison) -> dict[str, Any]:
    """A comparison as data."""
    keys = ("error", "interval", "wins", "behind", "parameters", "aic", "bic", "trouble")
    laws = {name: {key: getattr(law, key) for key in keys} for name, law in comparison.laws.items()}
    for name, law in comparison.laws.items():
        laws[name]["estimate"] = {} if law.fit is None else law.fit.estimate
        laws[name]["standard_error"] = {} if law.fit is None else law.fit.standard_error
    about = {key: getattr(comparison, key) for key in ("rows", "data", "records", "held_out", "measure", "confidence")}
    return about | {"best": comparison.best, "laws": laws}
