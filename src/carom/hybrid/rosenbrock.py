"""A stiff step: Rosenbrock's method Rodas5P, order 5 with an embedded 4, L-stable.

A Rosenbrock method is an implicit Runge-Kutta method with one Newton iteration built into it: no iteration to
converge, no tolerance for it, but the exact Jacobian at every step, here by forward mode. With g = h gamma, stage i is

    (I - g J) k_i = g (f(t + c_i h, y + sum_j a_ij k_j) + h d_i df/dt) + gamma sum_j C_ij k_j
    y_new = y + sum_i b_i k_i,    error = k_8

which is the usual form (Hairer and Wanner, Solving ODEs II, IV.7) times g, so that a step of length zero divides by
nothing.

The state is (q, v, extra, work). Its structure makes the linear algebra small: q' = v eliminates q, and the works of
the ledger feed back into nothing, so that the system to factor is for z = (v, extra) alone:

    k_q = r_q + g k_v
    (I - g J_zz - g^2 J_zq) k_z = r_z + g J_zq r_q        (J_zq meets the columns of v)
    work: its sum over the stages is taken in closed form, with one product J_w k

When to choose it: fast transients that have died out hold an explicit method to steps of a few of their time constants
(strong gains on small inertia, light elastic links); this one steps over them. A step costs about as much as one
of dopri8 for two links and more for many (the Jacobian has 2 dof columns). On smooth motion its error is some hundred
times that of tsit5 at the same step, so it pays when the time constants are a thousand times shorter than the motion,
or the tolerance is loose. On the arm paper's flights (3,500 1/s, 0.2 s) it wins at rtol 1e-4 and loses at 1e-8.

Source: G. Steinebach, Construction of Rosenbrock-Wanner method Rodas5P and numerical benchmarks within the Julia
Differential Equations package, BIT Numerical Mathematics 63, 27 (2023).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from .scene import Continuous

UNROLL = 12  # unknowns up to which elimination is written out on scalars

Rhs = Callable[[Any, Continuous], Continuous]
Solve = Callable[[Continuous], Continuous]
Power = Callable[[Continuous], Any]
Rows = tuple[tuple[float, ...], ...]


@dataclasses.dataclass(frozen=True)
class Rosenbrock:
    """A Rosenbrock method in transformed coefficients; the last stage is the error estimate."""

    name: str
    order: int
    gamma: float
    a: Rows  # row i: weights of the stages before i; one row more, for the result
    coupling: Rows  # row i: C_ij of the stages before i
    c: tuple[float, ...]
    d: tuple[float, ...]

    def step(
        self, rhs: Rhs, t: Any, y: Continuous, k0: Continuous, h: Any, heavy: bool = False
    ) -> tuple[Continuous, Continuous, Continuous]:
        """One step: the new state, the error estimate, the derivative at the end."""
        g = self.gamma * h
        solve, power_along, drift = _linearized(rhs, t, y, g)
        stages: list[Continuous] = []
        powers: list[Any] = []
        at, rate = y, k0
        for i, (c, d, coupling) in enumerate(zip(self.c, self.d, self.coupling, strict=True)):
            if i > 0:
                at = _plus(y, self.a[i], stages)
                rate = rhs(t + c * h, at)
            powers.append(rate.work)
            right = jax.tree.map(lambda f, dt, d=d: g * (f + (h * d) * dt), _core(rate), _core(drift))
            stages.append(solve(_plus(right, tuple(self.gamma * x for x in coupling), stages)))
        new = _plus(y, self.a[-1], stages)
        works, errors = (
            _quadrature(weights, self.d, stages, powers, drift.work, power_along, g, h)
            for weights in self._work_weights
        )
        new = new._replace(work=jax.tree.map(lambda w, dw: w + dw, y.work, works))
        return new, stages[-1]._replace(work=errors), rhs(t + h, new)

    @property
    def _work_weights(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Weights of the stages' powers in the result and in the error: b (I - gamma C)^-1."""
        n = len(self.c)
        lower = np.zeros((n, n))
        for i, row in enumerate(self.coupling):
            lower[i, : len(row)] = row
        backwards = np.linalg.inv(np.eye(n) - self.gamma * lower)
        last = np.eye(n)[-1]
        return tuple((np.asarray(self.a[-1]) @ backwards).tolist()), tuple((last @ backwards).tolist())


def _core(y: Continuous) -> Continuous:
    """The state without the ledger."""
    return y._replace(work=())


def _plus(y: Continuous, weights: tuple[float, ...], stages: list[Continuous]) -> Continuous:
    """y + sum of weighted stages, works left alone."""
    used = [(w, k) for w, k in zip(weights, stages, strict=True) if w != 0.0]
    if not used:
        return y

    def total(x: Any, *ks: Any) -> Any:
        return x + sum(w * k for (w, _), k in zip(used, ks, strict=True))

    return jax.tree.map(total, _core(y), *(k for _, k in used))._replace(work=y.work)


def _quadrature(
    weights: tuple[float, ...],
    d: tuple[float, ...],
    stages: list[Continuous],
    powers: list[Any],
    drift: Any,
    power_along: Power,
    g: Any,
    h: Any,
) -> Any:
    """Works done in the step: g (sum w_i (p_i + h d_i dp/dt) + J_w sum w_i k_i)."""
    nothing = jax.tree.map(jnp.zeros_like, stages[0])
    along = power_along(_plus(nothing, weights, stages))
    turn = sum(w * x for w, x in zip(weights, d, strict=True))

    def total(dt: Any, jk: Any, *ps: Any) -> Any:
        return g * (sum(w * p for w, p in zip(weights, ps, strict=True)) + (h * turn) * dt + jk)

    return jax.tree.map(total, drift, along, *powers)


def _linearized(rhs: Rhs, t: Any, y: Continuous, g: Any) -> tuple[Solve, Power, Continuous]:
    """The solver of (I - g J) k = r, the product J_w k, and df/dt, all at (t, y)."""
    drift = jax.jvp(lambda t: rhs(t, y), (t,), (jnp.ones_like(t),))[1]
    scalars = isinstance(y.q, tuple)
    if scalars and len(jax.tree.leaves((y.v, y.extra))) <= UNROLL:
        return *_written_out(rhs, t, y, g), drift
    return *_in_arrays(rhs, t, y, g), drift


# -- small systems: everything on scalars -----------------------------------------------------------------------------


def _written_out(rhs: Rhs, t: Any, y: Continuous, g: Any) -> tuple[Solve, Power]:
    dof, (leaves, tree) = len(y.q), jax.tree.flatten((y.v, y.extra))
    size = len(leaves)

    def column(state: Callable[[Any], Continuous], x: Any) -> tuple[list[Any], Any]:
        """One column of J: rows of z, rows of the works. Only x carries a tangent, so most of it is zero at once."""
        slope = jax.jvp(lambda x: rhs(t, state(x)), (x,), (jnp.ones_like(x),))[1]
        return jax.tree.leaves((slope.v, slope.extra)), slope.work

    def with_q(j: int) -> Callable[[Any], Continuous]:
        return lambda x: y._replace(q=(*y.q[:j], x, *y.q[j + 1 :]))

    def with_z(j: int) -> Callable[[Any], Continuous]:
        def state(x: Any) -> Continuous:
            v, extra = jax.tree.unflatten(tree, [*leaves[:j], x, *leaves[j + 1 :]])
            return y._replace(v=v, extra=extra)

        return state

    of_q = [column(with_q(j), y.q[j]) for j in range(dof)]
    of_z = [column(with_z(j), leaves[j]) for j in range(size)]
    matrix = [[(1.0 if i == j else 0.0) - g * of_z[j][0][i] for j in range(size)] for i in range(size)]
    for i in range(size):
        for j in range(dof):
            matrix[i][j] = matrix[i][j] - g * g * of_q[j][0][i]
    factors = Elimination(matrix)

    def solve(right: Continuous) -> Continuous:
        z = jax.tree.leaves((right.v, right.extra))
        z = [z[i] + g * sum(of_q[j][0][i] * right.q[j] for j in range(dof)) for i in range(size)]
        v, extra = jax.tree.unflatten(tree, factors.solve(z))
        return Continuous(tuple(r + g * k for r, k in zip(right.q, v, strict=True)), v, extra, ())

    def power_along(k: Continuous) -> Any:
        steps = [*k.q, *jax.tree.leaves((k.v, k.extra))]
        works = [work for _, work in (*of_q, *of_z)]
        return jax.tree.map(lambda *slopes: sum(s * x for s, x in zip(slopes, steps, strict=True)), *works)

    return solve, power_along


class Elimination:
    """Gaussian elimination with partial pivoting, written out: rows change places by selection, not by branching."""

    def __init__(self, matrix: list[list[Any]]) -> None:
        n = self.size = len(matrix)
        a = [list(row) for row in matrix]
        self.swaps: dict[tuple[int, int], Any] = {}
        self.lower: dict[tuple[int, int], Any] = {}
        self.inverse_pivot: list[Any] = []
        for k in range(n):
            for i in range(k + 1, n):
                swap = self.swaps[k, i] = jnp.abs(a[i][k]) > jnp.abs(a[k][k])
                for j in range(k, n):
                    a[k][j], a[i][j] = _exchanged(swap, a[k][j], a[i][j])
            self.inverse_pivot.append(1.0 / a[k][k])
            for i in range(k + 1, n):
                factor = self.lower[k, i] = a[i][k] * self.inverse_pivot[k]
                for j in range(k + 1, n):
                    a[i][j] = a[i][j] - factor * a[k][j]
            # Rows change places after this only below k, and what is left of column k down there is never read.
        self.upper = a

    def solve(self, right: list[Any]) -> list[Any]:
        n, b = self.size, list(right)
        for k in range(n):
            for i in range(k + 1, n):
                b[k], b[i] = _exchanged(self.swaps[k, i], b[k], b[i])
            for i in range(k + 1, n):
                b[i] = b[i] - self.lower[k, i] * b[k]
        for k in reversed(range(n)):
            b[k] = (b[k] - sum(self.upper[k][j] * b[j] for j in range(k + 1, n))) * self.inverse_pivot[k]
        return b


def _exchanged(swap: Any, x: Any, y: Any) -> tuple[Any, Any]:
    return jnp.where(swap, y, x), jnp.where(swap, x, y)


# -- large systems: arrays and the library's factorisation -----------------------------------------------------------


def _in_arrays(rhs: Rhs, t: Any, y: Continuous, g: Any) -> tuple[Solve, Power]:
    q, q_back = ravel_pytree(y.q)
    z, z_back = ravel_pytree((y.v, y.extra))
    dof, size = q.size, z.size

    def rows(q: Any, z: Any) -> tuple[Any, Any]:
        v, extra = z_back(z)
        rate = rhs(t, Continuous(q_back(q), v, extra, y.work))
        return ravel_pytree((rate.v, rate.extra))[0], rate.work

    (z_q, z_z), (w_q, w_z) = _split(jax.jacfwd(rows, argnums=(0, 1))(q, z))
    matrix = jnp.eye(size) - g * z_z - g * g * jnp.pad(z_q, ((0, 0), (0, size - dof)))
    factors = jax.scipy.linalg.lu_factor(matrix)

    def solve(right: Continuous) -> Continuous:
        r_q, r_z = ravel_pytree(right.q)[0], ravel_pytree((right.v, right.extra))[0]
        k_z = jax.scipy.linalg.lu_solve(factors, r_z + g * (z_q @ r_q))
        v, extra = z_back(k_z)
        return Continuous(q_back(r_q + g * k_z[:dof]), v, extra, ())

    def power_along(k: Continuous) -> Any:
        k_q, k_z = ravel_pytree(k.q)[0], ravel_pytree((k.v, k.extra))[0]
        return jax.tree.map(lambda by_q, by_z: by_q @ k_q + by_z @ k_z, w_q, w_z)

    return solve, power_along


def _split(jacobian: Any) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """(rows of z by q and by z), (rows of the works by q and by z)."""
    of_z, of_work = jacobian
    by_q = tuple(pair[0] for pair in of_work)
    by_z = tuple(pair[1] for pair in of_work)
    return (of_z[0], of_z[1]), (by_q, by_z)


_BEFORE = (-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946)

RODAS5P = Rosenbrock(
    name="rodas5p",
    order=5,
    gamma=0.21193756319429014,
    a=(
        (),
        (3.0,),
        (2.849394379747939, 0.45842242204463923),
        (-6.954028509809101, 2.489845061869568, -10.358996098473584),
        (2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641),
        _BEFORE,
        (*_BEFORE, 1.0),
        (*_BEFORE, 1.0, 1.0),
        (*_BEFORE, 1.0, 1.0, 1.0),
    ),
    coupling=(
        (),
        (-14.155112264123755,),
        (-17.97296035885952, -2.859693295451294),
        (147.12150275711716, -1.41221402718213, 71.68940251302358),
        (165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306),
        (24.854864614690072, -3.0009227002832186, 47.4931110020768, 5.5814197821558125, -0.6610691825249471),
        (
            30.91273214028599,
            -3.1208243349937974,
            77.79954646070892,
            34.28646028294783,
            -19.097331116725623,
            -28.087943162872662,
        ),
        (
            37.80277123390563,
            -3.2571969029072276,
            112.26918849496327,
            66.9347231244047,
            -40.06618937091002,
            -54.66780262877968,
            -9.48861652309627,
        ),
    ),
    c=(0.0, 0.6358126895828704, 0.4095798393397535, 0.9769306725060716, 0.4288403609558664, 1.0, 1.0, 1.0),
    d=(
        0.21193756319429014,
        -0.42387512638858027,
        -0.3384627126235924,
        1.8046452872882734,
        2.325825639765069,
        0.0,
        0.0,
        0.0,
    ),
)
