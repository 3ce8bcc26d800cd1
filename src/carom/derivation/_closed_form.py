"""The closed form: mass matrix, bias and weight from the links, in the notation of `carom.dynamics.explicit`.

Relative angles q are a constant linear map theta = S q away from absolute ones:

    M_rel = S^T M S,    forces_rel = S^T forces

and in the centrifugal terms the two squares that a pair of links (i above k) brings to the joints down to i merge,

    theta_k'^2 - theta_i'^2 = (theta_k' - theta_i') (theta_k' + theta_i')

where the first factor is the sum of the joint rates between i and k: these are the Coriolis products of textbooks.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from types import ModuleType

from ..dynamics import _sliding_trees as sliding_trees
from ..mechanism import Topology
from ._symbolic import Link, SymbolicMotion, turning
from .names import Expr, Matrix


def maps(sympy: ModuleType, top: Topology) -> tuple[Matrix, Matrix]:
    """The constant matrices from relative to absolute coordinates and back."""
    to_absolute, to_relative = sympy.eye(top.dof), sympy.eye(top.dof)
    for k, above in enumerate(top.turned_by):
        for i in turning(top, k):
            to_absolute[top.angle_index(k), top.angle_index(i)] = 1
        if above >= 0:
            to_relative[top.angle_index(k), top.angle_index(above)] = -1
    return to_absolute, to_relative


def _moments(sympy: ModuleType, top: Topology, links: Sequence[Link]) -> list[tuple[Expr, Expr, Expr, Expr]]:
    """Per link: mass of its subtree, first moment (x, y) and second moment of all it carries, common factors out."""
    found: dict[int, tuple[Expr, Expr, Expr, Expr]] = {}
    for k in reversed(top.order):
        own, carried = links[k], [(found[c][0], links[c]) for c in top.children[k]]
        sums = (
            own.mass + sum(m for m, _ in carried),
            own.mass * own.cx + sum(m * c.hx for m, c in carried),
            own.mass * own.cy + sum(m * c.hy for m, c in carried),
            own.inertia + own.mass * (own.cx**2 + own.cy**2) + sum(m * (c.hx**2 + c.hy**2) for m, c in carried),
        )
        found[k] = (sums[0], *(sympy.factor_terms(s) for s in sums[1:]))
    return [found[k] for k in range(top.links)]


def inertial(
    sympy: ModuleType,
    top: Topology,
    links: Sequence[Link],
    motion: SymbolicMotion,
    pull: tuple[Expr, Expr],
    relative: bool,
) -> tuple[Matrix, Matrix, Matrix]:
    """Mass matrix and weight on absolute coordinates, bias on the chosen ones; notation of dynamics.explicit."""
    if top.jointed:
        return _slid(sympy, top, links, motion, pull, relative)
    matrix, weight = sympy.zeros(top.dof), sympy.zeros(top.dof, 1)
    bias: list[list[Expr]] = [[] for _ in range(top.dof)]
    moments = _moments(sympy, top, links)
    for k, (mass, px, py, inertia) in enumerate(moments):
        row, cos, sin, rate = top.angle_index(k), sympy.cos(motion.angle[k]), sympy.sin(motion.angle[k]), motion.rate[k]
        x, y = px * cos - py * sin, px * sin + py * cos  # the first moment in world axes
        matrix[row, row] = inertia
        weight[row] = x * pull[1] - y * pull[0]
        for i, s in top.paths[k]:
            hx, hy, turn = links[s].hx, links[s].hy, motion.angle[k] - motion.angle[i]
            alpha, beta = hx * px + hy * py, hy * px - hx * py
            column = top.angle_index(i)
            matrix[row, column] = matrix[column, row] = alpha * sympy.cos(turn) + beta * sympy.sin(turn)
            skew = alpha * sympy.sin(turn) - beta * sympy.cos(turn)
            for line, factor in _centrifugal(top, i, k, motion.rate, relative):
                bias[top.angle_index(line)].append(skew * factor)
        base = top.base_index(top.trees[k])
        if base is not None:
            for axis, lever, arm in ((base, -y, x), (base + 1, x, y)):
                matrix[row, axis] = matrix[axis, row] = lever
                bias[axis].append(-arm * rate**2)
                if top.parents[k] < 0:
                    matrix[axis, axis] += mass
                    weight[axis] += mass * pull[axis - base]
    return matrix, sympy.Matrix([sympy.Add(*line) for line in bias]), weight


def _slid(
    sympy: ModuleType,
    top: Topology,
    links: Sequence[Link],
    motion: SymbolicMotion,
    pull: tuple[Expr, Expr],
    relative: bool,
) -> tuple[Matrix, Matrix, Matrix]:
    """The same where links slide or have rotors: the formulas of dynamics/_sliding_trees.py, on symbols."""
    tree = sliding_trees.Tree(
        top,
        mass=[i.mass for i in links],
        com=[(i.cx, i.cy) for i in links],
        inertia=[i.inertia for i in links],
        hang=[(i.hx, i.hy) for i in links],
        axis=[i.axis for i in links],
        rotor=[i.rotor for i in links],
        gear=[i.gear for i in links],
        cos=sympy.cos,
        sin=sympy.sin,
    )
    base = (0,) * top.base_dof  # where a free base is, and how fast, does not matter
    lower, bias, weight = sliding_trees.terms(tree, (*base, *motion.angle), (*base, *motion.rate), pull)
    angles_apart = importlib.import_module("sympy.simplify.fu").TR8  # products of cosines as cosines of differences
    tidy = lambda x: sympy.factor_terms(sympy.expand(angles_apart(sympy.expand(x))))  # noqa: E731
    size = range(top.dof)
    matrix = sympy.Matrix([[tidy(lower[max(i, j)][min(i, j)]) for j in size] for i in size])
    forces = sympy.Matrix([tidy(x) for x in bias])
    to_absolute, _ = maps(sympy, top)
    return matrix, to_absolute.T * forces if relative else forces, sympy.Matrix([tidy(x) for x in weight])


def _centrifugal(top: Topology, i: int, k: int, rate: Sequence[Expr], relative: bool) -> list[tuple[int, Expr]]:
    """What multiplies the skew coefficient of a pair (i above k), and in the equations of which links."""
    if not relative:
        return [(i, -(rate[k] ** 2)), (k, rate[i] ** 2)]
    above = {*(a for a, _ in top.paths[i]), i}
    between = [a for a in (*(a for a, _ in top.paths[k]), k) if a not in above]
    both = -(rate[k] - rate[i]) * (rate[k] + rate[i])
    return [*((a, both) for a in sorted(above)), *((a, rate[i] ** 2) for a in between)]
