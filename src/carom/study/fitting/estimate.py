"""`carom.fit`, from data to estimates, and the result that it prints."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from ... import errors
from ..._arguments import Count, Names, NoiseLike
from ...hybrid._run import compiler_options
from ...quantities import Function, Real, Times, Vector
from ._fit_input import (
    FitProblem,
    bounds_of,
    called,
    check_confidence,
    positive_of,
    problem_of,
    refuse_few_data,
    sizes_of,
    start_of,
)
from ._search import Found
from ._solving import Effort, Guess, Linearised, answer, solve


@dataclasses.dataclass(frozen=True)
class Fit:
    """Estimates with their uncertainty; `print` shows them. Dictionaries run over the parameters' names."""

    names: tuple[str, ...]
    estimate: dict[str, float]  # nan where the data cannot tell
    standard_error: dict[str, float]  # infinite there
    intervals: dict[str, tuple[float, float]]  # that hold the truth with `confidence`
    covariance: np.ndarray  # infinite rows and columns for parameters that are not determined
    undetermined: tuple[str, ...]  # a sentence for every direction that the data do not show
    directions: np.ndarray  # these directions, in units of the parameters, a row each
    parameters: Any  # as `start`; one of many that fit as well, where something is not determined
    residuals: Any  # measured minus predicted, as the data
    noise_level: float  # standard deviation of the residuals in units of the noise given; 1 is what it promised
    noise_known: bool
    degrees: int  # data less parameters
    confidence: float
    evaluations: int  # of predict
    converged: bool  # did the search come to rest? (Where something is not determined it may drift forever.)
    band: Any = None  # standard deviation of the prediction that comes from the estimates', as data
    noise: Any = None  # standard deviations that the data were weighed with, as data
    noise_found: dict[str, float] = dataclasses.field(default_factory=dict)  # of channels where it was not known
    on_bounds: dict[str, str] = dataclasses.field(default_factory=dict)  # on its `least` or `largest` value: the data
    # pull it beyond
    ends: tuple[float, ...] = ()  # sums of squares where the searches from all starts ended
    stopped: str = ""  # why the search ended early: what is told is the best so far

    @property
    def determined(self) -> bool:
        """Did the data determine every parameter?"""
        return not self.undetermined

    @property
    def chance(self) -> float:
        """Probability of residuals at least as large if model and noise are right; nan where noise is not known."""
        from scipy import stats  # here, because it loads slowly and few need it

        if not self.noise_known or self.degrees == 0:
            return float("nan")
        return float(stats.chi2.sf(self.noise_level**2 * self.degrees, self.degrees))

    @property
    def correlations(self) -> np.ndarray:
        """Of the estimates; nan for what is not determined, or lies on a bound."""
        size = np.sqrt(np.diag(self.covariance))
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.covariance / np.outer(size, size)

    def __repr__(self) -> str:
        percent = f"{100 * self.confidence:g} %"
        width = max(12, *(len(n) for n in self.names))
        lines = [
            f"Fit: {len(self.names)} parameters, {self.degrees + len(self.names)} data, {self.evaluations} evaluations"
        ]
        lines.append(f"  {'parameter':{width}} {'estimate':>14} {'standard error':>15}   {percent} interval")
        for name in self.names:
            low, high = self.intervals[name]
            if np.isnan(self.estimate[name]):
                lines.append(f"  {name:{width}} {'not determined':>14}")
                continue
            spread = "on its bound" if name in self.on_bounds else f"{self.standard_error[name]:.3g}"
            numbers = f"{self.estimate[name]:14.6g} {spread:>15}"
            lines.append(f"  {name:{width}} {numbers}   [{low:.6g}, {high:.6g}]")
        return "\n".join([*lines, *(f"  {s}" for s in (*self.undetermined, *self.remarks))])

    @property
    def remarks(self) -> list[str]:
        """What is to be known about the search and the noise, in sentences."""
        return [*self._about_search(), *self._about_noise()]

    @property
    def warnings(self) -> list[str]:
        """Those of them that should worry."""
        starts = len(self.ends) > 1
        doubtful = self.noise_known and self.chance < 1e-3
        return [*self._about_search()[: -1 if starts else None], *(self._about_noise() if doubtful else ())]

    def _about_search(self) -> list[str]:
        out = [f"the search ended early: {self.stopped}; this is the best so far"] if self.stopped else []
        out += [f"{n} is on its {which} value; the data would take it beyond" for n, which in self.on_bounds.items()]
        if len(self.ends) > 1:
            least = min(self.ends)
            same = sum(end <= least * (1.0 + 1e-3) for end in self.ends)
            out.append(f"{same} of {len(self.ends)} starts ended here")
        return out

    def _about_noise(self) -> list[str]:
        if self.noise_found:
            return [f"noise of {name}, from its residuals: {level:.3g}" for name, level in self.noise_found.items()]
        if not self.noise_known:
            return [f"noise, from the residuals: {self.noise_level:.3g}"]
        words = f"residuals are {self.noise_level:.3g} times the noise"
        if self.chance < 1e-3:
            words += f" (chance {self.chance:.1g}): the model does not explain the data, or the noise is larger"
        return [words]


def fit(
    predict: Function,
    data: PyTree,
    start: PyTree,
    *,
    noise: NoiseLike = None,
    times: Times | None = None,
    args: PyTree = None,
    sizes: PyTree = None,
    positive: Names = (),
    bounds: Mapping[str, tuple[Real, Real]] | None = None,
    gaps: bool = False,
    confidence: Real = 0.95,
    starts: Count = 1,
    seed: Count = 0,
    time: Real | None = None,
    max_evaluations: int = 400,
    progress: bool | None = False,
    throw: bool = True,
) -> Fit:
    """Parameters for which `predict` comes nearest to the data.

    - `predict(parameters)`, or `predict(parameters, args)` where `args` are given: the signals, an array or a
      dictionary of arrays (channels) as `data`; any JAX function, also through impacts (`carom.states_at`,
      `carom.final_state`). Where parameters make no sense it may return nan: the step there is shortened
    - `start`: first guess, a dictionary of numbers (or a list); its names appear in the result
    - `noise`: standard deviation of the data: one number, one per channel, or one per datum. Without it all data are
      taken as equally noisy, with a standard deviation estimated from the residuals; None for one of several channels
      estimates that channel's
    - `times` [s]: of the data, only to check them: in order, one per row
    - `args`: what differs between fits of one `predict`; new numbers in it need no new compilation
    - `sizes`: what a large change of each parameter would be, as `start`; by default |start|, or 1 where that is zero,
      or |estimate| where that is larger
    - `positive`: names of parameters that stay above zero, such as masses; the search then runs over their logarithms
    - `bounds`: the least and the largest value of parameters, by name; one that the data pull beyond stays on its bound
    - `gaps`: nan in the data means that nothing was measured there; otherwise it is a mistake
    - `starts`: search from so many first guesses, others drawn by `seed` between the bounds, and keep the best end
    - `time` [s]: stop then; the best so far is the result, which says so, as after Ctrl-C
    - `max_evaluations`: give up after so many evaluations of `predict`, from each start
    - `throw`: raise an error if the search does not converge

        carom.fit(lambda p: heights(p["e"]), measured, {"e": 0.5}, noise=0.01, times=t)
    """
    check_confidence(confidence)
    first, unravel, names = start_of(start)
    problem = problem_of(predict, args, data, unravel(jnp.asarray(first)), noise, times, gaps)
    size, above = sizes_of(sizes, start, first), positive_of(positive, names, first)
    guess = Guess(first, names, size, sizes is not None, above, bounds_of(bounds, names, first))
    effort = Effort(max_evaluations, starts, seed, _seconds(time), progress)

    def linearised(p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values, slopes = _linearised(predict, unravel, args is not None, jnp.asarray(p), args)
        return np.asarray(values), np.asarray(slopes)

    def shaped(p: np.ndarray) -> Any:
        return jax.tree.map(np.asarray, unravel(jnp.asarray(p)))

    return fitted(problem, linearised, guess, effort, noise is not None, float(confidence), shaped, throw)


def fitted(
    problem: FitProblem,
    linearised: Linearised,
    guess: Guess,
    effort: Effort,
    known: bool,
    confidence: float,
    shaped: Callable[[np.ndarray], Any],
    throw: bool,
) -> Fit:
    """A fit of anything that says its values and slopes."""
    refuse_few_data(int(np.sum(problem.there)), guess.names)
    solved = solve(problem, linearised, guess, effort)
    out = Fit(**answer(solved, guess, known, confidence), parameters=shaped(solved.found.p))
    if throw and not out.converged and not out.stopped and out.determined:
        raise errors.CaromError(_not_converged(solved.found, guess.names))
    return out


def _seconds(time: Real | None) -> float | None:
    if time is not None:
        errors.number("fit", "time", time, above=0.0)
    return None if time is None else float(time)


def _not_converged(found: Found, names: tuple[str, ...]) -> str:
    return (
        f"the fit did not converge in {found.evaluations} evaluations of predict; it stopped at "
        f"{dict(zip(names, found.p.tolist(), strict=True))}; start nearer, raise max_evaluations, or check whether "
        "predict is smooth there; throw=False returns it"
    )


@partial(jax.jit, static_argnums=(0, 1, 2), compiler_options=compiler_options())
def _linearised(predict: Function, unravel: Function, with_args: bool, vector: Vector, args: PyTree) -> tuple[Any, Any]:
    """The prediction as one vector, and its Jacobian."""

    def flat(p: Vector) -> tuple[Any, Any]:
        signals = called(predict, with_args, unravel(p), args)
        values = jnp.concatenate([jnp.ravel(jnp.asarray(x, dtype=float)) for x in jax.tree.leaves(signals)])
        return values, values

    slopes, values = jax.jacfwd(flat, has_aux=True)(vector)
    return values, slopes
