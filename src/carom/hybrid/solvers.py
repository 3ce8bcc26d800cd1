"""The solvers, by name: what one step of each does.

Explicit Runge-Kutta steps are written out on scalars, with diffrax's tableaux. diffrax runs its stages in a loop over
buffers, which neither machine code nor a GPU kernel (`native/`) can hold; in a plain CPU
batch of the arm its step costs about the same (1.1 times). So only the coefficients come from there, and diffrax is
loaded when they are first needed: a program that is found compiled on disk does not need them.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import PyTree

from .. import errors, registry
from ..quantities import Index, Real


@runtime_checkable
class Solver(Protocol):
    """One step of a method, as a small frozen object: it is part of what a run is compiled for."""

    @property
    def name(self) -> str: ...

    @property
    def order(self) -> int: ...

    def step(
        self, rhs: Callable[[Any, Any], Any], t: Real, y: PyTree, k0: PyTree, h: Real, heavy: bool = False
    ) -> tuple[Any, Any, Any]:
        """From y at t, where the derivative is k0, over h >= 0: new state, error estimate, derivative at the end.

        `heavy` says that the right-hand side is long code. The error estimate is of order h^order. A step of length
        zero returns y, zero, and the derivative, whatever k0.
        """


class Tableau(NamedTuple):
    """Coefficients of an explicit method."""

    a: tuple[tuple[float, ...], ...]  # row i: weights of stages 0..i for stage i + 1
    error: tuple[float, ...]
    c: tuple[float, ...]


@functools.cache
def tableau(name: str) -> Tableau:
    """diffrax's coefficients of 'tsit5', which is `diffrax.Tsit5` there; likewise for the others."""
    import diffrax

    t: Any = getattr(diffrax, name.capitalize()).tableau
    rows = tuple(tuple(float(x) for x in row) for row in t.a_lower)
    return Tableau(rows, tuple(float(x) for x in t.b_error), tuple(float(x) for x in t.c))


@dataclasses.dataclass(frozen=True)
class RungeKutta:
    """Explicit, first-same-as-last: the last stage is the derivative at the end of the step."""

    name: str
    order: int
    # How the code stands: "short": a loop if the right-hand side is heavy; "unrolled": stage after stage; "rolled": in
    # a loop that holds scalars alone, for a GPU, whose threads have few registers and wait for code beyond its cache.
    form: Literal["short", "unrolled", "rolled"] = "short"

    def step(
        self, rhs: Callable[[Any, Any], Any], t: Real, y: PyTree, k0: PyTree, h: Real, heavy: bool = False
    ) -> tuple[Any, Any, Any]:
        """One step: the new state, the error estimate, the derivative at the end."""
        if self.form == "rolled":
            return self._rolled(rhs, t, y, k0, h)
        if heavy and self.form == "short":
            return self._looped(rhs, t, y, k0, h)
        ks = [k0]
        new = y
        table = tableau(self.name)
        for row, c in zip(table.a, table.c, strict=True):
            new = _add_scaled(y, list(zip(row, ks, strict=True)), h)
            ks.append(rhs(t + c * h, new))
        return new, _scaled(list(zip(table.error, ks, strict=True)), h), ks[-1]

    def _looped(self, rhs: Callable[[Any, Any], Any], t: Real, y: PyTree, k0: PyTree, h: Real) -> tuple[Any, Any, Any]:
        """The same with the stages in a loop, so that the right-hand side is compiled once and not once per stage."""
        table = tableau(self.name)
        stages = len(table.c)
        weights = jnp.asarray([[*row, *[0.0] * (stages - len(row))] for row in table.a])
        nodes = jnp.asarray(table.c)
        start, shaped = ravel_pytree(y)
        ks = jnp.zeros((stages + 1, start.size)).at[0].set(ravel_pytree(k0)[0])

        def stage(i: Index, s: PyTree) -> Any:
            ks, _ = s
            new = start + h * jnp.sum(weights[i][:, None] * ks[:stages], axis=0)
            return ks.at[i + 1].set(ravel_pytree(rhs(t + nodes[i] * h, shaped(new)))[0]), new

        ks, new = jax.lax.fori_loop(0, stages, stage, (ks, start))
        error = h * jnp.sum(jnp.asarray(table.error)[:, None] * ks, axis=0)
        return shaped(new), shaped(error), shaped(ks[-1])

    def _rolled(self, rhs: Callable[[Any, Any], Any], t: Real, y: PyTree, k0: PyTree, h: Real) -> tuple[Any, Any, Any]:
        """The same, for code that must be short: each stage goes into the sums of all that come, which move up by one.

        So the loop asks for no stage by its number, and needs no buffer. What the first stage adds is computed within
        the loop as well: computed before, it would be held in registers wherever a step is tried again.
        """
        table = tableau(self.name)
        stages = len(table.c)
        columns = [[table.a[j][i] if j >= i else 0.0 for i in range(stages)] for j in range(stages)]  # of row j
        ahead = [[columns[i + k][i] if i + k < stages else 0.0 for i in range(stages)] for k in range(stages)]
        # The first two numbers of a stage are those of the next one, so that none waits for them.
        soon = ([*table.c[1:], 0.0], [*ahead[0][1:], 0.0])
        weights = jnp.asarray([*zip(*soon, table.error[:-1], *ahead[1:], strict=True)])  # a row for each stage
        none = jax.tree.map(jnp.zeros_like, k0)

        def plus(a: PyTree, c: Real, k: PyTree) -> Any:
            return jax.tree.map(lambda x, z: x + c * z, a, k)

        def stage(s: Any, row: Any) -> tuple[Any, None]:
            (node, weight), sums, error, _, k = s
            new = plus(y, h, plus(sums[0], weight, k))
            later = [plus(each, row[j], k) for j, each in enumerate(sums[1:], 3)]
            return ((row[0], row[1]), [*later, none], plus(error, row[2], k), new, rhs(t + node * h, new)), None

        begin = (jnp.asarray(table.c[0]), jnp.asarray(ahead[0][0])), [none] * stages, none, y, k0
        (_, _, error, new, last), _ = jax.lax.scan(stage, begin, weights)
        return new, jax.tree.map(lambda x: h * x, plus(error, table.error[-1], last)), last


def branches_pay(solver: Solver) -> bool:
    """Does what is done in one arm of a branch alone cost nothing elsewhere? A GPU's 32 lanes go through every arm."""
    return not (isinstance(solver, RungeKutta) and solver.form == "rolled")


def _add_scaled(y: PyTree, terms: list[tuple[float, Any]], h: Real) -> Any:
    """y + h sum c k over pytrees."""
    return jax.tree.map(lambda y, change: y + change, y, _scaled(terms, h))


def _scaled(terms: list[tuple[float, Any]], h: Real) -> Any:
    """h sum c k over pytrees, leaving out zero weights."""
    used = [(c, k) for c, k in terms if c != 0.0]
    return jax.tree.map(lambda *ks: h * sum(c * k for (c, _), k in zip(used, ks, strict=True)), *(k for _, k in used))


class Method(NamedTuple):
    """A solver, what it is good for, and where it was published."""

    solver: Solver
    choose: str
    source: str


def _method(line: registry.Line) -> Method:
    choose, source, *arguments = line.more
    made = line.found()
    return Method(made(*arguments) if arguments else made, choose, source)


METHODS = tuple(_method(line) for line in registry.SOLVERS)
SOLVERS: dict[str, Solver] = {method.solver.name: method.solver for method in METHODS}


def solver_of(name: str) -> Solver:
    errors.name_in("solver", name, tuple(SOLVERS))
    return SOLVERS[name]


def error_norm(error: PyTree, scale: PyTree) -> Any:
    """Root mean square of the error in units of the tolerance; 1 is just acceptable."""
    leaves = jax.tree.leaves(jax.tree.map(lambda e, s: (e / s) ** 2, error, scale))
    total = sum(jnp.sum(leaf) for leaf in leaves)
    return jnp.sqrt(total / sum(leaf.size for leaf in leaves))
