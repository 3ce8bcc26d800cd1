"""A law on a record: fitted to everything, and to each part's complement; its errors on what those fits did not see."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ... import errors
from ...quantities import Function
from ._fit_input import called
from ._observed import Model, Observations
from .estimate import Fit, fit


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
    model: Model,
    parts: list[np.ndarray],
    error: Function | None,
    max_evaluations: int,
    told: Function,
) -> Held:
    """One law: fitted to everything, and to each part's complement."""
    with_inputs = data.inputs is not None
    predict = jax.jit(partial(called, model.predict, with_inputs))
    options = {
        "noise": data.noise,
        "args": data.inputs,
        "positive": model.positive,
        "bounds": model.bounds,
        "gaps": True,
    }
    parameters = len(jax.tree.leaves(jax.tree.map(np.ravel, model.start)))
    predicted = {name: np.full(x.shape, np.nan) for name, x in data.channels.items()}
    fitted: list[Fit] = []
    try:
        for k, rows in enumerate([np.zeros(data.rows, dtype=bool), *parts]):
            told(k)
            here: Any = model.start
            if parameters:
                fitted.append(
                    fit(
                        model.predict, data.without(rows), here, throw=False, max_evaluations=max_evaluations, **options
                    )
                )
                here = fitted[-1].parameters
            out = predict(jax.tree.map(lambda x: jnp.asarray(x, dtype=float), here), data.inputs)
            named = out if isinstance(out, Mapping) else {"": out}
            if k == 0:
                everything = {name: np.asarray(x, dtype=float) for name, x in named.items()}
            else:
                for name, x in named.items():
                    predicted[name][rows] = np.asarray(x, dtype=float)[rows]
    except errors.CaromError as refusal:
        nothing = np.full(data.rows, np.nan)
        return Held(None, (), parameters, predicted, nothing, (np.inf, np.inf), str(refusal))
    count = len(fitted[0].names) if fitted else 0
    loss = _losses(data, predicted, error, np.any(parts, axis=0))
    held = Held(fitted[0] if fitted else None, tuple(fitted[1:]), count, predicted, loss, (0.0, 0.0))
    return dataclasses.replace(held, criteria=_criteria(data, everything, count))


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
