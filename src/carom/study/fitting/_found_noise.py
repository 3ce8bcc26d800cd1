"""Intervals where the noise was found from the same residuals, channel by channel.

Weights that were estimated are not the right ones, and estimates are surer of themselves than they should be: with
three instants, three speeds and twenty heights of a ball, intervals of 95 % held the truth 84 times in a hundred.
Three corrections belong together:

- the covariance grows by what moving the weights by their own errors moves the estimates (M. G. Kenward and
  J. H. Roger, Biometrics 53 (1997) 983)
- the interval of a parameter is Student's, with the degrees of freedom of those channels which it hangs on
  (F. E. Satterthwaite's, in the same place)
- both are first orders in the errors of the weights. Copies of the data are drawn, noise as found, and treated in the
  same way: the level that holds the truth of the copies as often as was asked for is the one that is used

With one channel, or with many data, nothing changes: data less parameters, and the normal distribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...quantities import Real

LEAST = 1.0  # degrees of freedom
COPIES, SEED, ROUNDS = 4000, 0, 30
MANY = 30.0  # degrees of freedom: from there on the first orders are enough
BARE = 1e-3  # of a datum: what is at least left of a channel beside the parameters, in copies
FAINT = 1e-8  # of a variance: channels of copies get no quieter


class _Said(NamedTuple):
    """What channels say of the parameters, in coordinates in which all together say one of each."""

    own: np.ndarray  # (channels, r, r) of those whose noise was found, in its units
    given: np.ndarray  # (r, r) of all others
    size: np.ndarray  # (channels,) how many data
    rows: np.ndarray  # (p, r): each parameter in these coordinates


def small_samples(
    J: np.ndarray, hidden: np.ndarray, channels: Sequence[np.ndarray], confidence: Real
) -> tuple[np.ndarray, np.ndarray]:
    """Covariance of the parameters, and how many standard deviations the interval of each reaches.

    `J` are the slopes in units of the noise that was found, `hidden` the directions that the data do not show, and
    `channels` which rows belong to each noise that was found.
    """
    from scipy import stats  # here, because it loads slowly and few need it

    said = _said(J, hidden, channels)
    if not said.rows.shape[1]:
        return np.zeros((J.shape[1],) * 2), np.full(J.shape[1], stats.norm.ppf(0.5 + confidence / 2))
    wider, degrees = _corrected(said, np.ones((1, len(channels))))
    chance = np.full(J.shape[1], 1.0 - confidence)
    if len(channels) + bool(np.any(said.given)) > 1 and np.min(degrees) < MANY:
        chance = np.quantile(_chances_of_copies(said), 1.0 - confidence, axis=0)
    return said.rows @ wider[0] @ said.rows.T, stats.t.isf(chance / 2.0, degrees[0])


def _said(J: np.ndarray, hidden: np.ndarray, channels: Sequence[np.ndarray]) -> _Said:
    """Of a linear model."""
    count = J.shape[1]
    rest = np.linalg.svd(np.eye(count) - hidden.T @ hidden)[0][:, : count - len(hidden)]
    q, r = np.linalg.qr(J @ rest)
    own = np.array([q[rows].T @ q[rows] for rows in channels])
    found = np.any(channels, axis=0)
    rows = np.linalg.solve(r.T, rest.T).T if rest.size else rest
    return _Said(own, q[~found].T @ q[~found], np.sum(channels, axis=1).astype(float), rows)


def _corrected(said: _Said, variances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Covariance of the coordinates with the errors of the weights, and degrees of freedom of each parameter.

    `variances` (copies, channels) are those of the noise, in units of the one that was found.
    """
    own, C = said.own / variances[:, :, None, None], len(said.size)
    phi = np.linalg.inv(np.sum(own, axis=1) + said.given)
    through = phi[:, None] @ own
    shared = np.einsum("bcij,bdji->bcd", through, through)
    left = said.size - 2.0 * np.einsum("bcii->bc", through)
    # Covariance of the relative errors of the variances: the inverse of their information.
    levels = 2.0 * np.linalg.pinv(left[:, :, None] * np.eye(C) + shared)
    moved = np.einsum("bcc,bcij->bij", levels, own)
    moved -= np.einsum("bcij,bcjk->bik", own, np.einsum("bcd,bdjk->bcjk", levels, through))
    hangs = _over_parameters(said, through @ phi[:, None])  # d variance / d variance of the noise, by channel
    spread = np.einsum("bcp,bcd,bdp->bp", hangs, levels, hangs)
    variance = _over_parameters(said, phi)
    with np.errstate(divide="ignore", invalid="ignore"):
        degrees = np.where(spread > 0.0, 2.0 * variance**2 / spread, np.inf)
    return phi + 2.0 * phi @ moved @ phi, np.maximum(degrees, LEAST)


def _chances_of_copies(said: _Said) -> np.ndarray:
    """Of every copy and parameter: how often an error were as large as it is, if the intervals were right.

    What a copy says of the parameters, and what is left over, is drawn by itself: no datum is.
    """
    from scipy import stats

    rng = np.random.default_rng(SEED)
    roots = _roots(said.own)
    used = np.any(roots != 0.0, axis=-1)
    inside = rng.normal(size=(COPIES, *roots.shape[:2]))
    outside = rng.chisquare(np.maximum(said.size - np.sum(used, axis=-1), 1e-300), size=(COPIES, len(roots)))
    pulls = np.einsum("cji,bcj->bci", roots, inside)
    given = rng.normal(size=(COPIES, said.given.shape[0])) @ _roots(said.given[None])[0]
    size = np.sum(inside**2 * used, axis=-1) + outside
    variances = np.ones((COPIES, len(roots)))
    for _ in range(ROUNDS):
        phi = np.linalg.inv(np.sum(said.own / variances[:, :, None, None], axis=1) + said.given)
        at = np.einsum("bij,bj->bi", phi, np.sum(pulls / variances[:, :, None], axis=1) + given)
        squares = size - 2.0 * np.einsum("bci,bi->bc", pulls, at) + np.einsum("bi,cij,bj->bc", at, said.own, at)
        taken = np.einsum("bij,cji->bc", phi, said.own) / variances
        variances = np.maximum(np.maximum(squares, 0.0) / np.maximum(said.size - taken, BARE), FAINT)
    wider, degrees = _corrected(said, variances)
    far = np.abs(at @ said.rows.T) / np.sqrt(_over_parameters(said, wider))
    return np.asarray(2.0 * stats.t.sf(far, degrees))


def _over_parameters(said: _Said, covariance: np.ndarray) -> np.ndarray:
    """Variances of the parameters."""
    return np.einsum("pi,...ij,pj->...p", said.rows, covariance, said.rows)


def _roots(matrices: np.ndarray) -> np.ndarray:
    """R of each A = R^T R, with rows of noughts where it has no full rank."""
    values, vectors = np.linalg.eigh(matrices)
    values = np.where(values > 1e-12 * np.maximum(values[:, -1:], 1e-300), values, 0.0)
    return np.asarray(np.sqrt(values)[:, :, None] * np.swapaxes(vectors, -1, -2))
