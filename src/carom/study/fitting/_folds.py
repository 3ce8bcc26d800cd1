"""Parts of a record to fit on and to judge on, and how sure a ranking is that was found so."""

from __future__ import annotations

import numpy as np
from jaxtyping import PyTree

from ... import errors
from ..._arguments import Count


def groups_of(rows: int, groups: PyTree) -> np.ndarray:
    """The number of every row's group; without groups each row is one."""
    if groups is None:
        return np.arange(rows)
    given = np.asarray(groups)
    if given.shape != (rows,):
        raise errors.CaromError(
            f"groups of the observations has shape {given.shape} for {rows} rows; name the group of every row"
        )
    return np.unique(given, return_inverse=True)[1]


def parts_of(groups: np.ndarray, folds: Count, train: Count | None, seed: Count) -> list[np.ndarray]:
    """For every fold, which rows are judged. Whole groups, once each; with `train` those left."""
    count = int(groups.max()) + 1
    order = np.random.default_rng(seed).permutation(count)
    if train is not None:
        whole("train", train, 1, count - 1, f"there are {count} records, and at least one is left to judge on")
        return [np.isin(groups, order[train:])]
    whole("folds", folds, 2, count, f"there are {count} records, and each fold needs one")
    return [np.isin(groups, part) for part in np.array_split(order, folds)]


def whole(field: str, value: Count, least: Count, most: Count, why: str) -> None:
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or not least <= value <= most:
        raise errors.CaromError(
            f"{field} of compare_laws is {value!r}; it must be a whole number from {least} to {most}: {why}"
        )


def resampled(loss: np.ndarray, weight: np.ndarray, resamples: Count, seed: Count) -> np.ndarray:
    """Mean losses (resamples, laws) if other records of the same kind had been judged: drawn with replacement.

    - `loss`: (groups, laws) sums over what was judged of every group, `weight` (groups,) how many
    """
    count = len(weight)
    rng = np.random.default_rng([seed, 1])
    out = np.empty((resamples, loss.shape[1]))
    for k in range(resamples):
        times = np.bincount(rng.integers(0, count, count), minlength=count)
        total = times @ weight
        out[k] = times @ np.where(times[:, None] > 0, loss, 0.0) / total if total > 0 else np.nan
    return out
