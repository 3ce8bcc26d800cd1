"""What laws are compared on: rows that were measured, and what was known of each."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Mapping
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from ... import errors
from ..._arguments import Names
from ...quantities import Function
from ._fit_input import called
from ._folds import groups_of
from .estimate import Fit, fit


@dataclasses.dataclass(frozen=True)
class Observations:
    """Rows of a record: what was measured, what is known of it, and how well.

    - `measured`: an array, or a dictionary of arrays (channels), with a row for each blow, bounce or run; nan is a gap
    - `inputs`: what `predict` is given beside the parameters, any arrays with the same rows
    - `noise`: standard deviation, as in `carom.fit`; several channels need it, since it weighs one against the other
    - `groups`: rows that belong together (a record, a session) have the same name; they are judged together
    """

    measured: Any
    inputs: Any = None
    noise: Any = None
    groups: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "inputs", jax.tree.map(_plain, self.inputs, is_leaf=_listed))
        rows = self.rows
        for leaf in jax.tree.leaves((self.channels, self.inputs)):
            if np.ndim(leaf) == 0 or np.shape(leaf)[0] != rows:
                raise errors.CaromError(
                    f"observations have {rows} rows, but one of the arrays has shape {np.shape(leaf)}; every array of "
                    "measured and inputs has one row for each blow, bounce or run"
                )
        if rows < 2:
            raise errors.CaromError(f"there is {rows} row to compare laws on; at least 2 are needed, one to judge on")
        if isinstance(self.measured, Mapping) and len(self.measured) > 1 and self.noise is None:
            raise errors.CaromError(
                f"the channels {', '.join(map(repr, self.measured))} are to be weighed against each other; give noise, "
                "their standard deviations: {channel: number}"
            )
        groups_of(rows, self.groups)

    @property
    def channels(self) -> dict[str, np.ndarray]:
        """Measured arrays by their names; one alone is called ''."""
        named = self.measured if isinstance(self.measured, Mapping) else {"": self.measured}
        try:
            return {name: np.asarray(x, dtype=float) for name, x in named.items()}
        except (TypeError, ValueError):
            raise errors.CaromError("measured of the observations holds what is no number; a gap is nan") from None

    @property
    def rows(self) -> int:
        first = next(iter(self.channels.values()), np.zeros(0))
        return len(first) if first.ndim else 0

    def like(self, channels: Mapping[str, np.ndarray]) -> Any:
        """Channels as `measured` was given."""
        return dict(channels) if isinstance(self.measured, Mapping) else channels[""]

    def without(self, rows: np.ndarray) -> Any:
        """The measured data with gaps in some rows."""
        return self.like({name: _gapped(x, rows) for name, x in self.channels.items()})

    def weighed(self, name: str) -> np.ndarray:
        """Noise of a channel as its data; 1 where it is not known."""
        x = self.channels[name]
        given = self.noise.get(name) if isinstance(self.noise, Mapping) else self.noise
        return np.broadcast_to(np.asarray(1.0 if given is None else given, dtype=float), x.shape)


class AbstractModel(abc.ABC):
    """What can be compared: it is fitted to what was measured, and predicts all of it."""

    @abc.abstractmethod
    def fitted(self, data: Observations, measured: PyTree, max_evaluations: int) -> Fit | None:
        """A fit to `measured`, which has gaps where the data are held out; None without parameters."""

    @abc.abstractmethod
    def predicted(self, data: Observations, fit: Fit | None) -> dict[str, np.ndarray]:
        """Channels of all rows."""


@dataclasses.dataclass(frozen=True)
class Model(AbstractModel):
    """A law to be compared: `predict(parameters, inputs)` gives `measured`, row by row; `start` is a first guess.

    Where the observations have no inputs it is called as `predict(parameters)`. A law without parameters (start {}) is
    judged as it is. `positive` and `bounds`, as in `carom.fit`, keep parameters where they make sense.
    """

    predict: Function
    start: PyTree
    positive: Names = ()
    bounds: Any = None

    def fitted(self, data: Observations, measured: PyTree, max_evaluations: int) -> Fit | None:
        if not jax.tree.leaves(self.start):
            return None
        return fit(
            self.predict, measured, self.start, noise=data.noise, args=data.inputs, positive=self.positive,
            bounds=self.bounds, gaps=True, max_evaluations=max_evaluations, throw=False,
        )  # fmt: skip

    def predicted(self, data: Observations, fit: Fit | None) -> dict[str, np.ndarray]:
        p = jax.tree.map(lambda x: jnp.asarray(x, dtype=float), self.start if fit is None else fit.parameters)
        out = _run(self.predict, data.inputs is not None, p, data.inputs)
        named = out if isinstance(out, Mapping) else {"": out}
        return {name: np.asarray(x, dtype=float) for name, x in named.items()}


@partial(jax.jit, static_argnums=(0, 1))
def _run(predict: Function, with_inputs: bool, parameters: PyTree, inputs: PyTree) -> Any:
    return called(predict, with_inputs, parameters, inputs)


def _listed(given: object) -> bool:
    return isinstance(given, list)


def _plain(given: PyTree) -> Any:
    """A list of numbers as an array."""
    return np.asarray(given, dtype=float) if _listed(given) else given


def _gapped(x: np.ndarray, rows: np.ndarray) -> np.ndarray:
    out = np.array(x)
    out[rows] = np.nan
    return out
