"""Sine and cosine of machine code are right to a rounding, sums take products unrounded, however it is compiled."""

import zlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from carom import native
from carom.native import _machine_code
from carom.native._machine_code import Program
from carom.native._sine_and_cosine import FAR, TURNED
from carom.native._sine_and_cosine import fused as fuses

RNG = np.random.default_rng(3)
NEAR = np.concatenate(
    [
        RNG.uniform(-4.0, 4.0, 20_000),
        RNG.uniform(-FAR, FAR, 10_000),
        RNG.choice([-1.0, 1.0], 2_000) * 10.0 ** RNG.uniform(-310.0, 0.0, 2_000),
        np.arange(-4_000, 4_000) * (np.pi / 4.0),  # where least remains of them
        np.nextafter(np.arange(-400, 400) * (np.pi / 4.0), np.inf),
    ]
)
AWAY = np.asarray([0.0, -0.0, np.inf, -np.inf, np.nan, FAR, -FAR, np.nextafter(FAR, 0.0), 3e7, -1e22, 1.7e308])


@pytest.fixture(autouse=True)
def _as_users_have_it(monkeypatch):
    monkeypatch.delenv("CAROM_COMPILER", raising=False)


def both_ways(function, *args):
    """What the program gives when it was compiled quickly, thoroughly, and in all ways."""
    program = native.program(function, args)
    assert isinstance(program, Program)
    found = [jax.tree.map(np.copy, program(*args))]
    for attempts in (_machine_code.ENOUGH, _machine_code.LONG):
        native.worked(program, attempts + 1)
        found.append(jax.tree.map(np.copy, program(*args)))
    assert len(program.engines) == 3 and not program.recipe.text
    return found


def turned(x):
    return jax.lax.map(lambda a: (jnp.sin(a), jnp.cos(a)), x)


def units(found, exact):
    """How far off, in units of the last place."""
    return np.abs((found - exact) / np.spacing(np.abs(exact).astype(float))).astype(float)


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="nothing here is finer than a float64")
def test_sine_and_cosine_are_right_to_a_rounding():
    (sine, cosine), *again = both_ways(turned, NEAR)
    assert units(sine, np.sin(NEAR.astype(np.longdouble))).max() < 0.8
    assert units(cosine, np.cos(NEAR.astype(np.longdouble))).max() < 0.8
    for each in again:
        np.testing.assert_array_equal(each, (sine, cosine))


def test_far_angles_are_left_to_the_library():
    for found in both_ways(turned, AWAY):
        with np.errstate(invalid="ignore"):
            np.testing.assert_allclose(found, (np.sin(AWAY), np.cos(AWAY)), rtol=2.3e-16)
        np.testing.assert_array_equal(np.signbit(found[0][:2]), [False, True])


@pytest.mark.skipif(not fuses(), reason="this machine does not multiply and add at once")
def test_two_angles_are_turned_together():
    def four(x, y):
        return jnp.sin(x) * jnp.cos(y) + jnp.sin(y) * jnp.cos(x), jnp.where(x > y, jnp.sin(x), jnp.cos(y))

    def nested(x, y):  # what an arm of a branch asks for that is known outside
        outside = jnp.sin(x) + jnp.sin(y)
        return outside + jax.lax.cond(x > y, lambda: jnp.cos(x) * jnp.sin(2.0 * y), lambda: jnp.cos(y))

    args = (np.asarray(0.3), np.asarray(-1.1))
    for function, calls in ((four, 1), (nested, 2)):
        program = native.program(function, args)
        text = zlib.decompress(program.recipe.text).decode()
        assert text.count(f"call {{<2 x double>, <2 x double>}} @{TURNED}") == calls
        np.testing.assert_allclose(program(*args), function(*args), rtol=1e-15)


SUMS = {
    "less one": (lambda x, y: x * y - 1.0, -(2.0**-60)),
    "from one": (lambda x, y: 1.0 - x * y, 2.0**-60),
    "and one": (lambda x, y: -1.0 + x * y, -(2.0**-60)),
    "of equal ones": (lambda x, y: (x * y) * 3.0 - (y * 3.0) * x, 0.0),
    "of two": (lambda x, y: x * x - y * y, 2.0**-28),
}


@pytest.mark.skipif(not fuses(), reason="this machine does not multiply and add at once")
@pytest.mark.parametrize("name", SUMS)
def test_a_product_is_added_unrounded_unless_equal_ones_cancel(name):
    """The product of 1 + 2^-30 and 1 - 2^-30 is 1 - 2^-60, which is rounded to 1."""
    function, exact = SUMS[name]
    args = np.asarray(1.0 + 2.0**-30), np.asarray(1.0 - 2.0**-30)
    for found in both_ways(native.unrounded(function), *args):
        assert found == exact
    for found in both_ways(function, *args):
        assert found == function(*map(float, args))


@pytest.mark.skipif(not fuses(), reason="this machine does not multiply and add at once")
def test_what_others_ask_for_too_is_rounded():
    """The same sum outside of what may be unrounded, before or after it: equal numbers come out equal."""
    args = np.asarray(1.0 + 2.0**-30), np.asarray(1.0 - 2.0**-30)
    plain, loose = SUMS["less one"][0], native.unrounded(SUMS["less one"][0])
    for both in (lambda x, y: (plain(x, y), loose(x, y)), lambda x, y: (loose(x, y), plain(x, y))):
        for found in both_ways(both, *args):
            np.testing.assert_array_equal(found, 0.0)


def test_weights_of_stages_and_products_that_are_used_twice():
    """A product with a known factor is added unrounded even to another product; one that is needed itself is not."""
    x, y = RNG.normal(size=(2, 50))

    def rows(x, y):
        def one(a):
            product = a[0] * a[1]
            return 0.3 * a[0] + 0.7 * a[1] + 0.1 * (a[0] * a[0]), product, product + a[0], a[1] - product

        return jax.lax.map(one, (x, y))

    for found in both_ways(native.unrounded(rows), x, y):
        np.testing.assert_allclose(found[0], 0.3 * x + 0.7 * y + 0.1 * (x * x), rtol=1e-14)
        for mine, exact in zip(found[1:], (x * y, x * y + x, y - x * y), strict=True):
            np.testing.assert_array_equal(mine, exact)
