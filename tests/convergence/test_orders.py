"""Weights of the explicit solvers, tree by tree: as many conditions of order hold as each claims, and not one more."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest

from carom.hybrid.solvers import SOLVERS, RungeKutta, tableau

Tree = tuple  # of the trees that stand on its root
EXPLICIT = sorted(name for name, solver in SOLVERS.items() if isinstance(solver, RungeKutta))


@functools.cache
def trees(order: int) -> list[Tree]:
    """All rooted trees with so many nodes: each has a leaf more than a smaller one."""
    if order == 1:
        return [()]
    return sorted({grown for tree in trees(order - 1) for grown in with_a_leaf(tree)})


def with_a_leaf(tree: Tree) -> list[Tree]:
    out = [tuple(sorted((*tree, ())))]
    for i, branch in enumerate(tree):
        out += [tuple(sorted((*tree[:i], grown, *tree[i + 1 :]))) for grown in with_a_leaf(branch)]
    return out


def size(tree: Tree) -> int:
    return 1 + sum(map(size, tree))


def density(tree: Tree) -> int:
    return size(tree) * math.prod(map(density, tree))


def matrix(name: str) -> np.ndarray:
    """Weights of all stages; the last row is the step's own."""
    rows = tableau(name).a
    full = np.zeros((len(rows) + 1, len(rows) + 1))
    for i, row in enumerate(rows):
        full[i + 1, : len(row)] = row
    return full


def elementary(full: np.ndarray, tree: Tree) -> np.ndarray:
    """The elementary weight of a tree in every stage."""
    out = np.ones(len(full))
    for branch in tree:
        out = out * (full @ elementary(full, branch))
    return out


def misses(name: str, order: int) -> tuple[float, float]:
    """By how much the conditions of an order are missed, in units of what is summed: by step and estimate."""
    full, error = matrix(name), np.asarray(tableau(name).error)
    each = [(elementary(full, tree), elementary(abs(full), tree), 1.0 / density(tree)) for tree in trees(order)]
    step = max(abs(full[-1] @ weight - value) / (abs(full[-1]) @ size) for weight, size, value in each)
    return step, max(abs(error @ weight) / (abs(error) @ size) for weight, size, _ in each)


def test_there_are_as_many_trees_as_there_are():
    assert [len(trees(order)) for order in range(1, 10)] == [1, 1, 2, 4, 9, 20, 48, 115, 286]


@pytest.mark.parametrize("name", EXPLICIT)
def test_conditions_of_order(name: str) -> None:
    order = SOLVERS[name].order
    np.testing.assert_allclose(matrix(name).sum(axis=1)[1:], tableau(name).c, rtol=1e-13)
    for k in range(1, order + 1):
        step, estimate = misses(name, k)
        assert step < 1e-15, (k, step)
        assert (estimate < 1e-15) == (k < order), (k, estimate)
    assert misses(name, order + 1)[0] > 1e-7
