"""What a fit is given: parameters to start from, data, noise and times, as vectors, or a sentence about a mistake."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import PyTree

from ... import errors
from ..._arguments import Names, NoiseLike
from ...quantities import Function, Real, Times, Vector


@dataclasses.dataclass(frozen=True)
class FitProblem:
    measured: np.ndarray
    noise: np.ndarray
    channels: tuple[str, ...] | None
    shapes: tuple[tuple[int, ...], ...]
    unknown: tuple[str, ...] = ()  # channels whose noise is found from their residuals

    def rows_of(self, channel: str) -> np.ndarray:
        """Which data are of a channel."""
        assert self.channels is not None
        sizes = [int(np.prod(s)) for s in self.shapes]
        return np.repeat(np.arange(len(sizes)), sizes) == self.channels.index(channel)

    @property
    def there(self) -> np.ndarray:
        """Which data were measured; the others are gaps."""
        return np.isfinite(self.measured)

    def spread_out(self, values: np.ndarray) -> np.ndarray:
        """Numbers of what was measured, with nan in the gaps."""
        out = np.full(self.measured.shape, np.nan)
        out[self.there] = values
        return out

    def shaped(self, flat: np.ndarray) -> Any:
        """A flat vector as the data were given."""
        ends = np.cumsum([int(np.prod(s)) for s in self.shapes])
        pieces = [x.reshape(s) for x, s in zip(np.split(flat, ends[:-1]), self.shapes, strict=True)]
        return pieces[0] if self.channels is None else dict(zip(self.channels, pieces, strict=True))


def start_of(start: PyTree) -> tuple[np.ndarray, Callable[[Any], Any], tuple[str, ...]]:
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

    def __call__(self, vector: Vector) -> Any:
        ends = np.cumsum([int(np.prod(s)) for s in self.shapes])
        pieces = jnp.split(vector, ends[:-1])
        return jax.tree.unflatten(self.structure, [x.reshape(s) for x, s in zip(pieces, self.shapes, strict=True)])


def _names(tree: PyTree) -> tuple[str, ...]:
    out: list[str] = []
    for path, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]:
        name = ".".join(str(getattr(k, "key", getattr(k, "name", getattr(k, "idx", k)))) for k in path) or "p"
        out += [name] if leaf.ndim == 0 else [f"{name}[{','.join(map(str, i))}]" for i in np.ndindex(leaf.shape)]
    return tuple(out)


def sizes_of(sizes: PyTree, start: PyTree, first: np.ndarray) -> np.ndarray:
    if sizes is None:
        return np.where(first == 0.0, 1.0, np.abs(first))
    flat = start_of(sizes)[0]
    alike = start_of(sizes)[1] == start_of(start)[1]
    if not alike or not np.all(flat > 0.0):
        raise errors.CaromError(
            f"sizes of fit is {sizes!r}; it must have a number above 0 for every parameter of start, {start!r}"
        )
    return flat


def positive_of(positive: Names, names: tuple[str, ...], first: np.ndarray) -> np.ndarray:
    """Which parameters stay above zero."""
    for name in positive:
        errors.name_in("parameter of fit (named as positive)", name, names)
        if not first[names.index(name)] > 0.0:
            raise errors.CaromError(
                f"start of '{name}' is {first[names.index(name)]:g}; a parameter declared positive must start above 0"
            )
    return np.asarray([name in positive for name in names])


def bounds_of(
    bounds: Mapping[str, tuple[Real, Real]] | None, names: tuple[str, ...], first: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The least and the largest value of every parameter."""
    low, high = np.full(len(names), -np.inf), np.full(len(names), np.inf)
    for name, given in (bounds or {}).items():
        errors.name_in("parameter of fit (named in bounds)", name, names)
        k = names.index(name)
        try:
            low[k], high[k] = (float(x) for x in given)
        except (TypeError, ValueError):
            raise errors.CaromError(
                f"bounds of '{name}' are {given!r}; they must be two numbers, such as (0, 1)"
            ) from None
        if not low[k] < high[k]:
            raise errors.CaromError(f"bounds of '{name}' are {low[k]:g} and {high[k]:g}; the smaller one comes first")
        if not low[k] <= first[k] <= high[k]:
            raise errors.CaromError(
                f"start of '{name}' is {first[k]:g}, outside of its bounds {low[k]:g} and {high[k]:g}; start inside"
            )
    return low, high


def check_confidence(confidence: Real) -> None:
    errors.number("fit", "confidence", confidence, above=0.0)
    if not float(confidence) < 1.0:
        raise errors.CaromError(
            f"confidence of fit is {float(confidence):g}; it must lie between 0 and 1, such as 0.95"
        )


def refuse_few_data(count: int, names: tuple[str, ...]) -> None:
    if count < len(names):
        raise errors.CaromError(
            f"there are {count} data for {len(names)} parameters ({', '.join(names)}); at least as "
            "many data as parameters are needed; record more, or fit fewer"
        )


def problem_of(
    predict: Function,
    args: PyTree,
    data: PyTree,
    first: PyTree,
    noise: NoiseLike,
    times: Times | None,
    gaps: bool = False,
) -> FitProblem:
    """Data and noise as vectors in the order of the prediction, or a sentence about what is wrong with them."""
    if not callable(predict):
        raise errors.CaromError(
            f"predict of fit is a {type(predict).__name__}; it must be a function of the parameters"
        )
    like = jax.eval_shape(partial(called, predict, args is not None), first, args)
    return compared(data, like, noise, times, gaps)


def compared(
    data: PyTree, like: PyTree, noise: NoiseLike, times: Times | None = None, gaps: bool = False
) -> FitProblem:
    """Data that are compared with signals like these."""
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
    arrays = {c: _measured(c, x, gaps) for c, x in pieces.items()}
    for c, x in arrays.items():
        want = like.shape if c is None else like[c].shape
        if x.shape != want:
            raise errors.CaromError(
                f"{_what(c)} has shape {x.shape}, predict returns {want}; there must be one prediction per datum: is a "
                "channel missing, or are there other times?"
            )
    _check_times(times, arrays)
    shapes = tuple(x.shape for x in arrays.values())
    unknown = tuple(c for c in channels or () if isinstance(noise, Mapping) and noise.get(c, 0.0) is None)
    measured = np.concatenate([x.ravel() for x in arrays.values()])
    return FitProblem(measured, _noise_of(noise, arrays), channels, shapes, unknown)


def called(predict: Function, with_args: bool, parameters: PyTree, args: PyTree) -> Any:
    return predict(parameters, args) if with_args else predict(parameters)


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


def _measured(channel: str | None, values: Times, gaps: bool = False) -> np.ndarray:
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise errors.CaromError(f"{_what(channel)} is not an array of numbers; give one row per time") from None
    bad = np.argwhere(np.isinf(array) if gaps else ~np.isfinite(array))
    if len(bad):
        where = ", ".join(map(str, bad[0]))
        raise errors.CaromError(
            f"{_what(channel)} holds {len(bad)} value(s) that are not numbers, the first at [{where}]; "
            + ("gaps are nan" if gaps else "where nothing was measured, say gaps=True: nan is a gap then")
        )
    return array


def _check_times(times: Times | None, arrays: dict[Any, np.ndarray]) -> None:
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


def _spread(x: np.ndarray) -> float:
    """A first guess of the noise of a channel: a tenth of how its data differ."""
    there = x[np.isfinite(x)]
    found = 0.1 * float(np.std(there)) if there.size else 1.0
    return found or max(0.1 * float(np.max(np.abs(there), initial=0.0)), 1e-12)


def _noise_of(noise: NoiseLike, arrays: dict[Any, np.ndarray]) -> np.ndarray:
    """Standard deviation of every datum."""
    if noise is None:
        return np.ones(sum(x.size for x in arrays.values()))
    if isinstance(noise, Mapping) and None not in arrays:
        for channel in arrays:
            errors.name_in("channel of noise", channel, tuple(noise))
    out = []
    for channel, x in arrays.items():
        told = noise[channel] if isinstance(noise, Mapping) else noise
        given = np.asarray(_spread(x) if told is None else told, dtype=float)
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
