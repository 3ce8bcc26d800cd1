"""The explicit equations of a tree of links in absolute angles: no products of different rates appear.

For link k let h_c be the points where its children c hang, m_sub(c) the mass of the subtree of c, and

    p_k = m_k c_k + sum_c m_sub(c) h_c              (first moment of all it carries, in its own frame)
    J_k = I_k + m_k |c_k|^2 + sum_c m_sub(c) |h_c|^2

For an ancestor i of k, with h the point of i from which the branch towards k hangs, and Delta = theta_k - theta_i,

    M_ik = h . R(Delta) p_k = alpha cos Delta + beta sin Delta,   alpha = h . p_k,  beta = h_y p_kx - h_x p_ky
    bias_i = - sum_k B_ik theta_k'^2,   bias_k = + sum_i B_ik theta_i'^2,   B_ik = alpha sin Delta - beta cos Delta

and M_kk = J_k. A free base adds M_0k = R(theta_k) perp(p_k), M_00 = m_total, bias_0 = -sum R(theta_k) p_k theta_k'^2.
Where links slide, levers grow with them: _sliding_trees.py.
With centres of mass on the axes this is the n-R manipulator paper's A phi'' + B phi'^2 with A symmetric, B skew.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from ..mechanism import Mechanism
from ..mechanism import _walk as walk
from ..quantities import Coordinates, Matrix, Real, Reals, Vector
from . import _elastic_trees as elastic_trees
from . import _linear as linear
from . import _sliding_trees as sliding_trees
from ._dense_tree import dense_terms
from .formalism import AbstractFormalism


class Moments(NamedTuple):
    """Per link, in columns: subtree mass, first moment p (x, y), second moment J."""

    mass: Any
    px: Any
    py: Any
    inertia: Any


def moments(mechanism: Mechanism) -> walk.PerLink:
    """Subtree mass, first and second moment of everything a link carries. They do not depend on the motion."""
    n, top = mechanism.numbers, mechanism.topology
    inputs = walk.per_link(top, n.mass, *_xy(n.com), n.inertia, *_xy(n.hang))

    def step(own: Reals, carried: Reals) -> Any:
        m, cx, cy, central, hx, hy = own
        mass = m + carried[0]
        px, py = m * cx + carried[1], m * cy + carried[2]
        inertia = central + m * (cx * cx + cy * cy) + carried[3]
        return Moments(mass, px, py, inertia), (mass, mass * hx, mass * hy, mass * (hx * hx + hy * hy))

    return walk.inward(top, step, 4, inputs)[0]


def _xy(points: Matrix) -> tuple[list[Any], list[Any]]:
    """Columns x and y of an array of points, as lists of scalars, so that nothing is ever sliced twice."""
    return [p[0] for p in points], [p[1] for p in points]


class Pair(NamedTuple):
    """alpha and beta of one ancestor-descendant pair."""

    alpha: Any
    beta: Any

    def mass(self, cos: Real, sin: Real) -> Any:
        return self.alpha * cos + self.beta * sin

    def skew(self, cos: Real, sin: Real) -> Any:
        return self.alpha * sin - self.beta * cos


def _pair(hx: Real, hy: Real, px: Real, py: Real) -> Pair:
    return Pair(hx * px + hy * py, hy * px - hx * py)


class Terms(NamedTuple):
    """Lower triangle of M, bias and weight, all as lists of scalars."""

    matrix: list[list[Any]]
    bias: list[Any]
    weight: list[Any]


def terms(mechanism: Mechanism, q: Coordinates, v: Coordinates, gravity: Coordinates) -> Terms:
    """All terms of the equations for a small mechanism, scalar by scalar."""
    n, top = mechanism.numbers, mechanism.topology
    if top.elastic:
        return Terms(*elastic_trees.terms(mechanism, q, v, gravity))
    if top.jointed:
        return Terms(*sliding_trees.terms(sliding_trees.tree_of(mechanism), q, v, gravity))
    nb, size = top.base_dof, top.dof
    moment = moments(mechanism)
    cos = [jnp.cos(q[nb + k]) for k in range(top.links)]
    sin = [jnp.sin(q[nb + k]) for k in range(top.links)]
    square = [v[nb + k] * v[nb + k] for k in range(top.links)]
    matrix: list[list[Any]] = [[0.0] * (i + 1) for i in range(size)]
    bias: list[Any] = [0] * size  # nothing yet: not a term, as 0.0 would be
    weight: list[Any] = [0] * size

    for k in range(top.links):
        row, (_, px, py, inertia) = nb + k, moment[k]
        x, y = cos[k] * px - sin[k] * py, sin[k] * px + cos[k] * py  # p_k in world axes
        matrix[row][row] = inertia
        weight[row] = x * gravity[1] - y * gravity[0]
        for i, s in top.paths[k]:
            pair = _pair(n.hang[s][0], n.hang[s][1], px, py)
            c, d = cos[k] * cos[i] + sin[k] * sin[i], sin[k] * cos[i] - cos[k] * sin[i]
            matrix[max(row, nb + i)][min(row, nb + i)] = pair.mass(c, d)
            skew = pair.skew(c, d)
            bias[nb + i] -= skew * square[k]
            bias[row] += skew * square[i]
        base = top.base_index(top.trees[k])
        if base is not None:
            matrix[row][base], matrix[row][base + 1] = -y, x
            bias[base] -= x * square[k]
            bias[base + 1] -= y * square[k]
            if top.parents[k] < 0:
                _add_root(matrix, weight, base, moment[k].mass, gravity)
    return Terms(matrix, bias, weight)


def _add_root(matrix: list[list[Real]], weight: list[Real], base: int, mass: Real, gravity: Coordinates) -> None:
    """A root link's subtree loads the free base it hangs on."""
    for axis in (0, 1):
        matrix[base + axis][base + axis] += mass
        weight[base + axis] += mass * gravity[axis]


class Explicit(AbstractFormalism):
    """Closed-form mass matrix and centrifugal terms; the default. Source: the n-R manipulator paper, for trees."""

    @property
    def name(self) -> str:
        return "explicit"

    def mass_matrix(self, mechanism: Mechanism, q: Float[Array, " dof"]) -> Float[Array, "dof dof"]:
        if not walk.small(mechanism.topology):
            return dense_terms(mechanism, q, jnp.zeros_like(q), jnp.zeros(2))[0]
        lower = terms(mechanism, q, jnp.zeros_like(q), (0.0, 0.0)).matrix
        return _full(lower)

    def bias(self, mechanism: Mechanism, q: Float[Array, " dof"], v: Float[Array, " dof"]) -> Float[Array, " dof"]:
        if not walk.small(mechanism.topology):
            return dense_terms(mechanism, q, v, jnp.zeros(2))[1]
        return _stack(terms(mechanism, q, v, (0.0, 0.0)).bias)

    def gravity(
        self, mechanism: Mechanism, q: Float[Array, " dof"], gravity: Float[Array, "2"]
    ) -> Float[Array, " dof"]:
        if not walk.small(mechanism.topology):
            return dense_terms(mechanism, q, jnp.zeros_like(q), gravity)[2]
        return _stack(terms(mechanism, q, jnp.zeros_like(q), gravity).weight)

    def accelerations(
        self,
        mechanism: Mechanism,
        q: Float[Array, " dof"],
        v: Float[Array, " dof"],
        force: Float[Array, " dof"],
        gravity: Float[Array, "2"],
    ) -> Float[Array, " dof"]:
        if not walk.small(mechanism.topology):
            matrix, bias, weight = dense_terms(mechanism, q, v, gravity)
            return linear.solve(matrix, force + weight - bias)
        lower, centrifugal, load = terms(mechanism, q, v, gravity)
        right = [force[i] + load[i] - centrifugal[i] for i in range(mechanism.dof)]
        return _stack(linear.ldl_solve(lower, right))


def arrays(mechanism: Mechanism, q: Vector, v: Vector, gravity: Vector) -> tuple[Array, Array, Array]:
    """Mass matrix, bias and weight of a mechanism of any size."""
    top = mechanism.topology
    if not (top.elastic or top.jointed):
        return dense_terms(mechanism, q, v, gravity)
    found = terms(mechanism, q, v, gravity)
    return _full(found.matrix), _stack(found.bias), _stack(found.weight)


def _stack(values: list[Any]) -> Array:
    return jnp.stack([jnp.asarray(x, dtype=float) for x in values])


def _full(lower: list[list[Any]]) -> Array:
    """Both triangles of a symmetric matrix from its lower one."""
    n = len(lower)
    return jnp.stack([_stack([lower[max(i, j)][min(i, j)] for j in range(n)]) for i in range(n)])
