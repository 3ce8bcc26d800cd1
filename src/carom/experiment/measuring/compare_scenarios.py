"""Laws of a scenario side by side: each variant is fitted on some of the recorded runs, and judged on the others."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import PyTree

from ..._arguments import Count, DataLike, Names, NoiseLike
from ...errors import CaromError
from ...quantities import Function, Real
from ...scenario._change import changed
from ...scenario.library import load
from ...scenario.model import Scenario
from ...scenario.places import ScenarioError
from ...study.fitting import Comparison, Fit
from ...study.fitting._fit_input import bounds_of, compared
from ...study.fitting._observed import AbstractModel, Observations
from ...study.fitting._solving import Effort, Guess
from ...study.fitting.comparing_laws import compare_laws as compare_models
from ...study.fitting.estimate import fitted
from ..sweeping._axes import word_of
from ._run_predictor import RunPredictor
from ._varied import bounds_within
from .fit_scenario import flat, predictor_of, problem_for


@dataclasses.dataclass(frozen=True)
class RunModel(AbstractModel):
    """A scenario with numbers that are varied."""

    predictor: RunPredictor
    guess: Guess

    def fitted(self, data: Observations, measured: PyTree, max_evaluations: int) -> Fit | None:
        if not len(self.guess.first):
            return None
        problem = compared(measured, data.measured, data.noise, gaps=True)

        def shaped(p: np.ndarray) -> dict[str, float]:
            return dict(zip(self.guess.names, p.tolist(), strict=True))

        effort = Effort(max_evaluations)
        return fitted(problem, flat(self.predictor), self.guess, effort, True, 0.95, shaped, throw=False)

    def predicted(self, data: Observations, fit: Fit | None) -> dict[str, np.ndarray]:
        p = self.guess.first if fit is None else np.array([float(fit.parameters[n]) for n in fit.names])
        return self.predictor.values(p)


def compare_laws(
    data: Observations | DataLike,
    laws: Mapping[str, Any] | Sequence[Any],
    *,
    vary: Names = (),
    noise: NoiseLike = None,
    bounds: Mapping[str, tuple[Real, Real]] | None = None,
    from_first: bool = False,
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

    Records of a scenario, as in `carom.fit_scenario`; each of their runs is a row:

    - `laws`: scenarios by name (or names of shipped ones, or files); `vary`: paths that are fitted, in each of the
      scenarios that have them; `noise`, `bounds`, `from_first`: as there. A level of the noise that is not known is
      that of the law that leaves least, so that all are judged by the same

    Rows of your own are `carom.Observations`, and `laws` then `carom.Model(predict, start)` by name. For both:

    - `folds`: how many parts; each is judged by fits to the others. `train`: instead, so many records to fit on, drawn
      by `seed`, all others to judge on
    - `error(measured, predicted, inputs)`: of each row, what is averaged over the held-out rows; it judges, and changes
      no fit. By default root mean square of what was held out, in units of the noise
    - `resamples`: of the records, with replacement, from which the shares of wins and the intervals are

    Speeds before and after four blows: is a share of the speed kept, or is ever the same speed lost?

    >>> import carom, numpy as np
    >>> before, after = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0.79, 1.62, 2.39, 3.21])
    >>> share = carom.Model(lambda p, u: p["e"] * u, {"e": 0.5})
    >>> loss = carom.Model(lambda p, u: u - p["c"], {"c": 0.1})
    >>> found = carom.compare_laws(carom.Observations(after, before), {"loss": loss, "share": share}, folds=4)
    >>> [(name, law.wins) for name, law in found.laws.items()]
    [('share', 1.0), ('loss', 0.0)]
    """
    options: dict[str, Any] = {
        "train": train, "seed": seed, "error": error, "resamples": resamples, "confidence": confidence,
        "max_evaluations": max_evaluations, "progress": progress,
    }  # fmt: skip
    if isinstance(data, Observations):
        return compare_models(data, laws, folds=folds, **options)  # type: ignore[arg-type]
    _refuse_models(data, laws)
    models = {name: _model(scenario, data, vary, bounds, from_first) for name, scenario in _scenarios(laws).items()}
    records = next(iter(models.values())).predictor.records
    _refuse_one_run(len(records.names))
    levels = problem_for(records, noise)
    known = levels.shaped(levels.noise)
    observed = Observations(records.measured, noise=known)
    if levels.unknown:
        observed = dataclasses.replace(observed, noise=known | _least(models, records.measured, known, levels.unknown))
    return compare_models(observed, models, folds=min(folds, len(records.names)), **options)


def _refuse_models(data: DataLike, laws: Mapping[str, Any] | Sequence[Any]) -> None:
    given = laws.values() if isinstance(laws, Mapping) else laws
    if any(isinstance(law, AbstractModel) for law in given):
        raise CaromError(
            f"data of compare_laws is a {type(data).__name__} and the laws are models; give "
            "carom.Observations(measured, inputs), or scenarios"
        )


def _refuse_one_run(runs: int) -> None:
    if runs < 2:
        raise CaromError(
            "the data are one run, and laws are judged on runs that they were not fitted to; record several, and "
            "name them in a column 'record'"
        )


def _least(
    models: Mapping[str, RunModel], measured: dict[str, np.ndarray], known: dict[str, Any], unknown: tuple[str, ...]
) -> dict[str, Any]:
    """Levels that are not known: those of the law that leaves least."""
    levels: dict[str, Any] = known | dict.fromkeys(unknown)
    fits, refusal = [], None
    for model in models.values():
        try:
            fits.append(model.fitted(Observations(measured, noise=levels), measured, 200))
        except CaromError as words:
            refusal = words
    found = [fit.noise_found for fit in fits if fit is not None]
    if not found:
        raise refusal or CaromError("no law has a number that is varied, and the noise is not known; give noise")
    return {name: min(each[name] for each in found) for name in unknown}


def _model(scenario: Scenario, data: DataLike, vary: Names, bounds: Any, from_first: bool) -> RunModel:
    """A variant with those of the paths that it has."""
    paths = [vary] if isinstance(vary, str) else list(vary)
    there = [path for path in paths if _has(scenario, path.partition("=")[0].strip())]
    predictor, first = predictor_of(scenario, data, there or paths, (), from_first)
    names = tuple(p.name for p in predictor.parameters)
    mine = {path: pair for path, pair in (bounds or {}).items() if path in names}
    limits = bounds_of(bounds_within(scenario, predictor.parameters, first, mine), names, first)
    size = np.where(first == 0.0, 1.0, np.abs(first))
    return RunModel(predictor, Guess(first, names, size, False, np.zeros(len(first), dtype=bool), limits))


def _has(scenario: Scenario, path: str) -> bool:
    try:
        changed(scenario, {path: 0.5})
    except ScenarioError as refusal:
        return "must" in str(refusal)  # it is there, and half is not allowed
    return True


def _scenarios(laws: Mapping[str, Any] | Sequence[Any]) -> dict[str, Scenario]:
    if isinstance(laws, Mapping):
        out = {str(name): each if isinstance(each, Scenario) else load(each) for name, each in laws.items()}
    else:
        made = [each if isinstance(each, Scenario) else load(each) for each in laws]
        out = {each.name: each for each in made}
        if len(out) != len(made):
            raise CaromError("two of the laws have the same name; give a dictionary, {'name': scenario}")
    if not out:
        raise CaromError("there are no laws to compare; give scenarios by name, {'newton': .., 'stronge': ..}")
    return out


def variants_of(scenario: Scenario, laws: Sequence[str]) -> dict[str, Scenario]:
    """Scenarios from words: 'path=a,b,c' changes one word of the scenario, anything else is a scenario's file."""
    out: dict[str, Scenario] = {}
    for text in laws:
        path, sign, values = text.partition("=")
        if not sign:
            out[Path(text).stem] = load(text)
            continue
        for word in values.split(","):
            out[word.strip()] = changed(scenario, {path.strip(): word_of(word)})
    return {scenario.name: scenario} | out if len(out) == 1 else out
