"""Linear algebra inside of a program: short systems written out, decompositions by LAPACK.

SciPy carries LAPACK and shows the addresses of its functions; a program calls them as C does, without Python.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ._logic import compared, select
from ._shuffling import Cells, Memory, Thing, bare, calculated, cells, load, shaped, store
from ._ssa import Builder, Equation, Value

if TYPE_CHECKING:
    from ._reading import Reader

LAPACK = ("dsyevd", "dgetrf", "dgesdd")


def addresses() -> dict[str, int]:
    """Where LAPACK's functions are, by the names that programs call them."""
    from scipy.linalg import cython_lapack

    name, pointer = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    capsules = {f: cython_lapack.__pyx_capi__[f] for f in LAPACK}
    return {named(f): pointer(capsule, name(capsule)) for f, capsule in capsules.items()}


def named(function: str) -> str:
    """What programs call a function of LAPACK."""
    return f"carom_{function}"


class _Call:
    """Arguments of a function of LAPACK, all of them in working memory."""

    def __init__(self, r: Reader) -> None:
        self.r, self.places = r, []  # type: tuple[Reader, list[int]]

    def array(self, shape: tuple[int, ...], dtype: Any = np.float64, values: list[Value] | None = None) -> Memory:
        memory = self.r.reserved(shape, dtype)
        for i, value in enumerate(values or ()):
            store(self.r.b, memory, self.r.b.number("i", i), value)
        self.places.append(memory.offset)
        return memory

    def whole(self, x: int) -> None:
        self.array((1,), np.int32, [self.r.b.number("i", x)])

    def letter(self, x: str) -> None:
        self.array((1,), np.int8, [self.r.b.number("i", ord(x))])

    def run(self, name: str) -> None:
        b = self.r.b
        b.effects.append(b.here("lapack", "i", data=(named(name), tuple(self.places))))


def _read(b: Builder, memory: Memory) -> Cells:
    """The numbers that a call has left."""
    return shaped([load(b, memory, b.number("i", i)) for i in range(memory.size)], (memory.size,))


def _failed(r: Reader, info: Memory, out: Cells) -> Cells:
    """Not a number where LAPACK says that it did not work."""
    good = compared("eq")(r.b, {}, "b", [load(r.b, info, r.b.number("i", 0)), r.b.number("i", 0)])
    odd = r.b.number("f", np.nan)
    return shaped([select(r.b, {}, "f", [good, odd, x]) for x in out.ravel()], out.shape)


def _single(x: Cells) -> int:
    if x.ndim != 2:
        raise NotImplementedError("matrices in batches")
    return x.shape[0]


def eigh(r: Reader, eqn: Equation, inputs: list[Thing]) -> list[Thing]:
    """Eigenvectors and eigenvalues of a symmetric matrix."""
    x = cells(r.b, inputs[0])
    n = _single(x)
    if eqn.params.get("subset_by_index") is not None:
        raise NotImplementedError("some of the eigenvalues")
    call = _Call(r)
    call.letter("V")
    call.letter("L")
    call.whole(n)
    lower = x if eqn.params["lower"] else x.T
    matrix = call.array((n, n), values=list(lower.T.ravel()))  # column by column
    call.whole(n)
    values = call.array((n,))
    room, whole = 1 + 6 * n + 2 * n * n, 3 + 5 * n
    call.array((room,))
    call.whole(room)
    call.array((whole,), np.int32)
    call.whole(whole)
    info = call.array((1,), np.int32)
    call.run("dsyevd")
    vectors = _failed(r, info, _read(r.b, matrix).reshape(n, n).T)
    return [vectors, _failed(r, info, _read(r.b, values))]


def svd(r: Reader, eqn: Equation, inputs: list[Thing]) -> list[Thing]:
    """Singular values, and the vectors where they are asked for."""
    x, p = cells(r.b, inputs[0]), eqn.params
    rows = _single(x)
    columns, k = x.shape[1], min(x.shape)
    if p.get("subset_by_index") is not None:
        raise NotImplementedError("some of the singular values")
    job = "N" if not p["compute_uv"] else "A" if p["full_matrices"] else "S"
    width, height = (1, 1) if job == "N" else (rows, columns) if job == "A" else (k, k)
    call = _Call(r)
    call.letter(job)
    call.whole(rows)
    call.whole(columns)
    call.array((rows * columns,), values=list(x.T.ravel()))
    call.whole(rows)
    values = call.array((k,))
    left = call.array((rows * width,))
    call.whole(rows)
    right = call.array((height * columns,))
    call.whole(height)
    room = 4 * k * k + 7 * k + 8 * max(rows, columns) + 64
    call.array((room,))
    call.whole(room)
    call.array((8 * k,), np.int32)
    info = call.array((1,), np.int32)
    call.run("dgesdd")
    out: list[Thing] = [_failed(r, info, _read(r.b, values))]
    if job != "N":
        out.append(_failed(r, info, _read(r.b, left).reshape(width, rows).T))
        out.append(_failed(r, info, _read(r.b, right).reshape(columns, height).T))
    return out


def lu(r: Reader, eqn: Equation, inputs: list[Thing]) -> list[Thing]:
    """L and U in one matrix, the exchanges of rows, and the order of rows that they make."""
    x, b = cells(r.b, inputs[0]), r.b
    rows = _single(x)
    columns = x.shape[1]
    call = _Call(r)
    call.whole(rows)
    call.whole(columns)
    matrix = call.array((rows * columns,), values=list(x.T.ravel()))
    call.whole(rows)
    exchanged = call.array((min(rows, columns),), np.int32)
    call.array((1,), np.int32)
    call.run("dgetrf")
    factors = _read(b, matrix).reshape(columns, rows).T
    pivots = [calculated(b, "sub", "i", i, b.number("i", 1)) for i in _read(b, exchanged)]
    order = _ordered(b, pivots, rows)
    return [factors, shaped(pivots, (len(pivots),)), shaped(order, (rows,))]


def _ordered(b: Builder, pivots: list[Value], rows: int) -> list[Value]:
    """The order of rows that swaps make."""
    order = [b.number("i", i) for i in range(rows)]
    for i, pivot in enumerate(pivots):
        here, there = order[i], order[-1]
        for j in reversed(range(i, rows - 1)):
            there = select(b, {}, "i", [compared("eq")(b, {}, "b", [pivot, b.number("i", j)]), there, order[j]])
        for j in range(i, rows):
            order[j] = select(b, {}, "i", [compared("eq")(b, {}, "b", [pivot, b.number("i", j)]), order[j], here])
        order[i] = there
    return order


def permutation(r: Reader, eqn: Equation, inputs: list[Thing]) -> list[Thing]:
    """The same as a primitive of its own."""
    pivots, rows = list(cells(r.b, inputs[0])), eqn.params["permutation_size"]
    return [shaped(_ordered(r.b, pivots, rows), (rows,))]


def cholesky(r: Reader, eqn: Equation, inputs: list[Thing]) -> list[Thing]:
    """The lower factor of a symmetric positive definite matrix; zeros above."""
    b, x = r.b, cells(r.b, inputs[0])
    n = _single(x)
    out = np.full((n, n), b.number("f", 0.0), dtype=object)
    for j in range(n):
        pivot = x[j, j]
        for k in range(j):
            pivot = calculated(b, "sub", "f", pivot, calculated(b, "mul", "f", out[j, k], out[j, k]))
        out[j, j] = calculated(b, "sqrt", "f", pivot)
        for i in range(j + 1, n):
            entry = x[i, j]
            for k in range(j):
                entry = calculated(b, "sub", "f", entry, calculated(b, "mul", "f", out[i, k], out[j, k]))
            out[i, j] = calculated(b, "div", "f", entry, out[j, j])
    return [out]


def triangular_solve(r: Reader, eqn: Equation, inputs: list[Thing]) -> list[Thing]:
    """op(a) x = b, or x op(a) = b, by substitution."""
    b, p = r.b, eqn.params
    a, right = cells(b, inputs[0]), cells(b, inputs[1])
    n = _single(a)
    lower = p["lower"]
    if p["transpose_a"]:
        a, lower = a.T, not lower
    if not p["left_side"]:  # x a = b is a' x' = b'
        a, lower, right = a.T, not lower, right.T
    out = right.copy()
    for i in range(n) if lower else reversed(range(n)):
        before = range(i) if lower else range(i + 1, n)
        for c in range(right.shape[1]):
            entry = right[i, c]
            for k in before:
                entry = calculated(b, "sub", "f", entry, calculated(b, "mul", "f", a[i, k], out[k, c]))
            out[i, c] = entry if p["unit_diagonal"] else calculated(b, "div", "f", entry, a[i, i])
    return [out if p["left_side"] else out.T]


def linear_solve(r: Reader, eqn: Equation, inputs: list[Thing]) -> list[Thing]:
    """JAX's wrapper of a solver, which knows how to differentiate it: the solver."""
    lengths = eqn.params["const_lengths"]
    before = lengths.matvec + lengths.vecmat
    own = inputs[before : before + lengths.solve]
    return r.closed(eqn.params["jaxprs"].solve, [*own, *inputs[sum(lengths) :]])


def sort(r: Reader, eqn: Equation, inputs: list[Thing]) -> list[Thing]:
    """A few numbers in order, and others with them; equal ones stay as they are."""
    b, p = r.b, eqn.params
    if p["num_keys"] != 1:
        raise NotImplementedError("sorting by several keys")
    rows = [np.moveaxis(cells(b, x).copy(), p["dimension"], -1) for x in inputs]
    n = rows[0].shape[-1]
    for i in np.ndindex(rows[0].shape[:-1]):
        for end in reversed(range(1, n)):
            for k in range(end):
                swap = compared("gt")(b, {}, "b", [rows[0][i][k], rows[0][i][k + 1]])
                for row in rows:
                    u, v = row[i][k], row[i][k + 1]
                    row[i][k], row[i][k + 1] = select(b, {}, u.kind, [swap, u, v]), select(b, {}, u.kind, [swap, v, u])
    return [bare(np.moveaxis(row, -1, p["dimension"])) for row in rows]


ALGEBRA: dict[str, Callable[..., list[Thing]]] = {
    "eigh": eigh,
    "svd": svd,
    "lu": lu,
    "lu_pivots_to_permutation": permutation,
    "cholesky": cholesky,
    "triangular_solve": triangular_solve,
    "custom_linear_solve": linear_solve,
    "sort": sort,
}
