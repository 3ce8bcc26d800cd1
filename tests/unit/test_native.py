"""Programs as machine code compute what JAX computes: every operation, branches, loops, memory, linear algebra."""

import zlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from carom import native
from carom.native import _machine_code
from carom.native._machine_code import Program, compiled
from carom.native._ssa import TooLarge

ODD = [0.0, -0.0, 1.0, -2.7, 1e300, np.inf, -np.inf, np.nan]
X, Y = (np.asarray(column).ravel() for column in np.meshgrid(ODD, ODD))
RNG = np.random.default_rng(7)


def made(function, *args):
    program = native.program(function, args)
    assert isinstance(program, Program)
    return program


def check(function, *args, ulps=0):
    """Machine code gives what JAX gives: the same numbers, infinities and NaN, up to some units in the last place."""
    ours = jax.tree.leaves(made(function, *args)(*args))
    theirs = jax.tree.leaves(jax.jit(function)(*args))
    for mine, other in zip(ours, map(np.asarray, theirs), strict=True):
        assert mine.dtype == other.dtype and mine.shape == other.shape
        if ulps and other.dtype == float:
            close = np.isclose(mine, other, rtol=ulps * 2.3e-16, atol=ulps * 1e-320, equal_nan=True)
            assert close.all(), (mine[~close], other[~close])
        else:
            np.testing.assert_array_equal(mine, other)


EXACT = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "max": jnp.maximum,
    "min": jnp.minimum,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
    "and": lambda x, y: (x > 0) & ~(y > 0),
    "or": lambda x, y: (x > 0) | (y > 0),
    "xor": lambda x, y: (x > 0) ^ (y > 0),
    "where": lambda x, y: jnp.where(x > y, x, -y),
    "sign": lambda x, y: jnp.sign(x) + jnp.abs(y),
    "finite": lambda x, y: jnp.isfinite(x) & jnp.isnan(y),
    "clip": lambda x, y: jnp.clip(x, -0.5, 0.5),
    "square": lambda x, y: (jnp.square(x), jnp.sqrt(y)),
    "powers": lambda x, y: (x**2, x**3, x**5, x**-2),
    "floor": lambda x, y: (jnp.floor(x), jnp.ceil(x), jnp.round(y)),
    "whole": lambda x, y: (jnp.where(jnp.abs(x) < 1e3, x, 7.0).astype(int) % 5, (x > 0).astype(int) + 3),
    "known": lambda x, y: jnp.asarray([1.0, 2.0]) / jnp.asarray([3.0, jnp.inf]) + jnp.sqrt(jnp.asarray(2.0)),
}


@pytest.mark.parametrize("name", EXACT)
def test_operations_are_exact(name):
    check(EXACT[name], X, Y)


def test_zero_keeps_its_sign():
    """An infinity without weight, length / |g|, was minus infinity where g was a known -0."""
    zero, minus = jnp.asarray([0.0, 0.0]), jnp.asarray([0.0, -0.0])
    for known in (zero, minus):
        check(lambda x, k=known: (x / jnp.linalg.norm(k), x / (k[1] * k[1]), x / (x * 0.0 + k[1])), np.asarray(0.5))

    def signs(x):  # as IEEE and NumPy say; XLA itself takes x + 0.0 for x
        return 1.0 / (x + 0.0), 1.0 / (0.0 - x), 1.0 / (x - 0.0), 1.0 / (x + -0.0), 1.0 / (abs(x) + 0.0)

    x = np.asarray([0.0, -0.0])
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(made(signs, x)(x), signs(x))


def test_functions_of_the_library():
    names = (
        "sin",
        "cos",
        "tan",
        "arcsin",
        "arctan",
        "sinh",
        "cosh",
        "tanh",
        "arcsinh",
        "exp",
        "expm1",
        "log",
        "log1p",
        "log2",
        "cbrt",
    )
    check(lambda x: [getattr(jnp, name)(x) for name in names], RNG.normal(size=12), ulps=64)
    check(lambda x: jax.nn.sigmoid(x), RNG.normal(size=12), ulps=4)
    check(jax.grad(lambda x: jnp.sum(jnp.tanh(x) + jnp.arctanh(0.1 * x))), RNG.normal(size=12), ulps=64)
    check(
        lambda x, y: [jnp.arctan2(x, y), jnp.abs(x) ** y, jnp.hypot(x, y), jnp.fmod(x, y)],
        *RNG.normal(size=(2, 12)),
        ulps=16,
    )


def test_arrays_are_moved_and_summed():
    a, b = RNG.normal(size=(4, 5)), RNG.normal(size=(5, 3))
    check(lambda a: (a[::-1, 1:4], a.T.reshape(2, 10), jnp.pad(a, 1), jnp.stack([a, a], 1), jnp.concatenate([a, a])), a)
    check(lambda a: (a.max(1), a.min(), a.argmax(1), a.argmin(0), jnp.sort(a), (a > 0).any(1), (a > 0).all()), a)
    check(lambda a: (a[:, :0].sum(1), (a[:0] > 0).any(0), (a[:0] > 0).all(0), a[:, :0] @ a[:0], a[:0, :0].sum(1)), a)
    check(lambda a, b: (a @ b, a.sum(0), jnp.cumsum(a, 1), jnp.prod(a, 1), jnp.linalg.norm(a)), a, b, ulps=64)


@pytest.mark.parametrize("i", [-2, 0, 3, 9])
def test_computed_indices(i):
    """Beyond its ends an array gives what JAX gives."""
    a, b = jnp.asarray(RNG.normal(size=(4, 3))), jnp.asarray(RNG.normal(size=5))
    check(lambda a, b, i: (a[i], b[i], b.at[i].set(3.0), b.at[i].add(1.5), a.at[i].multiply(2.0)), a, b, np.asarray(i))
    check(lambda b, i: jax.lax.dynamic_slice(b, (i,), (2,)), b, np.asarray(i))
    check(lambda b, i: jax.lax.dynamic_update_slice(b, jnp.zeros(2), (i,)), b, np.asarray(i))


def test_rows_of_a_long_array_at_many_places():
    long, at = RNG.normal(size=(300, 4)), np.asarray([3, 299, 0, 400, -1])
    check(lambda a, at: (a[at], a.at[at].get(mode="clip"), a[at, 2]), long, at)


def test_the_row_of_a_table_whose_measure_is_least():
    def nearest(table, x):
        return native.least(lambda row: (row[0] - x) ** 2, table)

    for table in (RNG.normal(size=(3, 2)), RNG.normal(size=(500, 3)), np.ones((40, 2))):  # the first of equals
        expected = table[np.argmin((table[:, 0] - 0.3) ** 2)]
        for found in (nearest(jnp.asarray(table), 0.3), made(nearest, table, np.asarray(0.3))(table, np.asarray(0.3))):
            np.testing.assert_array_equal(found, expected)


def test_a_small_function_is_compiled_once_for_all_numbers():
    seen = []

    @native.quick(lambda x, *rest: x.size < 10)
    def function(x, y, name):
        seen.append((name, isinstance(x, jax.core.Tracer)))
        return {"sum": x.sum() * y}

    for x, y in ((jnp.ones(3), 2.0), (jnp.arange(3.0), 0.5)):
        assert float(function(x, y, name="a")["sum"]) == pytest.approx(float(x.sum() * y))
    assert seen == [("a", True)]
    function(jnp.ones(3), 2.0, name="b")  # a word is part of the program
    assert seen[1:] == [("b", True)]
    for x in (jnp.asarray([np.nan]), jnp.ones(20)):  # what may be refused, and what is long, as ever
        function(x, 2.0, "a")
    assert seen[2:] == [("a", False)] * 2
    np.testing.assert_array_equal(jax.grad(lambda x: function(x, 2.0, "a")["sum"])(jnp.ones(3)), 2.0)


def test_what_is_asked_for_once_is_one_program(monkeypatch):
    """A function of many operations does not ask JAX for each of them."""
    monkeypatch.setattr(jax.numpy, "sin", lambda x, sin=jnp.sin: sin(x) if isinstance(x, jax.core.Tracer) else 1 / 0)
    found = native.at_once(lambda x: (jnp.sin(x), jnp.sin(2.0 * x)), np.asarray(0.3))
    np.testing.assert_allclose(found, np.sin([0.3, 0.6]), rtol=1e-15)


def test_what_goes_in_and_comes_out_unchanged():
    long = RNG.normal(size=(600, 2))
    check(lambda long, flag, n: (long, flag, n, jnp.asarray([True, False])), long, np.asarray(True), np.arange(3))


@pytest.mark.parametrize("n", [1, 2, 6])
def test_linear_algebra(n):
    a, x = RNG.normal(size=(n, n)), RNG.normal(size=n)
    s = a @ a.T + np.eye(n)
    for answer in (
        lambda: check_close(lambda a: jnp.linalg.eigvalsh(a), s),
        lambda: check_close(lambda a: jnp.linalg.pinv(a, hermitian=True), s),
        lambda: check_close(jnp.linalg.pinv, RNG.normal(size=(n, n + 2))),
        lambda: check_close(lambda a: jnp.linalg.svd(a, compute_uv=False), a),
        lambda: check_close(jnp.linalg.cholesky, s),
        lambda: check_close(lambda s, x: jax.scipy.linalg.cho_solve((jnp.linalg.cholesky(s), True), x), s, x),
        lambda: check_close(jnp.linalg.solve, a, x),
        lambda: check_close(lambda a, x: jax.scipy.linalg.lu_solve(jax.scipy.linalg.lu_factor(a), x), a, x),
    ):
        answer()
    vectors, values = made(jnp.linalg.eigh, s)(s)[::-1]
    np.testing.assert_allclose(vectors @ np.diag(values) @ vectors.T, s, atol=1e-13)


def check_close(function, *args):
    np.testing.assert_allclose(made(function, *args)(*args), jax.jit(function)(*args), rtol=1e-10, atol=1e-12)


def test_what_scalars_cannot_say_is_left_to_xla():
    assert native.program(lambda x: jnp.sin(x), (np.zeros(100_000),)) is None
    assert native.program(lambda x: jnp.fft.fft(x), (np.zeros(4),)) is None
    with pytest.raises(NotImplementedError):
        compiled(lambda x: x.astype(jnp.float32), (np.zeros(3),))
    assert issubclass(TooLarge, Exception)


def test_a_program_survives_as_bytes():
    function, args = (lambda x, rows: {"sum": x + rows.sum(), "rows": rows}), (np.asarray(2.0), np.ones((3, 2)))
    program = made(function, *args)
    data, tree = native.packed(program)
    assert native.is_packed(data) and not native.is_packed(b"something else")
    again = native.unpacked(data, tree)(*args)
    np.testing.assert_array_equal(again["sum"], 8.0)
    np.testing.assert_array_equal(again["rows"], args[1])


def test_a_program_runs_in_many_threads_at_once():
    from concurrent.futures import ThreadPoolExecutor

    program = made(lambda x: jax.lax.fori_loop(0, 10_000, lambda i, y: 0.5 * y + jnp.sin(i * x), x), np.asarray(0.1))
    xs = np.linspace(0.1, 1.0, 40)
    alone = [float(program(np.asarray(x))) for x in xs]
    with ThreadPoolExecutor(8) as threads:
        assert [float(y) for y in threads.map(lambda x: program(np.asarray(x)), xs)] == alone


def test_a_program_that_works_much_is_compiled_thoroughly(monkeypatch):
    """From what it was made of, also after it was kept on disk; with the same results."""
    monkeypatch.delenv("CAROM_COMPILER", raising=False)
    function, x = (lambda x: jax.lax.fori_loop(0, 50, lambda i, y: 0.5 * y + jnp.sin(i * x), x)), np.asarray(0.3)
    for program in (made(function, x), native.unpacked(*native.packed(made(function, x)))):
        before, quick = float(program(x)), program.run
        assert native.worked(program, _machine_code.ENOUGH) and program.run is quick
        native.worked(program, 1)
        assert program.run is not quick and float(program(x)) == before
        thorough = program.run
        native.worked(program, 10 * _machine_code.ENOUGH)
        assert program.run is thorough
    monkeypatch.setenv("CAROM_COMPILER", "quick")
    program = made(function, x)
    quick = program.run
    native.worked(program, 10 * _machine_code.ENOUGH)
    assert program.run is quick and not native.worked(function, 1)


def test_what_is_added_to_nothing_costs_nothing():
    """What `sum` begins with, a known zero times something, what is beyond infinity, and signs within sums."""

    def costs(function):
        return made(function, X[:1], Y[:1]).layout.operations - made(lambda x, y: x, X[:1], Y[:1]).layout.operations

    def terms(x, y):
        x, y = x[0], y[0]
        return sum([x * 0.0 + y]), x - (-y), y + (-x), jnp.minimum(x, jnp.inf), x > jnp.inf, jnp.maximum(-jnp.inf, y)

    assert costs(lambda x, y: (sum([x[0]]), y[0] * 0.0 + x[0], jnp.minimum(x[0], jnp.inf), x[0] > jnp.inf)) == 0
    signs = made(lambda x, y: (x[0] - (-y[0]), y[0] + (-x[0])), X[:1], Y[:1])
    assert b"fneg" not in zlib.decompress(signs.recipe.text)
    for x, y in zip(X, Y, strict=True):
        if np.isfinite(x):
            check(terms, np.asarray([x]), np.asarray([y]))


def never_minus_zero(x, y):
    size = jnp.abs(y)
    return x - 10.0, x + size, size - x, jnp.cos(x), jnp.exp(y), jnp.where(x > y, size, y - 1.0)


def may_be_minus_zero(x, y):
    return x + y, x - y, x - jnp.abs(y), x * y, jnp.sin(x), jnp.where(x > y, y, jnp.abs(x)), -0.0 - x, -x


def test_zero_is_added_only_where_it_changes_a_sign():
    def operations(function, beside):
        program = made(lambda x, y: tuple(each + beside for each in function(x, y)), X[0], Y[0])
        return program.layout.operations

    count = operations(never_minus_zero, -0.0)  # adding this changes nothing
    assert operations(never_minus_zero, 0.0) == count
    assert operations(may_be_minus_zero, 0.0) > operations(may_be_minus_zero, -0.0)
    for x, y in zip(X, Y, strict=True):
        for function in (never_minus_zero, may_be_minus_zero):
            program = made(lambda x, y, f=function: tuple(1.0 / (each + 0.0) for each in f(x, y)), X[0], Y[0])
            with np.errstate(all="ignore"):
                known = [1.0 / (np.float64(each) + 0.0) for each in function(np.float64(x), np.float64(y))]
            np.testing.assert_allclose(program(x, y), known, rtol=1e-15)
