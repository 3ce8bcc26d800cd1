"""`carom.fit`, from data to estimates, and the result that it prints."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from ... import errors
from ..._arguments import Names, NoiseLike
from ...hybrid._run import compiler_options
from ...quantities import Function, Real, Times, Vector
from ._fit_input import (
    FitProblem,
    called,
    check_confidence,
    positive_of,
    problem_of,
    refuse_few_data,
    sizes_of,
    start_of,
)
from ._search import Found, plain, search
from ._uncertainty import uncertainty


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
            numbers = f"{self.estimate[name]:14.6g} {self.standard_error[name]:15.3g}"
            lines.append(f"  {name:{width}} {numbers}   [{low:.6g}, {high:.6g}]")
        return "\n".join([*lines, *(f"  {s}" for s in (*self.undetermined, *self._words()))])

    def _words(self) -> list[str]:
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
    gaps: bool = False,
    confidence: Real = 0.95,
    max_evaluations: int = 200,
    throw: bool = True,
) -> Fit:
    """Parameters for which `predict` comes nearest to the data.

    - `predict(parameters)`, or `predict(parameters, args)` where `args` are given: the signals, an array or a
      dictionary of arrays (channels) as `data`; any JAX function, also through impacts (`carom.states_at`,
      `carom.final_state`). Where parameters make no sense it may return nan: the step there is shortened
    - `start`: first guess, a dictionary of numbers (or a list); its names appear in the result
    - `noise`: standard deviation of the data: one number, one per channel, or one per datum. Without it all data are
      taken as equally noisy, with a standard deviation estimated from the residuals
    - `times` [s]: when the data were taken, only to check them: in order, one per row
    - `args`: what differs between fits of one `predict`; new numbers in it need no new compilation
    - `sizes`: what a large change of each parameter would be, as `start`; by default |start|, or 1 where that is zero,
      or |estimate| where that is larger
    - `positive`: names of parameters that stay above zero, such as masses; the search then runs over their logarithms
    - `gaps`: nan in the data means that nothing was measured there; otherwise it is a mistake
    - `max_evaluations`: give up after so many evaluations of `predict`
    - `throw`: raise an error if the search does not converge

        carom.fit(lambda p: heights(p["e"]), measured, {"e": 0.5}, noise=0.01, times=t)
    """
    check_confidence(confidence)
    first, unravel, names = start_of(start)
    size = sizes_of(sizes, start, first)
    problem = problem_of(predict, args, data, unravel(jnp.asarray(first)), noise, times, gaps)
    count = int(np.sum(problem.there))
    refuse_few_data(count, names)
    above = positive_of(positive, names, first)
    evaluate = _evaluation(problem, above, lambda p: _linearised(predict, unravel, args is not None, p, args))
    begin = np.where(above, np.log(np.where(above, first, 1.0)), first)
    found = search(
        evaluate, begin, float(np.linalg.norm((problem.measured / problem.noise)[problem.there])), max_evaluations
    )
    found = plain(found, above)
    size = np.where(above & (sizes is None), found.p, np.maximum(size, np.abs(found.p)))
    answer = uncertainty(found, names, size, noise is not None, float(confidence))
    if throw and not found.converged and answer["directions"].shape[0] == 0:
        raise errors.CaromError(_not_converged(found, names))
    return Fit(
        names=names,
        parameters=jax.tree.map(np.asarray, unravel(jnp.asarray(found.p))),
        residuals=problem.shaped(problem.spread_out(found.residual) * problem.noise),
        noise_known=noise is not None,
        degrees=count - len(first),
        confidence=float(confidence),
        evaluations=found.evaluations,
        converged=found.converged,
        band=problem.shaped(problem.spread_out(answer.pop("band")) * problem.noise),
        **answer,
    )


def _not_converged(found: Found, names: tuple[str, ...]) -> str:
    return (
        f"the fit did not converge in {found.evaluations} evaluations of predict; it stopped at "
        f"{dict(zip(names, found.p.tolist(), strict=True))}; start nearer, raise max_evaluations, or check whether "
        "predict is smooth there; throw=False returns it"
    )


def _evaluation(
    problem: FitProblem, above: np.ndarray, linearised: Callable[[Any], tuple[Any, Any]]
) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """What the search asks at u, the parameters, as logarithms where they stay above zero."""

    def evaluate(u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Residuals and Jacobian of the prediction, both in units of the noise."""
        with np.errstate(over="ignore"):
            p = np.where(above, np.exp(np.where(above, u, 0.0)), u)
        values, slopes = linearised(jnp.asarray(p))
        slopes = np.asarray(slopes) * np.where(above, p, 1.0)
        there = problem.there
        r, J = (problem.measured - np.asarray(values)) / problem.noise, slopes / problem.noise[:, None]
        return r[there], J[there]

    return evaluate


@partial(jax.jit, static_argnums=(0, 1, 2), compiler_options=compiler_options())
def _linearised(predict: Function, unravel: Function, with_args: bool, vector: Vector, args: PyTree) -> tuple[Any, Any]:
    """The prediction as one vector, and its Jacobian."""

    def flat(p: Vector) -> tuple[Any, Any]:
        signals = called(predict, with_args, unravel(p), args)
        values = jnp.concatenate([jnp.ravel(jnp.asarray(x, dtype=float)) for x in jax.tree.leaves(signals)])
        return values, values

    slopes, values = jax.jacfwd(flat, has_aux=True)(vector)
    return values, slopes
