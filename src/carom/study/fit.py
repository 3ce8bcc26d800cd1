"""Identification: parameters from recorded signals, by least squares on exact derivatives, with what the data allow.

    minimise  sum_i ((measured_i - predict(p)_i) / noise_i)^2       J = d predict / dp / noise, by forward mode
    covariance = (J^T J)^-1 (times the variance of the residuals where the noise is not known)

Not every parameter can be found in every signal. J is scaled by the `sizes` of the parameters, so that its singular
values s count, in standard deviations of all the data together, how visible a change of the parameters by their own
size is along each direction. Directions with s < 0.2 (ten times their size is not to be told from noise at 95 %), or
that vanish numerically, are not determined: the result names them and gives no number for the parameters that they
touch. Intervals are those of the model linearised at the estimate.

Levenberg and Marquardt's steps, with the norms of the columns of J as scale, bent along the valley by the second
derivative in their own direction (geodesic acceleration: Transtrum and Sethna 2012).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from .. import errors
from ..hybrid import outcome
from ..hybrid.loop import Settings, settings_of
from ..hybrid.run import compiler_options, start, to_end
from ..hybrid.scene import merge
from ..hybrid.world import World

VISIBLE = 0.2  # standard deviations of all data together, for a change of the parameters by their own size
PROBE = 0.1  # share of a step over which the second derivative is taken
RANK_TOLERANCE = 1e-7  # singular values of J with unit columns below this fraction of the largest count as zero
TAKES_PART = 0.05  # share of a parameter in a direction from which the direction touches it
STILL = 1e-6  # what is left to gain, relative to the residuals
ROUNDING = 1e-11  # the same, relative to the data


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
    steps: int
    converged: bool  # did the search come to rest? (Where something is not determined it may drift on for ever.)

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
        lines = [f"Fit: {len(self.names)} parameters, {self.degrees + len(self.names)} data, {self.steps} steps"]
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
    predict: Callable[..., Any],
    data: Any,
    start: Any,
    *,
    noise: Any = None,
    times: Any = None,
    args: Any = None,
    sizes: Any = None,
    positive: Any = (),
    confidence: Any = 0.95,
    max_steps: int = 100,
    throw: bool = True,
) -> Fit:
    """Parameters for which `predict` comes nearest to the data.

    - `predict(parameters)`, or `predict(parameters, args)` where `args` are given: the signals, an array or a
      dictionary of arrays (channels) as `data`; any JAX function, also through impacts (`carom.states_at`,
      `carom.final_state`). Where parameters make no sense it may return nan: the step there is shortened
    - `start`: first guess, a dictionary of numbers (or a list); its names appear in the result
    - `noise`: standard deviation of the data: one number, one per channel, or one per datum. Without it all data are
      taken as equally noisy, by an amount that the residuals tell
    - `times` [s]: when the data were taken, only to check them: in order, one per row
    - `args`: what differs between fits of one `predict`; new numbers in it compile nothing again
    - `sizes`: what a large change of each parameter would be, as `start`; by default |start|, or 1 where that is zero,
      or |estimate| where that is larger
    - `positive`: names of parameters that stay above zero, such as masses; the search then runs over their logarithms
    - `throw`: raise an error if the search does not converge

        carom.fit(lambda p: heights(p["e"]), measured, {"e": 0.5}, noise=0.01, times=t)
    """
    errors.number("fit", "confidence", confidence, above=0.0)
    if not float(confidence) < 1.0:
        raise errors.CaromError(
            f"confidence of fit is {float(confidence):g}; it must lie between 0 and 1, such as 0.95"
        )
    first, unravel, names = _start_of(start)
    size = _sizes_of(sizes, start, first)
    problem = _problem(predict, args, data, unravel(jnp.asarray(first)), noise, times)
    if len(problem.measured) < len(first):
        raise errors.CaromError(
            f"there are {len(problem.measured)} data for {len(first)} parameters ({', '.join(names)}); at least as "
            "many data as parameters are needed; record more, or fit fewer"
        )

    above = _positive(positive, names, first)

    def evaluate(u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Residuals and Jacobian of the prediction, both in units of the noise; u: logarithms where positive."""
        with np.errstate(over="ignore"):
            p = np.where(above, np.exp(np.where(above, u, 0.0)), u)
        values, slopes = _linearised(predict, unravel, args is not None, jnp.asarray(p), args)
        slopes = np.asarray(slopes) * np.where(above, p, 1.0)
        return (problem.measured - np.asarray(values)) / problem.noise, slopes / problem.noise[:, None]

    begin = np.where(above, np.log(np.where(above, first, 1.0)), first)
    found = _search(evaluate, begin, float(np.linalg.norm(problem.measured / problem.noise)), max_steps)
    found = _plain(found, above)
    size = np.where(above & (sizes is None), found.p, np.maximum(size, np.abs(found.p)))
    answer = _uncertainty(found, names, size, noise is not None, float(confidence))
    if throw and not found.converged and answer["directions"].shape[0] == 0:
        raise errors.CaromError(
            f"the fit did not converge in {found.steps} steps; it stopped at "
            f"{dict(zip(names, found.p.tolist(), strict=True))}; start nearer, raise max_steps, or look whether "
            "predict is smooth there; throw=False returns it"
        )
    return Fit(
        names=names,
        parameters=jax.tree.map(np.asarray, unravel(jnp.asarray(found.p))),
        residuals=problem.shaped(found.residual * problem.noise),
        noise_known=noise is not None,
        degrees=len(problem.measured) - len(first),
        confidence=float(confidence),
        steps=found.steps,
        converged=found.converged,
        **answer,
    )


# -- what is given -----------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class _Problem:
    measured: np.ndarray
    noise: np.ndarray
    channels: tuple[str, ...] | None
    shapes: tuple[tuple[int, ...], ...]

    def shaped(self, flat: np.ndarray) -> Any:
        """A flat vector as the data were given."""
        ends = np.cumsum([int(np.prod(s)) for s in self.shapes])
        pieces = [x.reshape(s) for x, s in zip(np.split(flat, ends[:-1]), self.shapes, strict=True)]
        return pieces[0] if self.channels is None else dict(zip(self.channels, pieces, strict=True))


def _start_of(start: Any) -> tuple[np.ndarray, Callable[[Any], Any], tuple[str, ...]]:
    """First guess as a vector, the way back, and a name for every entry."""
    try:
        tree = jax.tree.map(lambda x: jnp.asarray(x, dtype=float), start)
        if isinstance(start, list | tuple):
            tree = jnp.asarray(start, dtype=float)
        vector = ravel_pytree(tree)[0]
    except (TypeError, ValueError):
        raise errors.CaromError(
            f"start of fit is {start!r}; it must be numbers: a dictionary such as {{'mass': 1.0}}, or a list"
        ) from None
    if vector.size == 0:
        raise errors.CaromError("start of fit is empty; name at least one parameter, such as {'mass': 1.0}")
    if not np.all(np.isfinite(vector)):
        raise errors.CaromError(f"start of fit is {np.asarray(vector).tolist()}; every entry must be a finite number")
    return (
        np.asarray(vector),
        _Unravel(jax.tree.structure(tree), tuple(x.shape for x in jax.tree.leaves(tree))),
        _names(tree),
    )


@dataclasses.dataclass(frozen=True)
class _Unravel:
    """Vector to parameters; equal for equal structures, so that a second fit finds what the first compiled."""

    structure: Any
    shapes: tuple[tuple[int, ...], ...]

    def __call__(self, vector: Any) -> Any:
        ends = np.cumsum([int(np.prod(s)) for s in self.shapes])
        pieces = jnp.split(vector, ends[:-1])
        return jax.tree.unflatten(self.structure, [x.reshape(s) for x, s in zip(pieces, self.shapes, strict=True)])


def _names(tree: Any) -> tuple[str, ...]:
    out: list[str] = []
    for path, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]:
        name = ".".join(str(getattr(k, "key", getattr(k, "name", getattr(k, "idx", k)))) for k in path) or "p"
        out += [name] if leaf.ndim == 0 else [f"{name}[{','.join(map(str, i))}]" for i in np.ndindex(leaf.shape)]
    return tuple(out)


def _sizes_of(sizes: Any, start: Any, first: np.ndarray) -> np.ndarray:
    if sizes is None:
        return np.where(first == 0.0, 1.0, np.abs(first))
    flat = _start_of(sizes)[0]
    alike = _start_of(sizes)[1] == _start_of(start)[1]
    if not alike or not np.all(flat > 0.0):
        raise errors.CaromError(
            f"sizes of fit is {sizes!r}; it must have a number above 0 for every parameter of start, {start!r}"
        )
    return flat


def _positive(positive: Any, names: tuple[str, ...], first: np.ndarray) -> np.ndarray:
    """Which parameters stay above zero."""
    for name in positive:
        errors.name_in("parameter of fit (named as positive)", name, names)
        if not first[names.index(name)] > 0.0:
            raise errors.CaromError(
                f"start of '{name}' is {first[names.index(name)]:g}; a positive one must be above 0"
            )
    return np.asarray([name in positive for name in names])


def _problem(predict: Any, args: Any, data: Any, first: Any, noise: Any, times: Any) -> _Problem:
    """Data and noise as vectors in the order of the prediction, or a sentence about what is wrong with them."""
    if not callable(predict):
        raise errors.CaromError(
            f"predict of fit is a {type(predict).__name__}; it must be a function of the parameters"
        )
    like = jax.eval_shape(partial(_called, predict, args is not None), first, args)
    channels = tuple(data) if isinstance(data, Mapping) else None
    if isinstance(like, Mapping) != (channels is not None):
        raise errors.CaromError(
            f"data is a {type(data).__name__} but predict returns a {type(like).__name__}; give both as arrays, or "
            "both as dictionaries of channels"
        )
    if channels is not None:
        _refuse_channels(channels, tuple(like))
    # jax sorts the keys of a dictionary: so do we
    channels = None if channels is None else tuple(sorted(channels))
    pieces = {None: data} if channels is None else {c: data[c] for c in channels}
    arrays = {c: _measured(c, x) for c, x in pieces.items()}
    for c, x in arrays.items():
        want = like.shape if c is None else like[c].shape
        if x.shape != want:
            raise errors.CaromError(
                f"{_what(c)} has shape {x.shape}, predict returns {want}; there must be one prediction per datum: is a "
                "channel missing, or are there other times?"
            )
    _check_times(times, arrays)
    shapes = tuple(x.shape for x in arrays.values())
    return _Problem(np.concatenate([x.ravel() for x in arrays.values()]), _noise_of(noise, arrays), channels, shapes)


def _what(channel: str | None) -> str:
    return "data of fit" if channel is None else f"channel '{channel}' of the data"


def _refuse_channels(given: tuple[str, ...], predicted: tuple[str, ...]) -> None:
    for c in predicted:
        if c not in given:
            raise errors.CaromError(
                f"channel '{c}' is predicted but missing from the data, which have {', '.join(map(repr, given))}; "
                "record it, or leave it out of predict"
            )
    for c in given:
        errors.name_in("predicted channel", c, predicted)


def _measured(channel: str | None, values: Any) -> np.ndarray:
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise errors.CaromError(f"{_what(channel)} is not an array of numbers; give one row per time") from None
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        where = ", ".join(map(str, bad[0]))
        raise errors.CaromError(
            f"{_what(channel)} holds {len(bad)} value(s) that are not numbers, the first at [{where}]; leave these "
            "rows out of data and predict, or give them a very large noise and any number"
        )
    return array


def _check_times(times: Any, arrays: dict[Any, np.ndarray]) -> None:
    if times is None:
        return
    t = _measured("times", times)
    if t.ndim != 1:
        raise errors.CaromError(f"times of fit have shape {t.shape}; they must be one list of numbers")
    late = np.flatnonzero(np.diff(t) <= 0.0)
    if len(late):
        i = int(late[0])
        raise errors.CaromError(
            f"times of fit are out of order: {t[i + 1]:g} s follows {t[i]:g} s at index {i + 1}; sort times and data "
            "together, and keep one row per time"
        )
    for channel, x in arrays.items():
        if x.ndim == 0 or x.shape[0] != len(t):
            raise errors.CaromError(f"{_what(channel)} has shape {x.shape} for {len(t)} times; give one row per time")


def _noise_of(noise: Any, arrays: dict[Any, np.ndarray]) -> np.ndarray:
    """Standard deviation of every datum."""
    if noise is None:
        return np.ones(sum(x.size for x in arrays.values()))
    if isinstance(noise, Mapping) and None not in arrays:
        for channel in arrays:
            errors.name_in("channel of noise", channel, tuple(noise))
    out = []
    for channel, x in arrays.items():
        given = np.asarray(noise[channel] if isinstance(noise, Mapping) else noise, dtype=float)
        try:
            level = np.broadcast_to(given, x.shape)
        except ValueError:
            raise errors.CaromError(
                f"noise of fit has shape {given.shape}, {_what(channel)} {x.shape}; give one number, one per channel "
                "or one per datum"
            ) from None
        if not (np.all(np.isfinite(level)) and np.all(level > 0.0)):
            raise errors.CaromError(
                f"noise of {_what(channel)} is {given.tolist()}; a standard deviation must be a finite number above 0"
            )
        out.append(level.ravel())
    return np.concatenate(out)


# -- search ------------------------------------------------------------------------------------------------------------


def _called(predict: Any, with_args: bool, parameters: Any, args: Any) -> Any:
    return predict(parameters, args) if with_args else predict(parameters)


@partial(jax.jit, static_argnums=(0, 1, 2), compiler_options=compiler_options())
def _linearised(predict: Any, unravel: Any, with_args: bool, vector: Any, args: Any) -> tuple[Any, Any]:
    """The prediction as one vector, and its Jacobian."""

    def flat(p: Any) -> tuple[Any, Any]:
        signals = _called(predict, with_args, unravel(p), args)
        values = jnp.concatenate([jnp.ravel(jnp.asarray(x, dtype=float)) for x in jax.tree.leaves(signals)])
        return values, values

    slopes, values = jax.jacfwd(flat, has_aux=True)(vector)
    return values, slopes


@dataclasses.dataclass(frozen=True)
class _Found:
    p: np.ndarray
    residual: np.ndarray
    slopes: np.ndarray
    converged: bool
    steps: int


def _search(evaluate: Any, first: np.ndarray, largest: float, max_steps: int) -> _Found:
    """Levenberg and Marquardt: damped Gauss-Newton steps, the damping lowered when they help."""
    p, damping = first, 1e-3
    r, J = evaluate(p)
    if not (np.all(np.isfinite(r)) and np.all(np.isfinite(J))):
        raise errors.CaromError(
            f"predict gives values or derivatives that are not finite at the start, {first.tolist()}; start where the "
            "model makes sense"
        )
    scale = np.zeros_like(first)
    for step in range(max_steps):
        scale = np.maximum(scale, np.linalg.norm(J, axis=0))
        size = float(np.linalg.norm(r))
        left = float(np.linalg.norm(J @ np.linalg.lstsq(J, r, rcond=1e-12)[0]))
        if left <= max(STILL * size, ROUNDING * largest):
            return _Found(p, r, J, True, step)
        while True:  # until a step helps
            trial = p + _step(evaluate, p, r, J, np.sqrt(damping) * np.where(scale > 0.0, scale, 1.0))
            new_r, new_J = evaluate(trial)
            good = np.all(np.isfinite(new_r)) and np.all(np.isfinite(new_J))
            if good and new_r @ new_r < r @ r:
                break
            damping *= 10.0
            if damping > 1e12:  # the noise of the integration hides what is left to gain
                return _Found(p, r, J, left <= 1e-3 * size, step)
        p, r, J, damping = trial, new_r, new_J, max(damping / 10.0, 1e-12)
    return _Found(p, r, J, False, max_steps)


def _plain(found: _Found, above: np.ndarray) -> _Found:
    """Parameters and their Jacobian instead of logarithms."""
    p = np.where(above, np.exp(np.where(above, found.p, 0.0)), found.p)
    return dataclasses.replace(found, p=p, slopes=found.slopes / np.where(above, p, 1.0))


def _step(evaluate: Any, p: np.ndarray, r: np.ndarray, J: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """A damped Gauss-Newton step, and half of what the curvature of the prediction along it asks for."""
    system, none = np.vstack([J, np.diag(weight)]), np.zeros_like(p)
    velocity = np.linalg.lstsq(system, np.concatenate([r, none]), rcond=None)[0]
    ahead = evaluate(p + PROBE * velocity)[0]
    bend = 2.0 / PROBE * ((r - ahead) / PROBE - J @ velocity)
    if not np.all(np.isfinite(bend)):
        return velocity
    acceleration = np.linalg.lstsq(system, np.concatenate([-bend, none]), rcond=None)[0]
    small = np.linalg.norm(weight * acceleration) <= 0.75 * np.linalg.norm(weight * velocity)
    return velocity + 0.5 * acceleration if small else velocity


# -- uncertainty -------------------------------------------------------------------------------------------------------


def _uncertainty(found: _Found, names: tuple[str, ...], size: np.ndarray, known: bool, confidence: float) -> Any:
    """Estimates, covariance, intervals, and what the data do not show."""
    from scipy import stats  # here, because it loads slowly and few need it

    count, degrees = len(names), len(found.residual) - len(names)
    level = float(np.sqrt(found.residual @ found.residual / max(degrees, 1)))
    spread = 1.0 if known else level
    visible, hidden = _directions(found.slopes * size, spread)
    hidden = hidden * size  # in units of the parameters
    lost = np.zeros(count, dtype=bool)
    for d in hidden:
        lost |= np.abs(d / size) > TAKES_PART * np.max(np.abs(d / size))
    covariance = np.where(lost[:, None] | lost[None, :], np.inf, visible * np.outer(size, size) * spread**2)
    errors_ = np.sqrt(np.diag(covariance))
    unknown = not known and degrees > 0
    quantile = float(stats.t.ppf(0.5 + confidence / 2, degrees) if unknown else stats.norm.ppf(0.5 + confidence / 2))
    low, high = found.p - quantile * errors_, found.p + quantile * errors_
    return {
        "estimate": {n: float("nan") if lost[i] else float(found.p[i]) for i, n in enumerate(names)},
        "standard_error": {n: float(errors_[i]) for i, n in enumerate(names)},
        "intervals": {n: (float(low[i]), float(high[i])) for i, n in enumerate(names)},
        "covariance": covariance,
        "undetermined": tuple(_sentence(names, d, size, found.slopes, spread) for d in hidden),
        "directions": hidden,
        "noise_level": level,
    }


def _directions(J: np.ndarray, spread: float) -> tuple[np.ndarray, np.ndarray]:
    """Covariance along the directions that the data show, and unit vectors along those that they do not."""
    _, s, rows = np.linalg.svd(J, full_matrices=False)
    norms = np.linalg.norm(J, axis=0)
    unit = J / np.where(norms > 0.0, norms, 1.0)
    _, t, tilted = np.linalg.svd(unit, full_matrices=False)
    # A column may be small because of its unit; numerically, only columns that repeat each other are none.
    gone = [
        w / np.where(norms > 0.0, norms, np.inf) for w, x in zip(tilted, t, strict=True) if x < RANK_TOLERANCE * t[0]
    ]
    gone += [np.eye(len(norms))[i] for i in np.flatnonzero(norms <= RANK_TOLERANCE * np.max(norms) * 1e-6)]
    weak = [row for row, x in zip(rows, s, strict=True) if x < VISIBLE * spread]
    hidden = _basis([*gone, *weak], len(norms))
    # What is left over is seen by the data: invert there.
    rest = np.linalg.svd(np.eye(len(norms)) - hidden.T @ hidden)[0][:, : len(norms) - len(hidden)]
    seen = rest @ np.linalg.pinv((J @ rest).T @ (J @ rest)) @ rest.T if rest.size else np.zeros((len(norms),) * 2)
    return seen, hidden


def _basis(vectors: list[np.ndarray], count: int) -> np.ndarray:
    """Orthonormal rows that span the vectors."""
    found: list[np.ndarray] = []
    for v in vectors:
        if np.linalg.norm(v) == 0.0:
            continue
        v = v / np.linalg.norm(v)
        rest = v - sum((v @ f) * f for f in found) if found else v
        if np.linalg.norm(rest) > 1e-3:
            found.append(rest / np.linalg.norm(rest))
    return np.asarray(found).reshape(-1, count)


def _sentence(names: tuple[str, ...], d: np.ndarray, size: np.ndarray, J: np.ndarray, spread: float) -> str:
    relative = d / size
    d = d / relative[np.argmax(np.abs(relative))]  # by its own size, along the parameter that changes most
    relative = d / size
    parts = [i for i in range(len(names)) if abs(relative[i]) > TAKES_PART]
    seen = float(np.linalg.norm(J @ d)) / spread if spread > 0.0 else 0.0
    moved = "not at all" if seen < 1e-6 else f"by {seen:.2g} standard deviations, all together"
    if len(parts) == 1:
        return f"the data cannot tell {names[parts[0]]}: a change by {abs(d[parts[0]]):.3g} moves them {moved}"
    changes = ", ".join(f"{names[i]} by {d[i]:+.3g}" for i in parts)
    return f"the data cannot tell these apart: changing {changes} together moves them {moved}"


# -- signals -----------------------------------------------------------------------------------------------------------


def states_at(
    world: World,
    q: Any,
    v: Any,
    times: Any,
    *,
    solver: str = "tsit5",
    rtol: Any = 1e-8,
    atol: Any = 1e-10,
    max_steps: int = 1_000_000,
) -> tuple[Any, Any]:
    """Coordinates and velocities at `times` [s] (in order, from 0 on), a row each: a pure function, as `final_state`.

    Events are served on the way. Rows after a failure are nan.
    """
    known = errors.known(times)
    if known is not None and (known.ndim != 1 or np.any(np.diff(known) < 0.0) or np.any(known < 0.0)):
        raise errors.CaromError(f"times of states_at are {known.tolist()}; they must be in order, none before 0")
    times = jnp.asarray(times, dtype=float)
    settings = settings_of(solver, rtol, atol, times[-1], max_steps, None)
    carry = start(world, q, v, jnp.minimum(1e-3, 0.01 * times[-1] + 1e-12), False)

    def one(c: Any, t: Any) -> Any:
        # To the next time, if the last one was reached.
        c = c._replace(outcome=jnp.where(c.outcome == outcome.FINISHED, outcome.RUNNING, c.outcome))
        c = to_end(world, _until(settings, t), c)
        good = c.outcome == outcome.FINISHED
        return c, tuple(jnp.where(good, merge(x), jnp.nan) for x in (c.y.q, c.y.v))

    _, (places, rates) = jax.lax.scan(one, carry, times)
    return places, rates


def _until(s: Settings, t: Any) -> Settings:
    return dataclasses.replace(s, until=t)
