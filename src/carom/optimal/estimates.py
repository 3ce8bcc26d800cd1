"""What a Kalman filter found: estimates, covariances and innovations, and whether they agree with each other."""

from __future__ import annotations

import dataclasses

import numpy as np

from .. import errors
from ..hybrid.world import World
from ..study._relabelling import entries

SINGULAR = 1e-9  # of a correlation matrix: a direction with less variance is held, and has no error to judge


@dataclasses.dataclass(frozen=True)
class Estimates:
    """Of one run, or with a first axis of runs.

    - `t` (N + 1) [s]; `x` (N + 1, size) and `covariance` (N + 1, size, size): after the readings at each instant
    - `predicted`, `predicted_covariance`: before them
    - `innovations` (N + 1, sensors): readings less what was expected, NaN where there was none;
      `innovation_covariance` (N + 1, sensors, sensors)
    - `events` (N + 1): how many events the estimate had gone through
    - `truth` (N + 1, size), or None; `true_events` (N + 1) likewise
    - `names` of the entries of x; `sensors`

    Between the strike of the truth and that of the estimate the two are on different sides of a blow, and their
    velocities differ by a whole blow, which no covariance about one mean describes. `alike` says when they are not;
    `rms`, `consistent` and the text count those instants alone, and the text says how many are left out.
    """

    t: np.ndarray
    predicted: np.ndarray
    predicted_covariance: np.ndarray
    x: np.ndarray
    covariance: np.ndarray
    innovations: np.ndarray
    innovation_covariance: np.ndarray
    events: np.ndarray
    truth: np.ndarray | None = dataclasses.field(kw_only=True)
    true_events: np.ndarray | None = dataclasses.field(kw_only=True)
    names: tuple[str, ...] = dataclasses.field(kw_only=True)
    sensors: tuple[str, ...] = dataclasses.field(kw_only=True)

    @property
    def band(self) -> np.ndarray:
        """Standard deviation of every entry of x."""
        return np.sqrt(np.maximum(np.diagonal(self.covariance, axis1=-2, axis2=-1), 0.0))

    @property
    def errors(self) -> np.ndarray:
        """Estimates less the truth."""
        if self.truth is None:
            raise errors.CaromError(
                "errors of estimates are asked for, and the truth is not known; give it: filter.run(..., truth=x)"
            )
        return self.x - self.truth

    @property
    def alike(self) -> np.ndarray:
        """Has the estimate gone through as many events as the truth? Everywhere, if those are not known."""
        return np.full(self.x.shape[:-1], True) if self.true_events is None else self.events == self.true_events

    @property
    def rms(self) -> np.ndarray:
        """Root mean square of the errors of every entry of x, over instants that are `alike` and runs."""
        return np.asarray(np.sqrt(np.mean(self.errors[self.alike] ** 2, axis=0)))

    @property
    def dimension(self) -> np.ndarray:
        """How many directions the covariance has: fewer than entries of x where a contact holds some."""
        return _normalised(self.covariance, np.zeros_like(self.x))[1]

    @property
    def nees(self) -> np.ndarray:
        """Normalised errors squared, e^T P^-1 e, at every instant; their mean is `dimension` if P tells the truth.

        In directions that a contact holds P is singular, and errors are not counted.
        """
        return _normalised(self.covariance, self.errors)[0]

    @property
    def nis(self) -> np.ndarray:
        """Normalised innovations squared; their mean is the number of readings. NaN where there was no reading."""
        there = ~np.isnan(self.innovations)
        both = there[..., :, None] & there[..., None, :]
        matrix = np.where(both, self.innovation_covariance, 0.0)
        found = _normalised(matrix, np.where(there, self.innovations, 0.0))[0]
        return np.where(there.any(axis=-1), found, np.nan)

    @property
    def consistent(self) -> tuple[float, float, float]:
        """Mean NEES per direction over instants that are `alike` and runs; and where 95 % of such means would lie.

        It is 1 of a filter that knows its errors, more of one that believes itself too much. Errors of one run at many
        instants depend on each other: the interval counts runs alone, and is wide for a single one.
        """
        from scipy.stats import chi2

        alike, dimension = self.alike, self.dimension
        per = (self.nees / np.maximum(dimension, 1))[alike]
        runs = 1 if self.x.ndim == 2 else len(self.x)
        freedom = runs * float(np.mean(dimension[alike]))
        low, high = (float(each) / freedom for each in chi2.ppf([0.025, 0.975], freedom))
        return float(np.mean(per)), low, high

    def __str__(self) -> str:
        runs = "one run" if self.x.ndim == 2 else f"{len(self.x)} runs"
        lines = [f"estimates of {runs} at {len(self.t)} instants until {self.t[-1]:g} s"]
        last = self.band[-1] if self.x.ndim == 2 else np.sqrt(np.mean(self.band[:, -1] ** 2, axis=0))
        rms = None if self.truth is None else self.rms
        for k, name in enumerate(self.names):
            known = "" if rms is None else f", errors {rms[k]:.3g} (root mean square)"
            lines.append(f"  {name}: standard deviation at the end {last[k]:.3g}{known}")
        if self.truth is not None:
            apart = int(np.sum(~self.alike))
            if apart:
                lines.append(
                    f"  {apart} of {self.alike.size} instants left out: truth and estimate on two sides of a blow"
                )
            mean, low, high = self.consistent
            lines.append(f"  normalised error squared per direction {mean:.3g}, expected 1 ({low:.2f} to {high:.2f})")
        return "\n".join(lines)


def names_of(world: World, size: int) -> tuple[str, ...]:
    """Of the entries of x: coordinates, velocities, states and, if there are more, memories."""
    return tuple(str(entry) for entry in entries(world))[:size]


def _normalised(matrices: np.ndarray, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """v^T P^-1 v on the directions that P has, and how many those are; units do not matter."""
    sizes = np.sqrt(np.maximum(np.diagonal(matrices, axis1=-2, axis2=-1), 0.0))
    scale = np.where(sizes > 0.0, sizes, 1.0)
    values, directions = np.linalg.eigh(matrices / (scale[..., :, None] * scale[..., None, :]))
    along = np.einsum("...ji,...j->...i", directions, vectors / scale)
    counts = values > SINGULAR
    with np.errstate(over="ignore"):  # of a filter that is quite sure of what is not so
        squares = np.where(counts, along**2 / np.where(counts, values, 1.0), 0.0)
    return np.asarray(squares.sum(axis=-1)), np.asarray(counts.sum(axis=-1))
