"""Numbers that make a run cheap: parameters of a scenario, or of a world of one's own, within limits."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..._arguments import Count, Names, ScenarioLike, SettingsLike
from ..._progress import Line
from ...errors import CaromError, number
from ...hybrid.settings import Settings
from ...quantities import Function, Real
from ...scenario._build import settings_of, world_of
from ...scenario._change import changed
from ...scenario.library import load
from ...scenario.model import Scenario
from ..measuring._run_predictor import Parameter
from ..measuring._varied import bounds_within, guesses_of
from ..sweeping._lane_worlds import LaneWorld
from ._goals import Limit, goal_of, limits_of
from ._measured_lanes import MeasuredLanes, UserWorld
from ._sqp import MET, STILL, Enough, Hunt, Place, Problem, better, descend, prices_of
from .optimum import Held, Optimum

MOST_STARTS = 10_000
FINE = Settings(rtol=1e-9, atol=1e-11)


def optimize(
    run: ScenarioLike | Function,
    vary: Names | Mapping[str, Real],
    minimise: str | Mapping[str, Real] | Function,
    *,
    subject_to: Names = (),
    bounds: Mapping[str, tuple[Real, Real]] | None = None,
    until: Real | None = None,
    settings: SettingsLike = None,
    starts: Count = 1,
    seed: Count = 0,
    time: Real | None = None,
    max_evaluations: Count = 500,
    progress: bool | None = None,
) -> Optimum:
    """Numbers for which a measure of a run is least, and others stay within limits.

    - `run`: a scenario (its name, its file, or the object), or a function of {name: number} that returns a world and
      its start; then `until` [s] says when runs end. With a scenario it stands in place of its own
    - `vary`: paths of the scenario, or {path: where to begin}: gains, targets, instants, postures, masses ..
    - `minimise`: a measure (`impact.1.normal_impulse`, `most(abs(tip.vx))`, `final(com.y)`, `mean(SIGNAL)`), weights of
      several, or a function of a dictionary of them, made of jax.numpy
    - `subject_to`: texts that compare a measure with a number: "final(tip.y) >= 0.3", "0 <= impact.1.t_start <= 1",
      "impact.1.normal_impulse = 2"; a unit behind the number must be that of the measure
    - `bounds`: least and largest values by name; of a scenario, by default what its laws allow
    - `starts`: so many first guesses, others drawn by `seed` between bounds (else half to twice as large); the best end
      is the result
    - `time` [s], `max_evaluations`: stop then; the best so far is the result, as after Ctrl-C

    Slopes are exact, through impacts, where lanes of a batch record the measure; else they are differences of runs, and
    the result says of which. The search is SciPy's SLSQP.

        carom.optimize("ball-drop", {"contacts.floor.normal.restitution": 0.5}, {"impact.2.t_start": -1.0},
                       subject_to="most(ball.tip.y, after 1) <= 0.4 m")
    """
    problem, first, base = _problem(run, vary, minimise, subject_to, bounds, until, settings)
    guesses = _starts(first, problem, starts, seed)
    if time is not None:
        number("optimize", "time", time, above=0.0)
    _whole("max_evaluations", max_evaluations)
    line = Line(progress, None, 2.0)
    hunt = Hunt(problem, max_evaluations, None if time is None else float(time), line)
    try:
        best, stopped, ends = _searched(hunt, guesses)
    finally:
        line.close()
    begun = problem.place(guesses[0])
    return _told(problem, base, (begun, best), (hunt.evaluations, stopped, ends or (best.cost,)))


def _searched(hunt: Hunt, guesses: list[np.ndarray]) -> tuple[Place, str, tuple[float, ...]]:
    """The best end of all starts, why the search was stopped early, and the costs at all ends."""
    ends, refusal, best = list[float](), None, None
    try:
        for k, guess in enumerate(guesses):
            hunt.words = f"start {k + 1} of {len(guesses)}, " if len(guesses) > 1 else ""
            try:
                found = descend(hunt, guess)
            except CaromError as trouble:
                refusal = refusal or trouble
                ends.append(np.inf)
                continue
            ends.append(found.cost if found.missed <= MET else np.inf)
            best = found if better(found, best) else best
    except (Enough, KeyboardInterrupt) as end:
        if hunt.best is None:
            raise (refusal or end) if isinstance(end, Enough) else end from None
        return hunt.best, str(end) if isinstance(end, Enough) else "it was interrupted", tuple(ends)
    if best is None:
        raise refusal or CaromError("optimize has no start")
    return best, "", tuple(ends)


def _problem(
    run: Any, vary: Any, minimise: Any, subject_to: Any, bounds: Any, until: Any, settings: Any
) -> tuple[Problem, np.ndarray, Scenario | None]:
    """All that was given, looked at."""
    if settings is not None and not isinstance(settings, Settings):
        raise CaromError(f"settings of optimize are a {type(settings).__name__}; give carom.Settings(...)")
    goal, limits = goal_of(minimise), limits_of(subject_to)
    made: LaneWorld | UserWorld
    base: Scenario | None = None
    if inspect.isfunction(run) or (callable(run) and not isinstance(run, Scenario)):
        names, first, own = _of_function(vary)
        made = UserWorld(run, names)
        world = made.pair(first.tolist())[0]
        settings = settings or FINE
    else:
        base = load(run) if isinstance(run, str | Path) else run
        base = _plain(base, until)
        guesses = guesses_of(base, vary, "vary")
        if not guesses:
            raise CaromError("vary of optimize is empty; name a number of the scenario, such as start.angles.0")
        names, first = tuple(guesses), np.array(list(guesses.values()))
        parameters = [Parameter(path, None, path) for path in names]
        own = bounds_within(base, parameters, first, None)
        made = LaneWorld(base.toml(), names)
        world = world_of(changed(base, guesses))
        settings, until = settings or settings_of(base), base.run.until
    number("optimize", "until", until, above=0.0)
    between = _bounds(bounds, names, first, own)
    width = between[1] - between[0]
    size = np.where(np.isfinite(width), width, np.where(first == 0.0, 1.0, np.abs(first)))
    measured = tuple(dict.fromkeys([*goal.names, *(limit.measure for limit in limits)]))
    horizon = float(until)
    lanes = MeasuredLanes(made, base, measured, size, horizon, settings.integration(horizon), world)
    _check_units(limits, lanes.units)
    return Problem(lanes, goal, limits, between, size), first, base


def _plain(scenario: Any, until: Any) -> Scenario:
    """The scenario as a plain run that ends at a time."""
    if not isinstance(scenario, Scenario):
        raise CaromError(
            f"optimize is given a {type(scenario).__name__}; give a scenario, its name or file, or a function that "
            "returns a world and its start"
        )
    if scenario.capture is not None or scenario.crawl is not None:
        kind = "capture" if scenario.capture else "crawl"
        raise CaromError(f"'{scenario.name}' is a {kind}; optimize runs plain simulations: give a function for others")
    if until is not None:
        number("optimize", "until", until, above=0.0)
        scenario = changed(scenario, {"run.until": float(until)})
    if isinstance(scenario.run.until, str | list):
        raise CaromError(f"until of [run] is {scenario.run.until!r}; optimize needs a time [s]: give until=")
    return scenario.model_copy(update={"study": None, "quantities": {}, "variants": {}, "compare": []})


def _of_function(vary: Any) -> tuple[tuple[str, ...], np.ndarray, dict[str, tuple[float, float]]]:
    if not isinstance(vary, Mapping) or not vary:
        raise CaromError(f"vary of optimize is {vary!r:.60}; with a function give {{name: where to begin}}")
    for name, value in vary.items():
        if not isinstance(name, str):
            raise CaromError(f"vary of optimize names {name!r}; a name is a text")
        number("vary of optimize", f"'{name}'", value)
    return tuple(vary), np.array([float(x) for x in vary.values()]), {}


def _bounds(
    given: Any, names: tuple[str, ...], first: np.ndarray, own: Mapping[str, tuple[float, float]]
) -> tuple[np.ndarray, np.ndarray]:
    """Least and largest values: what is given, else what is allowed."""
    from ...errors import name_in

    if given is not None and not isinstance(given, Mapping):
        raise CaromError(f"bounds of optimize are {given!r:.60}; give {{name: (least, largest)}}")
    for name in given or {}:
        name_in("parameter (bounds of optimize)", name, names)
    low, high = np.full(len(names), -np.inf), np.full(len(names), np.inf)
    for k, name in enumerate(names):
        pair = (given or {}).get(name, own.get(name, (-np.inf, np.inf)))
        try:
            low[k], high[k] = (float(x) for x in pair)
        except (TypeError, ValueError):
            raise CaromError(f"bounds of '{name}' are {pair!r}; they must be two numbers, such as (0, 1)") from None
        if not low[k] < high[k]:
            raise CaromError(f"bounds of '{name}' are {low[k]:g} and {high[k]:g}; the smaller one comes first")
        if not low[k] <= first[k] <= high[k]:
            raise CaromError(f"'{name}' begins at {first[k]:g}, outside of {low[k]:g} and {high[k]:g}; begin inside")
    return low, high


def _check_units(limits: tuple[Limit, ...], units: Mapping[str, str]) -> None:
    for limit in limits:
        unit = units[limit.measure]
        if limit.unit and limit.unit != unit:
            raise CaromError(
                f"subject_to '{limit.text}' compares with a number in {limit.unit}; '{limit.measure}' is in "
                f"{unit or 'no unit that is known'}: give it in that"
            )


def _whole(field: str, given: Any, most: int = 1_000_000, least: int = 1) -> None:
    if not isinstance(given, int) or isinstance(given, bool) or not least <= given <= most:
        raise CaromError(f"{field} of optimize is {given!r}; it must be a whole number from {least} to {most}")


def _starts(first: np.ndarray, problem: Problem, count: Any, seed: Any) -> list[np.ndarray]:
    """The first guess, and others: between bounds, else half to twice as large."""
    _whole("starts", count, MOST_STARTS)
    _whole("seed", seed, 2**63, 0)
    rng, (low, high) = np.random.default_rng(seed), problem.bounds
    out = [first]
    for _ in range(count - 1):
        share = rng.random(len(first))
        free = np.where(first == 0.0, problem.size * (2.0 * share - 1.0), first * 2.0 ** (2.0 * share - 1.0))
        with np.errstate(invalid="ignore"):
            inside = low + share * (high - low)
        out.append(np.clip(np.where(np.isfinite(low) & np.isfinite(high), inside, free), low, high))
    return out


def _told(
    problem: Problem, base: Scenario | None, ends: tuple[Place | str, Place], how: tuple[int, str, tuple[float, ...]]
) -> Optimum:
    (begun, best), (evaluations, stopped, all_ends) = ends, how
    first, slope = (begun.cost, begun.slope) if isinstance(begun, Place) else (np.inf, best.slope)
    prices, p, (low, high) = prices_of(problem, best, slope), best.seen.p, problem.bounds
    names = problem.lanes.made.names if isinstance(problem.lanes.made, UserWorld) else problem.lanes.made.paths
    edges = {n: "least" for n, x, edge in zip(names, p, low, strict=True) if x <= edge}
    edges |= {n: "largest" for n, x, edge in zip(names, p, high, strict=True) if x >= edge}
    missed = -best.margins / problem.scales
    units, held = problem.lanes.units, []
    for k, limit in enumerate(problem.limits):
        met = bool((abs(missed[k]) if limit.sense == "=" else missed[k]) <= MET)
        active = limit.sense == "=" or bool(abs(missed[k]) <= 10.0 * MET)
        value = best.seen.values[limit.measure]
        held.append(Held(limit.shown, value, limit.bound, units[limit.measure], active, met, float(prices.limits[k])))
    good = best.missed <= MET
    converged = good and prices.left <= STILL and not stopped
    values = dict(zip(names, p.tolist(), strict=True))
    return Optimum(
        parameters=values,
        cost=best.cost,
        first_cost=first,
        goal=problem.goal.shown,
        measures=best.seen.values,
        limits=tuple(held),
        on_bounds=edges,
        prices={n: float(prices.bounds[k]) for k, n in enumerate(names) if n in edges},
        exact=problem.lanes.exact,
        differences=tuple(n for n in problem.lanes.names if n not in problem.lanes.exact),
        evaluations=evaluations,
        converged=converged,
        reason=_reason(stopped, good, prices.left),
        left=prices.left,
        ends=all_ends,
        scenario=None if base is None else changed(base, values),
    )


def _reason(stopped: str, good: bool, left: float) -> str:
    if stopped:
        return f"{stopped}; this is the best so far" + ("" if good else ", and limits do not hold yet")
    if not good:
        return "limits do not hold, and nothing near comes closer to them; begin elsewhere, or ask for less"
    if left <= STILL:
        return "limits and bounds balance the slopes of the cost: a minimum"
    return (
        f"nothing near is cheaper, although {100.0 * left:.3g} % of the slopes of the cost are left: an edge of "
        "the cost (of two peaks the larger one, a strike that comes or goes), or rounding"
    )
