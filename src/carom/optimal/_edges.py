"""Along edges of the cost, where a strike passes from one step to the next, comes or goes.

On one side of an edge the cost falls towards it, and on the other side, too: no step along a gradient is cheaper,
however short, although the cost may fall along the edge. The gradients g_i of the sides are gathered, where a step
turned out to be dearer; the combination of them that is least,

    g = sum of w_i g_i,  w_i >= 0,  sum of w_i = 1,  g^T H^-1 g as small as it gets,

points along the edge, and -H^-1 g is the step (H: the Gauss-Newton matrix of the cost by all inputs at once). Where g
is nothing, all sides are dearer.
"""

from __future__ import annotations

import numpy as np

from ._backward import Local, gradient_of
from ._paths import Path, Task, local_of, rolled

SIDES = 12  # gradients gathered at most
SHARES = 0.5 ** np.arange(11)
CLOSE = (1e-6, 1e-4, 1e-2)  # shares of a step at which the other side is looked at
NEW = 0.9  # of the slope along a step: on another side there is less of it
ENOUGH = 0.05  # share of what is promised that a step must bring
FIRM = 1e-7  # what is added to H, of its own diagonal
SUM = 1e4  # weight of the rule that the shares add up to one


def along_edge(task: Task, path: Path, local: Local) -> tuple[Path | None, float, int]:
    """A cheaper path, or None where no combination of sides leads to one; what was promised, and the rollouts spent.

    Beyond a cliff, where a strike no longer comes, there is no side to gather; then another measure of what is short,
    the inputs themselves, gives another step, which may lead away from it.
    """
    rollouts, least = 0, np.inf
    for bend in (gauss_newton(local), plain(task, path, local)):
        new, promised, spent = _by_measure(task, path, local, bend)
        rollouts, least = rollouts + spent, min(least, promised)
        if new is not None or least <= task.tolerance * abs(path.cost):
            return new, least, rollouts
    return None, least, rollouts


def _by_measure(task: Task, path: Path, local: Local, bend: np.ndarray) -> tuple[Path | None, float, int]:
    """The same with one measure H of what is short."""
    u, rollouts, promised = path.rollout.u, 0, np.inf
    sides = [gradient_of(local).ravel()]
    low, high = (bound.ravel() for bound in task.limits)
    for _ in range(SIDES):
        step, slope = _step(bend, np.stack(sides), u.ravel(), low, high)
        promised = min(promised, slope)
        if slope <= task.tolerance * abs(path.cost):
            break
        for share in SHARES:
            rollouts += 1
            new = rolled(task, np.clip(u + share * step.reshape(u.shape), *task.limits))
            if path.cost - new.cost > ENOUGH * share * slope:
                return new, promised, rollouts
        side = _other_side(task, path, step.reshape(u.shape), slope)
        rollouts += len(CLOSE)
        if side is None:
            break
        sides.append(side)
    return None, promised, rollouts


def plain(task: Task, path: Path, local: Local) -> np.ndarray:
    """Every input by itself: as much as between its limits, or as would change the cost by its own size, is alike."""
    steep = np.max(np.abs(gradient_of(local)), axis=0)
    with np.errstate(divide="ignore"):
        size = np.minimum(np.max(task.limits[1] - task.limits[0], axis=0), abs(path.cost) / steep)
    size = np.where(np.isfinite(size) & (size > 0.0), size, 1.0)
    return np.diag(np.tile((abs(path.cost) or 1.0) / size**2, len(path.rollout.u)))


def _other_side(task: Task, path: Path, step: np.ndarray, slope: float) -> np.ndarray | None:
    """The gradient where a step is dearer than it should be, as near as it is another one; None where it is nowhere."""
    for share in CLOSE:
        beside = rolled(task, np.clip(path.rollout.u + share * step, *task.limits))
        if not np.isfinite(beside.cost):
            return None
        if path.cost - beside.cost > NEW * share * slope:
            continue
        found = gradient_of(local_of(task, beside)).ravel()
        if np.all(np.isfinite(found)) and found @ step.ravel() > -NEW * slope:
            return np.asarray(found)
    return None


def _step(
    bend: np.ndarray, sides: np.ndarray, u: np.ndarray, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, float]:
    """The step, and what it promises; inputs that it would take beyond a limit stay there."""
    free, step, slope = np.ones(len(u), dtype=bool), np.zeros(len(u)), 0.0
    for _ in range(len(u)):
        if not np.any(free):
            return np.zeros(len(u)), 0.0
        root = np.linalg.cholesky(bend[np.ix_(free, free)])
        least = sides[:, free].T @ _shares(np.linalg.solve(root, sides[:, free].T))
        half = np.linalg.solve(root, least)
        step[:], slope = 0.0, float(half @ half)
        step[free] = -np.linalg.solve(root.T, half)
        out = free & (((u <= low) & (step < 0.0)) | ((u >= high) & (step > 0.0)))
        if not np.any(out):
            break
        free &= ~out
    return step, slope


def _shares(columns: np.ndarray) -> np.ndarray:
    """Of the convex combination of columns that is shortest."""
    import scipy.optimize  # half a second, for those who need it

    if columns.shape[1] == 1:
        return np.ones(1)
    scale = float(np.max(np.linalg.norm(columns, axis=0))) or 1.0
    rows = np.concatenate([columns / scale, SUM * np.ones((1, columns.shape[1]))])
    found = scipy.optimize.nnls(rows, np.append(np.zeros(len(columns)), SUM))[0]
    return np.asarray(found / np.sum(found))


def gauss_newton(local: Local) -> np.ndarray:
    """Second derivatives of the cost by all inputs, without those of the steps; made firm."""
    steps, m = local.lu.shape
    n = local.lx.shape[1]
    whole, moved = np.zeros((steps * m, steps * m)), np.zeros((n, steps * m))
    for k in range(steps):
        mine = slice(k * m, (k + 1) * m)
        cross = local.lux[k] @ moved
        whole += moved.T @ local.lxx[k] @ moved
        whole[mine, mine] += local.luu[k]
        whole[mine] += cross
        whole[:, mine] += cross.T
        moved = local.A[k] @ moved
        moved[:, mine] += local.B[k]
    whole += moved.T @ local.exx @ moved
    own = np.diag(whole)
    return whole + FIRM * np.diag(np.maximum(own, 1e-3 * (float(np.max(own, initial=0.0)) or 1.0)))
