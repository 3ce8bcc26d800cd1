"""The periodic Riccati equation, by the algebraic one of the whole period.

    x_{k+1} = A_k x_k + B_k u_k,   cost = sum of x_k^T Q_k x_k + u_k^T R_k u_k,   u_k = K_k x_k

All inputs of a period together are the input of one step from x_0 to the x_0 of the next period (the lifted system).
SciPy solves its equation; from that the gains follow backwards, piece by piece, and back at x_0 the same matrix must
come out: by how much it does not is the residual. Going round again makes it less, and is needed where an event takes a
direction of the state away, in which SciPy's solution is not determined.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .. import errors

NEUTRAL = 1e-8  # what is so near to 1 neither grows nor dies out
ROUNDS, EXACT = 200, 1e-12  # back round the period, until the cost repeats itself
TINY = 1e-300
OUT_OF_REACH = 1e-8  # of the largest effect of the inputs


class Regulator(NamedTuple):
    gains: np.ndarray  # (N, inputs, n)
    cost: np.ndarray  # (n, n) of a deviation at the beginning of the period
    residual: float
    multipliers: np.ndarray  # of the model without and with the gains
    closed: np.ndarray


def lifted(a: np.ndarray, b: np.ndarray, q: np.ndarray, r: np.ndarray) -> tuple[np.ndarray, ...]:
    """A, B, Q, R, S of the whole period."""
    count, n, m = b.shape
    through, pushed = np.eye(n), np.zeros((n, count * m))
    state, inputs, cross = np.zeros((n, n)), np.zeros((count * m, count * m)), np.zeros((n, count * m))
    for k in range(count):
        at = slice(k * m, (k + 1) * m)
        state += through.T @ q[k] @ through
        inputs += pushed.T @ q[k] @ pushed
        cross += through.T @ q[k] @ pushed
        inputs[at, at] += r[k]
        through, pushed = a[k] @ through, a[k] @ pushed
        pushed[:, at] += b[k]
    return through, pushed, state, inputs, cross


def solved(a: np.ndarray, b: np.ndarray, q: np.ndarray, r: np.ndarray, names: tuple[str, ...]) -> Regulator:
    """Gains that make the sum of costs over all periods least."""
    from scipy.linalg import solve_discrete_are

    whole, pushed, state, inputs, cross = lifted(a, b, q, r)
    _refuse_out_of_reach(whole, pushed, names)
    try:
        cost = np.asarray(solve_discrete_are(whole, pushed, state, inputs, s=cross))
    except (np.linalg.LinAlgError, ValueError) as why:
        raise errors.CaromError(
            f"stabilise finds no solution of the Riccati equation ({why}); give every coordinate and velocity a cost, "
            "or take fewer steps"
        ) from None
    for _ in range(ROUNDS):
        gains, before, closed = _round(a, b, q, r, cost)
        residual = float(np.max(np.abs(before - cost))) / max(float(np.max(np.abs(cost))), TINY)
        cost = before
        if residual <= EXACT:
            break
    roots = sizes(closed)
    if abs(roots[0]) >= 1.0 - NEUTRAL:
        raise errors.CaromError(
            f"the orbit is not stabilised: with the best gains its largest multiplier is {abs(roots[0]):.6g}, because "
            "what does not die out costs nothing; give state_cost to every coordinate and velocity"
        )
    return Regulator(gains, cost, residual, sizes(whole), roots)


def _round(a: np.ndarray, b: np.ndarray, q: np.ndarray, r: np.ndarray, after: np.ndarray) -> tuple[np.ndarray, ...]:
    """Once round backwards: gains, the cost at the beginning from that at the end, and the whole period with them."""
    gains, closed = [], np.eye(len(after))
    for k in reversed(range(len(a))):
        push = r[k] + b[k].T @ after @ b[k]
        gain = -np.linalg.solve(push, b[k].T @ after @ a[k])
        loop = a[k] + b[k] @ gain
        after = q[k] + gain.T @ r[k] @ gain + loop.T @ after @ loop
        gains.append(gain)
        closed = closed @ loop
    return np.array(gains[::-1]), 0.5 * (after + after.T), closed


def sizes(matrix: np.ndarray) -> np.ndarray:
    """Eigenvalues, largest first."""
    found = np.linalg.eigvals(matrix)
    return found[np.argsort(-np.abs(found), kind="stable")]


def _refuse_out_of_reach(whole: np.ndarray, pushed: np.ndarray, names: tuple[str, ...]) -> None:
    """A disturbance that does not die out by itself, and that no input reaches, cannot be stabilised."""
    effect = float(np.max(np.linalg.norm(pushed, axis=0), initial=0.0))
    for root in sizes(whole):
        if abs(root) < 1.0 - NEUTRAL:
            continue
        both = np.hstack([whole - root * np.eye(len(whole)), pushed / effect if effect else pushed])
        left, found, _ = np.linalg.svd(both)
        if found[-1] > OUT_OF_REACH * found[0]:
            continue
        share = np.abs(left[:, -1])
        most = [names[k] for k in np.argsort(-share) if share[k] > 0.3 * share.max()][:3]
        word = "neutral" if abs(root) <= 1.0 + NEUTRAL else "unstable"
        raise errors.CaromError(
            f"the orbit cannot be stabilised: its {word} multiplier {_told(root)}, of a disturbance that is seen in "
            f"{' and '.join(most)}, is out of reach of the inputs; drive another joint, hold that coordinate (a guide "
            "on a slider), or say that it drifts where the orbit is looked for"
        )


def _told(root: complex) -> str:
    return f"{root.real:.4g}" if abs(root.imag) < NEUTRAL else f"{root.real:.4g} {root.imag:+.4g}i"
