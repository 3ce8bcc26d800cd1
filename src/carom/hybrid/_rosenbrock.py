"""A stiff step: Rosenbrock's method Rodas5P, order 5 with an embedded 4, L-stable.

A Rosenbrock method is an implicit Runge-Kutta method with one Newton iteration built into it: no iteration to
converge, no tolerance for it, but the exact Jacobian at every step, here by forward mode. With g = h gamma, stage i is

    (I - g J) k_i = g (f(t + c_i h, y + sum_j a_ij k_j) + h d_i df/dt) + gamma sum_j C_ij k_j
    y_new = y + sum_i b_i k_i,    error = k_8

which is the usual form (Hairer and Wanner, Solving ODEs II, IV.7) times g, so that a step of length zero divides by
nothing.

The state is (q, v, extra, work). Its structure makes the linear algebra small (_stage_system.py).

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
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from ..quantities import Real
from ._stage_system import Power, Rhs, linearized
from .scene import Continuous

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
        self, rhs: Rhs, t: Real, y: Continuous, k0: Continuous, h: Real, heavy: bool = False
    ) -> tuple[Continuous, Continuous, Continuous]:
        """One step: the new state, the error estimate, the derivative at the end."""
        g = self.gamma * h
        solve, power_along, drift = linearized(rhs, t, y, g)
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

    def total(x: Real, *ks: Any) -> Any:
        return x + sum(w * k for (w, _), k in zip(used, ks, strict=True))

    return jax.tree.map(total, _core(y), *(k for _, k in used))._replace(work=y.work)


def _quadrature(
    weights: tuple[float, ...],
    d: tuple[float, ...],
    stages: list[Continuous],
    powers: list[Any],
    drift: PyTree,
    power_along: Power,
    g: Real,
    h: Real,
) -> Any:
    """Works done in the step: g (sum w_i (p_i + h d_i dp/dt) + J_w sum w_i k_i)."""
    nothing = jax.tree.map(jnp.zeros_like, stages[0])
    along = power_along(_plus(nothing, weights, stages))
    turn = sum(w * x for w, x in zip(weights, d, strict=True))

    def total(dt: Real, jk: Real, *ps: Any) -> Any:
        return g * (sum(w * p for w, p in zip(weights, ps, strict=True)) + (h * turn) * dt + jk)

    return jax.tree.map(total, drift, along, *powers)


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
