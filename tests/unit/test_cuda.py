"""Kernels for a GPU: their source, compiled for this machine instead, computes what single runs compute."""

import ctypes
import re
import shutil
import subprocess

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import carom
from carom import native
from carom.native._cuda import Kernel
from carom.study._lanes import How, _lane
from tests.unit.test_native_loops import rows_written

STAND_INS = """
#include <cmath>
#include <cstring>
struct double2 { double x, y; };
#define __device__
#define __constant__
#define __noinline__
#define __global__
#define __launch_bounds__(...)
static thread_local struct { long long x; } blockIdx, blockDim, threadIdx;
static inline double __longlong_as_double(long long i) { double x; std::memcpy(&x, &i, 8); return x; }
static inline long long __double_as_longlong(double x) { long long i; std::memcpy(&i, &x, 8); return i; }
"""
OPTIONS = ["-O0"]
EVERY = """
extern "C" void every(long long n, const double* shared, const double* in, double* out) {
  blockDim.x = 1;
  for (long long i = 0; i < n; i++) { blockIdx.x = i; carom_lanes(n, shared, in, out); }
}
"""


class Here(Kernel):
    """A kernel whose lanes run one after the other, on this machine."""

    def __init__(self, source, tree, folder):
        self.source, self.tree = source, tree
        (folder / "lanes.cpp").write_text(STAND_INS + source.text + EVERY)
        library = folder / "lanes.so"
        subprocess.run(["g++", *OPTIONS, "-w", "-shared", "-fPIC", "-o", library, folder / "lanes.cpp"], check=True)
        self.library = ctypes.CDLL(str(library))

    def _run(self, lanes, shared, given, out):
        addresses = (ctypes.c_void_p(x.ctypes.data) for x in (shared, given, out))
        self.library.every(ctypes.c_longlong(lanes), *addresses)


needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler here")


def soft(arm):
    return carom.Contact(arm.tip, carom.Plane(height=-0.8), carom.Hooke(1e4), carom.Coulomb(0.2), name="floor")


def hard(arm):
    return carom.Contact(arm.tip, carom.Plane(height=-0.8), 0.5, carom.Coulomb(0.2))


@needs_compiler
@pytest.mark.parametrize("contact", [soft, hard])
def test_a_kernel_computes_what_the_cpu_does(contact, tmp_path):
    def make(length):
        arm = carom.Arm([carom.Rod(length=length, mass=1.0), carom.Rod(length=0.3, mass=0.5)])
        return carom.World(arm, contacts=contact(arm))

    lengths, start = jnp.array([0.9, 1.0, 1.1]), make(1.0).state(angles=[0.1, 0.0])
    integration = carom.Settings().integration(0.8)
    rows = np.tile(np.asarray(start.q), (3, 1)), np.zeros((3, 2))
    given = carom.State(*rows)
    one = (lengths[0], carom.State(rows[0][0], rows[1][0]))

    def lane(*args):
        return _lane(make, How(None, True), "rolled", *args)

    kernel = Here(*native.source_of(lane, (integration,), one), tmp_path)
    ours, theirs = kernel((integration,), (np.asarray(lengths), given)), carom.batch(make, lengths, start, until=0.8)
    np.testing.assert_allclose(np.stack(ours.y.q, axis=1), theirs.q, rtol=1e-9)
    np.testing.assert_allclose(np.stack(ours.y.v, axis=1), theirs.v, rtol=1e-7)
    np.testing.assert_array_equal(ours.events, theirs.events)
    np.testing.assert_array_equal(ours.outcome, theirs.outcome)
    assert (ours.events > 0).all() and len({int(n) for n in ours.steps}) > 1


@needs_compiler
def test_operations_of_a_kernel(tmp_path):
    """Whole numbers, flags, odd numbers, rows of a loop, arms of a branch."""

    def everything(shift, x, n, flag):
        rows = jnp.stack([x, x + 1.0, x + 2.0, x + 3.0, x + 4.0])
        total, parts = jax.lax.scan(lambda c, r: (c + jnp.sin(r), c * r), 0.0, rows)
        arms = jax.lax.switch(n, [lambda: x, lambda: -x, lambda: jnp.exp(x)])
        odd = jnp.maximum(x, jnp.nan), jnp.minimum(jnp.inf, x), jnp.sign(x), jnp.where(flag, x / 0.0, -1.5)
        return (
            total + shift[1],
            parts,
            arms,
            odd,
            n % 3,
            ~flag,
            jnp.isfinite(x / shift[0]),
            jnp.round(x),
            n.astype(float),
        )

    shared = (np.array([0.0, 2.5]),)
    lanes = (np.array([0.3, -1.7, 0.0, 2.5]), np.array([0, 1, 2, 7]), np.array([True, False, True, False]))
    kernel = Here(*native.source_of(everything, shared, tuple(x[0] for x in lanes)), tmp_path)
    ours = kernel(shared, lanes)
    for i in range(4):
        alone = everything(jnp.asarray(shared[0]), *(jnp.asarray(x[i]) for x in lanes))
        for mine, other in zip(flat(ours), flat(alone), strict=True):
            np.testing.assert_allclose(mine[i], other, rtol=1e-14)


@needs_compiler
def test_sine_and_cosine_of_a_kernel(tmp_path):
    """Together, in every quarter of the circle, near its corners, and so far out that the library is asked."""
    rng = np.random.default_rng(5)
    quarters = np.concatenate([np.arange(-40, 41), rng.integers(-60_000, 60_000, 200)]) * (np.pi / 2)
    near = np.concatenate([[0.0], 10.0 ** rng.uniform(-17, -1, 60)])
    x = np.concatenate(
        [*(quarters + e * s for e in near for s in (1, -1)), rng.uniform(-9e4, 9e4, 2000), [1e5, 3e7, -1e12]]
    )
    kernel = Here(*native.source_of(lambda x: (jnp.sin(x), jnp.cos(x), jnp.sin(2.0 * x)), (), (x[0],)), tmp_path)
    assert kernel.source.text.count("turned(v") == 2
    sine, cosine, twice = kernel((), (x,))
    for found, known in ((sine, np.sin(x)), (cosine, np.cos(x)), (twice, np.sin(2.0 * x))):
        np.testing.assert_allclose(found, known, rtol=4e-16, atol=2e-17)
    for odd in (kernel((), (np.array([np.nan, np.inf, -0.0]),))[0],):
        np.testing.assert_array_equal(odd, [np.nan, np.nan, 0.0])


@needs_compiler
def test_angles_of_a_kernel_are_turned_side_by_side(tmp_path):
    """As soon as they are known, but none before one that it depends on; each beyond the usual range by itself."""

    def function(x, y):
        first = jnp.sin(x)
        second = jnp.cos(x + y) * jnp.sin(first)  # `first` is an angle, too
        return first, second, jnp.cos(y), jnp.sin(x - 2.0 * y)

    x, y = np.array([0.3, 1e9, -2.0, np.nan, 1.0]), np.array([-1.1, 0.2, 1e7, 0.5, np.inf])
    kernel = Here(*native.source_of(function, (), (x[0], y[0])), tmp_path)
    lines = [line.strip() for line in kernel.source.text.split("__global__")[1].splitlines()]
    calls = [i for i, line in enumerate(lines) if line.startswith("turned(")]
    assert calls == [*range(calls[0], calls[0] + 4), calls[-1]]
    with np.errstate(invalid="ignore"):
        known = np.sin(x), np.cos(x + y) * np.sin(np.sin(x)), np.cos(y), np.sin(x - 2.0 * y)
    for found, right in zip(kernel((), (x, y)), known, strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-14, atol=1e-16)


@needs_compiler
def test_exponentials_and_logarithms_of_a_kernel(tmp_path):
    """To the last bit or two wherever there are numbers, and what the library gives where there are none."""
    rng = np.random.default_rng(7)
    powers = np.concatenate([rng.uniform(-0.4, 0.4, 2000), rng.uniform(-707.0, 709.0, 2000), [0.0, -0.0, 1e-300]])
    numbers = np.concatenate([rng.uniform(0.5, 2.0, 2000), 1.0 + rng.uniform(-1e-6, 1e-6, 500), np.exp(powers), [1.0]])
    odd = np.array([709.8, 710.5, 1e9, np.inf, -744.9, -746.0, -np.inf, np.nan, 0.0, -0.0, -1.0, 5e-324, 1e-310])
    x = np.concatenate([powers, numbers, odd])
    kernel = Here(*native.source_of(lambda x: (jnp.exp(x), jnp.log(x)), (), (x[0],)), tmp_path)
    assert "exponential(v" in kernel.source.text and "logarithm(v" in kernel.source.text
    exponential, logarithm = kernel((), (x,))
    with np.errstate(all="ignore"):
        known = np.exp(x), np.log(x)
    large = known[0] > 1e-307
    np.testing.assert_array_max_ulp(exponential[large], known[0][large], 2)
    np.testing.assert_allclose(exponential, known[0], rtol=1e-15, atol=5e-324)
    positive = x > 0.0
    np.testing.assert_array_max_ulp(logarithm[positive], known[1][positive], 2)
    np.testing.assert_array_equal(logarithm[~positive], known[1][~positive])


@needs_compiler
def test_quotients_of_a_kernel(tmp_path):
    """To the last bit or one beside it, also where results are hardly numbers; with all signs."""
    rng = np.random.default_rng(11)
    sizes = [rng.uniform(-1.0, 1.0, 4000) * 10.0 ** rng.uniform(-span, span, 4000) for span in (1, 20, 150, 290)]
    odd = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -3.0, 1e-300, 1e307]
    pairs = np.array([(x, y) for x in odd for y in odd])
    x = np.concatenate([*sizes, pairs[:, 0], np.full(3, 7.0)])
    y = np.concatenate([*(rng.permutation(each) for each in sizes), pairs[:, 1], [5e-324, -1e-310, 1.7e308]])
    kernel = Here(*native.source_of(lambda x, y: x / y, (), (x[0], y[0])), tmp_path)
    assert "quotient(v" in kernel.source.text
    found = kernel((), (x, y))
    with np.errstate(all="ignore"):
        known = x / y
    known[-3:] = np.inf, -np.inf, 0.0  # denormal divisors are zero, those beyond 4e307 infinite
    np.testing.assert_array_equal(np.isnan(found), np.isnan(known))
    there = ~np.isnan(known)
    np.testing.assert_array_max_ulp(found[there], known[there], 1)
    np.testing.assert_array_equal(np.signbit(found[there]), np.signbit(known[there]))


@needs_compiler
def test_roots_of_a_kernel(tmp_path):
    x = np.concatenate([10.0 ** np.random.default_rng(12).uniform(-307, 308, 4000), np.arange(200.0) ** 2])
    x = np.concatenate([x, [0.0, -0.0, np.inf, -1.0, -np.inf, np.nan, 1e-310]])
    kernel = Here(*native.source_of(lambda x: jnp.sqrt(x), (), (x[0],)), tmp_path)
    assert "root(v" in kernel.source.text
    found = kernel((), (x,))
    with np.errstate(invalid="ignore"):
        known = np.sqrt(x)
    known[-1] = x[-1]  # denormal
    np.testing.assert_array_max_ulp(found[:-7], known[:-7], 1)
    np.testing.assert_array_equal(found[-7:], known[-7:])
    np.testing.assert_array_equal(np.signbit(found[-7:-4]), np.signbit(known[-7:-4]))


@needs_compiler
def test_a_kernel_keeps_in_memory_what_a_loop_seldom_asks_for(tmp_path):
    """Of many numbers that a long loop carries; those of a loop within it stay in registers."""

    def function(x):
        def once(i, numbers):
            inner = jax.lax.fori_loop(0, 5, lambda _, s: s + numbers[0], 0.1 * numbers[1])
            return [numbers[-1] + inner, *(0.9 * each + 0.1 * i for each in numbers[:-1])]

        return jax.lax.fori_loop(0, 7, once, [x * (k + 1) for k in range(40)])

    x = np.array([0.3, -1.0, 2.5])
    kernel = Here(*native.source_of(function, (), (x[0],)), tmp_path)
    assert re.search(r"volatile double v\d+\[16\];", kernel.source.text)
    for i, lane in enumerate(x):
        for mine, known in zip(kernel((), (x,)), function(jnp.asarray(lane)), strict=True):
            np.testing.assert_allclose(mine[i], known, rtol=1e-14)


@needs_compiler
def test_known_numbers_of_a_kernel(tmp_path):
    """In the instruction, from the memory for constants, by an index; products for quotients; extremes beside them."""
    table = jnp.asarray(np.random.default_rng(3).normal(size=(7, 2)))

    def function(x, i):
        total = jax.lax.scan(lambda c, row: (c * row[0] + jnp.sin(c) * row[1], None), x, table)[0]
        extremes = jnp.maximum(x, 0.1), jnp.minimum(-0.3, x), jnp.maximum(x, -x), jnp.minimum(jnp.nan, x)
        return total, extremes, x / 3.0, x / 0.25, x / 1e200, x * 0.1 + 0.2, table[i, 0]

    x, i = np.array([0.7, -0.3, np.nan, np.inf, 0.1]), np.array([0, 3, 6, 2, 5])
    kernel = Here(*native.source_of(function, (), (x[0], i[0])), tmp_path)
    assert "__constant__ double known[" in kernel.source.text and "table0[" in kernel.source.text
    assert "0.0 / 0.0" not in kernel.source.text  # computed by a call while the kernel runs
    ours = kernel((), (x, i))
    for k in range(5):
        alone = function(jnp.asarray(x[k]), jnp.asarray(i[k]))
        for mine, other in zip(flat(ours), flat(alone), strict=True):
            np.testing.assert_allclose(mine[k], other, rtol=1e-14)


@needs_compiler
def test_a_kernel_keeps_rows_in_memory(tmp_path):
    order, when = np.array([2, 0, 2, 5, 1, 2]), np.array([True, False, True, True, False, True])
    tables = np.random.default_rng(2).normal(size=(3, 6, 3))
    kernel = Here(*native.source_of(rows_written, (), (tables[0], order, when)), tmp_path)
    rows, count = kernel((), (tables, np.tile(order, (3, 1)), np.tile(when, (3, 1))))
    assert rows.shape == (3, 6, 3) and count.tolist() == [4, 4, 4]
    for mine, table in zip(rows, tables, strict=True):
        np.testing.assert_array_equal(mine, rows_written(jnp.asarray(table), order, when)[0])


def flat(tree):
    return [np.asarray(leaf) for leaf in jax.tree.leaves(tree)]


def test_what_a_thread_cannot_hold_is_refused():
    with pytest.raises(NotImplementedError, match="on a GPU"):
        native.source_of(jnp.linalg.eigvalsh, (), (np.eye(3),))
    with pytest.raises(NotImplementedError, match="long array"):
        native.source_of(lambda x: x * 2.0, (), (np.zeros(5000),))


def test_without_a_gpu_its_libraries_are_missed_by_name():
    try:
        native.Kernel(*native.source_of(lambda x: x + 1.0, (), (np.zeros(1)[0],)))
    except native.Trouble as trouble:
        assert "libnvrtc" in str(trouble) or "libcuda" in str(trouble) or "cu" in str(trouble)
