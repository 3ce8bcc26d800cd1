"""Numbers of a scenario from what was recorded: `carom fit` and `carom.fit_scenario`."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._arguments import Count, DataLike, Names, NoiseLike, ScenarioLike
from ...errors import CaromError, CaromWarning, name_in, number
from ...quantities import Given, Real
from ...scenario._build import world_of
from ...scenario._change import changed
from ...scenario.library import load
from ...scenario.model import Scenario
from ...study.fitting import Fit
from ...study.fitting._fit_input import bounds_of, check_confidence, compared
from ...study.fitting._solving import Effort, Guess
from ...study.fitting.estimate import fitted
from ._plausible import refuse_gravity, refuse_late, refuse_scale
from ._recorded_runs import Records, records_of
from ._recorded_tables import tables_of
from ._run_predictor import RunPredictor, horizon_of
from ._varied import bounds_within, guesses_of, parameters_of

if TYPE_CHECKING:
    from ...study.fitting._fit_input import FitProblem


@dataclasses.dataclass(frozen=True)
class ScenarioFit:
    """What records say about numbers of a scenario; `print` shows it, `save` writes a folder with a page.

    - `fit`: estimates, intervals, correlations, what is not determined (`carom.study.Fit`)
    - `scenario`: with the estimates in it; where a number is not determined, with one of many that fit as well
    - `measured`, `predicted`, `band`: channels by name, (runs, n); nan is a gap
    - `advice`: what measurement would settle what is not determined
    """

    fit: Fit
    scenario: Scenario
    records: Records
    measured: dict[str, np.ndarray]
    predicted: dict[str, np.ndarray]
    band: dict[str, np.ndarray]
    advice: tuple[str, ...]
    predictor: RunPredictor

    def __repr__(self) -> str:
        cells = sum(x.size for x in self.cells.values())
        gaps = cells - self.records.data
        runs, channels = (
            f"{count} {word}{'s' * (count != 1)}"
            for count, word in ((len(self.records.names), "run"), (len(self.measured), "channel"))
        )
        lines = [repr(self.fit), f"  {runs}, {channels}, {gaps} of {cells} cells are gaps"]
        return "\n".join([*lines, *(f"  {words}" for words in self.advice)])

    @property
    def cells(self) -> dict[str, np.ndarray]:
        """What could have been measured: all instants of every run, all impacts up to the last one."""
        there = np.isfinite(self.records.times)
        series = {c.name for c in self.records.series}
        return {name: x[there] if name in series else x for name, x in self.measured.items()}

    def save(self, folder: str | Path, *, replace: bool = False) -> Path:
        """Write fit.json, the scenario with its estimates, residuals.csv, figures and a page: all of it, or nothing."""
        from ._fit_output import write_fit

        return write_fit(self, Path(folder), replace)


def fit_scenario(
    scenario: ScenarioLike,
    data: DataLike,
    vary: Names | Mapping[str, Real],
    *,
    each: Names | Mapping[str, Real] = (),
    noise: NoiseLike = None,
    bounds: Mapping[str, tuple[Real, Real]] | None = None,
    from_first: bool = False,
    confidence: Real = 0.95,
    starts: Count = 1,
    seed: Count = 0,
    time: Real | None = None,
    max_evaluations: Count = 200,
    progress: bool | None = None,
    throw: bool = True,
) -> ScenarioFit:
    """Numbers of a scenario for which it comes nearest to what was recorded.

    - `data`: a CSV file, or several, or columns ({'t': .., 'y.ball.tip': ..}). With a column t [s], signals over time
      (angle.LINK, rate.LINK, x.SITE, vy.SITE, normal.CONTACT ..); with a column impact (1, 2, 3 ..), numbers of impacts
      (t_start, interval, normal_velocity_before, restitution ..); else a row for each run, and measures
      (angle.LINK.final). A column record names the run; a column such as start.base.1 is a number of the scenario that
      is known of each run. Units stand in brackets, y.ball.tip [mm]; an empty cell or nan is a gap
    - `vary`: paths of the scenario, or {path: first guess}; `each`: those that every run has for itself
    - `noise`: standard deviations by channel, or one for all; what is not known is found from the residuals
    - `bounds`: by path; by default what the laws allow
    - `from_first`: every run begins at its first row
    - others as in `carom.fit`

    A record of a fall, from 0.6 m at 9.7 m/s^2, read to a millimetre:

    >>> import carom, numpy as np
    >>> t = np.linspace(0.0, 0.3, 7)
    >>> fall = {"t": t, "y.ball.tip": 0.6 - 0.5 * 9.7 * t**2}
    >>> found = carom.fit_scenario("ball-drop", fall, {"gravity": 9.8, "start.base.1": 0.7}, noise=1e-3)
    >>> {name: round(value, 6) for name, value in found.fit.estimate.items()}
    {'gravity': 9.7, 'start.base.1': 0.6}
    """
    check_confidence(confidence)
    base = load(scenario) if isinstance(scenario, str | Path) else scenario
    predictor, first = predictor_of(base, data, vary, each, from_first)
    names = tuple(p.name for p in predictor.parameters)
    limits = bounds_of(bounds_within(base, predictor.parameters, first, bounds), names, first)
    size = np.where(
        first == 0.0, np.where(np.isfinite(limits[1] - limits[0]), limits[1] - limits[0], 1.0), np.abs(first)
    )
    guess = Guess(first, names, size, False, np.zeros(len(first), dtype=bool), limits)
    problem = problem_for(predictor.records, noise)
    _refuse_start(predictor, first, starts > 1)
    if time is not None:
        number("fit", "time", time, above=0.0)
    effort = Effort(max_evaluations, starts, seed, None if time is None else float(time), progress)
    named = partial(_named, names)
    found = fitted(problem, flat(predictor), guess, effort, True, float(confidence), named, throw)
    return _told(base, predictor, found)


def _named(names: tuple[str, ...], p: Given) -> dict[str, Any]:
    """Parameters by their paths."""
    return dict(zip(names, p, strict=True))


def predictor_of(
    scenario: Scenario, data: DataLike, vary: Any, each: Any = (), from_first: bool = False
) -> tuple[RunPredictor, np.ndarray]:
    """What a scenario predicts of these data, and where the search begins."""
    if scenario.capture is not None or scenario.crawl is not None:
        kind = "capture" if scenario.capture else "crawl"
        raise CaromError(f"'{scenario.name}' is a {kind}; a fit runs plain simulations: see carom.fit for others")
    plain = scenario.model_copy(update={"study": None, "quantities": {}, "variants": {}, "compare": []})
    guesses, own = guesses_of(plain, vary, "vary"), guesses_of(plain, each, "each")
    tables = tables_of(data)
    records = records_of(plain, world_of(plain), tables, from_first)
    last = records.times[np.isfinite(records.times)]
    if last.size:
        refuse_late(float(last.max()), horizon_of(plain), ", ".join(t.where for t in tables if t.kind == "series"))
    parameters, first = parameters_of(guesses, own, records)
    return RunPredictor(plain, records, parameters), first


def problem_for(records: Records, noise: NoiseLike) -> FitProblem:
    """Data and noise as vectors; noise that is not known is found by channel."""
    levels: dict[str, Any] = dict(records.noise)
    if isinstance(noise, Mapping):
        for name, level in noise.items():
            name_in("channel of noise", name, tuple(levels))
            levels[name] = level
    elif noise is not None:
        levels = dict.fromkeys(levels, noise)
    return compared(records.measured, records.measured, levels, gaps=True)


def flat(predictor: RunPredictor) -> Any:
    """Values and slopes of all channels, one after the other, by their names."""
    names = sorted(predictor.records.measured)

    def linearised(p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values, slopes = predictor.linearised(p)
        rows = [slopes[n].reshape(-1, len(p)) for n in names]
        return np.concatenate([values[n].ravel() for n in names]), np.concatenate(rows)

    return linearised


def _refuse_start(predictor: RunPredictor, first: np.ndarray, others: bool) -> None:
    """A start without a prediction, or units that cannot be right."""
    values, _ = predictor.linearised(first)
    records = predictor.records
    if any(np.any(np.isfinite(x) & ~np.isfinite(values[name])) for name, x in records.measured.items()) and not others:
        words = predictor.trouble(first)
        if words:
            raise CaromError(words)
    for name, x in records.measured.items():
        if name not in records.stated:
            refuse_scale(name, records.unit[name], x, values[name])


def _told(scenario: Scenario, predictor: RunPredictor, found: Fit) -> ScenarioFit:
    from ._advice import advice_for

    at = {p.path: float(found.parameters[p.name]) for p in predictor.parameters if p.run is None}
    own = {p.path: float(found.parameters[p.name]) for p in predictor.parameters if p.run == 0}
    at |= own if len(predictor.records.names) == 1 else {}
    _warn_gravity(at)
    measured = predictor.records.measured
    predicted = predictor.values(np.array([float(found.parameters[n]) for n in found.names]))
    advice = advice_for(predictor, found)
    return ScenarioFit(
        found, changed(scenario, at), predictor.records, measured, predicted, found.band, advice, predictor
    )


def _warn_gravity(values: Mapping[str, float]) -> None:
    """An estimate that is the Earth's in another unit."""
    if "gravity" not in values:
        return
    try:
        refuse_gravity(values["gravity"], "the estimate")
    except CaromError as words:
        warnings.warn(f"{words}; are the data in other units?", CaromWarning, stacklevel=2)
